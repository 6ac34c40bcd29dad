/* What the project has, with its tags. */
#ifndef OPENSTACK_RESOURCES_H
#define OPENSTACK_RESOURCES_H

#include "cloud.h"

/* When the operation was stepped first. Keeps its state. */
int64_t operation_began(struct drover_operation *op);

/* A new item of a listing: "id" and "name" of the object, and its tags, of which only texts are
 * shown. */
void resources_show(struct drover_operation *op, const char *kind, const json_t *object,
                    const json_t *tags);

/* struct drover_driver's. */
enum drover_step resources_list(struct cloud *cloud, struct drover_operation *op);
enum drover_step resources_list_images(struct cloud *cloud, struct drover_operation *op);
enum drover_step resources_list_zones(struct cloud *cloud, struct drover_operation *op);

#endif
