/*
 * Locks of requests that are gone. Their folder stays for some hours: who has the lock just now, or
 * wants it, has not seen yet that the request is gone.
 */
#include "launcher/upkeep/cleaner-private.h"
#include "zk/tree.h"

#define STALE_SECONDS (8 * 60 * 60)

static gboolean
is_stale(gint64 made)
{
    return (double)made / 1000 < drover_record_now() - STALE_SECONDS;
}

static void
on_deleted(int rc, gpointer user_data)
{
    g_autoptr(DroverErrand) errand = user_data;
    DroverLogSubject subject = drover_errand_subject(errand);

    if (rc == ZOK)
        drover_log(DROVER_LOG_INFO, &subject, "Deleted stale request lock %s", errand->path);
    else if (rc != ZNOTEMPTY && rc != ZNONODE)
        drover_errand_log_failure(errand, rc);
}

static void
on_examined(const DroverReadReply *reply, gpointer user_data)
{
    DroverErrand *errand = user_data;

    if (reply->rc == ZNONODE || !drover_errand_has_read(errand, reply->rc)) {
        drover_errand_free(errand);
        return;
    }
    g_hash_table_insert(errand->cleaner->locks, g_path_get_basename(errand->path),
                        g_memdup2(&reply->stat.mtime, sizeof(gint64)));
    if (is_stale(reply->stat.mtime))
        drover_tree_delete(drover_errand_session(errand), errand->path, -1, FALSE, on_deleted,
                           errand);
    else
        drover_errand_free(errand);
}

static gboolean
is_unlisted(gpointer name, gpointer made, gpointer names)
{
    return !g_hash_table_contains(names, name);
}

static void
examine(DroverCleaner *cleaner, const char *task, const char *name)
{
    const gint64 *made = g_hash_table_lookup(cleaner->locks, name);
    g_autofree char *path = drover_request_lock_path(name);
    DroverErrand *errand = NULL;

    /* What was young when it was looked at needs no other look until it can be old. */
    if (made == NULL || is_stale(*made))
        errand = drover_errand_new(cleaner, task, path);
    if (errand != NULL)
        drover_session_exists(drover_errand_session(errand), path, FALSE, on_examined, errand);
}

/* Listed after the locks: a lock is made after its request. */
static void
on_requests_listed(const DroverReadReply *reply, gpointer user_data)
{
    g_autoptr(DroverErrand) folder = user_data;
    DroverCleaner *cleaner = folder->cleaner;
    GHashTableIter iter;
    gpointer name;

    if (!drover_errand_has_read(folder, reply->rc))
        return;
    for (guint i = 0; i < reply->n_children; i++)
        g_hash_table_remove(folder->names, reply->children[i]);
    g_hash_table_foreach_remove(cleaner->locks, is_unlisted, folder->names);
    g_hash_table_iter_init(&iter, folder->names);
    while (g_hash_table_iter_next(&iter, &name, NULL))
        examine(cleaner, folder->task, name);
}

static void
on_locks_listed(const DroverReadReply *reply, gpointer user_data)
{
    DroverErrand *folder = user_data;

    if (!drover_errand_has_read(folder, reply->rc)) {
        drover_errand_free(folder);
        return;
    }
    folder->names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < reply->n_children; i++)
        g_hash_table_add(folder->names, g_strdup(reply->children[i]));
    drover_session_list(drover_errand_session(folder), DROVER_REQUESTS_PATH, FALSE,
                        on_requests_listed, folder);
}

void
drover_clean_request_locks(DroverCleaner *cleaner, const char *task)
{
    DroverErrand *folder = drover_errand_new(cleaner, task, DROVER_REQUEST_LOCKS_PATH);

    drover_session_list(drover_errand_session(folder), DROVER_REQUEST_LOCKS_PATH, FALSE,
                        on_locks_listed, folder);
}
