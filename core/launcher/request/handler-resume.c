#include "launcher/request/handler-private.h"

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

    drover_cache_iter_init(&iter, drover_handler_nodes(handler));
    while (drover_cache_iter_next(&iter, &id, &object)) {
        DroverNode *node = object;

        if (g_strcmp0(node->allocated_to, handler->request->id) == 0 &&
            (node->state == DROVER_NODE_READY || is_begun_here(handler, node)))
            g_ptr_array_add(nodes, drover_node_ref(node));
    }
    return nodes;
}

static void
inherit(DroverHandler *handler, DroverPick *pick, const DroverNode *node)
{
    DroverLaunchOrder order = drover_pick_launch_order(handler, pick);

    g_clear_pointer(&pick->promise, drover_usage_give_back);
    if (node->state == DROVER_NODE_READY) {
        pick->node = drover_node_ref((DroverNode *)node);
        pick->allocated = TRUE;
    } else {
        pick->launch = drover_launch_resume(&order, node->id, drover_pick_on_launched, pick);
    }
    if (!handler->zone_chosen && node->az != NULL)
        drover_handler_choose_zone(handler, node->az);
}

/* FALSE: it is one more than the request wants. */
static gboolean
inherit_node(DroverHandler *handler, const DroverNode *node)
{
    for (guint i = 0; i < handler->n_picks; i++) {
        DroverPick *pick = &handler->picks[i];

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
    DroverLaunchOrder order = drover_pick_launch_order(handler, &handler->picks[0]);

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
    DroverLogSubject subject = drover_handler_subject(handler);

    if (outcome != DROVER_LOCK_HELD || !drover_handler_take_pending(handler) ||
        handler->manager == NULL) {
        drover_handler_finish(handler, DROVER_HANDLER_CHANGED);
        return;
    }
    drover_log(DROVER_LOG_INFO, &subject, "Going on with the node request");
    inherit_all(handler);
    handler->phase = DROVER_PENDING;
    handler->hooks->answered(handler, handler->user_data);
}

/* Nobody else's lock is touched, if only for a moment. */
static void
on_asked(gboolean inherited, gpointer user_data)
{
    DroverHandler *handler = user_data;

    if (inherited && drover_handler_goes_on(handler)) {
        g_autofree char *directory = drover_request_lock_path(handler->request->id);

        handler->lock =
            drover_lock_new(drover_cluster_session(handler->parts->cluster), directory, TRUE, NULL);
        drover_lock_acquire(handler->lock, DROVER_LOCK_DO_NOT_WAIT, on_inherited, handler);
    } else if (drover_handler_goes_on(handler)) {
        drover_handler_finish(handler, DROVER_HANDLER_CHANGED);
    }
    drover_handler_unref(handler);
}

DroverHandler *
drover_handler_resume(const DroverHandlerPlace *place, const DroverRequest *request)
{
    DroverHandler *handler = drover_handler_new(place, request);
    g_autofree char *directory = drover_request_lock_path(request->id);

    handler->phase = DROVER_ACCEPTING;
    g_ref_count_inc(&handler->references);
    drover_lock_ask_inherited(drover_cluster_session(handler->parts->cluster), directory, on_asked,
                              handler);
    return handler;
}
