#include "launcher/pool.h"

#include <string.h>

#include "base/log.h"
#include "launcher/decision.h"
#include "launcher/handler.h"
#include "launcher/host-name.h"
#include "launcher/room.h"
#include "launcher/verdict-board.h"
#include "zk/change.h"
#include "zk/registration.h"

struct _DroverPool {
    grefcount references; /* the owner, and every decline under way */
    DroverCluster *cluster;
    DroverManager *manager;         /* NULL while there is none, and once freed */
    const DroverPoolConfig *config; /* NULL without a manager */
    const GPtrArray *tenants;       /* of DroverTenantConfig */
    DroverWakeFunc wake;
    gpointer user_data;

    char *provider, *name;
    char *logger;
    char *launcher_id;
    DroverRegistration *registration;
    gboolean seen;    /* our component was in the registry */
    gboolean paused;  /* a pending request waits for room */
    const char *held; /* why nothing new is accepted; or NULL */
    gboolean took_up; /* what an earlier process had accepted */
    DroverStock *stock;
    GHashTable *handlers;  /* request id -> DroverHandler */
    GHashTable *declining; /* request ids */
    DroverCloudView cloud;
    DroverVerdicts *verdicts;
    DroverVerdictBoard *board;
};

static void
pool_unref(DroverPool *pool)
{
    if (!g_ref_count_dec(&pool->references))
        return;
    drover_stock_unref(pool->stock);
    g_hash_table_unref(pool->handlers);
    g_hash_table_unref(pool->declining);
    drover_verdicts_free(pool->verdicts);
    g_free(pool->provider);
    g_free(pool->name);
    g_free(pool->logger);
    g_free(pool->launcher_id);
    g_free(pool);
}

static DroverLogSubject
subject_of(const DroverPool *pool, const DroverRequest *request)
{
    return (DroverLogSubject){
        .logger = pool->logger, .event_id = request->event_id, .request_id = request->id};
}

/* ---- The component ---- */

static GBytes *
component_record(const DroverPool *pool)
{
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
                                 .paused = pool->paused || pool->held != NULL};

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

/* ---- Declining ---- */

typedef struct {
    DroverPool *pool;
    DroverRequest *request;
    char *reason;
} Decline;

static void
on_declined(const DroverChangeResult *result, gpointer user_data)
{
    g_autofree Decline *decline = user_data;
    DroverPool *pool = decline->pool;
    DroverLogSubject subject = subject_of(pool, decline->request);

    g_hash_table_remove(pool->declining, decline->request->id);
    if (result->outcome == DROVER_CHANGE_DONE)
        drover_log(DROVER_LOG_INFO, &subject, "Declined node request: %s", decline->reason);
    else
        drover_log(DROVER_LOG_DEBUG, &subject, "Not declined: %s is %s",
                   result->blamed != NULL ? result->blamed : "the outcome",
                   drover_change_outcome_name(result->outcome));
    /* A locked request is met again in the next pass. */
    if (pool->manager != NULL && result->outcome != DROVER_CHANGE_BUSY)
        pool->wake(pool->user_data);
    drover_request_unref(decline->request);
    g_free(decline->reason);
    pool_unref(pool);
}

static void
refuse(const DroverPool *pool, const DroverPoolView *view, const DroverRequest *request,
       json_t *record)
{
    if (!drover_request_is_declined_by(request, pool->launcher_id))
        json_array_append_new(json_object_get(record, "declined_by"),
                              json_string(pool->launcher_id));
    drover_request_record_set_state(record, drover_decision_is_last(view, request)
                                                ? DROVER_REQUEST_FAILED
                                                : DROVER_REQUEST_REQUESTED);
}

static void
decline_request(DroverPool *pool, const DroverPoolView *view, const DroverRequest *request,
                const char *reason)
{
    g_autoptr(json_t) record = drover_request_record(request);
    g_autoptr(GBytes) data = NULL;
    g_autofree char *path = drover_request_path(request->id);
    g_autofree char *lock = drover_request_lock_path(request->id);
    DroverChange *change = drover_change_new(drover_cluster_session(pool->cluster));
    Decline *decline = g_new0(Decline, 1);

    g_ref_count_inc(&pool->references);
    decline->pool = pool;
    decline->request = drover_request_ref((DroverRequest *)request);
    decline->reason = g_strdup(reason);
    refuse(pool, view, request, record);
    data = drover_record_bytes(record);
    drover_change_claim(change, lock, FALSE);
    drover_change_set(change, path, data, request->version);
    g_hash_table_add(pool->declining, g_strdup(request->id));
    drover_change_commit(change, on_declined, decline);
}

/* ---- The view of a pool ---- */

static DroverRoom
ask_images(const DroverRequest *request, char **reason, gpointer user_data)
{
    const DroverPool *pool = user_data;

    return drover_room_for_images(pool->manager, pool->config, (const char *const *)request->labels,
                                  reason);
}

static DroverRoom
ask_ever(const DroverRequest *request, char **reason, gpointer user_data)
{
    const DroverPool *pool = user_data;

    return drover_room_for_ever(pool->manager, pool->config, request, reason);
}

static DroverRoom
ask_tenant(const DroverRequest *request, char **reason, gpointer user_data)
{
    const DroverPool *pool = user_data;

    return drover_room_of_tenant(pool->manager, pool->config, pool->tenants, request, reason);
}

static gboolean
ask_broken(const char *label, gpointer user_data)
{
    const DroverPool *pool = user_data;

    return drover_facts_label_error(drover_manager_facts(pool->manager), label) != NULL;
}

static gboolean
is_at_max_concurrency(const DroverPool *pool)
{
    int most = drover_manager_config(pool->manager)->max_concurrency;

    return most > 0 && drover_manager_active(pool->manager) >= (guint)most;
}

static void
view_pool(DroverPool *pool, DroverPoolView *view)
{
    gboolean inventory = drover_manager_has_inventory(pool->manager);

    *view = (DroverPoolView){.launcher_id = pool->launcher_id,
                             .provider = pool->provider,
                             .priority = pool->config->priority,
                             .labels = (const char *const *)pool->config->labels,
                             .disabled = pool->config->max_servers <= 0,
                             .paused = pool->paused,
                             .held = pool->held,
                             .at_max_concurrency = is_at_max_concurrency(pool),
                             .stock = inventory ? drover_stock_count(pool->stock) : NULL,
                             .cloud = inventory ? NULL : &pool->cloud,
                             .registered = drover_cluster_pools(pool->cluster)};
}

static void
clear_view(DroverPoolView *view)
{
    g_clear_pointer(&view->stock, g_hash_table_unref);
}

/* ---- Serving ---- */

static void
decline_standby(DroverPool *pool, const char *request_id)
{
    const DroverRequest *request = drover_cluster_request(pool->cluster, request_id);
    DroverPoolView view;

    if (request == NULL || g_strcmp0(request->requestor, DROVER_STANDBY_REQUESTOR) != 0)
        return;
    view_pool(pool, &view);
    decline_request(pool, &view, request, "there is no room for standby nodes");
    clear_view(&view);
}

static void
update_component(DroverPool *pool)
{
    g_autoptr(GBytes) record = NULL;

    if (pool->config == NULL)
        return;
    record = component_record(pool);
    drover_registration_update(pool->registration, record);
}

/* The pool is paused as long as one of its handlers is. */
static void
note_paused(DroverPool *pool)
{
    gboolean paused = FALSE;
    GHashTableIter iter;
    gpointer handler;

    g_hash_table_iter_init(&iter, pool->handlers);
    while (g_hash_table_iter_next(&iter, NULL, &handler))
        paused = paused || drover_handler_is_paused(handler);
    if (paused == pool->paused)
        return;
    pool->paused = paused;
    drover_log_for(DROVER_LOG_DEBUG, pool->logger, paused ? "Pausing" : "No longer paused");
    update_component(pool);
    pool->wake(pool->user_data);
}

static void
on_handler_paused(DroverHandler *handler, gpointer user_data)
{
    note_paused(user_data);
}

static void
on_handled(DroverHandler *handler, DroverHandlerOutcome outcome, gpointer user_data)
{
    DroverPool *pool = user_data;
    g_autofree char *request_id = g_strdup(drover_handler_request(handler)->id);

    g_hash_table_remove(pool->handlers, request_id);
    note_paused(pool);
    if (outcome == DROVER_HANDLER_SHORT)
        decline_standby(pool, request_id);
    /* A locked request is met again in the next pass, a short one when a node becomes free. */
    if (outcome != DROVER_HANDLER_LOCKED && outcome != DROVER_HANDLER_SHORT)
        pool->wake(pool->user_data);
}

static char *
find_obstacle(const DroverRequest *request, gpointer user_data)
{
    DroverPoolView view;
    char *obstacle;

    view_pool(user_data, &view);
    obstacle = drover_decision_find_obstacle(&view, request);
    clear_view(&view);
    return obstacle;
}

static void
add_decline(const DroverRequest *request, json_t *record, const char *reason, gpointer user_data)
{
    DroverPool *pool = user_data;
    DroverPoolView view = {.launcher_id = pool->launcher_id,
                           .registered = drover_cluster_pools(pool->cluster)};

    drover_verdicts_note(pool->verdicts, request->id, drover_verdict_name(DROVER_VERDICT_DECLINE),
                         reason);
    refuse(pool, &view, request, record);
}

static const DroverHandlerHooks handler_hooks = {.done = on_handled,
                                                 .paused = on_handler_paused,
                                                 .find_obstacle = find_obstacle,
                                                 .add_decline = add_decline};

static DroverHandlerPlace
place_of(DroverPool *pool)
{
    return (DroverHandlerPlace){.manager = pool->manager,
                                .pool = pool->config,
                                .stock = pool->stock,
                                .launcher_id = pool->launcher_id,
                                .hooks = &handler_hooks,
                                .user_data = pool};
}

static void
accept_request(DroverPool *pool, const DroverRequest *request)
{
    DroverLogSubject subject = subject_of(pool, request);
    DroverHandlerPlace place = place_of(pool);
    DroverHandler *handler;

    if (drover_log_enabled(DROVER_LOG_INFO)) {
        gsize length;
        const char *record = g_bytes_get_data(request->record, &length);
        drover_log(DROVER_LOG_INFO, &subject, "Assigning node request %.*s", (int)length, record);
    }
    handler = drover_handler_new(&place, request);
    g_hash_table_insert(pool->handlers, g_strdup(request->id), handler);
    drover_handler_step(handler);
}

/* ---- Taking up what an earlier process of this session had accepted ---- */

/* Of a request that was accepted: a node of it is ours, or it has none yet and we could serve it.
 */
static gboolean
was_served_here(const DroverPool *pool, const DroverRequest *request)
{
    DroverPoolView labels = {.labels = (const char *const *)pool->config->labels};
    gboolean any = FALSE;
    DroverCacheIter iter;
    const char *id;
    gpointer object;

    drover_cache_iter_init(&iter, drover_cluster_nodes(pool->cluster));
    while (drover_cache_iter_next(&iter, &id, &object)) {
        const DroverNode *node = object;

        if (g_strcmp0(node->allocated_to, request->id) != 0)
            continue;
        if (g_strcmp0(node->provider, pool->provider) == 0 &&
            g_strcmp0(node->pool, pool->name) == 0)
            return TRUE;
        any = TRUE;
    }
    return !any && drover_decision_missing_labels(&labels, request) == 0 &&
           !drover_request_is_declined_by(request, pool->launcher_id);
}

static void
take_up_requests(DroverPool *pool)
{
    const GPtrArray *all = drover_cluster_requests(pool->cluster);
    GHashTable *taken_up = drover_manager_parts(pool->manager)->taken_up;
    DroverHandlerPlace place = place_of(pool);

    pool->took_up = TRUE;
    if (!drover_session_is_resumed(drover_cluster_session(pool->cluster)) ||
        drover_manager_has_inventory(pool->manager))
        return;
    for (guint i = 0; i < all->len; i++) {
        const DroverRequest *request = g_ptr_array_index(all, i);

        if (request->state == DROVER_REQUEST_PENDING && was_served_here(pool, request) &&
            g_hash_table_add(taken_up, g_strdup(request->id)))
            g_hash_table_insert(pool->handlers, g_strdup(request->id),
                                drover_handler_resume(&place, request));
    }
}

/* ---- The pass ---- */

static void
decide(DroverPool *pool, DroverPoolView *view, const DroverRequest *request)
{
    DroverDecision decision = drover_decide(view, request);
    g_autofree char *reason = decision.reason;
    DroverLogSubject subject = subject_of(pool, request);

    if (decision.verdict == DROVER_VERDICT_ACCEPT)
        drover_verdicts_note(pool->verdicts, request->id, DROVER_VERDICT_SERVE, NULL);
    else if (reason != NULL)
        drover_verdicts_note(pool->verdicts, request->id, drover_verdict_name(decision.verdict),
                             reason);
    if (decision.verdict == DROVER_VERDICT_DECLINE) {
        decline_request(pool, view, request, reason);
    } else if (decision.verdict == DROVER_VERDICT_ACCEPT) {
        accept_request(pool, request);
        /* What was promised just now is not there for the next one. */
        clear_view(view);
        if (view->cloud == NULL)
            view->stock = drover_stock_count(pool->stock);
        view->at_max_concurrency = is_at_max_concurrency(pool);
        view->paused = pool->paused;
    } else if (reason != NULL) {
        drover_log(DROVER_LOG_DEBUG, &subject, "Not now (%s): %s",
                   drover_verdict_name(decision.verdict), reason);
    }
}

static gint
compare_missing(gconstpointer a, gconstpointer b, gpointer user_data)
{
    guint left = drover_decision_missing_labels(user_data, *(DroverRequest *const *)a);
    guint right = drover_decision_missing_labels(user_data, *(DroverRequest *const *)b);

    return (left > right) - (left < right);
}

/* In the order in which they are served. */
static GPtrArray *
open_requests(DroverPool *pool)
{
    const GPtrArray *all = drover_cluster_requests(pool->cluster);
    GPtrArray *open = g_ptr_array_new();

    for (guint i = 0; i < all->len; i++) {
        const DroverRequest *request = g_ptr_array_index(all, i);

        if (request->state == DROVER_REQUEST_REQUESTED &&
            !g_hash_table_contains(pool->handlers, request->id) &&
            !g_hash_table_contains(pool->declining, request->id))
            g_ptr_array_add(open, (gpointer)request);
    }
    return open;
}

static gint
compare_handlers(gconstpointer a, gconstpointer b)
{
    return drover_request_compare(drover_handler_request(*(DroverHandler *const *)a),
                                  drover_handler_request(*(DroverHandler *const *)b));
}

/* There may be room for those that wait for it: the best request comes first. */
static void
step_handlers(DroverPool *pool)
{
    g_autoptr(GPtrArray) handlers = g_ptr_array_new();
    GHashTableIter iter;
    gpointer handler;

    g_hash_table_iter_init(&iter, pool->handlers);
    while (g_hash_table_iter_next(&iter, NULL, &handler))
        g_ptr_array_add(handlers, handler);
    g_ptr_array_sort(handlers, compare_handlers);
    for (guint i = 0; i < handlers->len; i++)
        drover_handler_step(handlers->pdata[i]);
}

gboolean
drover_pool_serves(const DroverPool *pool, const char *request_id)
{
    return g_hash_table_contains(pool->handlers, request_id);
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

/* What became of the accepted ones. */
static void
note_handlers(DroverPool *pool)
{
    GHashTableIter iter;
    gpointer id, handler;

    g_hash_table_iter_init(&iter, pool->handlers);
    while (g_hash_table_iter_next(&iter, &id, &handler)) {
        g_autofree char *progress = drover_handler_describe(handler);

        drover_verdicts_note(pool->verdicts, id,
                             drover_handler_is_paused(handler) ? DROVER_VERDICT_WAIT
                                                               : DROVER_VERDICT_SERVE,
                             progress);
    }
}

static void
look_at_requests(DroverPool *pool, const GPtrArray *coming)
{
    g_autoptr(GPtrArray) open = NULL;
    DroverPoolView view;

    if (!pool->took_up)
        take_up_requests(pool);
    step_handlers(pool);
    note_handlers(pool);
    open = open_requests(pool);
    if (open->len == 0)
        return;
    view_pool(pool, &view);
    view.coming = coming;
    /* What this pool could serve comes before what it can only refuse. The sort is stable. */
    g_ptr_array_sort_with_data(open, compare_missing, &view);
    for (guint i = 0; i < open->len; i++)
        decide(pool, &view, g_ptr_array_index(open, i));
    clear_view(&view);
}

static void
leave_all(DroverPool *pool, const char *why)
{
    g_autoptr(GPtrArray) open = open_requests(pool);

    for (guint i = 0; i < open->len; i++)
        drover_verdicts_note(pool->verdicts, ((const DroverRequest *)open->pdata[i])->id,
                             drover_verdict_name(DROVER_VERDICT_DEFER), why);
}

void
drover_pool_pass(DroverPool *pool, const GPtrArray *coming)
{
    if (!drover_cluster_is_complete(pool->cluster) || !pool->seen || pool->manager == NULL)
        return;
    if (drover_manager_config(pool->manager)->max_concurrency == 0)
        leave_all(pool, "the provider's max-concurrency is 0");
    else
        look_at_requests(pool, coming);
    drover_verdict_board_step(pool->board, pool->launcher_id, pool->provider, pool->name,
                              drover_cluster_requests(pool->cluster));
}

/* ---- What it tells of itself ---- */

json_t *
drover_pool_verdict(const DroverPool *pool, const char *request_id)
{
    json_t *verdict = drover_verdicts_find(pool->verdicts, request_id);

    if (verdict == NULL)
        return NULL;
    drover_record_set_string(verdict, "launcher", pool->launcher_id);
    drover_record_set_string(verdict, "provider", pool->provider);
    drover_record_set_string(verdict, "pool", pool->name);
    return verdict;
}

static json_t *
handler_object(const DroverPool *pool, const char *request_id, const DroverHandler *handler)
{
    json_t *object = drover_verdicts_find(pool->verdicts, request_id);

    if (object == NULL)
        object = json_pack("{s:s}", "id", request_id);
    json_object_set_new(object, "accepted", json_boolean(drover_handler_is_pending(handler)));
    return object;
}

json_t *
drover_pool_describe(const DroverPool *pool)
{
    json_t *object = json_object(), *requests = json_array();
    guint waiting = 0;
    GHashTableIter iter;
    gpointer id, handler;

    g_hash_table_iter_init(&iter, pool->handlers);
    while (g_hash_table_iter_next(&iter, &id, &handler)) {
        waiting += drover_handler_is_paused(handler);
        json_array_append_new(requests, handler_object(pool, id, handler));
    }
    drover_record_set_string(object, "provider", pool->provider);
    drover_record_set_string(object, "pool", pool->name);
    drover_record_set_string(object, "launcher", pool->launcher_id);
    json_object_set_new(object, "registered", json_boolean(drover_pool_is_announced(pool)));
    json_object_set_new(object, "paused", json_boolean(pool->paused || pool->held != NULL));
    drover_record_set_string(object, "held", pool->held);
    json_object_set_new(object, "handlers", json_integer(g_hash_table_size(pool->handlers)));
    json_object_set_new(object, "waiting", json_integer(waiting));
    json_object_set_new(object, "declining", json_integer(g_hash_table_size(pool->declining)));
    json_object_set_new(object, "requests", requests);
    return object;
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
    if (request != NULL || handler == NULL)
        return;
    drover_log(DROVER_LOG_INFO,
               &(DroverLogSubject){.logger = pool->logger,
                                   .event_id = drover_handler_request(handler)->event_id,
                                   .request_id = id},
               "Node request vanished");
    g_hash_table_remove(pool->handlers, id);
    drover_handler_abandon(handler);
}

/* ---- Life ---- */

static char *
new_launcher_id(const char *provider, const char *name)
{
    g_autofree char *uuid = g_uuid_string_random();
    g_auto(GStrv) parts = g_strsplit(uuid, "-", -1);
    g_autofree char *hex = g_strjoinv("", parts);

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
    pool->manager = manager;
    pool->config = config;
    pool->tenants = tenants;
    pool->cloud = (DroverCloudView){.images = ask_images,
                                    .ever = ask_ever,
                                    .tenant = ask_tenant,
                                    .is_broken = ask_broken,
                                    .user_data = pool};
    pool->wake = wake;
    pool->user_data = user_data;
    pool->provider = g_strdup(drover_manager_name(manager));
    pool->name = g_strdup(config->name);
    pool->logger = g_strdup_printf("PoolWorker.%s-%s", pool->provider, pool->name);
    pool->launcher_id = new_launcher_id(pool->provider, pool->name);
    pool->stock = drover_stock_new(pool->provider, pool->name);
    pool->handlers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    pool->declining = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
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
    note_paused(pool);
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
    update_component(pool);
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
    update_component(pool);
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
    pool_unref(pool);
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
