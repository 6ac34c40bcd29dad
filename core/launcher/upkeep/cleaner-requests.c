/*
 * Lost requests: pending, but nobody has them locked any more, so nobody serves them. They and what
 * was to become theirs are reset in one change, or not at all.
 */
#include "launcher/cluster/node-claim.h"
#include "launcher/upkeep/cleaner-private.h"

/* The list of nodes, the list again, a new node, the node again. */
#define MOST_ROUNDS 5

/* ---- Nodes ---- */

/* What is deleted anyway, or is somebody's, is left out. */
static gboolean
is_to_be_freed(const DroverNode *node, const char *request_id)
{
    return (node->state == DROVER_NODE_INIT || node->state == DROVER_NODE_BUILDING ||
            node->state == DROVER_NODE_READY) &&
           g_strcmp0(node->allocated_to, request_id) == 0;
}

/* FALSE when another errand works on one of them. */
static gboolean
take_nodes(DroverErrand *errand)
{
    DroverCacheIter iter;
    const char *id;
    gpointer node;

    drover_cache_iter_init(&iter, drover_cluster_nodes(errand->cleaner->cluster));
    while (drover_cache_iter_next(&iter, &id, &node))
        if (is_to_be_freed(node, errand->request->id) && !drover_errand_add_node(errand, node))
            return FALSE;
    return TRUE;
}

/* The node that stood in the way; NULL: it was something else. */
static DroverNode *
find_blamed(const DroverErrand *errand, const DroverChangeResult *result)
{
    for (guint i = 0; result->blamed != NULL && i < errand->nodes->len; i++) {
        DroverNode *node = errand->nodes->pdata[i];
        g_autofree char *path = drover_node_path(node->id);

        if (g_str_has_prefix(result->blamed, path))
            return node;
    }
    return NULL;
}

/* ---- The change ---- */

static void
free_node(DroverErrand *errand, DroverChange *change, const DroverNode *node)
{
    g_autoptr(json_t) record = drover_node_record(node);

    drover_record_set_string(record, "allocated_to", NULL);
    if (node->state == DROVER_NODE_INIT)
        drover_node_record_set_state(record, DROVER_NODE_DELETING);
    drover_node_claim(errand->cleaner->cluster, change, node, record);
}

static void on_reset(const DroverChangeResult *result, gpointer user_data);

static void
reset(DroverErrand *errand)
{
    const DroverRequest *request = errand->request;
    g_autofree char *path = drover_request_path(request->id);
    g_autofree char *lock = drover_request_lock_path(request->id);
    g_autoptr(json_t) record = drover_request_record(request);
    g_autoptr(GBytes) data = NULL;
    DroverChange *change = drover_change_new(drover_errand_session(errand));

    json_object_set_new(record, "nodes", json_array());
    drover_request_record_set_state(record, DROVER_REQUEST_REQUESTED);
    data = drover_record_bytes(record);
    drover_change_claim(change, lock, errand->lock_present);
    drover_change_set(change, path, data, request->version);
    for (guint i = 0; i < errand->nodes->len; i++)
        free_node(errand, change, errand->nodes->pdata[i]);
    drover_change_commit(change, on_reset, errand);
}

static void
log_not_reset(const DroverErrand *errand, const DroverChangeResult *result, const DroverNode *node)
{
    DroverLogSubject subject = drover_errand_subject(errand);

    if (node != NULL && result->outcome == DROVER_CHANGE_BUSY) {
        subject.node_id = node->id;
        drover_log(DROVER_LOG_WARNING, &subject,
                   "Cannot lock node %s of a lost request; the request is reset later", node->id);
    } else {
        drover_log(DROVER_LOG_DEBUG, &subject, "Lost request left as it is: %s",
                   drover_change_outcome_name(result->outcome));
    }
}

/*
 * Nobody serves the request: who works on a node of it that was being built is deleting it, and
 * that is as good.
 */
static gboolean
is_left_to_deleter(const DroverNode *node, const DroverChangeResult *result)
{
    return node != NULL && node->state == DROVER_NODE_BUILDING &&
           (result->outcome == DROVER_CHANGE_BUSY || result->outcome == DROVER_CHANGE_CONFLICT ||
            result->outcome == DROVER_CHANGE_GONE);
}

static void
on_reset(const DroverChangeResult *result, gpointer user_data)
{
    DroverErrand *errand = user_data;
    DroverLogSubject subject = drover_errand_subject(errand);
    DroverNode *blamed = find_blamed(errand, result);

    if (drover_errand_goes_on(errand) && is_left_to_deleter(blamed, result)) {
        g_ptr_array_remove(errand->nodes, blamed);
        reset(errand);
        return;
    }
    if (result->outcome == DROVER_CHANGE_DONE)
        drover_log(DROVER_LOG_INFO, &subject, "Reset lost node request");
    else
        log_not_reset(errand, result, blamed);
    drover_errand_free(errand);
}

/* ---- Which ---- */

static gboolean
is_unchanged(const DroverErrand *errand)
{
    return drover_cluster_request(errand->cleaner->cluster, errand->request->id) == errand->request;
}

static void look_at_lock(DroverErrand *errand);

/*
 * Nodes that were made before the lock became free are to be seen, too. Answers come in order, so
 * after some more of them everything that was under way at the first one has been read.
 */
static gboolean
has_seen_all(const DroverErrand *errand)
{
    return errand->rounds >= MOST_ROUNDS || drover_cluster_is_settled(errand->cleaner->cluster);
}

static void
on_lock_looked_at(const DroverReadReply *reply, gpointer user_data)
{
    DroverErrand *errand = user_data;

    errand->lock_present = reply->rc == ZOK;
    if ((reply->rc != ZNONODE && !drover_errand_has_read(errand, reply->rc)) ||
        reply->stat.numChildren > 0 || !drover_errand_goes_on(errand) || !is_unchanged(errand))
        drover_errand_free(errand);
    else if (!has_seen_all(errand))
        look_at_lock(errand);
    else if (take_nodes(errand))
        reset(errand);
    else
        drover_errand_free(errand);
}

static void
look_at_lock(DroverErrand *errand)
{
    g_autofree char *lock = drover_request_lock_path(errand->request->id);

    errand->rounds++;
    drover_session_exists(drover_errand_session(errand), lock, FALSE, on_lock_looked_at, errand);
}

void
drover_clean_lost_requests(DroverCleaner *cleaner, const char *task)
{
    const GPtrArray *requests = drover_cluster_requests(cleaner->cluster);

    for (guint i = 0; i < requests->len; i++) {
        DroverRequest *request = requests->pdata[i];
        g_autofree char *path = drover_request_path(request->id);
        DroverErrand *errand = NULL;

        if (request->state == DROVER_REQUEST_PENDING)
            errand = drover_errand_new(cleaner, task, path);
        if (errand == NULL)
            continue;
        errand->request = drover_request_ref(request);
        look_at_lock(errand);
    }
}
