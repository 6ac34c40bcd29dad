#include <string.h>

#include "base/log.h"
#include "launcher/request/pool-private.h"
#include "launcher/request/room.h"
#include "zk/change.h"

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
    DroverLogSubject subject = drover_pool_subject(pool, decline->request);

    g_hash_table_remove(pool->declining, decline->request->id);
    if (result->outcome == DROVER_CHANGE_DONE) {
        drover_log(DROVER_LOG_INFO, &subject, "Declined node request: %s", decline->reason);
        if (pool->manager != NULL) {
            drover_pool_count_decline(pool, decline->reason);
            drover_pool_count_failed(pool, decline->request->id);
        }
    } else {
        drover_log(DROVER_LOG_DEBUG, &subject, "Not declined: %s is %s",
                   result->blamed != NULL ? result->blamed : "the outcome",
                   drover_change_outcome_name(result->outcome));
    }
    /* A locked request is met again in the next pass. */
    if (pool->manager != NULL && result->outcome != DROVER_CHANGE_BUSY)
        pool->wake(pool->user_data);
    drover_request_unref(decline->request);
    g_free(decline->reason);
    drover_pool_unref(pool);
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
note_decline(DroverPool *pool, const DroverRequest *request, const char *reason)
{
    drover_verdicts_note(pool->verdicts, request->id, drover_verdict_name(DROVER_VERDICT_DECLINE),
                         reason);
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
    note_decline(pool, request, reason);
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
    DroverPool *pool = user_data;
    DroverRoom room =
        drover_room_of_tenant(pool->manager, pool->config, pool->tenants, request, reason);

    if (room == DROVER_ROOM_NEVER && g_hash_table_add(pool->hopeless, g_strdup(request->id))) {
        DroverLogSubject subject = drover_pool_subject(pool, request);

        drover_log(DROVER_LOG_WARNING, &subject, "The request will wait for ever: %s", *reason);
    }
    return room;
}

static gboolean
ask_broken(const char *label, gpointer user_data)
{
    const DroverPool *pool = user_data;

    return drover_facts_label_error(drover_manager_facts(pool->manager), label) != NULL;
}

void
drover_pool_begin_view(DroverPool *pool)
{
    pool->cloud = (DroverCloudView){
        .images = ask_images, .ever = ask_ever, .is_broken = ask_broken, .user_data = pool};
    pool->tenant = (DroverTenantView){.room = ask_tenant, .user_data = pool};
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
                             .tenant = &pool->tenant,
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

/* The pool is paused as long as one of its handlers is. */
void
drover_pool_note_paused(DroverPool *pool)
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
    drover_pool_update_component(pool);
    pool->wake(pool->user_data);
}

static void
on_handler_paused(DroverHandler *handler, gpointer user_data)
{
    drover_pool_note_paused(user_data);
}

/* Room that has become free while some wait for it is given in a pass: the best one comes first. */
static void
on_handler_answered(DroverHandler *handler, gpointer user_data)
{
    DroverPool *pool = user_data;

    if (pool->paused)
        pool->wake(pool->user_data);
    else
        drover_handler_step(handler);
}

static void
on_handled(DroverHandler *handler, DroverHandlerOutcome outcome, gpointer user_data)
{
    DroverPool *pool = user_data;
    g_autofree char *request_id = g_strdup(drover_handler_request(handler)->id);

    if (outcome == DROVER_HANDLER_FULFILLED)
        drover_pool_count_fulfilled(pool, drover_handler_request(handler));
    else if (outcome == DROVER_HANDLER_DECLINED)
        drover_pool_count_failed(pool, request_id);
    g_hash_table_remove(pool->handlers, request_id);
    drover_pool_note_paused(pool);
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

    note_decline(pool, request, reason);
    drover_pool_count_decline(pool, reason);
    refuse(pool, &view, request, record);
}

static const DroverHandlerHooks handler_hooks = {.done = on_handled,
                                                 .paused = on_handler_paused,
                                                 .answered = on_handler_answered,
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
    DroverLogSubject subject = drover_pool_subject(pool, request);
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
    DroverLogSubject subject = drover_pool_subject(pool, request);

    if (decision.verdict == DROVER_VERDICT_ACCEPT)
        drover_verdicts_note(pool->verdicts, request->id, DROVER_VERDICT_SERVE, NULL);
    else if (decision.verdict != DROVER_VERDICT_DECLINE && reason != NULL)
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
leave_all(DroverPool *pool, const char *why)
{
    g_autoptr(GPtrArray) open = open_requests(pool);

    for (guint i = 0; i < open->len; i++)
        drover_verdicts_note(pool->verdicts, ((const DroverRequest *)open->pdata[i])->id,
                             drover_verdict_name(DROVER_VERDICT_DEFER), why);
}

static void
decide_all(DroverPool *pool, const GPtrArray *coming)
{
    g_autoptr(GPtrArray) open = open_requests(pool);
    DroverPoolView view;

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

/* Why nothing new is decided on, neither accepted nor declined; or NULL. */
static const char *
why_idle(const DroverPool *pool)
{
    if (drover_manager_config(pool->manager)->max_concurrency == 0)
        return "the provider's max-concurrency is 0";
    return drover_manager_illness(pool->manager);
}

static void
publish(DroverPool *pool)
{
    g_autoptr(json_t) limits = NULL;

    if (!drover_verdict_board_is_due(pool->board))
        return;
    limits = drover_room_limits(pool->manager, pool->config);
    drover_verdict_board_step(
        pool->board, &(DroverVerdictBoardContent){pool->launcher_id, pool->provider, pool->name,
                                                  limits, drover_cluster_requests(pool->cluster)});
}

void
drover_pool_pass(DroverPool *pool, const GPtrArray *coming)
{
    const char *idle;

    if (!drover_cluster_is_complete(pool->cluster) || !pool->seen || pool->manager == NULL)
        return;
    if (!pool->took_up)
        take_up_requests(pool);
    step_handlers(pool);
    note_handlers(pool);
    idle = why_idle(pool);
    if (idle != NULL)
        leave_all(pool, idle);
    else
        decide_all(pool, coming);
    publish(pool);
}
