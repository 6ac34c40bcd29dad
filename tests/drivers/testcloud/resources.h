/* What the account has, with its tags. */
#ifndef TESTCLOUD_RESOURCES_H
#define TESTCLOUD_RESOURCES_H

#include <jansson.h>

#include "cloud.h"

/* A new item of a listing: "id", "name" and "tags" of the cloud's object. */
void show_resource(struct drover_operation *op, const char *kind, const json_t *object);

/* struct drover_driver's. */
enum drover_step list_resources(struct cloud *cloud, struct drover_operation *op);
enum drover_step list_images(struct cloud *cloud, struct drover_operation *op);

#endif
