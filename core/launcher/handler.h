/*
 * A handler serves one accepted request from the free nodes of its pool.
 *
 *     reserve a node for each label ─► ask whether its machine is alive ─► one change:
 *            ▲                                   │ no                      claim the request's lock
 *            └── another one ◄── deregister ◄────┘                         and every node's lock,
 *                                                                          allocate the nodes,
 *                                                                          fulfil the request
 *
 * Nobody ever sees a request fulfilled without its nodes, or a node allocated to a request that is
 * not fulfilled. When it cannot be done, nothing was written and the request is decided anew.
 */
#pragma once

#include "launcher/cluster.h"
#include "launcher/manager.h"
#include "launcher/stock.h"

typedef struct _DroverHandler DroverHandler;

typedef enum {
    DROVER_HANDLER_FULFILLED,
    DROVER_HANDLER_SHORT,   /* not enough free nodes after all */
    DROVER_HANDLER_CHANGED, /* the request or a node changed, or is gone: look again */
    DROVER_HANDLER_LOCKED,  /* somebody has the request locked: look again later */
} DroverHandlerOutcome;

typedef void (*DroverHandlerFunc)(DroverHandler *handler, DroverHandlerOutcome outcome,
                                  gpointer user_data);

/* `done` is called once after the start; the handler is freed after it. */
DroverHandler *drover_handler_new(DroverCluster *cluster, DroverManager *manager,
                                  DroverStock *stock, const DroverRequest *request,
                                  DroverHandlerFunc done, gpointer user_data);
/* Reserves at once, so that the next request of the pass sees what is left. */
void drover_handler_start(DroverHandler *handler);
const DroverRequest *drover_handler_request(const DroverHandler *handler);
/* The pool goes away: nothing more is begun, and `done` is not called any more. */
void drover_handler_abandon(DroverHandler *handler);
