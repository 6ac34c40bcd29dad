/*
 * What the parts of a handler share; see handler.h.
 *
 *     handler.c         its life and its step; records; accepting a request
 *     handler-nodes.c   finding free nodes for a label, allocating them, launching others
 *     handler-ending.c  fulfilling, declining, putting back
 *     handler-resume.c  taking up what an earlier process had accepted
 */
#pragma once

#include "base/log.h"
#include "launcher/request/handler.h"
#include "zk/change.h"

#define DROVER_HANDLER_LOGGER "NodeRequestHandler"

/* What serves one label of the request. */
typedef struct {
    DroverHandler *handler;
    char *label;
    DroverNode *node;            /* NULL: still to be found or made */
    DroverTask *check;           /* of its machine, under way; or NULL */
    gboolean allocating;         /* a change that allocates the node is under way */
    gboolean allocated;          /* it is the request's already */
    DroverLaunch *launch;        /* that makes it; or NULL */
    gboolean claimed;            /* it counts for max-concurrency although no launch has begun */
    DroverUsagePromise *promise; /* to the tenant, until there is a node */
} DroverPick;

typedef enum {
    DROVER_GATHERING, /* nothing is written */
    DROVER_ACCEPTING,
    DROVER_PENDING,
    DROVER_ENDING, /* the last change is under way */
} DroverHandlerPhase;

struct _DroverHandler {
    grefcount references; /* the pool, and every answer still to come */
    DroverManager *manager;
    DroverParts *parts;
    const DroverPoolConfig *pool;
    DroverStock *stock;
    const char *launcher_id;
    char *provider_name, *pool_name; /* for the log, also when there is no manager any more */
    const DroverHandlerHooks *hooks;
    gpointer user_data;
    DroverRequest *request;
    DroverLock *lock; /* of the request, from ACCEPTING on; NULL while it is asked for */
    DroverHandlerPhase phase;
    DroverPick *picks; /* one for each label, in order */
    guint n_picks;
    char *zone; /* of all its nodes; NULL: not chosen, or none */
    gboolean zone_chosen;
    gboolean is_short, paused, over;
    char *obstacle;           /* why nothing more is launched just now; or NULL */
    const char *failure;      /* why it is declined once nothing is under way; or NULL */
    gboolean writing, unsure; /* while ACCEPTING: the change is under way; its answer got lost */
    json_t *ending;           /* the record with which the request is put back */
};

/* ---- handler.c ---- */

/* One for each answer still to come. */
void drover_handler_unref(DroverHandler *handler);
DroverLogSubject drover_handler_subject(const DroverHandler *handler);
DroverCache *drover_handler_nodes(const DroverHandler *handler);
DroverChange *drover_handler_change(const DroverHandler *handler);
void drover_pick_drop_claim(DroverPick *pick);
void drover_handler_drop_claims(DroverHandler *handler);
/* Gives back what it has without writing anything; it decides nothing any more. */
void drover_handler_let_go(DroverHandler *handler);
void drover_handler_finish(DroverHandler *handler, DroverHandlerOutcome outcome);
/* FALSE: it has ended while an answer was on its way. */
gboolean drover_handler_goes_on(DroverHandler *handler);
void drover_handler_set_aside(DroverHandler *handler, const DroverNode *node);
void drover_pick_empty(DroverPick *pick);
DroverPick *drover_handler_find_pick(DroverHandler *handler, const char *path);
void drover_handler_claim_node(DroverHandler *handler, DroverChange *change, const DroverNode *node,
                               json_t *record);
void drover_handler_allocate_node(DroverHandler *handler, DroverChange *change,
                                  const DroverNode *node);
void drover_handler_set_request(DroverHandler *handler, DroverChange *change, const json_t *record);
/* The request as the cache has it. FALSE when it is gone, or in another state than it was. */
gboolean drover_handler_take_latest(DroverHandler *handler);
gboolean drover_handler_take_pending(DroverHandler *handler);

/* ---- handler-nodes.c ---- */

void drover_handler_choose_zone(DroverHandler *handler, const char *zone);
void drover_pick_find_node(DroverHandler *handler, DroverPick *pick);
void drover_pick_allocate(DroverHandler *handler, DroverPick *pick);
void drover_pick_on_launched(DroverLaunch *launch, DroverLaunchOutcome outcome, gpointer user_data);
DroverLaunchOrder drover_pick_launch_order(const DroverHandler *handler, const DroverPick *pick);
void drover_handler_set_paused(DroverHandler *handler, gboolean paused, const char *reason);
/* FALSE: it has to wait. */
gboolean drover_pick_launch_if_room(DroverHandler *handler, DroverPick *pick);

/* ---- handler-ending.c ---- */

void drover_handler_log_failure(const DroverHandler *handler, const DroverChangeResult *result,
                                const char *what);
void drover_handler_fulfil_at_once(DroverHandler *handler);
const DroverNode *drover_pick_find_own(const DroverHandler *handler, const DroverPick *pick);
void drover_handler_say_closed(const DroverHandler *handler);
void drover_handler_put_back(DroverHandler *handler);
void drover_handler_decline(DroverHandler *handler, const char *reason);
void drover_handler_fulfil(DroverHandler *handler);
