/*
 * Removing objects of the cloud, one after the other, until none is there any more: the work of a
 * delete, and of whatever is cancelled. Can be begun again at any time.
 */
#ifndef TESTCLOUD_REMOVAL_H
#define TESTCLOUD_REMOVAL_H

#include "objects.h"
#include "work.h"

extern const struct work_kind removal_kind;

struct removal;

/* The objects are copied. */
struct removal *removal_new(struct cloud *cloud, const struct objects *objects);
void removal_free(struct removal *removal);
/* As a step: DROVER_FAILED after the operation was failed. */
enum drover_step removal_step(struct removal *removal, struct drover_operation *op);

/*
 * The end of an operation that was cancelled: removes what it had made, for some seconds at most.
 * What is left then has tags by which the host finds it. `removal` begins as NULL; `since` is when
 * it was cancelled.
 */
enum drover_step removal_step_cancelled(struct removal **removal, struct cloud *cloud,
                                        struct drover_operation *op, const struct objects *objects,
                                        int64_t since);

/* struct drover_driver's. */
enum drover_step delete_machine(struct cloud *cloud, struct drover_operation *op);
enum drover_step delete_resource(struct cloud *cloud, struct drover_operation *op);
enum drover_step delete_image(struct cloud *cloud, struct drover_operation *op);

#endif
