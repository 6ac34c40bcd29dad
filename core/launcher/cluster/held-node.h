/*
 * A node that this process works on: made or taken by it, and locked until it is released, deleted
 * or freed. Every write proves that the lock is still ours, and is based on the record as it is:
 * when somebody wrote without the lock, the record is read again and our fields are set in it.
 *
 *     create ─┬─► held ─► store, store, ... ─┬─► store and release
 *     take ───┘                              └─► delete
 *
 * One thing at a time: the next may begin when `done` was called. A write that got lost with the
 * connection is repeated until it is known to be done, or the lock to be lost.
 */
#pragma once

#include "launcher/cluster/cluster.h"
#include "zk/change.h"

typedef struct _DroverHeldNode DroverHeldNode;

typedef enum {
    DROVER_HELD_DONE,
    DROVER_HELD_BUSY,    /* taking: somebody else has it; deleting: somebody waits for the lock */
    DROVER_HELD_LOST,    /* the record or the lock is gone: nothing of it is ours any more */
    DROVER_HELD_REFUSED, /* storing together: the other part is not true any more */
} DroverHeldOutcome;

typedef void (*DroverHeldFunc)(DroverHeldNode *held, DroverHeldOutcome outcome, gpointer user_data);

/* The record is there, the cluster's cache has it. It is not locked yet. */
typedef void (*DroverHeldMadeFunc)(gpointer user_data);

/* Makes a node of the record (which is copied), in state `init`, and locks it. */
DroverHeldNode *drover_held_node_create(DroverCluster *cluster, const json_t *record,
                                        DroverHeldMadeFunc made, DroverHeldFunc done,
                                        gpointer user_data);
/* Locks a node without waiting, and reads its record. */
DroverHeldNode *drover_held_node_take(DroverCluster *cluster, const char *id, DroverHeldFunc done,
                                      gpointer user_data);
/* Gives the lock up if it is still held. Allowed at any time; `done` is not called any more. */
void drover_held_node_free(DroverHeldNode *held);

/* NULL until it is made. */
const char *drover_held_node_id(const DroverHeldNode *held);
/* As it was written or read last; borrowed. */
const json_t *drover_held_node_record(const DroverHeldNode *held);

/* Sets the fields of the object in the record; with `release` gives up the lock in the same step.
 */
void drover_held_node_store(DroverHeldNode *held, const json_t *fields, gboolean release,
                            DroverHeldFunc done, gpointer user_data);
/*
 * Sets the fields, together with what `other` adds to the change: both are done, or REFUSED and
 * neither. It is called anew for each try; FALSE: it has nothing to add any more.
 */
typedef gboolean (*DroverHeldOther)(DroverChange *change, gpointer user_data);
void drover_held_node_store_together(DroverHeldNode *held, const json_t *fields,
                                     DroverHeldOther other, gpointer other_data,
                                     DroverHeldFunc done, gpointer user_data);
/* Deletes the record with its lock. */
void drover_held_node_delete(DroverHeldNode *held, DroverHeldFunc done, gpointer user_data);
