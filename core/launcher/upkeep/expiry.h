/*
 * How long a node may stay in its state while nobody uses it. Pure functions of a record, the
 * configuration and the time.
 *
 *     ready, unallocated   the smallest max-ready-age of its labels
 *     hold                 the smaller of its own hold_expiration and the global max-hold-age
 *     init                 10 minutes; whether it is an orphan is another question
 */
#pragma once

#include "config/config.h"
#include "model/node.h"

/* Seconds; 0: for ever. */
double drover_expiry_limit(const DroverNode *node, const DroverConfig *config);

/*
 * TRUE when the node has been in its state for that long. `now` is in seconds since the epoch. A
 * node that does not say since when it is in its state, or names a moment still to come, is not.
 */
gboolean drover_expiry_is_over(const DroverNode *node, const DroverConfig *config, double now);
