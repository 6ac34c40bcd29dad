/*
 * What the host cannot tell to be leaked: ports and floating IPs, which bear no mark of their
 * owner, and servers beside the one that a node has. Part of listing resources. How many were
 * deleted is counted in the host's metrics.
 */
#ifndef OPENSTACK_CLEANING_H
#define OPENSTACK_CLEANING_H

#include "cloud.h"

struct cleaning;

struct cleaning *cleaning_new(struct cloud *cloud);
void cleaning_free(struct cleaning *cleaning);

/* A server that nobody needs, and whose deletion may fail: it is deleted each round until it is
 * gone.
 */
void cleaning_note_server(struct cleaning *cleaning, const char *id);

/* Goes on with it; deletes in the background. DROVER_DONE: for this time; DROVER_RUNNING: a list is
 * waited for. What cannot be looked at is left for another time. */
enum drover_step cleaning_step(struct cleaning *cleaning, struct drover_operation *op,
                               int64_t began);

#endif
