#include "launcher/cluster/node-claim.h"

void
drover_node_claim(DroverCluster *cluster, DroverChange *change, const DroverNode *node,
                  const json_t *record)
{
    g_autoptr(GBytes) data = drover_record_bytes(record);
    g_autofree char *path = drover_node_path(node->id), *lock = drover_node_lock_path(node->id);

    drover_change_claim(
        change, lock, drover_cache_lock_directory_exists(drover_cluster_nodes(cluster), node->id));
    drover_change_set(change, path, data, node->version);
}
