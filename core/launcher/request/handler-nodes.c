#include "launcher/request/handler-private.h"

#include "launcher/request/making-room.h"
#include "launcher/request/room.h"

/* ---- Finding free nodes ---- */

static void
on_checked(const DroverTaskResult *result, gpointer user_data)
{
    DroverPick *pick = user_data;
    DroverHandler *handler = pick->handler;

    pick->check = NULL;
    if (drover_handler_goes_on(handler) && !result->ok) {
        DroverLogSubject subject = drover_handler_subject(handler);

        subject.node_id = pick->node->id;
        drover_log(DROVER_LOG_WARNING, &subject, "Node %s of provider %s is not used: %s",
                   pick->node->hostname, pick->node->provider, result->message);
        drover_stock_release(handler->stock, pick->node->id);
        drover_manager_deregister(handler->manager, pick->node);
        drover_handler_set_aside(handler, pick->node);
        g_clear_pointer(&pick->node, drover_node_unref);
    }
    if (drover_handler_goes_on(handler))
        drover_handler_step(handler);
    drover_handler_unref(handler);
}

/* FALSE when the node's machine is in no inventory any more; the registrar takes the node away. */
static gboolean
check_machine(DroverHandler *handler, DroverPick *pick)
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

void
drover_handler_choose_zone(DroverHandler *handler, const char *zone)
{
    handler->zone = g_strdup(zone);
    handler->zone_chosen = TRUE;
}

void
drover_pick_find_node(DroverHandler *handler, DroverPick *pick)
{
    gboolean inventory = drover_manager_has_inventory(handler->manager);

    while (pick->node == NULL && (inventory || handler->request->reuse)) {
        pick->node = drover_stock_reserve(handler->stock, pick->label, handler->zone);
        if (pick->node == NULL)
            return;
        if (!inventory && !handler->zone_chosen && pick->node->az != NULL)
            drover_handler_choose_zone(handler, pick->node->az);
        if (inventory && !check_machine(handler, pick))
            continue;
    }
}

/* ---- Allocating what was found, once the request is pending ---- */

static void
on_allocated(const DroverChangeResult *result, gpointer user_data)
{
    DroverPick *pick = user_data;
    DroverHandler *handler = pick->handler;

    pick->allocating = FALSE;
    if (!drover_handler_goes_on(handler)) {
        /* If it happened, the node is freed with the request. */
    } else if (result->outcome == DROVER_CHANGE_DONE) {
        pick->allocated = TRUE;
        g_clear_pointer(&pick->promise, drover_usage_give_back);
        if (handler->manager != NULL)
            drover_runner_node_reused(drover_manager_runner(handler->manager), pick->node->id,
                                      handler->request->id);
        handler->hooks->answered(handler, handler->user_data);
    } else if (result->outcome == DROVER_CHANGE_UNFENCED) {
        drover_handler_finish(handler, DROVER_HANDLER_CHANGED);
    } else if (result->outcome != DROVER_CHANGE_UNKNOWN) {
        drover_handler_log_failure(handler, result, "Node not taken");
        if (result->outcome == DROVER_CHANGE_BUSY)
            drover_handler_set_aside(handler, pick->node);
        drover_pick_empty(pick);
        handler->hooks->answered(handler, handler->user_data);
    }
    drover_handler_unref(handler);
}

void
drover_pick_allocate(DroverHandler *handler, DroverPick *pick)
{
    DroverChange *change = drover_handler_change(handler);

    pick->allocating = TRUE;
    drover_change_hold(change, handler->lock);
    drover_handler_allocate_node(handler, change, pick->node);
    g_ref_count_inc(&handler->references);
    drover_change_commit(change, on_allocated, pick);
}

/* ---- Launching what is missing ---- */

void
drover_pick_on_launched(DroverLaunch *launch, DroverLaunchOutcome outcome, gpointer user_data)
{
    DroverPick *pick = user_data;
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
    handler->hooks->answered(handler, handler->user_data);
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
        drover_handler_choose_zone(handler,
                                   drover_value_string(drover_value_item(own, (size_t)index)));
        return TRUE;
    }
    if (!drover_facts_zones(drover_manager_facts(handler->manager), &zones))
        return FALSE;
    n = (gint32)g_strv_length((char **)zones);
    drover_handler_choose_zone(handler, n > 0 ? zones[g_random_int_range(0, n)] : NULL);
    return TRUE;
}

DroverLaunchOrder
drover_pick_launch_order(const DroverHandler *handler, const DroverPick *pick)
{
    return (DroverLaunchOrder){.manager = handler->manager,
                               .request = handler->request,
                               .pool = handler->pool->name,
                               .label = pick->label,
                               .launcher_id = handler->launcher_id,
                               .zone = handler->zone};
}

static void
launch(DroverHandler *handler, DroverPick *pick)
{
    DroverLaunchOrder order = drover_pick_launch_order(handler, pick);

    drover_pick_drop_claim(pick);
    g_clear_pointer(&pick->promise, drover_usage_give_back);
    pick->launch = drover_launch_new(&order, drover_pick_on_launched, pick);
}

void
drover_handler_set_paused(DroverHandler *handler, gboolean paused, const char *reason)
{
    DroverLogSubject subject = drover_handler_subject(handler);

    if (handler->paused == paused)
        return;
    handler->paused = paused;
    if (paused)
        drover_log(DROVER_LOG_INFO, &subject, "Not enough quota to satisfy the request: %s",
                   reason);
    else
        drover_log(DROVER_LOG_DEBUG, &subject, "There is room again");
    drover_handler_drop_claims(handler);
    handler->hooks->paused(handler, handler->user_data);
}

/* Standby nodes are not worth waiting for: another pool may have room. */
static gboolean
is_standby(const DroverHandler *handler)
{
    return g_strcmp0(handler->request->requestor, DROVER_STANDBY_REQUESTOR) == 0;
}

/* FALSE: no more for now. */
gboolean
drover_pick_launch_if_room(DroverHandler *handler, DroverPick *pick)
{
    g_autofree char *reason = NULL;
    DroverRoom room = drover_room_for_one(handler->manager, handler->pool, pick->label, &reason);

    g_free(handler->obstacle);
    handler->obstacle = g_strdup(reason);
    /* What is not known yet will be soon. */
    if (room == DROVER_ROOM_UNKNOWN || (room == DROVER_ROOM_FITS && !draw_zone(handler)))
        return FALSE;
    if (room == DROVER_ROOM_FITS) {
        drover_handler_set_paused(handler, FALSE, NULL);
        launch(handler, pick);
        return TRUE;
    }
    if (is_standby(handler)) {
        handler->failure = "there is no room for standby nodes";
        return FALSE;
    }
    if (room == DROVER_ROOM_FULL)
        drover_make_room(handler->parts->cluster, handler->stock);
    drover_handler_set_paused(handler, TRUE, reason);
    return FALSE;
}
