/*
 * A pool decides about node requests: it is registered as a component, looks at every request in
 * their order, declines what it can never serve, and has a handler for each one that it serves.
 *
 * A pool lives as long as a pool of its name is configured. Its launcher id, by which it is known
 * in `declined_by`, survives changes of the configuration, and restarts that keep the session.
 */
#pragma once

#include "launcher/provider/manager.h"

typedef struct _DroverPool DroverPool;

/* Something happened after which all pools should be looked at again. */
typedef void (*DroverWakeFunc)(gpointer user_data);

/* `tenants` holds the DroverTenantConfig of the configuration. */
DroverPool *drover_pool_new(DroverManager *manager, const DroverPoolConfig *config,
                            const GPtrArray *tenants, DroverWakeFunc wake, gpointer user_data);
/* Deregisters, drops what is not written yet, puts accepted requests back, and frees. */
void drover_pool_free(DroverPool *pool);
/* The locks are lost: nothing of what it was doing is to be written. */
void drover_pool_drop(DroverPool *pool);

/* A newer configuration, and the provider object that goes with it; its manager is running. */
void drover_pool_configure(DroverPool *pool, DroverManager *manager, const DroverPoolConfig *config,
                           const GPtrArray *tenants);

/* If its manager is one of these, which are about to retire, it serves nothing until it is
 * configured again; launches under way go on. */
void drover_pool_let_go(DroverPool *pool, const GPtrArray *managers);

/*
 * Nothing new is accepted as long as `why` is not NULL: a literal, for people. What can never be
 * served is declined all the same, and what was accepted goes on.
 */
void drover_pool_hold(DroverPool *pool, const char *why);
/* It has no request in hand. */
gboolean drover_pool_is_idle(const DroverPool *pool);

gboolean drover_pool_is(const DroverPool *pool, const char *provider, const char *name);
const char *drover_pool_launcher_id(const DroverPool *pool);

/* News. */
void drover_pool_note_node(DroverPool *pool, const char *id, const DroverNode *node);
void drover_pool_note_node_lock(DroverPool *pool, const char *id, DroverCacheLock lock);
void drover_pool_note_request(DroverPool *pool, const char *id, const DroverRequest *request);
void drover_pool_note_registry(DroverPool *pool);

gboolean drover_pool_serves(const DroverPool *pool, const char *request_id);
/* Whether the registry shows the pool, with the labels that it has now. */
gboolean drover_pool_is_announced(const DroverPool *pool);
/* It takes nothing new: a request waits for room, or it is held. */
gboolean drover_pool_is_paused(const DroverPool *pool);

/*
 * Looks at every request. Does nothing unless the pool's own component is in the registry. `coming`
 * holds the labels (char **) of each pool of this launcher that is not announced yet.
 */
void drover_pool_pass(DroverPool *pool, const GPtrArray *coming);

/* What it last decided about a request, see verdicts.h, and who decided; NULL: nothing. */
json_t *drover_pool_verdict(const DroverPool *pool, const char *request_id);
/* Its state and the requests that it has in hand, for people. */
json_t *drover_pool_describe(const DroverPool *pool);
