/*
 * Keeps `min-ready` nodes of each label ready that nobody has asked for yet, by asking for them as
 * anybody else does.
 *
 *     too few free nodes ─► request 900-..., one node, ours ─┬─► fulfilled: the node is freed and
 *            ▲                                               │   the request deleted in one change
 *            └────────── after a while ◄── deleted ◄─ failed ┘
 *
 * Requests are ephemeral: they end with the session, and are made again. Of several launchers that
 * keep the same label, one makes them: each proves that it has seen what the others made.
 */
#pragma once

#include "config/config.h"
#include "launcher/cluster/cluster.h"

typedef struct _DroverStandby DroverStandby;

typedef struct {
    /* Whether a pool of this launcher offers the label and its image is there. */
    gboolean (*can_make)(const char *label, gpointer user_data);
    /* Something happened after which drover_standby_step() is due. */
    void (*wake)(gpointer user_data);
} DroverStandbyHooks;

DroverStandby *drover_standby_new(DroverCluster *cluster, DroverConfig *config,
                                  const DroverStandbyHooks *hooks, gpointer user_data);
/* Before the cluster. */
void drover_standby_free(DroverStandby *standby);
void drover_standby_set_config(DroverStandby *standby, DroverConfig *config);

/* News. */
void drover_standby_note_node(DroverStandby *standby, const DroverNode *old,
                              const DroverNode *new_node);
void drover_standby_note_request(DroverStandby *standby, const char *id, const DroverRequest *old,
                                 const DroverRequest *new_request);

/* Looks at all labels and all of its requests. Does nothing unless the caches are complete. */
void drover_standby_step(DroverStandby *standby);
