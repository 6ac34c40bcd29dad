#include "launcher/cluster/cluster.h"

#include <string.h>

#include "base/log.h"
#include "zk/operation.h"

typedef struct {
    DroverClusterFunc func;
    gpointer user_data;
} Waiter;

struct _DroverCluster {
    DroverSession *session;
    DroverClusterListener listener;
    gpointer user_data;
    guint session_listener;
    DroverCache *nodes, *requests, *pools;
    gboolean complete;
    gboolean settling, settling_nodes; /* somebody asked whether it is settled when it was not */
    guint64 changes;
    GHashTable *waiters; /* id -> Waiter */
    guint last_waiter;
    GHashTable *warned;          /* ids of nodes that something is wrong with: said once */
    GPtrArray *sorted_requests;  /* NULL: to be made again */
    GPtrArray *registered_pools; /* NULL: to be made again */
};

/* ---- Decoding ---- */

static void
log_malformed(const char *root, const char *name, const GError *error)
{
    drover_log_for(DROVER_LOG_ERROR, "zk.ZooKeeper", "%s/%s is unusable: %s", root, name,
                   error->message);
}

/* What is wrong with a node that can be read all the same; NULL when nothing is. */
static const char *
find_flaw(const DroverNode *node)
{
    if (node->state == DROVER_NODE_UNKNOWN)
        return "Node has a state that this version does not know; it is left alone";
    if (node->provider == NULL || node->pool == NULL)
        return "Node has no provider or pool; it is nobody's here";
    if (node->labels[0] == NULL)
        return "Node has no label; it serves no request";
    return NULL;
}

static gpointer
decode_node(const char *name, GBytes *data, gint32 version, gpointer user_data)
{
    DroverCluster *cluster = user_data;
    g_autoptr(GError) error = NULL;
    DroverNode *node = drover_node_decode(name, data, version, &error);
    const char *flaw = node != NULL ? find_flaw(node) : NULL;

    if (node == NULL)
        log_malformed(DROVER_NODES_PATH, name, error);
    else if (flaw != NULL && g_hash_table_add(cluster->warned, g_strdup(name)))
        drover_log(DROVER_LOG_WARNING, &(DroverLogSubject){.node_id = name}, "%s", flaw);
    return node;
}

static gpointer
decode_request(const char *name, GBytes *data, gint32 version, gpointer user_data)
{
    g_autoptr(GError) error = NULL;
    DroverRequest *request = drover_request_decode(name, data, version, &error);

    if (request == NULL)
        log_malformed(DROVER_REQUESTS_PATH, name, error);
    return request;
}

static gpointer
decode_pool(const char *name, GBytes *data, gint32 version, gpointer user_data)
{
    g_autoptr(GError) error = NULL;
    DroverComponent *component = drover_component_decode(data, &error);

    if (component == NULL)
        log_malformed(DROVER_POOLS_PATH, name, error);
    return component;
}

/* ---- Changes ---- */

/* They may call each other off, and wait again for the next time. */
static void
call_waiters(DroverCluster *cluster)
{
    g_autoptr(GList) ids = g_hash_table_get_keys(cluster->waiters);

    for (GList *id = ids; id != NULL; id = id->next) {
        gpointer waiter;

        if (!g_hash_table_steal_extended(cluster->waiters, id->data, NULL, &waiter))
            continue;
        ((Waiter *)waiter)->func(((Waiter *)waiter)->user_data);
        g_free(waiter);
    }
}

static void
on_completed(DroverCache *cache, gboolean complete, gpointer user_data)
{
    DroverCluster *cluster = user_data;
    gboolean now = drover_cache_is_complete(cluster->nodes) &&
                   drover_cache_is_complete(cluster->requests) &&
                   drover_cache_is_complete(cluster->pools);

    if (now == cluster->complete)
        return;
    cluster->complete = now;
    if (cluster->listener.complete_changed != NULL)
        cluster->listener.complete_changed(now, cluster->user_data);
    if (now)
        call_waiters(cluster);
}

static gboolean
is_settled(const DroverCluster *cluster)
{
    return drover_cache_is_settled(cluster->nodes) && drover_cache_is_settled(cluster->requests) &&
           drover_cache_is_settled(cluster->pools);
}

static void
on_settled(DroverCache *cache, gpointer user_data)
{
    DroverCluster *cluster = user_data;

    gboolean nodes = cluster->settling_nodes && drover_cache_is_settled(cluster->nodes);
    gboolean all = cluster->settling && is_settled(cluster);

    if (nodes)
        cluster->settling_nodes = FALSE;
    if (all)
        cluster->settling = FALSE;
    if ((nodes || all) && cluster->listener.settled != NULL)
        cluster->listener.settled(cluster->user_data);
}

static void
on_node(DroverCache *cache, const char *name, gpointer old, gpointer new_object, gpointer user_data)
{
    DroverCluster *cluster = user_data;

    cluster->changes++;
    if (new_object == NULL)
        g_hash_table_remove(cluster->warned, name);
    if (cluster->listener.node_changed != NULL)
        cluster->listener.node_changed(name, old, new_object, cluster->user_data);
}

static void
on_node_lock(DroverCache *cache, const char *name, DroverCacheLock lock, gpointer user_data)
{
    DroverCluster *cluster = user_data;

    if (cluster->listener.node_lock_changed != NULL)
        cluster->listener.node_lock_changed(name, lock, cluster->user_data);
}

static void
on_request(DroverCache *cache, const char *name, gpointer old, gpointer new_object,
           gpointer user_data)
{
    DroverCluster *cluster = user_data;

    cluster->changes++;
    g_clear_pointer(&cluster->sorted_requests, g_ptr_array_unref);
    if (cluster->listener.request_changed != NULL)
        cluster->listener.request_changed(name, old, new_object, cluster->user_data);
}

static void
on_pool(DroverCache *cache, const char *name, gpointer old, gpointer new_object, gpointer user_data)
{
    DroverCluster *cluster = user_data;
    const DroverComponent *pool = new_object != NULL ? new_object : old;

    if (old == NULL || new_object == NULL)
        drover_log_for(DROVER_LOG_INFO, "ComponentRegistry", "Component %s %s/%s (%s-%s)",
                       old == NULL ? "appeared:" : "disappeared:", DROVER_POOLS_PATH, name,
                       pool->provider_name, pool->name);
    cluster->changes++;
    g_clear_pointer(&cluster->registered_pools, g_ptr_array_unref);
    if (cluster->listener.pools_changed != NULL)
        cluster->listener.pools_changed(cluster->user_data);
}

static void
ensure_parents(DroverSession *session)
{
    static const char *const paths[] = {
        DROVER_NODES_PATH,         DROVER_REQUESTS_PATH,  DROVER_POOLS_PATH,
        DROVER_REQUEST_LOCKS_PATH, DROVER_LAUNCHERS_PATH, DROVER_COMPONENTS_PATH "/builder",
    };

    for (guint i = 0; i < G_N_ELEMENTS(paths); i++)
        drover_session_ensure(session, paths[i], NULL, NULL);
}

/* Added before the caches' own listeners, so the parents exist when these list them. */
static void
on_state(DroverSession *session, DroverSessionState state, gpointer user_data)
{
    if (state == DROVER_SESSION_CONNECTED)
        ensure_parents(session);
}

/* ---- Life ---- */

DroverCluster *
drover_cluster_new(DroverSession *session, const DroverClusterListener *listener,
                   gpointer user_data)
{
    static const DroverCacheClass nodes = {.decode = decode_node,
                                           .free = (GDestroyNotify)drover_node_unref,
                                           .changed = on_node,
                                           .lock_changed = on_node_lock,
                                           .completed = on_completed,
                                           .settled = on_settled};
    static const DroverCacheClass requests = {.decode = decode_request,
                                              .free = (GDestroyNotify)drover_request_unref,
                                              .changed = on_request,
                                              .completed = on_completed,
                                              .settled = on_settled};
    static const DroverCacheClass pools = {.decode = decode_pool,
                                           .free = (GDestroyNotify)drover_component_free,
                                           .changed = on_pool,
                                           .completed = on_completed,
                                           .settled = on_settled};
    DroverCluster *cluster = g_new0(DroverCluster, 1);

    cluster->session = session;
    cluster->listener = *listener;
    cluster->warned = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    cluster->waiters = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    cluster->user_data = user_data;
    cluster->session_listener = drover_session_add_listener(session, on_state, cluster);
    if (drover_session_state(session) == DROVER_SESSION_CONNECTED)
        ensure_parents(session);
    cluster->nodes = drover_cache_new(session, DROVER_NODES_PATH, &nodes, cluster);
    cluster->requests = drover_cache_new(session, DROVER_REQUESTS_PATH, &requests, cluster);
    cluster->pools = drover_cache_new(session, DROVER_POOLS_PATH, &pools, cluster);
    return cluster;
}

void
drover_cluster_free(DroverCluster *cluster)
{
    if (cluster == NULL)
        return;
    drover_session_remove(cluster->session, cluster->session_listener);
    drover_cache_free(cluster->nodes);
    drover_cache_free(cluster->requests);
    drover_cache_free(cluster->pools);
    g_clear_pointer(&cluster->sorted_requests, g_ptr_array_unref);
    g_clear_pointer(&cluster->registered_pools, g_ptr_array_unref);
    g_hash_table_unref(cluster->waiters);
    g_hash_table_unref(cluster->warned);
    g_free(cluster);
}

/* ---- Questions ---- */

DroverSession *
drover_cluster_session(const DroverCluster *cluster)
{
    return cluster->session;
}

gboolean
drover_cluster_is_complete(const DroverCluster *cluster)
{
    return cluster->complete;
}

gboolean
drover_cluster_is_settled(DroverCluster *cluster)
{
    if (is_settled(cluster))
        return TRUE;
    cluster->settling = TRUE;
    return FALSE;
}

gboolean
drover_cluster_has_settled_nodes(DroverCluster *cluster)
{
    if (drover_cache_is_settled(cluster->nodes))
        return TRUE;
    cluster->settling_nodes = TRUE;
    return FALSE;
}

guint
drover_cluster_await(DroverCluster *cluster, DroverClusterFunc func, gpointer user_data)
{
    Waiter *waiter = g_new0(Waiter, 1);

    waiter->func = func;
    waiter->user_data = user_data;
    g_hash_table_insert(cluster->waiters, GUINT_TO_POINTER(++cluster->last_waiter), waiter);
    return cluster->last_waiter;
}

void
drover_cluster_call_off(DroverCluster *cluster, guint id)
{
    g_hash_table_remove(cluster->waiters, GUINT_TO_POINTER(id));
}

guint64
drover_cluster_changes(const DroverCluster *cluster)
{
    return cluster->changes;
}

const DroverCache *
drover_cluster_request_cache(const DroverCluster *cluster)
{
    return cluster->requests;
}

DroverCache *
drover_cluster_nodes(const DroverCluster *cluster)
{
    return cluster->nodes;
}

const DroverNode *
drover_cluster_node(const DroverCluster *cluster, const char *id)
{
    return drover_cache_lookup(cluster->nodes, id);
}

const DroverRequest *
drover_cluster_request(const DroverCluster *cluster, const char *id)
{
    return drover_cache_lookup(cluster->requests, id);
}

static gint
compare_requests(gconstpointer a, gconstpointer b)
{
    return drover_request_compare(*(DroverRequest *const *)a, *(DroverRequest *const *)b);
}

const GPtrArray *
drover_cluster_requests(DroverCluster *cluster)
{
    DroverCacheIter iter;
    gpointer request;

    if (cluster->sorted_requests != NULL)
        return cluster->sorted_requests;
    cluster->sorted_requests = g_ptr_array_new();
    drover_cache_iter_init(&iter, cluster->requests);
    while (drover_cache_iter_next(&iter, NULL, &request))
        g_ptr_array_add(cluster->sorted_requests, request);
    g_ptr_array_sort(cluster->sorted_requests, compare_requests);
    return cluster->sorted_requests;
}

static gboolean
is_listed(const GPtrArray *pools, const DroverComponent *pool)
{
    for (guint i = 0; i < pools->len; i++)
        if (g_strcmp0(((const DroverComponent *)g_ptr_array_index(pools, i))->id, pool->id) == 0)
            return TRUE;
    return FALSE;
}

const GPtrArray *
drover_cluster_pools(DroverCluster *cluster)
{
    DroverCacheIter iter;
    gpointer pool;

    if (cluster->registered_pools != NULL)
        return cluster->registered_pools;
    cluster->registered_pools = g_ptr_array_new();
    drover_cache_iter_init(&iter, cluster->pools);
    while (drover_cache_iter_next(&iter, NULL, &pool))
        if (!is_listed(cluster->registered_pools, pool))
            g_ptr_array_add(cluster->registered_pools, pool);
    return cluster->registered_pools;
}

gboolean
drover_cluster_has_pool(const DroverCluster *cluster, const char *znode_name)
{
    return znode_name != NULL && drover_cache_lookup(cluster->pools, znode_name) != NULL;
}
