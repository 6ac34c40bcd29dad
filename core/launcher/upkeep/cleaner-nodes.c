/* Nodes that are over their age, and nodes that their launcher never got to. */
#include "launcher/upkeep/cleaner-private.h"
#include "launcher/upkeep/expiry.h"

#define IN_STATE(state) (1U << (state))

typedef void (*Look)(DroverErrand *errand, const DroverNode *node);

/* Begins an errand for each node in one of the states that is over its age. */
static void
look_at_old_nodes(DroverCleaner *cleaner, const char *task, guint states, Look look)
{
    double now = drover_record_now();
    DroverCacheIter iter;
    gpointer object;

    drover_cache_iter_init(&iter, drover_cluster_nodes(cleaner->cluster));
    while (drover_cache_iter_next(&iter, NULL, &object)) {
        const DroverNode *node = object;
        DroverErrand *errand = NULL;

        if ((states & IN_STATE(node->state)) != 0 && drover_cleaner_serves(cleaner, node) &&
            drover_expiry_is_over(node, cleaner->config, now))
            errand = drover_errand_new_for_node(cleaner, task, node);
        if (errand != NULL)
            look(errand, node);
    }
}

/* ---- Over their age ---- */

static void
expire(DroverErrand *errand, const DroverNode *node)
{
    g_autofree char *why = g_strdup_printf(
        "in state %s for %.0f s, the limit is %.0f s", drover_node_state_name(node->state),
        drover_record_now() - node->state_time, drover_expiry_limit(node, errand->cleaner->config));

    drover_errand_expire_node(errand, why);
}

void
drover_clean_old_nodes(DroverCleaner *cleaner, const char *task)
{
    look_at_old_nodes(cleaner, task, IN_STATE(DROVER_NODE_READY) | IN_STATE(DROVER_NODE_HOLD),
                      expire);
}

/* ---- Orphans: their record was made, and then nothing happened any more ---- */

static gboolean
is_registered(DroverCluster *cluster, const char *launcher_id)
{
    const GPtrArray *pools = drover_cluster_pools(cluster);

    for (guint i = 0; launcher_id != NULL && i < pools->len; i++)
        if (g_strcmp0(((const DroverComponent *)pools->pdata[i])->id, launcher_id) == 0)
            return TRUE;
    return FALSE;
}

/* The cache may not have seen a new request yet; the server has. */
static void
on_request_looked_up(const DroverReadReply *reply, gpointer user_data)
{
    DroverErrand *errand = user_data;

    if (!drover_errand_goes_on(errand) || reply->rc != ZNONODE)
        drover_errand_free(errand);
    else
        drover_errand_expire_node(errand, "left in state init, its request is gone");
}

static void
expire_orphan(DroverErrand *errand, const DroverNode *node)
{
    DroverCluster *cluster = errand->cleaner->cluster;
    g_autofree char *path = NULL;

    if (!is_registered(cluster, node->launcher)) {
        drover_errand_expire_node(errand, "left in state init, its launcher is gone");
    } else if (node->allocated_to == NULL) {
        drover_errand_expire_node(errand, "left in state init, it has no request");
    } else if (drover_cluster_request(cluster, node->allocated_to) != NULL) {
        drover_errand_free(errand);
    } else {
        path = drover_request_path(node->allocated_to);
        drover_session_exists(drover_errand_session(errand), path, FALSE, on_request_looked_up,
                              errand);
    }
}

void
drover_clean_orphaned_nodes(DroverCleaner *cleaner, const char *task)
{
    look_at_old_nodes(cleaner, task, IN_STATE(DROVER_NODE_INIT), expire_orphan);
}
