/*
 * Backing: what a driver that cuts machines of other providers into slots needs of ZooKeeper.
 *
 *     driver: request ─► request 100-... ─► fulfilled ─► claimed ─► READY     a backing node
 *     driver: assign  ─► slot node's driver_data ─────────────────► ASSIGNED  a slot
 *     driver: release ─► state used, unlocked ────────────────────► GONE
 *
 * A backing node stays locked by a contender that is no session's, with the owner's name as its
 * data; so it is also found by the next process. Each change of a backing node or of its slots sets
 * the backing node's record at the version that was seen: of two launchers that decide at the same
 * time, one decides again. What is true now is looked up in the caches; each pass tries what is
 * wanted, so nothing waits for an answer that got lost.
 */
#pragma once

#include "config/config.h"
#include "driver/runner.h"
#include "launcher/cluster/held-node.h"
#include "launcher/provider/parts.h"

typedef struct _DroverBacking DroverBacking;

/* Of a provider that has started. `owner` names its kind of driver; `wake` asks for a pass. */
DroverBacking *drover_backing_new(DroverParts *parts, const char *driver, DroverRunner *runner,
                                  void (*wake)(gpointer user_data), gpointer user_data);
/* What it still asks for is withdrawn. Before the runner is closed. */
void drover_backing_free(DroverBacking *backing);

/* The slot was stored, or not. */
typedef void (*DroverBackingBoundFunc)(gboolean stored, gpointer user_data);
/*
 * Stores the fields (which are copied) in the record of a node that is being made, together with
 * `proof`, which gets `user_data`, too. `done` is not called once the node was removed.
 */
typedef void (*DroverBackingBindFunc)(const json_t *fields, DroverHeldOther proof,
                                      DroverBackingBoundFunc done, gpointer user_data,
                                      gpointer launch);
/* The node can be given slots, again after it was removed. */
void drover_backing_add_launch(DroverBacking *backing, const char *node_id, const char *pool,
                               DroverBackingBindFunc bind, gpointer launch);
void drover_backing_remove_launch(DroverBacking *backing, const char *node_id);

/* ---- All of a launcher: the parts' list ---- */

/* When the caches are complete. */
void drover_backing_step_all(const GPtrArray *backings);
/* A node changed, or is gone (NULL). */
void drover_backing_note_node(const GPtrArray *backings, const char *id, const DroverNode *node);
/* A request changed, or is gone (NULL). */
void drover_backing_note_request(const GPtrArray *backings, const char *id,
                                 const DroverRequest *request);

/*
 * Warns of backing nodes of providers that neither this configuration nor a registered pool has:
 * nobody gives them back.
 */
void drover_backing_report_orphans(DroverCluster *cluster, const DroverConfig *config);
