#include "launcher/handler.h"

#include <string.h>

#include "base/log.h"
#include "launcher/making-room.h"
#include "launcher/room.h"
#include "zk/change.h"

#define LOGGER "NodeRequestHandler"

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
} Pick;

typedef enum {
    GATHERING, /* nothing is written */
    ACCEPTING,
    PENDING,
    ENDING, /* the last change is under way */
} Phase;

struct _DroverHandler {
    grefcount references; /* the pool, and every answer still to come */
    DroverManager *manager;
    DroverParts *parts;
    const DroverPoolConfig *pool;
    DroverStock *stock;
    const char *launcher_id;
    const DroverHandlerHooks *hooks;
    gpointer user_data;
    DroverRequest *request;
    DroverLock *lock; /* of the request, from ACCEPTING on */
    Phase phase;
    Pick *picks; /* one for each label, in order */
    guint n_picks;
    char *zone; /* of all its nodes; NULL: not chosen, or none */
    gboolean zone_chosen;
    gboolean is_short, paused, over;
    char *obstacle;           /* why nothing more is launched just now; or NULL */
    const char *failure;      /* why it is declined once nothing is under way; or NULL */
    gboolean writing, unsure; /* while ACCEPTING: the change is under way; its answer got lost */
    json_t *ending;           /* the record with which the request is put back */
};

static void step(DroverHandler *handler);

static void
handler_unref(DroverHandler *handler)
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
    g_free(handler);
}

static DroverLogSubject
subject_of(const DroverHandler *handler)
{
    return (DroverLogSubject){.logger = LOGGER,
                              .event_id = handler->request->event_id,
                              .request_id = handler->request->id};
}

static DroverCache *
nodes_of(const DroverHandler *handler)
{
    return drover_cluster_nodes(handler->parts->cluster);
}

static DroverChange *
change_new(const DroverHandler *handler)
{
    return drover_change_new(drover_cluster_session(handler->parts->cluster));
}

/* ---- The end ---- */

static void
drop_claim(Pick *pick)
{
    if (pick->claimed)
        drover_manager_remove_work(pick->handler->manager, pick);
    pick->claimed = FALSE;
}

static void
drop_claims(DroverHandler *handler)
{
    for (guint i = 0; i < handler->n_picks; i++)
        drop_claim(&handler->picks[i]);
}

static void
let_go(DroverHandler *handler)
{
    drop_claims(handler);
    for (guint i = 0; i < handler->n_picks; i++) {
        Pick *pick = &handler->picks[i];

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

static void
finish(DroverHandler *handler, DroverHandlerOutcome outcome)
{
    let_go(handler);
    handler->hooks->done(handler, outcome, handler->user_data);
    g_clear_pointer(&handler->lock, drover_lock_free);
    handler_unref(handler);
}

void
drover_handler_abandon(DroverHandler *handler)
{
    let_go(handler);
    g_clear_pointer(&handler->lock, drover_lock_free);
    handler_unref(handler);
}

/* An answer came. FALSE when the handler has ended meanwhile. */
static gboolean
answered(DroverHandler *handler)
{
    return !handler->over;
}

/* ---- Picks ---- */

/*
 * Not offered to anybody until its lock is seen free; asked for last, so that the answer comes
 * after that of a change under way.
 */
static void
set_aside(DroverHandler *handler, const DroverNode *node)
{
    drover_stock_set_usable(handler->stock, node->id, FALSE);
    drover_cache_lock(nodes_of(handler), node->id);
}

static void
empty(Pick *pick)
{
    if (pick->node != NULL)
        drover_stock_release(pick->handler->stock, pick->node->id);
    g_clear_pointer(&pick->node, drover_node_unref);
    pick->allocated = FALSE;
}

static Pick *
find_pick(DroverHandler *handler, const char *path)
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

static void
claim_node(DroverHandler *handler, DroverChange *change, const DroverNode *node, json_t *record)
{
    g_autoptr(GBytes) data = drover_record_bytes(record);
    g_autofree char *path = drover_node_path(node->id), *lock = drover_node_lock_path(node->id);

    drover_change_claim(change, lock,
                        drover_cache_lock_directory_exists(nodes_of(handler), node->id));
    drover_change_set(change, path, data, node->version);
}

static void
allocate_node(DroverHandler *handler, DroverChange *change, const DroverNode *node)
{
    g_autoptr(json_t) record = drover_node_record(node);

    drover_node_record_allocate(record, handler->request->id, handler->request->tenant_name,
                                handler->request->requestor);
    claim_node(handler, change, node, record);
}

static void
set_request(DroverHandler *handler, DroverChange *change, const json_t *record)
{
    g_autoptr(GBytes) data = drover_record_bytes(record);
    g_autofree char *path = drover_request_path(handler->request->id);

    drover_change_set(change, path, data, handler->request->version);
}

static json_t *
fulfilled_record(const DroverHandler *handler)
{
    json_t *record = drover_request_record(handler->request);
    json_t *nodes = json_array();

    for (guint i = 0; i < handler->n_picks; i++)
        json_array_append_new(nodes, json_string(handler->picks[i].node->id));
    json_object_set_new(record, "nodes", nodes);
    drover_request_record_set_state(record, DROVER_REQUEST_FULFILLED);
    return record;
}

/* As it is now, in the state that we know it in. */
static gboolean
take_latest_request(DroverHandler *handler)
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

/* ---- Fulfilling from free nodes, in one change ---- */

static void
log_failed_change(const DroverHandler *handler, const DroverChangeResult *result, const char *what)
{
    DroverLogSubject subject = subject_of(handler);

    drover_log(DROVER_LOG_DEBUG, &subject, "%s: %s is %s", what,
               result->blamed != NULL ? result->blamed : "the outcome",
               drover_change_outcome_name(result->outcome));
}

static void
on_fulfilled_at_once(const DroverChangeResult *result, gpointer user_data)
{
    DroverHandler *handler = user_data;
    DroverLogSubject subject = subject_of(handler);
    Pick *blamed = find_pick(handler, result->blamed);
    DroverHandlerOutcome outcome = DROVER_HANDLER_CHANGED;

    if (result->outcome == DROVER_CHANGE_DONE) {
        drover_log(DROVER_LOG_INFO, &subject, "Fulfilled node request");
        outcome = DROVER_HANDLER_FULFILLED;
    } else {
        log_failed_change(handler, result, "Not fulfilled");
        if (result->outcome == DROVER_CHANGE_BUSY && blamed != NULL && answered(handler))
            set_aside(handler, blamed->node);
        else if (result->outcome == DROVER_CHANGE_BUSY)
            outcome = DROVER_HANDLER_LOCKED;
    }
    if (answered(handler))
        finish(handler, outcome);
    handler_unref(handler);
}

static void
fulfil_at_once(DroverHandler *handler)
{
    g_autoptr(json_t) record = NULL;
    g_autofree char *lock = drover_request_lock_path(handler->request->id);
    DroverChange *change;

    /* Its priority may have been revised meanwhile; anything else is for the pool to decide. */
    if (!take_latest_request(handler)) {
        finish(handler, DROVER_HANDLER_CHANGED);
        return;
    }
    handler->phase = ENDING;
    change = change_new(handler);
    record = fulfilled_record(handler);
    drover_change_claim(change, lock, FALSE);
    set_request(handler, change, record);
    for (guint i = 0; i < handler->n_picks; i++)
        allocate_node(handler, change, handler->picks[i].node);
    g_ref_count_inc(&handler->references);
    drover_change_commit(change, on_fulfilled_at_once, handler);
}

/* ---- Ending a pending request ---- */

static void
free_node(DroverHandler *handler, DroverChange *change, const DroverNode *node)
{
    g_autoptr(json_t) record = drover_node_record(node);

    drover_record_set_string(record, "allocated_to", NULL);
    claim_node(handler, change, node, record);
}

/* The node of a pick as it is now, if it is ready and the request's; else NULL. */
static const DroverNode *
find_own_node(const DroverHandler *handler, const Pick *pick)
{
    const DroverNode *node =
        pick->node != NULL ? drover_cluster_node(handler->parts->cluster, pick->node->id) : NULL;

    return node != NULL && node->state == DROVER_NODE_READY &&
                   g_strcmp0(node->allocated_to, handler->request->id) == 0
               ? node
               : NULL;
}

static void
say_closed(const DroverHandler *handler)
{
    if (handler->parts->cluster != NULL)
        handler->parts->closed(handler->parts->closed_data);
}

static void commit_put_back(DroverHandler *handler);

/* Others have a node of ours, or changed it: it stays allocated until the request is gone. */
static gboolean
is_in_the_way(const DroverChangeResult *result, const Pick *blamed)
{
    return blamed != NULL &&
           (result->outcome == DROVER_CHANGE_BUSY || result->outcome == DROVER_CHANGE_CONFLICT ||
            result->outcome == DROVER_CHANGE_GONE);
}

static void
on_put_back(const DroverChangeResult *result, gpointer user_data)
{
    DroverHandler *handler = user_data;
    Pick *blamed = find_pick(handler, result->blamed);

    handler->parts->closing--;
    if (is_in_the_way(result, blamed) && handler->parts->cluster != NULL) {
        DroverLogSubject subject = subject_of(handler);

        subject.node_id = blamed->node->id;
        drover_log(DROVER_LOG_ERROR, &subject, "Node %s is not freed: it is %s", blamed->node->id,
                   drover_change_outcome_name(result->outcome));
        empty(blamed);
        commit_put_back(handler);
    } else if (result->outcome == DROVER_CHANGE_UNKNOWN && answered(handler)) {
        /* All is looked at again. */
        handler->phase = PENDING;
    } else {
        if (result->outcome != DROVER_CHANGE_DONE)
            log_failed_change(handler, result, "Not put back");
        if (answered(handler))
            finish(handler, DROVER_HANDLER_DECLINED);
        else
            g_clear_pointer(&handler->lock, drover_lock_free);
        say_closed(handler);
    }
    handler_unref(handler);
}

static void
commit_put_back(DroverHandler *handler)
{
    DroverChange *change = change_new(handler);

    drover_change_release(change, handler->lock);
    set_request(handler, change, handler->ending);
    for (guint i = 0; i < handler->n_picks; i++) {
        const DroverNode *node = find_own_node(handler, &handler->picks[i]);

        if (node != NULL)
            free_node(handler, change, node);
    }
    g_ref_count_inc(&handler->references);
    handler->parts->closing++;
    drover_change_commit(change, on_put_back, handler);
}

/* The request goes back with what the record says, and its nodes are free again. */
static void
put_back(DroverHandler *handler, const json_t *record)
{
    handler->phase = ENDING;
    json_decref(handler->ending);
    handler->ending = json_deep_copy(record);
    json_object_set_new(handler->ending, "nodes", json_array());
    commit_put_back(handler);
}

static void
put_back_as_requested(DroverHandler *handler)
{
    g_autoptr(json_t) record = drover_request_record(handler->request);

    drover_request_record_set_state(record, DROVER_REQUEST_REQUESTED);
    put_back(handler, record);
}

static void
decline(DroverHandler *handler, const char *reason)
{
    DroverLogSubject subject = subject_of(handler);
    g_autoptr(json_t) record = NULL;

    drover_log(DROVER_LOG_INFO, &subject, "Declining node request: %s", reason);
    if (!take_latest_request(handler)) {
        finish(handler, DROVER_HANDLER_CHANGED);
        return;
    }
    record = drover_request_record(handler->request);
    handler->hooks->add_decline(handler->request, record, reason, handler->user_data);
    put_back(handler, record);
}

void
drover_handler_release(DroverHandler *handler)
{
    if (handler->phase == PENDING && take_latest_request(handler))
        put_back_as_requested(handler);
    let_go(handler);
    /* What is under way proves the lock, and frees it when it is answered. */
    if (handler->phase != ENDING && !handler->writing)
        g_clear_pointer(&handler->lock, drover_lock_free);
    handler_unref(handler);
}

static void
on_fulfilled(const DroverChangeResult *result, gpointer user_data)
{
    DroverHandler *handler = user_data;
    DroverLogSubject subject = subject_of(handler);

    if (!answered(handler)) {
        g_clear_pointer(&handler->lock, drover_lock_free);
    } else if (result->outcome == DROVER_CHANGE_DONE) {
        drover_log(DROVER_LOG_INFO, &subject, "Fulfilled node request");
        finish(handler, DROVER_HANDLER_FULFILLED);
    } else if (result->outcome == DROVER_CHANGE_UNFENCED) {
        finish(handler, DROVER_HANDLER_CHANGED);
    } else {
        /* A node or the request changed, or nobody knows: all is looked at again. */
        log_failed_change(handler, result, "Not fulfilled");
        handler->phase = PENDING;
        if (find_pick(handler, result->blamed) != NULL)
            empty(find_pick(handler, result->blamed));
        if (result->outcome != DROVER_CHANGE_UNKNOWN)
            step(handler);
    }
    handler_unref(handler);
}

static void
fulfil(DroverHandler *handler)
{
    g_autoptr(json_t) record = NULL;
    DroverChange *change;

    if (!take_latest_request(handler)) {
        finish(handler, DROVER_HANDLER_CHANGED);
        return;
    }
    handler->phase = ENDING;
    change = change_new(handler);
    record = fulfilled_record(handler);
    drover_change_release(change, handler->lock);
    set_request(handler, change, record);
    for (guint i = 0; i < handler->n_picks; i++) {
        const DroverNode *node = find_own_node(handler, &handler->picks[i]);
        g_autofree char *path = drover_node_path(node->id);

        drover_change_expect(change, path, node->version);
    }
    g_ref_count_inc(&handler->references);
    drover_change_commit(change, on_fulfilled, handler);
}

/* ---- Accepting ---- */

static gboolean
take_pending_request(DroverHandler *handler)
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
                        take_pending_request(handler);

    handler->writing = FALSE;
    handler->parts->closing--;
    if (!accepted)
        log_failed_change(handler, result, "Not accepted");
    if (accepted && answered(handler)) {
        handler->phase = PENDING;
        step(handler);
    } else if (accepted && handler->lock != NULL) {
        put_back_as_requested(handler);
    } else if (answered(handler) && result->outcome == DROVER_CHANGE_UNKNOWN) {
        handler->unsure = TRUE;
    } else if (answered(handler)) {
        finish(handler, DROVER_HANDLER_CHANGED);
    } else {
        g_clear_pointer(&handler->lock, drover_lock_free);
    }
    say_closed(handler);
    handler_unref(handler);
}

static void
make_pending(DroverHandler *handler)
{
    g_autoptr(json_t) record = NULL;
    DroverChange *change;

    if (!take_latest_request(handler)) {
        finish(handler, DROVER_HANDLER_CHANGED);
        return;
    }
    record = drover_request_record(handler->request);
    drover_request_record_set_state(record, DROVER_REQUEST_PENDING);
    change = change_new(handler);
    drover_change_hold(change, handler->lock);
    set_request(handler, change, record);
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
    if (!take_pending_request(handler)) {
        make_pending(handler);
        return;
    }
    handler->phase = PENDING;
    step(handler);
}

static void
on_locked(DroverLock *lock, DroverLockOutcome outcome, gpointer user_data)
{
    DroverHandler *handler = user_data;

    if (outcome == DROVER_LOCK_HELD)
        make_pending(handler);
    else
        finish(handler,
               outcome == DROVER_LOCK_BUSY ? DROVER_HANDLER_LOCKED : DROVER_HANDLER_CHANGED);
}

/* What is going to be launched counts from now on. */
static void
claim_launches(DroverHandler *handler)
{
    for (guint i = 0; i < handler->n_picks; i++) {
        Pick *pick = &handler->picks[i];

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

    handler->phase = ACCEPTING;
    claim_launches(handler);
    handler->lock =
        drover_lock_new(drover_cluster_session(handler->parts->cluster), directory, TRUE, NULL);
    drover_lock_acquire(handler->lock, DROVER_LOCK_DO_NOT_WAIT, on_locked, handler);
}

/* ---- Finding free nodes ---- */

static void
on_checked(const DroverTaskResult *result, gpointer user_data)
{
    Pick *pick = user_data;
    DroverHandler *handler = pick->handler;

    pick->check = NULL;
    if (answered(handler) && !result->ok) {
        DroverLogSubject subject = subject_of(handler);

        subject.node_id = pick->node->id;
        drover_log(DROVER_LOG_WARNING, &subject, "Node %s of provider %s is not used: %s",
                   pick->node->hostname, pick->node->provider, result->message);
        drover_stock_release(handler->stock, pick->node->id);
        drover_manager_deregister(handler->manager, pick->node);
        set_aside(handler, pick->node);
        g_clear_pointer(&pick->node, drover_node_unref);
    }
    if (answered(handler))
        step(handler);
    handler_unref(handler);
}

/* FALSE when the node's machine is in no inventory any more; the registrar takes the node away. */
static gboolean
check_machine(DroverHandler *handler, Pick *pick)
{
    pick->check = drover_manager_check_node(handler->manager, pick->node, on_checked, pick);
    if (pick->check != NULL) {
        g_ref_count_inc(&handler->references);
        return TRUE;
    }
    drover_stock_set_usable(handler->stock, pick->node->id, FALSE);
    g_clear_pointer(&pick->node, drover_node_unref);
    return FALSE;
}

static void
choose_zone(DroverHandler *handler, const char *zone)
{
    handler->zone = g_strdup(zone);
    handler->zone_chosen = TRUE;
}

static void
find_node(DroverHandler *handler, Pick *pick)
{
    gboolean inventory = drover_manager_has_inventory(handler->manager);

    while (pick->node == NULL && (inventory || handler->request->reuse)) {
        pick->node = drover_stock_reserve(handler->stock, pick->label, handler->zone);
        if (pick->node == NULL)
            return;
        if (!inventory && !handler->zone_chosen && pick->node->az != NULL)
            choose_zone(handler, pick->node->az);
        if (inventory && !check_machine(handler, pick))
            continue;
    }
}

/* ---- Allocating what was found, once the request is pending ---- */

static void
on_allocated(const DroverChangeResult *result, gpointer user_data)
{
    Pick *pick = user_data;
    DroverHandler *handler = pick->handler;

    pick->allocating = FALSE;
    if (!answered(handler)) {
        /* If it happened, the node is freed with the request. */
    } else if (result->outcome == DROVER_CHANGE_DONE) {
        pick->allocated = TRUE;
        g_clear_pointer(&pick->promise, drover_usage_give_back);
        if (handler->manager != NULL)
            drover_runner_node_reused(drover_manager_runner(handler->manager), pick->node->id,
                                      handler->request->id);
        step(handler);
    } else if (result->outcome == DROVER_CHANGE_UNFENCED) {
        finish(handler, DROVER_HANDLER_CHANGED);
    } else if (result->outcome != DROVER_CHANGE_UNKNOWN) {
        log_failed_change(handler, result, "Node not taken");
        if (result->outcome == DROVER_CHANGE_BUSY)
            set_aside(handler, pick->node);
        empty(pick);
        step(handler);
    }
    handler_unref(handler);
}

static void
allocate(DroverHandler *handler, Pick *pick)
{
    DroverChange *change = change_new(handler);

    pick->allocating = TRUE;
    drover_change_hold(change, handler->lock);
    allocate_node(handler, change, pick->node);
    g_ref_count_inc(&handler->references);
    drover_change_commit(change, on_allocated, pick);
}

/* ---- Launching what is missing ---- */

static void
on_launched(DroverLaunch *launch, DroverLaunchOutcome outcome, gpointer user_data)
{
    Pick *pick = user_data;
    DroverHandler *handler = pick->handler;
    const DroverNode *node = drover_cluster_node(
        handler->parts->cluster,
        drover_launch_node_id(launch) != NULL ? drover_launch_node_id(launch) : "");

    pick->launch = NULL;
    if (outcome == DROVER_LAUNCH_READY && node != NULL) {
        pick->node = drover_node_ref((DroverNode *)node);
        pick->allocated = TRUE;
    } else if (outcome != DROVER_LAUNCH_ABORTED) {
        handler->failure = "a node could not be launched";
    }
    step(handler);
}

static gboolean
draw_zone(DroverHandler *handler)
{
    const struct drover_value *own = drover_value_get(handler->pool->values, "availability-zones");
    const char *const *zones;
    gint32 n;

    if (handler->zone_chosen)
        return TRUE;
    if (drover_value_length(own) > 0) {
        gint32 index = g_random_int_range(0, (gint32)drover_value_length(own));
        choose_zone(handler, drover_value_string(drover_value_item(own, (size_t)index)));
        return TRUE;
    }
    if (!drover_facts_zones(drover_manager_facts(handler->manager), &zones))
        return FALSE;
    n = (gint32)g_strv_length((char **)zones);
    choose_zone(handler, n > 0 ? zones[g_random_int_range(0, n)] : NULL);
    return TRUE;
}

static DroverLaunchOrder
launch_order(const DroverHandler *handler, const Pick *pick)
{
    return (DroverLaunchOrder){.manager = handler->manager,
                               .request = handler->request,
                               .pool = handler->pool->name,
                               .label = pick->label,
                               .launcher_id = handler->launcher_id,
                               .zone = handler->zone};
}

static void
launch(DroverHandler *handler, Pick *pick)
{
    DroverLaunchOrder order = launch_order(handler, pick);

    drop_claim(pick);
    g_clear_pointer(&pick->promise, drover_usage_give_back);
    pick->launch = drover_launch_new(&order, on_launched, pick);
}

static void
set_paused(DroverHandler *handler, gboolean paused, const char *reason)
{
    DroverLogSubject subject = subject_of(handler);

    if (handler->paused == paused)
        return;
    handler->paused = paused;
    if (paused)
        drover_log(DROVER_LOG_INFO, &subject, "Not enough quota to satisfy the request: %s",
                   reason);
    else
        drover_log(DROVER_LOG_DEBUG, &subject, "There is room again");
    drop_claims(handler);
    handler->hooks->paused(handler, handler->user_data);
}

/* Standby nodes are not worth waiting for: another pool may have room. */
static gboolean
is_standby(const DroverHandler *handler)
{
    return g_strcmp0(handler->request->requestor, DROVER_STANDBY_REQUESTOR) == 0;
}

/* FALSE: no more for now. */
static gboolean
launch_if_room(DroverHandler *handler, Pick *pick)
{
    g_autofree char *reason = NULL;
    DroverRoom room = drover_room_for_one(handler->manager, handler->pool, pick->label, &reason);

    g_free(handler->obstacle);
    handler->obstacle = g_strdup(reason);
    /* What is not known yet will be soon. */
    if (room == DROVER_ROOM_UNKNOWN || (room == DROVER_ROOM_FITS && !draw_zone(handler)))
        return FALSE;
    if (room == DROVER_ROOM_FITS) {
        set_paused(handler, FALSE, NULL);
        launch(handler, pick);
        return TRUE;
    }
    if (is_standby(handler)) {
        handler->failure = "there is no room for standby nodes";
        return FALSE;
    }
    if (room == DROVER_ROOM_FULL)
        drover_make_room(handler->parts->cluster, handler->stock);
    set_paused(handler, TRUE, reason);
    return FALSE;
}

/* ---- The step ---- */

static void
gather(DroverHandler *handler)
{
    gboolean checking = FALSE, complete = TRUE;

    for (guint i = 0; i < handler->n_picks && !handler->is_short; i++) {
        find_node(handler, &handler->picks[i]);
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
        finish(handler, DROVER_HANDLER_SHORT);
    else if (complete)
        fulfil_at_once(handler);
    else
        accept_request(handler);
}

static gboolean
is_busy(const Pick *pick)
{
    return pick->allocating || pick->launch != NULL;
}

/* One thing for one pick. FALSE: no more launches for now. */
static gboolean
advance(DroverHandler *handler, Pick *pick)
{
    if (find_own_node(handler, pick) != NULL)
        pick->allocated = TRUE;
    else if (pick->allocated)
        empty(pick);
    if (pick->node == NULL && handler->failure == NULL)
        find_node(handler, pick);
    if (pick->node != NULL && !pick->allocated)
        allocate(handler, pick);
    else if (pick->node == NULL && handler->failure == NULL)
        return launch_if_room(handler, pick);
    return TRUE;
}

static void
serve(DroverHandler *handler)
{
    g_autofree char *obstacle = handler->hooks->find_obstacle(handler->request, handler->user_data);
    gboolean busy = FALSE, complete = TRUE, go_on = TRUE;

    if (obstacle != NULL) {
        decline(handler, obstacle);
        return;
    }
    for (guint i = 0; i < handler->n_picks; i++) {
        Pick *pick = &handler->picks[i];

        if (!is_busy(pick) && go_on)
            go_on = advance(handler, pick);
        busy = busy || is_busy(pick);
        complete = complete && pick->allocated;
    }
    if (busy)
        return;
    if (handler->failure != NULL)
        decline(handler, handler->failure);
    else if (complete)
        fulfil(handler);
}

/* Somebody took it for lost, or it was put back although nobody could tell us. */
static gboolean
is_still_pending(const DroverHandler *handler)
{
    const DroverRequest *latest =
        drover_cluster_request(handler->parts->cluster, handler->request->id);

    return latest != NULL && latest->state == DROVER_REQUEST_PENDING;
}

static void
step(DroverHandler *handler)
{
    /* Without a provider, or with caches that are not current, nothing is decided. */
    if (handler->over || handler->manager == NULL ||
        !drover_cluster_is_complete(handler->parts->cluster))
        return;
    if (handler->phase == GATHERING)
        gather(handler);
    else if (handler->phase == ACCEPTING && handler->unsure)
        make_sure(handler);
    else if (handler->phase == PENDING && is_still_pending(handler))
        serve(handler);
    else if (handler->phase == PENDING)
        finish(handler, DROVER_HANDLER_CHANGED);
}

/* ---- The pool's side ---- */

static void
begin_pick(DroverHandler *handler, Pick *pick, const char *label)
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
    handler->stock = place->stock;
    handler->launcher_id = place->launcher_id;
    handler->hooks = place->hooks;
    handler->user_data = place->user_data;
    handler->request = drover_request_ref((DroverRequest *)request);
    if (drover_manager_has_inventory(handler->manager))
        drover_manager_add_work(handler->manager, DROVER_WORK_SERVING, NULL, handler);
    handler->n_picks = g_strv_length(request->labels);
    handler->picks = g_new0(Pick, handler->n_picks);
    for (guint i = 0; i < handler->n_picks; i++)
        begin_pick(handler, &handler->picks[i], request->labels[i]);
    return handler;
}

/* ---- Taking up what an earlier process had accepted ---- */

static gboolean
is_begun_here(const DroverHandler *handler, const DroverNode *node)
{
    return (node->state == DROVER_NODE_INIT || node->state == DROVER_NODE_BUILDING) &&
           g_strcmp0(node->launcher, handler->launcher_id) == 0;
}

/* The nodes of the request that are ready, or being made by this pool. */
static GPtrArray *
find_inherited(const DroverHandler *handler)
{
    GPtrArray *nodes = g_ptr_array_new_with_free_func((GDestroyNotify)drover_node_unref);
    DroverCacheIter iter;
    const char *id;
    gpointer object;

    drover_cache_iter_init(&iter, nodes_of(handler));
    while (drover_cache_iter_next(&iter, &id, &object)) {
        DroverNode *node = object;

        if (g_strcmp0(node->allocated_to, handler->request->id) == 0 &&
            (node->state == DROVER_NODE_READY || is_begun_here(handler, node)))
            g_ptr_array_add(nodes, drover_node_ref(node));
    }
    return nodes;
}

static void
inherit(DroverHandler *handler, Pick *pick, const DroverNode *node)
{
    DroverLaunchOrder order = launch_order(handler, pick);

    g_clear_pointer(&pick->promise, drover_usage_give_back);
    if (node->state == DROVER_NODE_READY) {
        pick->node = drover_node_ref((DroverNode *)node);
        pick->allocated = TRUE;
    } else {
        pick->launch = drover_launch_resume(&order, node->id, on_launched, pick);
    }
    if (!handler->zone_chosen && node->az != NULL)
        choose_zone(handler, node->az);
}

/* FALSE: it is one more than the request wants. */
static gboolean
inherit_node(DroverHandler *handler, const DroverNode *node)
{
    for (guint i = 0; i < handler->n_picks; i++) {
        Pick *pick = &handler->picks[i];

        if (pick->node == NULL && pick->launch == NULL &&
            drover_node_has_label(node, pick->label)) {
            inherit(handler, pick, node);
            return TRUE;
        }
    }
    return FALSE;
}

/* One that was to be given up: if it becomes ready after all, it is nobody's. */
static void
disown_node(DroverHandler *handler, const DroverNode *node)
{
    DroverLaunchOrder order = launch_order(handler, &handler->picks[0]);

    order.label = node->labels[0];
    if (order.label != NULL && is_begun_here(handler, node))
        drover_launch_disown(drover_launch_resume(&order, node->id, NULL, NULL));
}

static void
inherit_all(DroverHandler *handler)
{
    g_autoptr(GPtrArray) nodes = find_inherited(handler);

    for (guint i = 0; i < nodes->len; i++)
        if (!inherit_node(handler, nodes->pdata[i]))
            disown_node(handler, nodes->pdata[i]);
}

static void
on_inherited(DroverLock *lock, DroverLockOutcome outcome, gpointer user_data)
{
    DroverHandler *handler = user_data;
    DroverLogSubject subject = subject_of(handler);

    if (outcome != DROVER_LOCK_HELD || !take_pending_request(handler) || handler->manager == NULL) {
        finish(handler, DROVER_HANDLER_CHANGED);
        return;
    }
    drover_log(DROVER_LOG_INFO, &subject, "Going on with the node request");
    inherit_all(handler);
    handler->phase = PENDING;
    step(handler);
}

DroverHandler *
drover_handler_resume(const DroverHandlerPlace *place, const DroverRequest *request)
{
    DroverHandler *handler = drover_handler_new(place, request);
    g_autofree char *directory = drover_request_lock_path(request->id);

    handler->phase = ACCEPTING;
    handler->lock =
        drover_lock_new(drover_cluster_session(handler->parts->cluster), directory, TRUE, NULL);
    drover_lock_acquire(handler->lock, DROVER_LOCK_DO_NOT_WAIT, on_inherited, handler);
    return handler;
}

void
drover_handler_step(DroverHandler *handler)
{
    step(handler);
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
    return handler->lock != NULL;
}

void
drover_handler_move(DroverHandler *handler, DroverManager *manager, const DroverPoolConfig *pool)
{
    if (manager != handler->manager)
        drop_claims(handler);
    handler->manager = manager;
    handler->pool = pool;
}
