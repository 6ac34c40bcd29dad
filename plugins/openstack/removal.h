/*
 * Removing a server, with the floating IPs that lead to it, until it is gone. Can be begun again at
 * any time.
 */
#ifndef OPENSTACK_REMOVAL_H
#define OPENSTACK_REMOVAL_H

#include "work.h"

extern const struct work_kind removal_kind;

/* Within other work; freed with work_free(). `floating_ip`, an id, may be NULL. */
struct work *removal_new(struct cloud *cloud, const char *server, const char *floating_ip);

/* struct drover_driver's. */
enum drover_step removal_step(struct cloud *cloud, struct drover_operation *op);
enum drover_step removal_step_resource(struct cloud *cloud, struct drover_operation *op);
enum drover_step removal_step_image(struct cloud *cloud, struct drover_operation *op);

#endif
