/*
 * A launch makes one machine for one node, in as many attempts as the provider allows.
 *
 *     record made and locked (init) ─► building ─► driver makes a machine ─► address, external id
 *                                        ▲               │ failed              │
 *                                        │               ▼                     ▼
 *                              next attempt ◄── what was made is deleted ◄── scanned ─► ready
 *
 * The node is locked until the launch ends: with `ready`, `aborted` (the cloud refuses for quota,
 * which is no failure), or `failed`. The last write gives the lock up in the same step. An external
 * id is written as soon as the driver knows it, so that nothing that was made is ever lost. When
 * nobody knows whether a machine was made, the next attempt is for another node: one node never has
 * two.
 */
#pragma once

#include "launcher/provider/manager.h"

typedef struct _DroverLaunch DroverLaunch;

typedef enum {
    DROVER_LAUNCH_READY,
    DROVER_LAUNCH_FAILED,
    DROVER_LAUNCH_ABORTED,
    DROVER_LAUNCH_LOST, /* the node's record or lock is gone */
} DroverLaunchOutcome;

typedef void (*DroverLaunchFunc)(DroverLaunch *launch, DroverLaunchOutcome outcome,
                                 gpointer user_data);

typedef struct {
    DroverManager *manager; /* kept from closing its driver until the launch has ended */
    const DroverRequest *request;
    const char *pool, *label;
    const char *launcher_id;
    const char *zone; /* or NULL: the cloud's choice */
} DroverLaunchOrder;

/* Begins. `done` is called once, never before this returns, unless the launch is dropped; the
 * launch is freed after it. Everything in the order is copied or referenced. */
DroverLaunch *drover_launch_new(const DroverLaunchOrder *order, DroverLaunchFunc done,
                                gpointer user_data);

/*
 * Goes on with the launch of a node that an earlier process of this session had begun, from what
 * the driver had saved. Where there is nothing to go on from, it ends as ABORTED: the node is left
 * to be deleted, and another one can be made.
 */
DroverLaunch *drover_launch_resume(const DroverLaunchOrder *order, const char *node_id,
                                   DroverLaunchFunc done, gpointer user_data);

/* NULL until its record is made. */
const char *drover_launch_node_id(const DroverLaunch *launch);

/* Nobody waits for it any more: it goes on by itself, `done` is not called, and a machine that
 * becomes ready is nobody's. */
void drover_launch_disown(DroverLaunch *launch);
