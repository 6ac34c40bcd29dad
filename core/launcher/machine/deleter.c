#include "launcher/machine/deleter.h"

#include <string.h>

#include "base/log.h"
#include "launcher/machine/deletion.h"
#include "zk/change.h"
#include "zk/operation.h"

#define LOGGER "DeletedNodeWorker"

/* Between attempts to delete a machine, which come further and further apart. */
#define FIRST_PAUSE_SECONDS 5
#define LAST_PAUSE_SECONDS  60

struct _DroverDeleter {
    grefcount references; /* the owner, and every answer still to come */
    DroverCluster *cluster;
    DroverFindManager find_manager; /* NULL once freed */
    gpointer user_data;
    GHashTable *busy;    /* ids of nodes with an errand under way */
    GHashTable *failing; /* id -> Pause: of nodes whose machine could not be deleted */
};

typedef struct {
    gint64 until; /* monotonic, microseconds */
    guint seconds;
} Pause;

typedef struct {
    DroverDeleter *deleter;
    DroverNode *node;
} Errand;

static void
deleter_unref(DroverDeleter *deleter)
{
    if (!g_ref_count_dec(&deleter->references))
        return;
    g_hash_table_unref(deleter->busy);
    g_hash_table_unref(deleter->failing);
    g_free(deleter);
}

static Errand *
errand_new(DroverDeleter *deleter, const DroverNode *node)
{
    Errand *errand = g_new0(Errand, 1);

    g_ref_count_inc(&deleter->references);
    errand->deleter = deleter;
    errand->node = drover_node_ref((DroverNode *)node);
    g_hash_table_add(deleter->busy, g_strdup(node->id));
    return errand;
}

static void
errand_free(Errand *errand)
{
    drover_node_unref(errand->node);
    deleter_unref(errand->deleter);
    g_free(errand);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Errand, errand_free)

static DroverLogSubject
subject_of(const DroverNode *node)
{
    return (DroverLogSubject){.logger = LOGGER,
                              .request_id = node->allocated_to,
                              .node_id = node->id,
                              .provider = node->provider,
                              .pool = node->pool};
}

static gboolean
lock_directory_exists(const DroverDeleter *deleter, const DroverNode *node)
{
    return drover_cache_lock_directory_exists(drover_cluster_nodes(deleter->cluster), node->id);
}

/*
 * A change that met somebody's lock or another record is decided anew: the news of either may have
 * come while the change was under way.
 */
static void
finish_errand(Errand *errand, const DroverChangeResult *result)
{
    DroverLogSubject subject = subject_of(errand->node);

    g_hash_table_remove(errand->deleter->busy, errand->node->id);
    if (result->outcome == DROVER_CHANGE_DONE)
        return;
    drover_log(DROVER_LOG_DEBUG, &subject, "Node left as it is: %s",
               drover_change_outcome_name(result->outcome));
    if (errand->deleter->find_manager != NULL &&
        (result->outcome == DROVER_CHANGE_BUSY || result->outcome == DROVER_CHANGE_CONFLICT))
        drover_deleter_note_node(errand->deleter, errand->node->id);
}

/* ---- Deleting ---- */

static void
on_deleted(const DroverChangeResult *result, gpointer user_data)
{
    g_autoptr(Errand) errand = user_data;
    DroverLogSubject subject = subject_of(errand->node);

    finish_errand(errand, result);
    if (result->outcome == DROVER_CHANGE_DONE)
        drover_log(DROVER_LOG_INFO, &subject, "Deleted node of provider %s, was %s",
                   errand->node->provider, drover_node_state_name(errand->node->state));
}

/* Its machine stays as it is: the record is all. */
static void
delete_record(DroverDeleter *deleter, const DroverNode *node)
{
    g_autofree char *path = drover_node_path(node->id);
    DroverChange *change = drover_change_new(drover_cluster_session(deleter->cluster));

    drover_change_delete_claimed(change, path, lock_directory_exists(deleter, node), node->version);
    drover_change_commit(change, on_deleted, errand_new(deleter, node));
}

static void
note_failure(DroverDeleter *deleter, const char *node_id)
{
    Pause *pause = g_hash_table_lookup(deleter->failing, node_id);

    if (pause == NULL) {
        pause = g_new0(Pause, 1);
        g_hash_table_insert(deleter->failing, g_strdup(node_id), pause);
    }
    pause->seconds = CLAMP(pause->seconds * 2, FIRST_PAUSE_SECONDS, LAST_PAUSE_SECONDS);
    pause->until = g_get_monotonic_time() + (gint64)pause->seconds * G_USEC_PER_SEC;
}

static gboolean
is_paused(const DroverDeleter *deleter, const char *node_id)
{
    const Pause *pause = g_hash_table_lookup(deleter->failing, node_id);

    return pause != NULL && g_get_monotonic_time() < pause->until;
}

static void
on_deletion_ended(const char *node_id, DroverDeletionOutcome outcome, gpointer user_data)
{
    g_autoptr(Errand) errand = user_data;

    g_hash_table_remove(errand->deleter->busy, node_id);
    if (outcome == DROVER_DELETION_FAILED)
        note_failure(errand->deleter, node_id);
}

static void
delete_node(DroverDeleter *deleter, DroverManager *manager, const DroverNode *node)
{
    if (drover_manager_has_inventory(manager))
        delete_record(deleter, node);
    else
        drover_deletion_begin(manager, node, on_deletion_ended, errand_new(deleter, node));
}

/* ---- Freeing ---- */

static void
on_freed(const DroverChangeResult *result, gpointer user_data)
{
    g_autoptr(Errand) errand = user_data;
    DroverLogSubject subject = subject_of(errand->node);

    finish_errand(errand, result);
    if (result->outcome == DROVER_CHANGE_DONE)
        drover_log(DROVER_LOG_INFO, &subject, "Freed node: its request is gone");
}

/* The cache may not have seen a new request yet; the server has. */
static void
on_request_looked_up(const DroverReadReply *reply, gpointer user_data)
{
    Errand *errand = user_data;
    DroverNode *node = errand->node;
    g_autoptr(json_t) record = NULL;
    g_autoptr(GBytes) data = NULL;
    g_autofree char *path = drover_node_path(node->id), *lock = drover_node_lock_path(node->id);
    DroverChange *change;

    if (reply->rc != ZNONODE || errand->deleter->find_manager == NULL) {
        g_hash_table_remove(errand->deleter->busy, node->id);
        errand_free(errand);
        return;
    }
    record = drover_node_record(node);
    drover_record_set_string(record, "allocated_to", NULL);
    data = drover_record_bytes(record);
    change = drover_change_new(drover_cluster_session(errand->deleter->cluster));
    drover_change_claim(change, lock, lock_directory_exists(errand->deleter, node));
    drover_change_set(change, path, data, node->version);
    drover_change_commit(change, on_freed, errand);
}

static void
free_node(DroverDeleter *deleter, const DroverNode *node)
{
    g_autofree char *path = drover_request_path(node->allocated_to);

    drover_session_exists(drover_cluster_session(deleter->cluster), path, FALSE,
                          on_request_looked_up, errand_new(deleter, node));
}

/* ---- Which node, and when ---- */

static gboolean
is_to_be_freed(const DroverDeleter *deleter, const DroverNode *node)
{
    return node->state == DROVER_NODE_READY && node->allocated_to != NULL &&
           drover_cluster_request(deleter->cluster, node->allocated_to) == NULL;
}

void
drover_deleter_note_node(DroverDeleter *deleter, const char *id)
{
    const DroverNode *node = drover_cluster_node(deleter->cluster, id);
    DroverManager *manager;
    gboolean delete_it;

    if (node == NULL || node->provider == NULL || deleter->find_manager == NULL ||
        !drover_cluster_is_complete(deleter->cluster) || g_hash_table_contains(deleter->busy, id))
        return;
    delete_it = drover_deletion_is_due(node->state);
    if (delete_it ? is_paused(deleter, id) : !is_to_be_freed(deleter, node))
        return;
    manager = deleter->find_manager(node->provider, deleter->user_data);
    if (manager == NULL)
        return;
    /* Who unlocks a node mostly changes it, too: look at both. */
    if (drover_cache_lock(drover_cluster_nodes(deleter->cluster), id) != DROVER_CACHE_LOCK_FREE ||
        !drover_cache_is_current(drover_cluster_nodes(deleter->cluster), id))
        return;
    if (delete_it)
        delete_node(deleter, manager, node);
    else
        free_node(deleter, node);
}

void
drover_deleter_note_request_gone(DroverDeleter *deleter, const DroverRequest *request)
{
    for (char **id = request->nodes; *id != NULL; id++)
        drover_deleter_note_node(deleter, *id);
}

static gboolean
is_gone(gpointer id, gpointer pause, gpointer user_data)
{
    const DroverDeleter *deleter = user_data;

    return drover_cluster_node(deleter->cluster, id) == NULL;
}

void
drover_deleter_sweep(DroverDeleter *deleter)
{
    g_autoptr(GPtrArray) ids = g_ptr_array_new();
    DroverCacheIter iter;
    const char *id;
    gpointer node;

    drover_cache_iter_init(&iter, drover_cluster_nodes(deleter->cluster));
    while (drover_cache_iter_next(&iter, &id, &node))
        if (drover_deletion_is_due(((DroverNode *)node)->state) || is_to_be_freed(deleter, node))
            g_ptr_array_add(ids, (gpointer)id);
    for (guint i = 0; i < ids->len; i++)
        drover_deleter_note_node(deleter, ids->pdata[i]);
    g_hash_table_foreach_remove(deleter->failing, is_gone, deleter);
}

/* ---- Life ---- */

DroverDeleter *
drover_deleter_new(DroverCluster *cluster, DroverFindManager find_manager, gpointer user_data)
{
    DroverDeleter *deleter = g_new0(DroverDeleter, 1);

    g_ref_count_init(&deleter->references);
    deleter->cluster = cluster;
    deleter->find_manager = find_manager;
    deleter->user_data = user_data;
    deleter->busy = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    deleter->failing = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    return deleter;
}

void
drover_deleter_free(DroverDeleter *deleter)
{
    if (deleter == NULL)
        return;
    deleter->find_manager = NULL;
    deleter_unref(deleter);
}
