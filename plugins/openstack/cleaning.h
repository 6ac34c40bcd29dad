/*
 * Ports and floating IPs that bear no mark of their owner and that nobody uses any more. Part of
 * listing resources. How many were deleted is counted in the host's metrics.
 */
#ifndef OPENSTACK_CLEANING_H
#define OPENSTACK_CLEANING_H

#include "cloud.h"

struct cleaning;

struct cleaning *cleaning_new(struct cloud *cloud);
void cleaning_free(struct cleaning *cleaning);

/* Goes on with it; deletes in the background. DROVER_DONE: for this time; DROVER_RUNNING: a list is
 * waited for; DROVER_FAILED: the operation was failed. */
enum drover_step cleaning_step(struct cleaning *cleaning, struct drover_operation *op,
                               int64_t began);

#endif
