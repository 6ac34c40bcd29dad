/* The locks of a cache's children: looked at when somebody asks for one, and then watched. */
#include "zk/cache-private.h"
#include "zk/operation.h"

/* `names` is NULL when there is no lock directory. */
static void
set_contenders(DroverCache *cache, DroverCacheEntry *entry, const char *const *names)
{
    gboolean taken = names != NULL && names[0] != NULL;

    g_strfreev(entry->contenders);
    entry->contenders = taken ? g_strdupv((char **)names) : NULL;
    entry->directory = names != NULL;
    entry->lock = taken ? DROVER_CACHE_LOCK_TAKEN : DROVER_CACHE_LOCK_FREE;
    if (cache->klass.lock_changed != NULL)
        cache->klass.lock_changed(cache, entry->name, entry->lock, cache->user_data);
}

/* The entry that a look was about, unless it has to be looked at again or not any more. */
static DroverCacheEntry *
end_look(DroverCacheQuestion *question)
{
    DroverCache *cache = question->cache;
    DroverCacheEntry *entry = cache->freed ? NULL : drover_cache_find(cache, question->name);

    if (entry == NULL)
        return NULL;
    entry->looking = FALSE;
    if (!entry->interest || !entry->look_again)
        return entry->interest ? entry : NULL;
    drover_cache_look_at_lock(cache, entry);
    return NULL;
}

static void
on_child_children(const DroverReadReply *reply, gpointer user_data)
{
    DroverCacheQuestion *question = user_data;
    DroverCache *cache = question->cache;
    DroverCacheEntry *entry = end_look(question);

    if (entry != NULL && reply->rc == ZOK) {
        if (g_strv_contains(reply->children, "lock"))
            drover_cache_look_at_lock(cache, entry);
        else
            set_contenders(cache, entry, NULL);
    }
    drover_cache_question_free(question);
}

static void
on_lock(const DroverReadReply *reply, gpointer user_data)
{
    DroverCacheQuestion *question = user_data;
    DroverCache *cache = question->cache;
    DroverCacheEntry *entry = end_look(question);

    if (entry != NULL && reply->rc == ZOK) {
        set_contenders(cache, entry, reply->children);
    } else if (entry != NULL && reply->rc == ZNONODE) {
        /* A listing leaves no watch on what does not exist: its parent tells when it comes. */
        g_autofree char *path = drover_cache_child_path(cache, entry->name);

        entry->looking = TRUE;
        drover_session_list(cache->session, path, TRUE, on_child_children,
                            drover_cache_question_new(cache, entry->name));
    }
    drover_cache_question_free(question);
}

void
drover_cache_look_at_lock(DroverCache *cache, DroverCacheEntry *entry)
{
    g_autofree char *path = NULL;

    entry->look_again = entry->looking;
    if (entry->looking)
        return;
    entry->looking = TRUE;
    path = g_strconcat(cache->root, "/", entry->name, "/lock", NULL);
    drover_session_list(cache->session, path, TRUE, on_lock,
                        drover_cache_question_new(cache, entry->name));
}

DroverCacheLock
drover_cache_lock(DroverCache *cache, const char *name)
{
    DroverCacheEntry *entry = drover_cache_find(cache, name);

    if (entry == NULL)
        return DROVER_CACHE_LOCK_UNKNOWN;
    if (!entry->interest) {
        entry->interest = TRUE;
        entry->lock = DROVER_CACHE_LOCK_UNKNOWN;
        drover_cache_look_at_lock(cache, entry);
    }
    return entry->lock;
}

void
drover_cache_ignore_lock(DroverCache *cache, const char *name)
{
    DroverCacheEntry *entry = drover_cache_find(cache, name);

    if (entry != NULL)
        entry->interest = FALSE;
}

const char *const *
drover_cache_contenders(const DroverCache *cache, const char *name)
{
    const DroverCacheEntry *entry = drover_cache_find(cache, name);

    return entry != NULL ? (const char *const *)entry->contenders : NULL;
}

gboolean
drover_cache_lock_directory_exists(const DroverCache *cache, const char *name)
{
    const DroverCacheEntry *entry = drover_cache_find(cache, name);

    return entry != NULL && entry->directory;
}

void
drover_cache_tell_lock_again(DroverCache *cache, DroverCacheEntry *entry)
{
    if (entry->interest && entry->lock != DROVER_CACHE_LOCK_UNKNOWN &&
        cache->klass.lock_changed != NULL)
        cache->klass.lock_changed(cache, entry->name, entry->lock, cache->user_data);
}
