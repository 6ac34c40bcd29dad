/*
 * Removing the objects of a node, one after the other, until none is there any more: the work of a
 * delete, and of a create that is cancelled. Can be begun again at any time.
 */
#ifndef TESTCLOUD_REMOVAL_H
#define TESTCLOUD_REMOVAL_H

#include "objects.h"

struct removal;

/* The objects are copied. */
struct removal *removal_new(struct cloud *cloud, const struct objects *objects);
void removal_free(struct removal *removal);
/* As a step: DROVER_FAILED after the operation was failed. */
enum drover_step removal_step(struct removal *removal, struct drover_operation *op);

/* struct drover_driver's. */
enum drover_step delete_machine(struct cloud *cloud, struct drover_operation *op);
enum drover_step delete_resource(struct cloud *cloud, struct drover_operation *op);

#endif
