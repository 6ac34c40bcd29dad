#include "launcher/request/handler-private.h"

/* ---- Fulfilling from free nodes, in one change ---- */

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

void
drover_handler_log_failure(const DroverHandler *handler, const DroverChangeResult *result,
                           const char *what)
{
    DroverLogSubject subject = drover_handler_subject(handler);

    drover_log(DROVER_LOG_DEBUG, &subject, "%s: %s is %s", what,
               result->blamed != NULL ? result->blamed : "the outcome",
               drover_change_outcome_name(result->outcome));
}

static void
on_fulfilled_at_once(const DroverChangeResult *result, gpointer user_data)
{
    DroverHandler *handler = user_data;
    DroverLogSubject subject = drover_handler_subject(handler);
    DroverPick *blamed = drover_handler_find_pick(handler, result->blamed);
    DroverHandlerOutcome outcome = DROVER_HANDLER_CHANGED;

    if (result->outcome == DROVER_CHANGE_DONE) {
        drover_log(DROVER_LOG_INFO, &subject, "Fulfilled node request");
        outcome = DROVER_HANDLER_FULFILLED;
    } else {
        drover_handler_log_failure(handler, result, "Not fulfilled");
        if (result->outcome == DROVER_CHANGE_BUSY && blamed != NULL &&
            drover_handler_goes_on(handler))
            drover_handler_set_aside(handler, blamed->node);
        else if (result->outcome == DROVER_CHANGE_BUSY)
            outcome = DROVER_HANDLER_LOCKED;
    }
    if (drover_handler_goes_on(handler))
        drover_handler_finish(handler, outcome);
    drover_handler_unref(handler);
}

void
drover_handler_fulfil_at_once(DroverHandler *handler)
{
    g_autoptr(json_t) record = NULL;
    g_autofree char *lock = drover_request_lock_path(handler->request->id);
    DroverChange *change;

    /* Its priority may have been revised meanwhile; anything else is for the pool to decide. */
    if (!drover_handler_take_latest(handler)) {
        drover_handler_finish(handler, DROVER_HANDLER_CHANGED);
        return;
    }
    handler->phase = DROVER_ENDING;
    change = drover_handler_change(handler);
    record = fulfilled_record(handler);
    drover_change_claim(change, lock, FALSE);
    drover_handler_set_request(handler, change, record);
    for (guint i = 0; i < handler->n_picks; i++)
        drover_handler_allocate_node(handler, change, handler->picks[i].node);
    g_ref_count_inc(&handler->references);
    drover_change_commit(change, on_fulfilled_at_once, handler);
}

/* ---- Ending a pending request ---- */

static void
free_node(DroverHandler *handler, DroverChange *change, const DroverNode *node)
{
    g_autoptr(json_t) record = drover_node_record(node);

    drover_record_set_string(record, "allocated_to", NULL);
    drover_handler_claim_node(handler, change, node, record);
}

/* The node of a pick as it is now, if it is ready and the request's; else NULL. */
const DroverNode *
drover_pick_find_own(const DroverHandler *handler, const DroverPick *pick)
{
    const DroverNode *node =
        pick->node != NULL ? drover_cluster_node(handler->parts->cluster, pick->node->id) : NULL;

    return node != NULL && node->state == DROVER_NODE_READY &&
                   g_strcmp0(node->allocated_to, handler->request->id) == 0
               ? node
               : NULL;
}

void
drover_handler_say_closed(const DroverHandler *handler)
{
    if (handler->parts->cluster != NULL)
        handler->parts->closed(handler->parts->closed_data);
}

static void commit_put_back(DroverHandler *handler);

/* Others have a node of ours, or changed it: it stays allocated until the request is gone. */
static gboolean
is_in_the_way(const DroverChangeResult *result, const DroverPick *blamed)
{
    return blamed != NULL &&
           (result->outcome == DROVER_CHANGE_BUSY || result->outcome == DROVER_CHANGE_CONFLICT ||
            result->outcome == DROVER_CHANGE_GONE);
}

static void
on_put_back(const DroverChangeResult *result, gpointer user_data)
{
    DroverHandler *handler = user_data;
    DroverPick *blamed = drover_handler_find_pick(handler, result->blamed);

    handler->parts->closing--;
    if (is_in_the_way(result, blamed) && handler->parts->cluster != NULL) {
        DroverLogSubject subject = drover_handler_subject(handler);

        subject.node_id = blamed->node->id;
        drover_log(DROVER_LOG_ERROR, &subject, "Node %s is not freed: it is %s", blamed->node->id,
                   drover_change_outcome_name(result->outcome));
        drover_pick_empty(blamed);
        commit_put_back(handler);
    } else if (result->outcome == DROVER_CHANGE_UNKNOWN && drover_handler_goes_on(handler)) {
        /* All is looked at again. */
        handler->phase = DROVER_PENDING;
    } else {
        if (result->outcome != DROVER_CHANGE_DONE)
            drover_handler_log_failure(handler, result, "Not put back");
        if (drover_handler_goes_on(handler))
            drover_handler_finish(handler, DROVER_HANDLER_DECLINED);
        else
            g_clear_pointer(&handler->lock, drover_lock_free);
        drover_handler_say_closed(handler);
    }
    drover_handler_unref(handler);
}

static void
commit_put_back(DroverHandler *handler)
{
    DroverChange *change = drover_handler_change(handler);

    drover_change_release(change, handler->lock);
    drover_handler_set_request(handler, change, handler->ending);
    for (guint i = 0; i < handler->n_picks; i++) {
        const DroverNode *node = drover_pick_find_own(handler, &handler->picks[i]);

        if (node != NULL)
            free_node(handler, change, node);
    }
    g_ref_count_inc(&handler->references);
    handler->parts->closing++;
    drover_change_commit(change, on_put_back, handler);
}

/* Before the request is anybody else's. */
static void
disown_launches(DroverHandler *handler)
{
    for (guint i = 0; i < handler->n_picks; i++) {
        DroverPick *pick = &handler->picks[i];

        if (pick->launch != NULL)
            drover_launch_disown(pick->launch);
        pick->launch = NULL;
    }
}

/* The request goes back with what the record says, and its nodes are free again. */
static void
put_back(DroverHandler *handler, const json_t *record)
{
    disown_launches(handler);
    handler->phase = DROVER_ENDING;
    json_decref(handler->ending);
    handler->ending = json_deep_copy(record);
    json_object_set_new(handler->ending, "nodes", json_array());
    commit_put_back(handler);
}

void
drover_handler_put_back(DroverHandler *handler)
{
    g_autoptr(json_t) record = drover_request_record(handler->request);

    drover_request_record_set_state(record, DROVER_REQUEST_REQUESTED);
    put_back(handler, record);
}

void
drover_handler_decline(DroverHandler *handler, const char *reason)
{
    DroverLogSubject subject = drover_handler_subject(handler);
    g_autoptr(json_t) record = NULL;

    drover_log(DROVER_LOG_INFO, &subject, "Declining node request: %s", reason);
    if (!drover_handler_take_latest(handler)) {
        drover_handler_finish(handler, DROVER_HANDLER_CHANGED);
        return;
    }
    record = drover_request_record(handler->request);
    handler->hooks->add_decline(handler->request, record, reason, handler->user_data);
    put_back(handler, record);
}

void
drover_handler_release(DroverHandler *handler)
{
    if (handler->phase == DROVER_PENDING && drover_handler_take_latest(handler))
        drover_handler_put_back(handler);
    drover_handler_let_go(handler);
    /* What is under way proves the lock, and frees it when it is answered. */
    if (handler->phase != DROVER_ENDING && !handler->writing)
        g_clear_pointer(&handler->lock, drover_lock_free);
    drover_handler_unref(handler);
}

static void
on_fulfilled(const DroverChangeResult *result, gpointer user_data)
{
    DroverHandler *handler = user_data;
    DroverLogSubject subject = drover_handler_subject(handler);

    if (!drover_handler_goes_on(handler)) {
        g_clear_pointer(&handler->lock, drover_lock_free);
    } else if (result->outcome == DROVER_CHANGE_DONE) {
        drover_log(DROVER_LOG_INFO, &subject, "Fulfilled node request");
        drover_handler_finish(handler, DROVER_HANDLER_FULFILLED);
    } else if (result->outcome == DROVER_CHANGE_UNFENCED) {
        drover_handler_finish(handler, DROVER_HANDLER_CHANGED);
    } else {
        /* A node or the request changed, or nobody knows: all is looked at again. */
        drover_handler_log_failure(handler, result, "Not fulfilled");
        handler->phase = DROVER_PENDING;
        if (drover_handler_find_pick(handler, result->blamed) != NULL)
            drover_pick_empty(drover_handler_find_pick(handler, result->blamed));
        if (result->outcome != DROVER_CHANGE_UNKNOWN)
            handler->hooks->answered(handler, handler->user_data);
    }
    drover_handler_unref(handler);
}

void
drover_handler_fulfil(DroverHandler *handler)
{
    g_autoptr(json_t) record = NULL;
    DroverChange *change;

    if (!drover_handler_take_latest(handler)) {
        drover_handler_finish(handler, DROVER_HANDLER_CHANGED);
        return;
    }
    handler->phase = DROVER_ENDING;
    change = drover_handler_change(handler);
    record = fulfilled_record(handler);
    drover_change_release(change, handler->lock);
    drover_handler_set_request(handler, change, record);
    for (guint i = 0; i < handler->n_picks; i++) {
        const DroverNode *node = drover_pick_find_own(handler, &handler->picks[i]);
        g_autofree char *path = drover_node_path(node->id);

        drover_change_expect(change, path, node->version);
    }
    g_ref_count_inc(&handler->references);
    drover_change_commit(change, on_fulfilled, handler);
}
