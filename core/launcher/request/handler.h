/*
 * A handler serves one request.
 *
 *     reserve a free node for each label ─► ask whether its machine is alive (an inventory's)
 *        │ all found                   │ some are missing, and the provider can make machines
 *        ▼                             ▼
 *     one change:                  the request is locked and pending ─► free nodes are allocated,
 *       claim every lock,              ▲                                others launched
 *       allocate the nodes,            │ room again                          │ all ready
 *       fulfil the request          paused ◄─ no room                        ▼
 *                                                          one change: fulfil and unlock
 *
 * Nobody ever sees a request fulfilled without its nodes. When it cannot be done and nothing was
 * written yet, the request is simply decided anew; a pending one is declined, or put back.
 */
#pragma once

#include "launcher/cluster/stock.h"
#include "launcher/machine/launch.h"

typedef struct _DroverHandler DroverHandler;

typedef enum {
    DROVER_HANDLER_FULFILLED,
    DROVER_HANDLER_SHORT,    /* not enough free nodes after all */
    DROVER_HANDLER_CHANGED,  /* the request or a node changed, or is gone: look again */
    DROVER_HANDLER_LOCKED,   /* somebody has the request locked: look again later */
    DROVER_HANDLER_DECLINED, /* after it was accepted */
} DroverHandlerOutcome;

/* What a handler needs of its pool. */
typedef struct {
    /* Called once, from within a step or later; the handler is freed after it. */
    void (*done)(DroverHandler *handler, DroverHandlerOutcome outcome, gpointer user_data);
    /* It began or ceased to wait for room. */
    void (*paused)(DroverHandler *handler, gpointer user_data);
    /* An answer came: step it now, or in its turn when better requests wait for room. */
    void (*answered)(DroverHandler *handler, gpointer user_data);
    /* Why the pool can never serve the request any more, or NULL; free with g_free. */
    char *(*find_obstacle)(const DroverRequest *request, gpointer user_data);
    /* Adds the pool's refusal, which has a reason, to a request's record. */
    void (*add_decline)(const DroverRequest *request, json_t *record, const char *reason,
                        gpointer user_data);
} DroverHandlerHooks;

typedef struct {
    DroverManager *manager;
    const DroverPoolConfig *pool;
    DroverStock *stock;
    const char *launcher_id; /* lives as long as the pool */
    const DroverHandlerHooks *hooks;
    gpointer user_data;
} DroverHandlerPlace;

DroverHandler *drover_handler_new(const DroverHandlerPlace *place, const DroverRequest *request);
/*
 * Takes up a pending request of an earlier process of this session, with its lock and the nodes
 * that are made for it.
 */
DroverHandler *drover_handler_resume(const DroverHandlerPlace *place, const DroverRequest *request);
/*
 * Looks at what is true now, and does what is to be done next. Harmless at any time. The first step
 * reserves at once, so that the next request of the pass sees what is left.
 */
void drover_handler_step(DroverHandler *handler);
const DroverRequest *drover_handler_request(const DroverHandler *handler);
gboolean drover_handler_is_paused(const DroverHandler *handler);
/* How far it is, and what it waits for; for people. Free with g_free. */
char *drover_handler_describe(const DroverHandler *handler);
/* The request is accepted and locked: it outlives a change of the provider. */
gboolean drover_handler_is_pending(const DroverHandler *handler);

/* The provider has a new object, or a newer configuration. */
void drover_handler_move(DroverHandler *handler, DroverManager *manager,
                         const DroverPoolConfig *pool);

/* The ends that its pool decides on: `done` is not called any more. */

/* Nothing is written: it is not accepted yet, the request is gone, or the locks are lost. */
void drover_handler_abandon(DroverHandler *handler);
/* A pending request is put back for others. */
void drover_handler_release(DroverHandler *handler);
