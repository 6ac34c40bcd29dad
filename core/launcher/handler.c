#include "launcher/handler.h"

#include <string.h>

#include "base/log.h"
#include "zk/change.h"

#define LOGGER "NodeRequestHandler"

typedef struct {
    DroverHandler *handler;
    char *label;
    DroverNode *node;  /* NULL: still to be found */
    DroverTask *check; /* of its machine, under way; or NULL */
} Pick;

struct _DroverHandler {
    grefcount references; /* the pool, and every answer still to come */
    DroverCluster *cluster;
    DroverManager *manager; /* NULL once abandoned */
    DroverStock *stock;
    DroverRequest *request;
    Pick *picks; /* one for each label, in order */
    guint n_picks;
    gboolean is_short, committing;
    DroverHandlerFunc done;
    gpointer user_data;
};

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

static void
release_nodes(DroverHandler *handler)
{
    for (guint i = 0; i < handler->n_picks; i++)
        if (handler->picks[i].node != NULL)
            drover_stock_release(handler->stock, handler->picks[i].node->id);
}

static void
finish(DroverHandler *handler, DroverHandlerOutcome outcome)
{
    DroverHandlerFunc done = g_steal_pointer(&handler->done);

    if (done == NULL)
        return;
    release_nodes(handler);
    drover_manager_end(handler->manager);
    handler->manager = NULL;
    done(handler, outcome, handler->user_data);
    handler_unref(handler);
}

/*
 * Not offered to anybody until its lock is seen free; asked for last, so that the answer comes
 * after that of a change under way.
 */
static void
set_aside(DroverHandler *handler, const DroverNode *node)
{
    drover_stock_set_usable(handler->stock, node->id, FALSE);
    drover_cache_lock(drover_cluster_nodes(handler->cluster), node->id);
}

/* ---- The one change ---- */

static Pick *
find_pick(DroverHandler *handler, const char *path)
{
    for (guint i = 0; i < handler->n_picks; i++) {
        g_autofree char *node_path = drover_node_path(handler->picks[i].node->id);

        if (g_str_has_prefix(path, node_path))
            return &handler->picks[i];
    }
    return NULL;
}

static void
on_fulfilled(const DroverChangeResult *result, gpointer user_data)
{
    DroverHandler *handler = user_data;
    DroverLogSubject subject = subject_of(handler);
    Pick *blamed = result->blamed != NULL ? find_pick(handler, result->blamed) : NULL;
    DroverHandlerOutcome outcome = DROVER_HANDLER_CHANGED;

    if (result->outcome == DROVER_CHANGE_DONE) {
        drover_log(DROVER_LOG_INFO, &subject, "Fulfilled node request");
        outcome = DROVER_HANDLER_FULFILLED;
    } else {
        drover_log(DROVER_LOG_DEBUG, &subject, "Not fulfilled: %s is %s",
                   result->blamed != NULL ? result->blamed : "the outcome",
                   drover_change_outcome_name(result->outcome));
        if (result->outcome == DROVER_CHANGE_BUSY && blamed != NULL && handler->manager != NULL)
            set_aside(handler, blamed->node);
        else if (result->outcome == DROVER_CHANGE_BUSY)
            outcome = DROVER_HANDLER_LOCKED;
    }
    if (handler->manager != NULL)
        finish(handler, outcome);
    handler_unref(handler);
}

static void
add_node(DroverHandler *handler, DroverChange *change, const DroverNode *node)
{
    g_autoptr(json_t) record = drover_node_record(node);
    g_autoptr(GBytes) data = NULL;
    g_autofree char *path = drover_node_path(node->id), *lock = drover_node_lock_path(node->id);

    drover_node_record_allocate(record, handler->request->id, handler->request->tenant_name,
                                handler->request->requestor);
    data = drover_record_bytes(record);
    drover_change_claim(
        change, lock,
        drover_cache_lock_directory_exists(drover_cluster_nodes(handler->cluster), node->id));
    drover_change_set(change, path, data, node->version);
}

static void
add_request(DroverHandler *handler, DroverChange *change)
{
    g_autoptr(json_t) record = drover_request_record(handler->request);
    g_autoptr(GBytes) data = NULL;
    g_autofree char *path = drover_request_path(handler->request->id);
    g_autofree char *lock = drover_request_lock_path(handler->request->id);
    json_t *nodes = json_array();

    for (guint i = 0; i < handler->n_picks; i++)
        json_array_append_new(nodes, json_string(handler->picks[i].node->id));
    json_object_set_new(record, "nodes", nodes);
    drover_request_record_set_state(record, DROVER_REQUEST_FULFILLED);
    data = drover_record_bytes(record);
    drover_change_claim(change, lock, FALSE);
    drover_change_set(change, path, data, handler->request->version);
}

/* Its priority may have been revised meanwhile; anything else is for the pool to decide. */
static gboolean
take_latest_request(DroverHandler *handler)
{
    const DroverRequest *latest = drover_cluster_request(handler->cluster, handler->request->id);

    if (latest == NULL || latest->state != DROVER_REQUEST_REQUESTED ||
        !g_strv_equal((const char *const *)latest->labels,
                      (const char *const *)handler->request->labels))
        return FALSE;
    drover_request_ref((DroverRequest *)latest);
    drover_request_unref(handler->request);
    handler->request = (DroverRequest *)latest;
    return TRUE;
}

static void
fulfil(DroverHandler *handler)
{
    DroverChange *change;

    if (!take_latest_request(handler)) {
        finish(handler, DROVER_HANDLER_CHANGED);
        return;
    }
    handler->committing = TRUE;
    change = drover_change_new(drover_cluster_session(handler->cluster));
    add_request(handler, change);
    for (guint i = 0; i < handler->n_picks; i++)
        add_node(handler, change, handler->picks[i].node);
    g_ref_count_inc(&handler->references);
    drover_change_commit(change, on_fulfilled, handler);
}

/* ---- Finding nodes ---- */

static void step(DroverHandler *handler);

static void
on_checked(const DroverTaskResult *result, gpointer user_data)
{
    Pick *pick = user_data;
    DroverHandler *handler = pick->handler;

    pick->check = NULL;
    if (handler->manager != NULL && !result->ok) {
        DroverLogSubject subject = subject_of(handler);

        subject.node_id = pick->node->id;
        drover_log(DROVER_LOG_WARNING, &subject, "Node %s of provider %s is not used: %s",
                   pick->node->hostname, pick->node->provider, result->message);
        drover_stock_release(handler->stock, pick->node->id);
        drover_manager_deregister(handler->manager, pick->node);
        set_aside(handler, pick->node);
        g_clear_pointer(&pick->node, drover_node_unref);
    }
    if (handler->manager != NULL)
        step(handler);
    handler_unref(handler);
}

static void
find_node(DroverHandler *handler, Pick *pick)
{
    while (pick->node == NULL) {
        pick->node = drover_stock_reserve(handler->stock, pick->label);
        if (pick->node == NULL) {
            handler->is_short = TRUE;
            return;
        }
        if (!drover_manager_has_inventory(handler->manager))
            return;
        pick->check = drover_manager_check_node(handler->manager, pick->node, on_checked, pick);
        if (pick->check != NULL) {
            g_ref_count_inc(&handler->references);
            return;
        }
        /* Its machine is not configured any more; the registrar takes the node away. */
        drover_stock_set_usable(handler->stock, pick->node->id, FALSE);
        g_clear_pointer(&pick->node, drover_node_unref);
    }
}

static void
step(DroverHandler *handler)
{
    gboolean checking = FALSE;

    if (handler->committing || handler->done == NULL)
        return;
    for (guint i = 0; i < handler->n_picks && !handler->is_short; i++)
        find_node(handler, &handler->picks[i]);
    for (guint i = 0; i < handler->n_picks; i++)
        checking = checking || handler->picks[i].check != NULL;
    if (checking)
        return;
    if (handler->is_short)
        finish(handler, DROVER_HANDLER_SHORT);
    else
        fulfil(handler);
}

/* ---- Life ---- */

DroverHandler *
drover_handler_new(DroverCluster *cluster, DroverManager *manager, DroverStock *stock,
                   const DroverRequest *request, DroverHandlerFunc done, gpointer user_data)
{
    DroverHandler *handler = g_new0(DroverHandler, 1);

    g_ref_count_init(&handler->references);
    handler->cluster = cluster;
    handler->manager = manager;
    drover_manager_begin(manager);
    handler->stock = stock;
    handler->request = drover_request_ref((DroverRequest *)request);
    handler->done = done;
    handler->user_data = user_data;
    handler->n_picks = g_strv_length(request->labels);
    handler->picks = g_new0(Pick, handler->n_picks);
    for (guint i = 0; i < handler->n_picks; i++) {
        handler->picks[i].handler = handler;
        handler->picks[i].label = g_strdup(request->labels[i]);
    }
    return handler;
}

void
drover_handler_start(DroverHandler *handler)
{
    step(handler);
}

const DroverRequest *
drover_handler_request(const DroverHandler *handler)
{
    return handler->request;
}

void
drover_handler_abandon(DroverHandler *handler)
{
    release_nodes(handler);
    for (guint i = 0; i < handler->n_picks; i++)
        if (handler->picks[i].check != NULL)
            drover_task_cancel(handler->picks[i].check);
    drover_manager_end(handler->manager);
    handler->done = NULL;
    handler->manager = NULL;
    handler_unref(handler);
}
