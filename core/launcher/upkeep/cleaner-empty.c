/*
 * Nodes without a record: somebody locked a node that had just been deleted, which made it anew,
 * and then left. Who is only about to find that out has the lock, and time until the next run.
 */
#include <string.h>

#include "launcher/upkeep/cleaner-private.h"
#include "zk/tree.h"

static const char *
id_of(const DroverErrand *errand)
{
    return errand->path + strlen(DROVER_NODES_PATH "/");
}

static void
remember(GHashTable *empty, const char *id, gint64 czxid)
{
    g_hash_table_insert(empty, g_strdup(id), g_memdup2(&czxid, sizeof(czxid)));
}

static gboolean
was_empty_before(const DroverErrand *errand)
{
    const gint64 *czxid = g_hash_table_lookup(errand->cleaner->empty[0], id_of(errand));

    return czxid != NULL && *czxid == errand->czxid;
}

static void
on_deleted(int rc, gpointer user_data)
{
    g_autoptr(DroverErrand) errand = user_data;

    if (rc == ZOK)
        drover_log(DROVER_LOG_INFO,
                   &(DroverLogSubject){.logger = "CleanupWorker", .node_id = id_of(errand)},
                   "Deleted empty node");
    else if (rc == ZNOTEMPTY)
        remember(errand->cleaner->empty[1], id_of(errand), errand->czxid);
    else if (rc != ZNONODE && rc != ZBADVERSION)
        drover_errand_log_failure(errand, rc);
}

static void
on_read(const DroverReadReply *reply, gpointer user_data)
{
    DroverErrand *errand = user_data;

    if (reply->rc == ZNONODE || !drover_errand_has_read(errand, reply->rc) ||
        g_bytes_get_size(reply->data) > 0) {
        drover_errand_free(errand);
        return;
    }
    errand->czxid = reply->stat.czxid;
    drover_tree_delete(drover_errand_session(errand), errand->path, reply->stat.version,
                       was_empty_before(errand), on_deleted, errand);
}

/* What the cache has a record of is not empty. */
static void
on_listed(const DroverReadReply *reply, gpointer user_data)
{
    g_autoptr(DroverErrand) folder = user_data;

    if (!drover_errand_has_read(folder, reply->rc))
        return;
    for (guint i = 0; i < reply->n_children; i++) {
        g_autofree char *path = drover_node_path(reply->children[i]);
        DroverErrand *errand = NULL;

        if (drover_cluster_node(folder->cleaner->cluster, reply->children[i]) == NULL)
            errand = drover_errand_new(folder->cleaner, folder->task, path);
        if (errand != NULL)
            drover_session_get(drover_errand_session(errand), path, FALSE, on_read, errand);
    }
}

void
drover_clean_empty_nodes(DroverCleaner *cleaner, const char *task)
{
    DroverErrand *folder = drover_errand_new(cleaner, task, DROVER_NODES_PATH);

    drover_session_list(drover_errand_session(folder), DROVER_NODES_PATH, FALSE, on_listed, folder);
}
