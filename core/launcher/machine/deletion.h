/*
 * A deletion removes one node whose machine a driver made: the node is locked, its record read
 * again, the driver deletes the machine, and the record goes with its lock.
 *
 *     lock, read ─► deleting ─► driver deletes ─► record deleted
 *                                  └─ failed, or too long: unlocked, to be tried again later
 */
#pragma once

#include "launcher/provider/manager.h"

typedef enum {
    DROVER_DELETION_DONE,   /* the record is gone */
    DROVER_DELETION_LEFT,   /* it is somebody else's, or not to be deleted any more */
    DROVER_DELETION_FAILED, /* the machine may still be there */
} DroverDeletionOutcome;

typedef void (*DroverDeletionFunc)(const char *node_id, DroverDeletionOutcome outcome,
                                   gpointer user_data);

/* `done` is called once, never before this returns. */
void drover_deletion_begin(DroverManager *manager, const DroverNode *node, DroverDeletionFunc done,
                           gpointer user_data);

/* Whether nodes in this state are deleted once nobody has them locked. */
gboolean drover_deletion_is_due(DroverNodeState state);
