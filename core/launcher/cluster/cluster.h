/*
 * What this process sees of the cluster: the caches of nodes, requests and registered pools,
 * decoded by the model. Core loop only.
 */
#pragma once

#include "model/component.h"
#include "model/node.h"
#include "model/request.h"
#include "zk/cache.h"

#define DROVER_POOLS_PATH     DROVER_COMPONENTS_PATH "/pool"
#define DROVER_LAUNCHERS_PATH DROVER_COMPONENTS_PATH "/launcher"

typedef struct _DroverCluster DroverCluster;

/* Old and new are NULL when there was or is none. Members may be NULL. */
typedef struct {
    void (*node_changed)(const char *id, const DroverNode *old, const DroverNode *new_node,
                         gpointer user_data);
    void (*node_lock_changed)(const char *id, DroverCacheLock lock, gpointer user_data);
    void (*request_changed)(const char *id, const DroverRequest *old,
                            const DroverRequest *new_request, gpointer user_data);
    void (*pools_changed)(gpointer user_data);
    /* Somebody asked whether it is settled, or its nodes are, while it was not; now it is. */
    void (*settled)(gpointer user_data);
    /* All caches are complete, or one is not any more. */
    void (*complete_changed)(gboolean complete, gpointer user_data);
} DroverClusterListener;

typedef void (*DroverClusterFunc)(gpointer user_data);

DroverCluster *drover_cluster_new(DroverSession *session, const DroverClusterListener *listener,
                                  gpointer user_data);
void drover_cluster_free(DroverCluster *cluster);

DroverSession *drover_cluster_session(const DroverCluster *cluster);
/* Decide nothing unless it is. */
gboolean drover_cluster_is_complete(const DroverCluster *cluster);
/*
 * Calls once, as soon as all is complete again after the connection was lost. Returns an id to call
 * it off, which is never 0.
 */
guint drover_cluster_await(DroverCluster *cluster, DroverClusterFunc func, gpointer user_data);
void drover_cluster_call_off(DroverCluster *cluster, guint id);
/*
 * Complete, and nothing is being read: all that happened before the session's last answer is seen.
 * When it is not, the listener hears of it as soon as it is, also if the reads bring no news.
 */
gboolean drover_cluster_is_settled(DroverCluster *cluster);
/* The same of nodes alone, which is true more often. */
gboolean drover_cluster_has_settled_nodes(DroverCluster *cluster);

/* How often a node, a request or a registered pool has changed. */
guint64 drover_cluster_changes(const DroverCluster *cluster);

/* The cache of requests is only for numbers about it: use drover_cluster_requests(). */
const DroverCache *drover_cluster_request_cache(const DroverCluster *cluster);
DroverCache *drover_cluster_nodes(const DroverCluster *cluster);
const DroverNode *drover_cluster_node(const DroverCluster *cluster, const char *id);
const DroverRequest *drover_cluster_request(const DroverCluster *cluster, const char *id);

/* In the order in which they are served. Elements are const DroverRequest, valid until a change. */
const GPtrArray *drover_cluster_requests(DroverCluster *cluster);

/*
 * The registered pools of all launchers, each launcher id once. Elements are const DroverComponent,
 * valid until a change.
 */
const GPtrArray *drover_cluster_pools(DroverCluster *cluster);
/* Whether a pool's component of this znode name is in the registry. */
gboolean drover_cluster_has_pool(const DroverCluster *cluster, const char *znode_name);
