#include "launcher/request/making-room.h"

#include "base/log.h"
#include "zk/change.h"

#define LOGGER           "NodeRequestHandler"
#define PATIENCE_SECONDS 300

typedef struct {
    DroverStock *stock;
    DroverNode *node;
} Marking;

static void
on_marked(const DroverChangeResult *result, gpointer user_data)
{
    g_autofree Marking *marking = user_data;
    DroverLogSubject subject = {.logger = LOGGER,
                                .node_id = marking->node->id,
                                .provider = marking->node->provider,
                                .pool = marking->node->pool};

    if (result->outcome == DROVER_CHANGE_DONE)
        drover_log(DROVER_LOG_INFO, &subject, "Deleting an unused node to make room");
    else
        drover_log(DROVER_LOG_DEBUG, &subject, "Not deleted to make room: it is %s",
                   drover_change_outcome_name(result->outcome));
    drover_stock_set_shrinking(marking->stock, FALSE);
    drover_stock_unref(marking->stock);
    drover_node_unref(marking->node);
}

void
drover_make_room(DroverCluster *cluster, DroverStock *stock)
{
    const DroverNode *node = drover_stock_oldest(stock);
    g_autoptr(json_t) record = NULL;
    g_autoptr(GBytes) data = NULL;
    g_autofree char *path = NULL, *lock = NULL;
    DroverChange *change;
    Marking *marking;

    if (node == NULL || drover_stock_is_shrinking(stock, PATIENCE_SECONDS))
        return;
    record = drover_node_record(node);
    drover_node_record_set_state(record, DROVER_NODE_DELETING);
    data = drover_record_bytes(record);
    path = drover_node_path(node->id);
    lock = drover_node_lock_path(node->id);
    change = drover_change_new(drover_cluster_session(cluster));
    drover_change_claim(
        change, lock, drover_cache_lock_directory_exists(drover_cluster_nodes(cluster), node->id));
    drover_change_set(change, path, data, node->version);
    /* Offered again as soon as its lock is seen free, if it is still there. */
    drover_stock_set_usable(stock, node->id, FALSE);
    drover_cache_lock(drover_cluster_nodes(cluster), node->id);
    drover_stock_set_shrinking(stock, TRUE);
    marking = g_new0(Marking, 1);
    marking->stock = drover_stock_ref(stock);
    marking->node = drover_node_ref((DroverNode *)node);
    drover_change_commit(change, on_marked, marking);
}
