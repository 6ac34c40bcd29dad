/*
 * What machines use of a project's quota.
 */
#ifndef OPENSTACK_COST_H
#define OPENSTACK_COST_H

#include "cloud.h"

/* A machine of the operation's label, of that flavor. */
void cost_show_label(struct drover_operation *op, const json_t *flavor);
/* One that there is. The lists may be NULL. */
void cost_show_server(const struct cloud *cloud, struct drover_operation *op, const json_t *server,
                      const json_t *flavors, const json_t *volumes);

/* struct drover_driver's. */
enum drover_step cost_of_label(struct cloud *cloud, struct drover_operation *op);
enum drover_step cost_of_servers(struct cloud *cloud, struct drover_operation *op);
enum drover_step cost_limits(struct cloud *cloud, struct drover_operation *op);

#endif
