#include "launcher/request/handler-private.h"

#include <string.h>

void
drover_handler_unref(DroverHandler *handler)
{
    if (!g_ref_count_dec(&handler->references))
        return;
    for (guint i = 0; i < handler->n_picks; i++) {
        g_clear_pointer(&handler->picks[i].node, drover_node_unref);
        g_free(handler->picks[i].label);
    }
    drover_request_unref(handler->request);
    json_decref(handler->ending);
    g_free(handler->zone);
    g_free(handler->obstacle);
    g_free(handler->picks);
    g_free(handler->provider_name);
    g_free(handler->pool_name);
    g_free(handler);
}

DroverLogSubject
drover_handler_subject(const DroverHandler *handler)
{
    return (DroverLogSubject){.logger = DROVER_HANDLER_LOGGER,
                              .event_id = handler->request->event_id,
                              .request_id = handler->request->id,
                              .provider = handler->provider_name,
                              .pool = handler->pool_name};
}

DroverCache *
drover_handler_nodes(const DroverHandler *handler)
{
    return drover_cluster_nodes(handler->parts->cluster);
}

DroverChange *
drover_handler_change(const DroverHandler *handler)
{
    return drover_change_new(drover_cluster_session(handler->parts->cluster));
}

/* ---- The end ---- */

void
drover_pick_drop_claim(DroverPick *pick)
{
    if (pick->claimed)
        drover_manager_remove_work(pick->handler->manager, pick);
    pick->claimed = FALSE;
}

void
drover_handler_drop_claims(DroverHandler *handler)
{
    for (guint i = 0; i < handler->n_picks; i++)
        drover_pick_drop_claim(&handler->picks[i]);
}

void
drover_handler_let_go(DroverHandler *handler)
{
    drover_handler_drop_claims(handler);
    for (guint i = 0; i < handler->n_picks; i++) {
        DroverPick *pick = &handler->picks[i];

        if (pick->node != NULL)
            drover_stock_release(handler->stock, pick->node->id);
        if (pick->check != NULL)
            drover_task_cancel(pick->check);
        if (pick->launch != NULL)
            drover_launch_disown(pick->launch);
        pick->launch = NULL;
        g_clear_pointer(&pick->promise, drover_usage_give_back);
    }
    if (handler->manager != NULL && drover_manager_has_inventory(handler->manager))
        drover_manager_remove_work(handler->manager, handler);
    handler->manager = NULL;
    handler->over = TRUE;
}

void
drover_handler_finish(DroverHandler *handler, DroverHandlerOutcome outcome)
{
    drover_handler_let_go(handler);
    handler->hooks->done(handler, outcome, handler->user_data);
    g_clear_pointer(&handler->lock, drover_lock_free);
    drover_handler_unref(handler);
}

void
drover_handler_abandon(DroverHandler *handler)
{
    drover_handler_let_go(handler);
    g_clear_pointer(&handler->lock, drover_lock_free);
    drover_handler_unref(handler);
}

/* An answer came. FALSE when the handler has ended meanwhile. */
gboolean
drover_handler_goes_on(DroverHandler *handler)
{
    return !handler->over;
}

/* ---- Picks ---- */

/*
 * Not offered to anybody until its lock is seen free; asked for last, so that the answer comes
 * after that of a change under way.
 */
void
drover_handler_set_aside(DroverHandler *handler, const DroverNode *node)
{
    drover_stock_set_usable(handler->stock, node->id, FALSE);
    drover_cache_lock(drover_handler_nodes(handler), node->id);
}

void
drover_pick_empty(DroverPick *pick)
{
    if (pick->node != NULL)
        drover_stock_release(pick->handler->stock, pick->node->id);
    g_clear_pointer(&pick->node, drover_node_unref);
    pick->allocated = FALSE;
}

DroverPick *
drover_handler_find_pick(DroverHandler *handler, const char *path)
{
    for (guint i = 0; path != NULL && i < handler->n_picks; i++) {
        g_autofree char *node_path =
            handler->picks[i].node != NULL ? drover_node_path(handler->picks[i].node->id) : NULL;

        if (node_path != NULL && g_str_has_prefix(path, node_path))
            return &handler->picks[i];
    }
    return NULL;
}

/* ---- Records ---- */

void
drover_handler_claim_node(DroverHandler *handler, DroverChange *change, const DroverNode *node,
                          json_t *record)
{
    g_autoptr(GBytes) data = drover_record_bytes(record);
    g_autofree char *path = drover_node_path(node->id), *lock = drover_node_lock_path(node->id);

    drover_change_claim(
        change, lock, drover_cache_lock_directory_exists(drover_handler_nodes(handler), node->id));
    drover_change_set(change, path, data, node->version);
}

void
drover_handler_allocate_node(DroverHandler *handler, DroverChange *change, const DroverNode *node)
{
    g_autoptr(json_t) record = drover_node_record(node);

    drover_node_record_allocate(record, handler->request->id, handler->request->tenant_name,
                                handler->request->requestor);
    drover_handler_claim_node(handler, change, node, record);
}

void
drover_handler_set_request(DroverHandler *handler, DroverChange *change, const json_t *record)
{
    g_autoptr(GBytes) data = drover_record_bytes(record);
    g_autofree char *path = drover_request_path(handler->request->id);

    drover_change_set(change, path, data, handler->request->version);
}

/* As it is now, in the state that we know it in. */
gboolean
drover_handler_take_latest(DroverHandler *handler)
{
    const DroverRequest *latest =
        drover_cluster_request(handler->parts->cluster, handler->request->id);

    if (latest == NULL || latest->state != handler->request->state ||
        !g_strv_equal((const char *const *)latest->labels,
                      (const char *const *)handler->request->labels))
        return FALSE;
    drover_request_ref((DroverRequest *)latest);
    drover_request_unref(handler->request);
    handler->request = (DroverRequest *)latest;
    return TRUE;
}

/* ---- Accepting ---- */

gboolean
drover_handler_take_pending(DroverHandler *handler)
{
    const DroverRequest *latest =
        drover_cluster_request(handler->parts->cluster, handler->request->id);

    if (latest == NULL || latest->state != DROVER_REQUEST_PENDING)
        return FALSE;
    drover_request_ref((DroverRequest *)latest);
    drover_request_unref(handler->request);
    handler->request = (DroverRequest *)latest;
    return TRUE;
}

static void
on_accepted(const DroverChangeResult *result, gpointer user_data)
{
    DroverHandler *handler = user_data;
    /* The last answers come when the session is closed, and there is no cluster any more. */
    gboolean accepted = result->outcome == DROVER_CHANGE_DONE && handler->parts->cluster != NULL &&
                        drover_handler_take_pending(handler);

    handler->writing = FALSE;
    handler->parts->closing--;
    if (!accepted)
        drover_handler_log_failure(handler, result, "Not accepted");
    if (accepted && drover_handler_goes_on(handler)) {
        handler->phase = DROVER_PENDING;
        handler->hooks->answered(handler, handler->user_data);
    } else if (accepted && handler->lock != NULL) {
        drover_handler_put_back(handler);
    } else if (drover_handler_goes_on(handler) && result->outcome == DROVER_CHANGE_UNKNOWN) {
        handler->unsure = TRUE;
    } else if (drover_handler_goes_on(handler)) {
        drover_handler_finish(handler, DROVER_HANDLER_CHANGED);
    } else {
        g_clear_pointer(&handler->lock, drover_lock_free);
    }
    drover_handler_say_closed(handler);
    drover_handler_unref(handler);
}

static void
make_pending(DroverHandler *handler)
{
    g_autoptr(json_t) record = NULL;
    DroverChange *change;

    if (!drover_handler_take_latest(handler)) {
        drover_handler_finish(handler, DROVER_HANDLER_CHANGED);
        return;
    }
    record = drover_request_record(handler->request);
    drover_request_record_set_state(record, DROVER_REQUEST_PENDING);
    change = drover_handler_change(handler);
    drover_change_hold(change, handler->lock);
    drover_handler_set_request(handler, change, record);
    handler->writing = TRUE;
    handler->parts->closing++;
    g_ref_count_inc(&handler->references);
    drover_change_commit(change, on_accepted, handler);
}

/* The answer got lost with the connection; now the caches show whether it was done. */
static void
make_sure(DroverHandler *handler)
{
    handler->unsure = FALSE;
    if (!drover_handler_take_pending(handler)) {
        make_pending(handler);
        return;
    }
    handler->phase = DROVER_PENDING;
    drover_handler_step(handler);
}

static void
on_locked(DroverLock *lock, DroverLockOutcome outcome, gpointer user_data)
{
    DroverHandler *handler = user_data;

    if (outcome == DROVER_LOCK_HELD)
        make_pending(handler);
    else
        drover_handler_finish(handler, outcome == DROVER_LOCK_BUSY ? DROVER_HANDLER_LOCKED
                                                                   : DROVER_HANDLER_CHANGED);
}

/* What is going to be launched counts from now on. */
static void
claim_launches(DroverHandler *handler)
{
    for (guint i = 0; i < handler->n_picks; i++) {
        DroverPick *pick = &handler->picks[i];

        if (pick->node != NULL)
            continue;
        pick->claimed = TRUE;
        drover_manager_add_work(handler->manager, DROVER_WORK_SERVING, NULL, pick);
    }
}

static void
accept_request(DroverHandler *handler)
{
    g_autofree char *directory = drover_request_lock_path(handler->request->id);

    handler->phase = DROVER_ACCEPTING;
    claim_launches(handler);
    handler->lock =
        drover_lock_new(drover_cluster_session(handler->parts->cluster), directory, TRUE, NULL);
    drover_lock_acquire(handler->lock, DROVER_LOCK_DO_NOT_WAIT, on_locked, handler);
}

/* ---- The step ---- */

static void
gather(DroverHandler *handler)
{
    gboolean checking = FALSE, complete = TRUE;

    for (guint i = 0; i < handler->n_picks && !handler->is_short; i++) {
        drover_pick_find_node(handler, &handler->picks[i]);
        handler->is_short =
            handler->picks[i].node == NULL && drover_manager_has_inventory(handler->manager);
    }
    for (guint i = 0; i < handler->n_picks; i++) {
        checking = checking || handler->picks[i].check != NULL;
        complete = complete && handler->picks[i].node != NULL;
    }
    if (checking)
        return;
    if (handler->is_short)
        drover_handler_finish(handler, DROVER_HANDLER_SHORT);
    else if (complete)
        drover_handler_fulfil_at_once(handler);
    else
        accept_request(handler);
}

static gboolean
is_busy(const DroverPick *pick)
{
    return pick->allocating || pick->launch != NULL;
}

/* One thing for one pick. FALSE: no more launches for now. */
static gboolean
advance(DroverHandler *handler, DroverPick *pick)
{
    if (drover_pick_find_own(handler, pick) != NULL)
        pick->allocated = TRUE;
    else if (pick->allocated)
        drover_pick_empty(pick);
    if (pick->node == NULL && handler->failure == NULL)
        drover_pick_find_node(handler, pick);
    if (pick->node != NULL && !pick->allocated)
        drover_pick_allocate(handler, pick);
    else if (pick->node == NULL && handler->failure == NULL)
        return drover_pick_launch_if_room(handler, pick);
    return TRUE;
}

static void
serve(DroverHandler *handler)
{
    g_autofree char *obstacle = handler->hooks->find_obstacle(handler->request, handler->user_data);
    gboolean busy = FALSE, complete = TRUE, go_on = TRUE;

    if (obstacle != NULL) {
        drover_handler_decline(handler, obstacle);
        return;
    }
    for (guint i = 0; i < handler->n_picks; i++) {
        DroverPick *pick = &handler->picks[i];

        if (!is_busy(pick) && go_on)
            go_on = advance(handler, pick);
        busy = busy || is_busy(pick);
        complete = complete && pick->allocated;
    }
    if (busy)
        return;
    if (handler->failure != NULL)
        drover_handler_decline(handler, handler->failure);
    else if (complete)
        drover_handler_fulfil(handler);
}

/* Somebody took it for lost, or it was put back although nobody could tell us. */
static gboolean
is_still_pending(const DroverHandler *handler)
{
    const DroverRequest *latest =
        drover_cluster_request(handler->parts->cluster, handler->request->id);

    return latest != NULL && latest->state == DROVER_REQUEST_PENDING;
}

void
drover_handler_step(DroverHandler *handler)
{
    /* Without a provider, or with caches that are not current, nothing is decided. */
    if (handler->over || handler->manager == NULL ||
        !drover_cluster_is_complete(handler->parts->cluster))
        return;
    if (handler->phase == DROVER_GATHERING)
        gather(handler);
    else if (handler->phase == DROVER_ACCEPTING && handler->unsure)
        make_sure(handler);
    else if (handler->phase == DROVER_PENDING && is_still_pending(handler))
        serve(handler);
    else if (handler->phase == DROVER_PENDING)
        drover_handler_finish(handler, DROVER_HANDLER_CHANGED);
}

/* ---- The pool's side ---- */

static void
begin_pick(DroverHandler *handler, DroverPick *pick, const char *label)
{
    const DroverRequest *request = handler->request;

    pick->handler = handler;
    pick->label = g_strdup(label);
    if (!drover_manager_has_inventory(handler->manager))
        pick->promise = drover_usage_promise(
            handler->parts->usage, NULL, NULL, request->tenant_name,
            drover_facts_cost(drover_manager_facts(handler->manager), handler->pool->name, label));
}

DroverHandler *
drover_handler_new(const DroverHandlerPlace *place, const DroverRequest *request)
{
    DroverHandler *handler = g_new0(DroverHandler, 1);

    g_ref_count_init(&handler->references);
    handler->manager = place->manager;
    handler->parts = drover_manager_parts(place->manager);
    handler->pool = place->pool;
    handler->provider_name = g_strdup(drover_manager_name(place->manager));
    handler->pool_name = g_strdup(place->pool->name);
    handler->stock = place->stock;
    handler->launcher_id = place->launcher_id;
    handler->hooks = place->hooks;
    handler->user_data = place->user_data;
    handler->request = drover_request_ref((DroverRequest *)request);
    if (drover_manager_has_inventory(handler->manager))
        drover_manager_add_work(handler->manager, DROVER_WORK_SERVING, NULL, handler);
    handler->n_picks = g_strv_length(request->labels);
    handler->picks = g_new0(DroverPick, handler->n_picks);
    for (guint i = 0; i < handler->n_picks; i++)
        begin_pick(handler, &handler->picks[i], request->labels[i]);
    return handler;
}

const DroverRequest *
drover_handler_request(const DroverHandler *handler)
{
    return handler->request;
}

gboolean
drover_handler_is_paused(const DroverHandler *handler)
{
    return handler->paused;
}

char *
drover_handler_describe(const DroverHandler *handler)
{
    guint ready = 0, launching = 0;

    for (guint i = 0; i < handler->n_picks; i++) {
        ready += handler->picks[i].allocated;
        launching += handler->picks[i].launch != NULL;
    }
    if (handler->obstacle == NULL)
        return g_strdup_printf("%u of %u node(s) ready, %u being launched", ready, handler->n_picks,
                               launching);
    return g_strdup_printf("%u of %u node(s) ready, %u being launched; %s", ready, handler->n_picks,
                           launching, handler->obstacle);
}

gboolean
drover_handler_is_pending(const DroverHandler *handler)
{
    return handler->lock != NULL || handler->phase == DROVER_ACCEPTING;
}

void
drover_handler_move(DroverHandler *handler, DroverManager *manager, const DroverPoolConfig *pool)
{
    if (manager != handler->manager)
        drover_handler_drop_claims(handler);
    handler->manager = manager;
    handler->pool = pool;
}
