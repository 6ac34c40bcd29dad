/* Making a server. */
#ifndef OPENSTACK_CREATE_H
#define OPENSTACK_CREATE_H

#include "work.h"

extern const struct work_kind creation_kind;

/* struct drover_driver's. */
enum drover_step create_step(struct cloud *cloud, struct drover_operation *op);

#endif
