#include "zk/cache-private.h"

#include <string.h>

#include "base/log.h"
#include "zk/operation.h"

#define LOGGER "zk.cache"

static void
entry_free(gpointer data)
{
    DroverCacheEntry *entry = data;

    g_strfreev(entry->contenders);
    g_clear_pointer(&entry->made, g_bytes_unref);
    g_free(entry->name);
    g_free(entry);
}

static void
cache_unref(DroverCache *cache)
{
    if (!g_ref_count_dec(&cache->references))
        return;
    g_hash_table_unref(cache->entries);
    g_free(cache->root);
    g_free(cache);
}

DroverCacheQuestion *
drover_cache_question_new(DroverCache *cache, const char *name)
{
    DroverCacheQuestion *question = g_new0(DroverCacheQuestion, 1);

    g_ref_count_inc(&cache->references);
    question->cache = cache;
    question->name = g_strdup(name);
    return question;
}

void
drover_cache_question_free(DroverCacheQuestion *question)
{
    cache_unref(question->cache);
    g_free(question->name);
    g_free(question);
}

char *
drover_cache_child_path(const DroverCache *cache, const char *name)
{
    return g_strconcat(cache->root, "/", name, NULL);
}

DroverCacheEntry *
drover_cache_find(const DroverCache *cache, const char *name)
{
    return g_hash_table_lookup(cache->entries, name);
}

static DroverCacheEntry *
need_entry(DroverCache *cache, const char *name)
{
    DroverCacheEntry *entry = drover_cache_find(cache, name);

    if (entry == NULL) {
        entry = g_new0(DroverCacheEntry, 1);
        entry->name = g_strdup(name);
        entry->version = -1;
        g_hash_table_insert(cache->entries, entry->name, entry);
    }
    return entry;
}

/* ---- Objects ---- */

static void
replace_object(DroverCache *cache, DroverCacheEntry *entry, gpointer object)
{
    gpointer old = entry->object;

    entry->object = object;
    if (cache->klass.changed != NULL && (old != NULL || object != NULL))
        cache->klass.changed(cache, entry->name, old, object, cache->user_data);
    if (old != NULL)
        cache->klass.free(old);
}

/*
 * Our own create did not tell its mzxid. The read that follows brings nothing new, unless somebody
 * has deleted it meanwhile, and made it anew: that has the same version.
 */
static gboolean
is_known(const DroverCacheEntry *entry, GBytes *data, gint32 version, gint64 mzxid)
{
    if (entry->version != version)
        return FALSE;
    return entry->made != NULL ? g_bytes_equal(entry->made, data) : entry->mzxid == mzxid;
}

static void
store_record(DroverCache *cache, DroverCacheEntry *entry, GBytes *data, gint32 version,
             gint64 mzxid)
{
    gboolean same = is_known(entry, data, version, mzxid);

    if (!same && mzxid != 0 && mzxid <= entry->mzxid)
        return;
    g_clear_pointer(&entry->made, g_bytes_unref);
    if (mzxid != 0)
        entry->mzxid = mzxid;
    else
        entry->made = g_bytes_ref(data);
    if (same)
        return;
    entry->version = version;
    replace_object(cache, entry,
                   g_bytes_get_size(data) > 0
                       ? cache->klass.decode(entry->name, data, version, cache->user_data)
                       : NULL);
}

static void
set_due(DroverCache *cache, DroverCacheEntry *entry, gboolean due)
{
    cache->due = cache->due - entry->due + (due ? 1 : 0);
    entry->due = due;
}

static void
remove_entry(DroverCache *cache, DroverCacheEntry *entry)
{
    set_due(cache, entry, FALSE);
    g_hash_table_steal(cache->entries, entry->name);
    replace_object(cache, entry, NULL);
    entry_free(entry);
}

/* ---- Completeness ---- */

static void
set_complete(DroverCache *cache, gboolean complete)
{
    if (cache->complete == complete)
        return;
    cache->complete = complete;
    if (cache->klass.completed != NULL)
        cache->klass.completed(cache, complete, cache->user_data);
}

static void
check_walk(DroverCache *cache)
{
    if (cache->walking && cache->listed && cache->due == 0) {
        cache->walking = FALSE;
        set_complete(cache, TRUE);
    }
}

/* ---- Reading ---- */

static void read_entry(DroverCache *cache, DroverCacheEntry *entry);

static void
take_record(DroverCache *cache, DroverCacheEntry *entry, const DroverReadReply *reply)
{
    if (!drover_rc_is_unknown(reply->rc))
        set_due(cache, entry, FALSE);
    if (reply->rc == ZOK) {
        /* A child that has a child has a lock directory. */
        entry->directory = reply->stat.numChildren > 0;
        store_record(cache, entry, reply->data, reply->stat.version, reply->stat.mzxid);
    } else if (reply->rc == ZNONODE) {
        remove_entry(cache, entry);
    } else if (!drover_rc_is_unknown(reply->rc)) {
        drover_log_for(DROVER_LOG_ERROR, LOGGER, "cannot read %s/%s: %s", cache->root, entry->name,
                       zerror(reply->rc));
    }
}

static void
tell_if_settled(DroverCache *cache)
{
    if (!cache->freed && drover_cache_is_settled(cache) && cache->klass.settled != NULL)
        cache->klass.settled(cache, cache->user_data);
}

static void
on_read(const DroverReadReply *reply, gpointer user_data)
{
    DroverCacheQuestion *question = user_data;
    DroverCache *cache = question->cache;
    DroverCacheEntry *entry = drover_cache_find(cache, question->name);

    cache->reads--;
    if (!cache->freed && entry != NULL) {
        entry->reading = FALSE;
        take_record(cache, entry, reply);
        entry = drover_cache_find(cache, question->name);
        if (entry != NULL && entry->read_again)
            read_entry(cache, entry);
        else if (entry != NULL)
            drover_cache_tell_lock_again(cache, entry);
    }
    if (!cache->freed) {
        check_walk(cache);
        tell_if_settled(cache);
    }
    drover_cache_question_free(question);
}

static void
read_entry(DroverCache *cache, DroverCacheEntry *entry)
{
    g_autofree char *path = NULL;

    entry->read_again = entry->reading;
    if (entry->reading)
        return;
    entry->reading = TRUE;
    cache->reads++;
    path = drover_cache_child_path(cache, entry->name);
    drover_session_get(cache->session, path, TRUE, on_read,
                       drover_cache_question_new(cache, entry->name));
}

static void list_children(DroverCache *cache);

static gint
compare_names(gconstpointer a, gconstpointer b)
{
    return strcmp((*(const DroverCacheEntry *const *)a)->name,
                  (*(const DroverCacheEntry *const *)b)->name);
}

/* In the order of their names: of several that came together, none is seen before its turn. */
static void
read_all(DroverCache *cache, GPtrArray *entries)
{
    g_ptr_array_sort(entries, compare_names);
    for (guint i = 0; i < entries->len; i++)
        read_entry(cache, g_ptr_array_index(entries, i));
}

static void
take_listing(DroverCache *cache, const char *const *names)
{
    g_autoptr(GPtrArray) unread = g_ptr_array_new(), vanished = g_ptr_array_new();
    GHashTableIter iter;
    gpointer value;

    g_hash_table_iter_init(&iter, cache->entries);
    while (g_hash_table_iter_next(&iter, NULL, &value))
        ((DroverCacheEntry *)value)->found = FALSE;
    for (; *names != NULL; names++) {
        DroverCacheEntry *entry = need_entry(cache, *names);

        entry->found = TRUE;
        if (cache->walking && !cache->listed)
            set_due(cache, entry, TRUE);
        if (entry->version < 0 || entry->due)
            g_ptr_array_add(unread, entry);
    }
    read_all(cache, unread);
    g_hash_table_iter_init(&iter, cache->entries);
    while (g_hash_table_iter_next(&iter, NULL, &value))
        if (!((DroverCacheEntry *)value)->found)
            g_ptr_array_add(vanished, value);
    cache->listed = TRUE;
    for (guint i = 0; i < vanished->len; i++)
        remove_entry(cache, g_ptr_array_index(vanished, i));
}

/* Without names when it failed. */
static void
end_listing(DroverCache *cache, const char *const *names)
{
    cache->listing = FALSE;
    if (names != NULL)
        take_listing(cache, names);
    if (cache->list_again)
        list_children(cache);
    check_walk(cache);
    tell_if_settled(cache);
}

static void
on_root(const DroverReadReply *reply, gpointer user_data)
{
    static const char *const nothing[] = {NULL};
    DroverCacheQuestion *question = user_data;
    DroverCache *cache = question->cache;

    if (!cache->freed) {
        cache->list_again |= reply->rc == ZOK;
        end_listing(cache, reply->rc == ZNONODE ? nothing : NULL);
    }
    drover_cache_question_free(question);
}

static void
on_list(const DroverReadReply *reply, gpointer user_data)
{
    DroverCacheQuestion *question = user_data;
    DroverCache *cache = question->cache;

    if (cache->freed) {
        /* nothing */
    } else if (reply->rc == ZNONODE) {
        /* It may come (again): only this leaves a watch. */
        drover_session_exists(cache->session, cache->root, TRUE, on_root,
                              drover_cache_question_new(cache, NULL));
    } else {
        if (reply->rc != ZOK && !drover_rc_is_unknown(reply->rc))
            drover_log_for(DROVER_LOG_ERROR, LOGGER, "cannot list %s: %s", cache->root,
                           zerror(reply->rc));
        end_listing(cache, reply->rc == ZOK ? reply->children : NULL);
    }
    drover_cache_question_free(question);
}

static void
list_children(DroverCache *cache)
{
    cache->list_again = cache->listing;
    if (cache->listing)
        return;
    cache->listing = TRUE;
    drover_session_list(cache->session, cache->root, TRUE, on_list,
                        drover_cache_question_new(cache, NULL));
}

/* ---- Events ---- */

/* What a path names, relative to the root: the child, and whether it is the child's lock. */
static char *
parse_path(const DroverCache *cache, const char *path, gboolean *is_lock)
{
    const char *name = path + strlen(cache->root), *slash;

    *is_lock = FALSE;
    if (*name++ != '/')
        return NULL;
    slash = strchr(name, '/');
    if (slash == NULL)
        return g_strdup(name);
    *is_lock = strcmp(slash, "/lock") == 0;
    return *is_lock ? g_strndup(name, (gsize)(slash - name)) : NULL;
}

static void
on_event(const char *path, int type, gpointer user_data)
{
    DroverCache *cache = user_data;
    gboolean is_lock;
    g_autofree char *name = parse_path(cache, path, &is_lock);
    DroverCacheEntry *entry = name != NULL ? drover_cache_find(cache, name) : NULL;

    if (strcmp(path, cache->root) == 0)
        list_children(cache);
    else if (entry == NULL)
        return;
    else if (is_lock && entry->interest)
        drover_cache_look_at_lock(cache, entry);
    else if (!is_lock && type == ZOO_DELETED_EVENT)
        remove_entry(cache, entry);
    else if (!is_lock && type == ZOO_CHANGED_EVENT)
        read_entry(cache, entry);
    else if (!is_lock && type == ZOO_CHILD_EVENT && entry->interest)
        drover_cache_look_at_lock(cache, entry);
}

static void
on_own_write(const char *path, GBytes *data, gint32 version, gint64 mzxid, gpointer user_data)
{
    DroverCache *cache = user_data;
    gboolean is_lock;
    g_autofree char *name = parse_path(cache, path, &is_lock);
    DroverCacheEntry *entry = name != NULL ? drover_cache_find(cache, name) : NULL;

    if (name == NULL)
        return;
    if (is_lock) {
        if (entry != NULL)
            entry->directory = data != NULL;
    } else if (data == NULL) {
        if (entry != NULL)
            remove_entry(cache, entry);
    } else {
        gboolean created = entry == NULL;

        store_record(cache, need_entry(cache, name), data, version, mzxid);
        /* It has no watch yet. */
        if (created && (entry = drover_cache_find(cache, name)) != NULL)
            read_entry(cache, entry);
    }
}

static void
walk(DroverCache *cache)
{
    GHashTableIter iter;
    gpointer value;

    cache->walking = TRUE;
    cache->listed = FALSE;
    list_children(cache);
    g_hash_table_iter_init(&iter, cache->entries);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        DroverCacheEntry *entry = value;

        set_due(cache, entry, FALSE);
        entry->lock = DROVER_CACHE_LOCK_UNKNOWN;
        if (entry->interest)
            drover_cache_look_at_lock(cache, entry);
    }
}

/* The next session may be with servers whose data went back in time. */
static void
distrust_all(DroverCache *cache)
{
    GHashTableIter iter;
    gpointer value;

    g_hash_table_iter_init(&iter, cache->entries);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        DroverCacheEntry *entry = value;

        entry->version = -1;
        entry->mzxid = 0;
        g_clear_pointer(&entry->made, g_bytes_unref);
    }
}

static void
on_state(DroverSession *session, DroverSessionState state, gpointer user_data)
{
    DroverCache *cache = user_data;

    if (state == DROVER_SESSION_CONNECTED) {
        walk(cache);
        return;
    }
    cache->walking = FALSE;
    set_complete(cache, FALSE);
    if (state == DROVER_SESSION_LOST)
        distrust_all(cache);
}

/* ---- Life and questions ---- */

DroverCache *
drover_cache_new(DroverSession *session, const char *root, const DroverCacheClass *klass,
                 gpointer user_data)
{
    static const DroverSessionObserver observer = {.event = on_event, .wrote = on_own_write};
    DroverCache *cache = g_new0(DroverCache, 1);

    g_ref_count_init(&cache->references);
    cache->session = session;
    cache->root = g_strdup(root);
    cache->klass = *klass;
    cache->user_data = user_data;
    cache->entries = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, entry_free);
    cache->listener = drover_session_add_listener(session, on_state, cache);
    cache->observer = drover_session_add_observer(session, root, &observer, cache);
    if (drover_session_state(session) == DROVER_SESSION_CONNECTED)
        walk(cache);
    return cache;
}

void
drover_cache_free(DroverCache *cache)
{
    GHashTableIter iter;
    gpointer value;

    if (cache == NULL)
        return;
    drover_session_remove(cache->session, cache->listener);
    drover_session_remove(cache->session, cache->observer);
    cache->freed = TRUE;
    g_hash_table_iter_init(&iter, cache->entries);
    while (g_hash_table_iter_next(&iter, NULL, &value))
        if (((DroverCacheEntry *)value)->object != NULL)
            cache->klass.free(((DroverCacheEntry *)value)->object);
    g_hash_table_remove_all(cache->entries);
    cache_unref(cache);
}

gboolean
drover_cache_is_complete(const DroverCache *cache)
{
    return cache->complete;
}

gboolean
drover_cache_is_settled(const DroverCache *cache)
{
    return cache->complete && cache->reads == 0 && !cache->listing;
}

guint
drover_cache_reads(const DroverCache *cache)
{
    return cache->reads + (cache->listing ? 1 : 0);
}

gpointer
drover_cache_lookup(const DroverCache *cache, const char *name)
{
    const DroverCacheEntry *entry = drover_cache_find(cache, name);

    return entry != NULL ? entry->object : NULL;
}

gboolean
drover_cache_exists(const DroverCache *cache, const char *name)
{
    return drover_cache_find(cache, name) != NULL;
}

gboolean
drover_cache_is_current(const DroverCache *cache, const char *name)
{
    const DroverCacheEntry *entry = drover_cache_find(cache, name);

    return cache->complete && entry != NULL && !entry->reading && !entry->read_again;
}

guint
drover_cache_size(const DroverCache *cache)
{
    return g_hash_table_size(cache->entries);
}

void
drover_cache_iter_init(DroverCacheIter *iter, const DroverCache *cache)
{
    g_hash_table_iter_init(&iter->iter, cache->entries);
}

gboolean
drover_cache_iter_next(DroverCacheIter *iter, const char **name, gpointer *object)
{
    gpointer value;

    while (g_hash_table_iter_next(&iter->iter, NULL, &value)) {
        DroverCacheEntry *entry = value;

        if (entry->object != NULL) {
            if (name != NULL)
                *name = entry->name;
            *object = entry->object;
            return TRUE;
        }
    }
    return FALSE;
}

void
drover_cache_refresh(DroverCache *cache, const char *name)
{
    DroverCacheEntry *entry = drover_cache_find(cache, name);

    if (entry != NULL)
        read_entry(cache, entry);
}
