#include "launcher/request/pool-private.h"

#include <string.h>

#include "base/log.h"
#include "base/uuid.h"
#include "launcher/cluster/host-name.h"

void
drover_pool_unref(DroverPool *pool)
{
    if (!g_ref_count_dec(&pool->references))
        return;
    drover_stock_unref(pool->stock);
    g_hash_table_unref(pool->handlers);
    g_hash_table_unref(pool->declining);
    g_hash_table_unref(pool->hopeless);
    drover_verdicts_free(pool->verdicts);
    g_free(pool->provider);
    g_free(pool->name);
    g_free(pool->logger);
    g_free(pool->launcher_id);
    g_free(pool);
}

DroverLogSubject
drover_pool_subject(const DroverPool *pool, const DroverRequest *request)
{
    return (DroverLogSubject){.logger = pool->logger,
                              .event_id = request->event_id,
                              .request_id = request->id,
                              .provider = pool->provider,
                              .pool = pool->name};
}

/* ---- The component ---- */

static GBytes *
component_record(const DroverPool *pool)
{
    const char *illness = pool->manager != NULL ? drover_manager_illness(pool->manager) : NULL;
    DroverComponent component = {.hostname = (char *)drover_host_name(),
                                 .kind = (char *)"pool",
                                 .state = (char *)(pool->held != NULL ? "paused" : "running"),
                                 .version = (char *)DROVER_VERSION,
                                 .model_api = DROVER_MODEL_API,
                                 .id = pool->launcher_id,
                                 .name = pool->name,
                                 .provider_name = pool->provider,
                                 .supported_labels = pool->config->labels,
                                 .priority = pool->config->priority,
                                 .paused = pool->paused || pool->held != NULL || illness != NULL,
                                 .problem = (char *)illness};

    return drover_component_encode(&component);
}

/* An earlier process of this session served this pool: requests it declined know it by its id. */
static gboolean
take_over_component(GBytes *data, gpointer user_data)
{
    DroverPool *pool = user_data;
    g_autoptr(DroverComponent) component = drover_component_decode(data, NULL);

    if (component == NULL || component->id == NULL || pool->manager == NULL ||
        g_strcmp0(component->provider_name, pool->provider) != 0 ||
        g_strcmp0(component->name, pool->name) != 0)
        return FALSE;
    if (drover_registration_name(pool->registration) == NULL) {
        g_autoptr(GBytes) record = NULL;

        g_free(pool->launcher_id);
        pool->launcher_id = g_strdup(component->id);
        record = component_record(pool);
        drover_registration_update(pool->registration, record);
    }
    return TRUE;
}

static void
on_registered(const char *name, gpointer user_data)
{
    DroverPool *pool = user_data;

    pool->seen = drover_cluster_has_pool(pool->cluster, name);
    if (name != NULL)
        drover_log_for(DROVER_LOG_INFO, "ComponentRegistry", "Registered %s/%s (%s)",
                       DROVER_POOLS_PATH, name, pool->launcher_id);
    pool->wake(pool->user_data);
}

void
drover_pool_note_registry(DroverPool *pool)
{
    const char *name = drover_registration_name(pool->registration);
    gboolean there = drover_cluster_has_pool(pool->cluster, name);

    if (pool->seen && !there && name != NULL && drover_cluster_is_complete(pool->cluster)) {
        drover_log_for(DROVER_LOG_WARNING, "ComponentRegistry",
                       "Component %s/%s was removed by somebody; registering again",
                       DROVER_POOLS_PATH, name);
        pool->seen = FALSE;
        drover_registration_vanished(pool->registration);
    } else {
        pool->seen = there;
    }
}

void
drover_pool_update_component(DroverPool *pool)
{
    g_autoptr(GBytes) record = NULL;

    if (pool->config == NULL)
        return;
    record = component_record(pool);
    drover_registration_update(pool->registration, record);
}

gboolean
drover_pool_is_announced(const DroverPool *pool)
{
    const GPtrArray *registered = drover_cluster_pools(pool->cluster);

    for (guint i = 0; pool->seen && pool->config != NULL && i < registered->len; i++) {
        const DroverComponent *component = g_ptr_array_index(registered, i);

        if (g_strcmp0(component->id, pool->launcher_id) == 0)
            return g_strv_equal((const char *const *)component->supported_labels,
                                (const char *const *)pool->config->labels);
    }
    return FALSE;
}

gboolean
drover_pool_is_paused(const DroverPool *pool)
{
    return pool->paused || pool->held != NULL;
}

/* ---- News ---- */

void
drover_pool_note_node(DroverPool *pool, const char *id, const DroverNode *node)
{
    drover_stock_note(pool->stock, id, node);
}

void
drover_pool_note_node_lock(DroverPool *pool, const char *id, DroverCacheLock lock)
{
    if (lock == DROVER_CACHE_LOCK_FREE)
        drover_stock_set_usable(pool->stock, id, TRUE);
}

void
drover_pool_note_request(DroverPool *pool, const char *id, const DroverRequest *request)
{
    DroverHandler *handler = g_hash_table_lookup(pool->handlers, id);

    if (request == NULL || request->state == DROVER_REQUEST_FULFILLED)
        drover_verdicts_forget(pool->verdicts, id);
    if (request == NULL)
        g_hash_table_remove(pool->hopeless, id);
    if (request != NULL || handler == NULL)
        return;
    drover_log(DROVER_LOG_INFO,
               &(DroverLogSubject){.logger = pool->logger,
                                   .event_id = drover_handler_request(handler)->event_id,
                                   .request_id = id,
                                   .provider = pool->provider,
                                   .pool = pool->name},
               "Node request vanished");
    g_hash_table_remove(pool->handlers, id);
    drover_handler_abandon(handler);
    drover_pool_note_paused(pool);
}

/* ---- Life ---- */

static char *
new_launcher_id(const char *provider, const char *name)
{
    g_autofree char *hex = drover_uuid_digits();

    return g_strdup_printf("%s-PoolWorker.%s-%s-%s", drover_host_fqdn(), provider, name, hex);
}

static void
stock_up(DroverPool *pool)
{
    DroverCacheIter iter;
    const char *id;
    gpointer node;

    drover_cache_iter_init(&iter, drover_cluster_nodes(pool->cluster));
    while (drover_cache_iter_next(&iter, &id, &node))
        drover_stock_note(pool->stock, id, node);
}

DroverPool *
drover_pool_new(DroverManager *manager, const DroverPoolConfig *config, const GPtrArray *tenants,
                DroverWakeFunc wake, gpointer user_data)
{
    DroverCluster *cluster = drover_manager_parts(manager)->cluster;
    DroverPool *pool = g_new0(DroverPool, 1);
    g_autoptr(GBytes) record = NULL;

    g_ref_count_init(&pool->references);
    pool->cluster = cluster;
    pool->telemetry = drover_manager_parts(manager)->telemetry;
    pool->manager = manager;
    pool->config = config;
    pool->tenants = tenants;
    drover_pool_begin_view(pool);
    pool->wake = wake;
    pool->user_data = user_data;
    pool->provider = g_strdup(drover_manager_name(manager));
    pool->name = g_strdup(config->name);
    pool->logger = g_strdup_printf("PoolWorker.%s-%s", pool->provider, pool->name);
    drover_log_declare(pool->logger);
    pool->launcher_id = new_launcher_id(pool->provider, pool->name);
    pool->stock = drover_stock_new(pool->provider, pool->name);
    pool->handlers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    pool->declining = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    pool->hopeless = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    pool->verdicts = drover_verdicts_new();
    pool->board = drover_verdict_board_new(drover_cluster_session(cluster), pool->verdicts);
    stock_up(pool);
    record = component_record(pool);
    pool->registration = drover_registration_new(drover_cluster_session(cluster), DROVER_POOLS_PATH,
                                                 drover_host_name(), record, take_over_component,
                                                 on_registered, pool);
    return pool;
}

typedef gboolean (*Filter)(const DroverHandler *handler);
typedef void (*End)(DroverHandler *handler);

static gboolean
is_unwritten(const DroverHandler *handler)
{
    return !drover_handler_is_pending(handler);
}

static void
end_handlers(DroverPool *pool, Filter filter, End handler_end)
{
    GHashTableIter iter;
    gpointer handler;

    g_hash_table_iter_init(&iter, pool->handlers);
    while (g_hash_table_iter_next(&iter, NULL, &handler)) {
        if (filter != NULL && !filter(handler))
            continue;
        g_hash_table_iter_remove(&iter);
        handler_end(handler);
    }
    drover_pool_note_paused(pool);
}

static void
move_handlers(DroverPool *pool)
{
    GHashTableIter iter;
    gpointer handler;

    g_hash_table_iter_init(&iter, pool->handlers);
    while (g_hash_table_iter_next(&iter, NULL, &handler))
        drover_handler_move(handler, pool->manager, pool->config);
}

void
drover_pool_configure(DroverPool *pool, DroverManager *manager, const DroverPoolConfig *config,
                      const GPtrArray *tenants)
{
    /* What is not written yet is decided anew by the new provider object. */
    if (manager != pool->manager) {
        end_handlers(pool, is_unwritten, drover_handler_abandon);
        drover_stock_set_all_usable(pool->stock);
    }
    /* Accepted requests wait for machines that this one does not make. */
    if (drover_manager_has_inventory(manager))
        end_handlers(pool, drover_handler_is_pending, drover_handler_release);
    pool->manager = manager;
    pool->config = config;
    pool->tenants = tenants;
    move_handlers(pool);
    drover_pool_update_component(pool);
}

void
drover_pool_let_go(DroverPool *pool, const GPtrArray *managers)
{
    if (pool->manager == NULL || !g_ptr_array_find((GPtrArray *)managers, pool->manager, NULL))
        return;
    end_handlers(pool, is_unwritten, drover_handler_abandon);
    pool->manager = NULL;
    pool->config = NULL;
    move_handlers(pool);
}

void
drover_pool_hold(DroverPool *pool, const char *why)
{
    pool->held = why;
    drover_pool_update_component(pool);
}

gboolean
drover_pool_is_idle(const DroverPool *pool)
{
    return g_hash_table_size(pool->handlers) == 0 && g_hash_table_size(pool->declining) == 0;
}

void
drover_pool_drop(DroverPool *pool)
{
    end_handlers(pool, NULL, drover_handler_abandon);
}

void
drover_pool_free(DroverPool *pool)
{
    drover_log_for(DROVER_LOG_INFO, pool->logger, "Stopping pool");
    pool->config = NULL;
    end_handlers(pool, is_unwritten, drover_handler_abandon);
    end_handlers(pool, NULL, drover_handler_release);
    drover_registration_free(pool->registration);
    drover_verdict_board_free(pool->board);
    pool->manager = NULL;
    drover_pool_unref(pool);
}

gboolean
drover_pool_is(const DroverPool *pool, const char *provider, const char *name)
{
    return strcmp(pool->provider, provider) == 0 && strcmp(pool->name, name) == 0;
}

const char *
drover_pool_launcher_id(const DroverPool *pool)
{
    return pool->launcher_id;
}
