#include "zk/cache.h"

#include <string.h>

#include "base/log.h"
#include "zk/lock.h"
#include "zk/operation.h"

#define LOGGER "zk.cache"

typedef struct {
    char *name;
    gpointer object;
    gint64 mzxid;   /* of the last change seen; 0 when our own create did not tell it */
    gint32 version; /* -1: never read */
    guint reading : 1;
    guint read_again : 1;
    guint found : 1;    /* by the present listing */
    guint due : 1;      /* to be read before the walk is over */
    guint interest : 1; /* in the lock */
    guint looking : 1;
    guint look_again : 1;
    guint directory : 1; /* the lock directory is believed to exist */
    DroverCacheLock lock;
    char **contenders;
} Entry;

struct _DroverCache {
    DroverSession *session;
    char *root;
    DroverCacheClass klass;
    gpointer user_data;
    GHashTable *entries; /* name -> Entry; the name is the entry's */
    gboolean complete, freed;
    gboolean walking; /* after a reconnection: every entry is read again, changed or not */
    gboolean listed;  /* by this walk */
    guint due;        /* entries */
    gboolean listing, list_again;
    guint reads; /* under way */
    guint listener, observer;
    grefcount references; /* the owner, and every answer still to come */
};

/* An answer that is still to come, for one child or (name NULL) the listing. */
typedef struct {
    DroverCache *cache;
    char *name;
} Question;

static void
entry_free(gpointer data)
{
    Entry *entry = data;

    g_strfreev(entry->contenders);
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

static Question *
question_new(DroverCache *cache, const char *name)
{
    Question *question = g_new0(Question, 1);

    g_ref_count_inc(&cache->references);
    question->cache = cache;
    question->name = g_strdup(name);
    return question;
}

static void
question_free(Question *question)
{
    cache_unref(question->cache);
    g_free(question->name);
    g_free(question);
}

static char *
child_path(const DroverCache *cache, const char *name)
{
    return g_strconcat(cache->root, "/", name, NULL);
}

static Entry *
find_entry(const DroverCache *cache, const char *name)
{
    return g_hash_table_lookup(cache->entries, name);
}

static Entry *
need_entry(DroverCache *cache, const char *name)
{
    Entry *entry = find_entry(cache, name);

    if (entry == NULL) {
        entry = g_new0(Entry, 1);
        entry->name = g_strdup(name);
        entry->version = -1;
        g_hash_table_insert(cache->entries, entry->name, entry);
    }
    return entry;
}

/* ---- Objects ---- */

static void
replace_object(DroverCache *cache, Entry *entry, gpointer object)
{
    gpointer old = entry->object;

    entry->object = object;
    if (old != NULL || object != NULL)
        cache->klass.changed(cache, entry->name, old, object, cache->user_data);
    if (old != NULL)
        cache->klass.free(old);
}

static void
store_record(DroverCache *cache, Entry *entry, GBytes *data, gint32 version, gint64 mzxid)
{
    /* Our own create did not tell its mzxid; the read that follows brings nothing new. */
    gboolean same = entry->version == version && (entry->mzxid == 0 || mzxid == entry->mzxid);

    if (!same && mzxid != 0 && mzxid <= entry->mzxid)
        return;
    if (mzxid != 0)
        entry->mzxid = mzxid;
    if (same)
        return;
    entry->version = version;
    replace_object(cache, entry,
                   g_bytes_get_size(data) > 0
                       ? cache->klass.decode(entry->name, data, version, cache->user_data)
                       : NULL);
}

static void
set_due(DroverCache *cache, Entry *entry, gboolean due)
{
    cache->due = cache->due - entry->due + (due ? 1 : 0);
    entry->due = due;
}

static void
remove_entry(DroverCache *cache, Entry *entry)
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

static void read_entry(DroverCache *cache, Entry *entry);

static void
take_record(DroverCache *cache, Entry *entry, const DroverReadReply *reply)
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

/* Whoever waited for the record to be current, too, may go on, though it brought nothing new. */
static void
tell_lock_again(DroverCache *cache, Entry *entry)
{
    if (entry->interest && entry->lock != DROVER_CACHE_LOCK_UNKNOWN &&
        cache->klass.lock_changed != NULL)
        cache->klass.lock_changed(cache, entry->name, entry->lock, cache->user_data);
}

static void
tell_if_settled(DroverCache *cache)
{
    if (drover_cache_is_settled(cache) && cache->klass.settled != NULL)
        cache->klass.settled(cache, cache->user_data);
}

static void
on_read(const DroverReadReply *reply, gpointer user_data)
{
    Question *question = user_data;
    DroverCache *cache = question->cache;
    Entry *entry = find_entry(cache, question->name);

    cache->reads--;
    if (!cache->freed && entry != NULL) {
        entry->reading = FALSE;
        take_record(cache, entry, reply);
        entry = find_entry(cache, question->name);
        if (entry != NULL && entry->read_again)
            read_entry(cache, entry);
        else if (entry != NULL)
            tell_lock_again(cache, entry);
    }
    if (!cache->freed) {
        check_walk(cache);
        tell_if_settled(cache);
    }
    question_free(question);
}

static void
read_entry(DroverCache *cache, Entry *entry)
{
    g_autofree char *path = NULL;

    entry->read_again = entry->reading;
    if (entry->reading)
        return;
    entry->reading = TRUE;
    cache->reads++;
    path = child_path(cache, entry->name);
    drover_session_get(cache->session, path, TRUE, on_read, question_new(cache, entry->name));
}

static void list_children(DroverCache *cache);

static gint
compare_names(gconstpointer a, gconstpointer b)
{
    return strcmp((*(const Entry *const *)a)->name, (*(const Entry *const *)b)->name);
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
        ((Entry *)value)->found = FALSE;
    for (; *names != NULL; names++) {
        Entry *entry = need_entry(cache, *names);

        entry->found = TRUE;
        if (cache->walking && !cache->listed)
            set_due(cache, entry, TRUE);
        if (entry->version < 0 || entry->due)
            g_ptr_array_add(unread, entry);
    }
    read_all(cache, unread);
    g_hash_table_iter_init(&iter, cache->entries);
    while (g_hash_table_iter_next(&iter, NULL, &value))
        if (!((Entry *)value)->found)
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
    Question *question = user_data;
    DroverCache *cache = question->cache;

    if (!cache->freed) {
        cache->list_again |= reply->rc == ZOK;
        end_listing(cache, reply->rc == ZNONODE ? nothing : NULL);
    }
    question_free(question);
}

static void
on_list(const DroverReadReply *reply, gpointer user_data)
{
    Question *question = user_data;
    DroverCache *cache = question->cache;

    if (cache->freed) {
        /* nothing */
    } else if (reply->rc == ZNONODE) {
        /* It may come (again): only this leaves a watch. */
        drover_session_exists(cache->session, cache->root, TRUE, on_root,
                              question_new(cache, NULL));
    } else {
        if (reply->rc != ZOK && !drover_rc_is_unknown(reply->rc))
            drover_log_for(DROVER_LOG_ERROR, LOGGER, "cannot list %s: %s", cache->root,
                           zerror(reply->rc));
        end_listing(cache, reply->rc == ZOK ? reply->children : NULL);
    }
    question_free(question);
}

static void
list_children(DroverCache *cache)
{
    cache->list_again = cache->listing;
    if (cache->listing)
        return;
    cache->listing = TRUE;
    drover_session_list(cache->session, cache->root, TRUE, on_list, question_new(cache, NULL));
}

/* ---- Locks ---- */

static void look_at_lock(DroverCache *cache, Entry *entry);

/* `names` is NULL when there is no lock directory. */
static void
set_contenders(DroverCache *cache, Entry *entry, const char *const *names)
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
static Entry *
end_look(Question *question)
{
    DroverCache *cache = question->cache;
    Entry *entry = cache->freed ? NULL : find_entry(cache, question->name);

    if (entry == NULL)
        return NULL;
    entry->looking = FALSE;
    if (!entry->interest || !entry->look_again)
        return entry->interest ? entry : NULL;
    look_at_lock(cache, entry);
    return NULL;
}

static void
on_child_children(const DroverReadReply *reply, gpointer user_data)
{
    Question *question = user_data;
    DroverCache *cache = question->cache;
    Entry *entry = end_look(question);

    if (entry != NULL && reply->rc == ZOK) {
        if (g_strv_contains(reply->children, "lock"))
            look_at_lock(cache, entry);
        else
            set_contenders(cache, entry, NULL);
    }
    question_free(question);
}

static void
on_lock(const DroverReadReply *reply, gpointer user_data)
{
    Question *question = user_data;
    DroverCache *cache = question->cache;
    Entry *entry = end_look(question);

    if (entry != NULL && reply->rc == ZOK) {
        set_contenders(cache, entry, reply->children);
    } else if (entry != NULL && reply->rc == ZNONODE) {
        /* A listing leaves no watch on what does not exist: its parent tells when it comes. */
        g_autofree char *path = child_path(cache, entry->name);

        entry->looking = TRUE;
        drover_session_list(cache->session, path, TRUE, on_child_children,
                            question_new(cache, entry->name));
    }
    question_free(question);
}

static void
look_at_lock(DroverCache *cache, Entry *entry)
{
    g_autofree char *path = NULL;

    entry->look_again = entry->looking;
    if (entry->looking)
        return;
    entry->looking = TRUE;
    path = g_strconcat(cache->root, "/", entry->name, "/lock", NULL);
    drover_session_list(cache->session, path, TRUE, on_lock, question_new(cache, entry->name));
}

DroverCacheLock
drover_cache_lock(DroverCache *cache, const char *name)
{
    Entry *entry = find_entry(cache, name);

    if (entry == NULL)
        return DROVER_CACHE_LOCK_UNKNOWN;
    if (!entry->interest) {
        entry->interest = TRUE;
        entry->lock = DROVER_CACHE_LOCK_UNKNOWN;
        look_at_lock(cache, entry);
    }
    return entry->lock;
}

void
drover_cache_ignore_lock(DroverCache *cache, const char *name)
{
    Entry *entry = find_entry(cache, name);

    if (entry != NULL)
        entry->interest = FALSE;
}

const char *const *
drover_cache_contenders(const DroverCache *cache, const char *name)
{
    const Entry *entry = find_entry(cache, name);

    return entry != NULL ? (const char *const *)entry->contenders : NULL;
}

gboolean
drover_cache_lock_directory_exists(const DroverCache *cache, const char *name)
{
    const Entry *entry = find_entry(cache, name);

    return entry != NULL && entry->directory;
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
    Entry *entry = name != NULL ? find_entry(cache, name) : NULL;

    if (strcmp(path, cache->root) == 0)
        list_children(cache);
    else if (entry == NULL)
        return;
    else if (is_lock && entry->interest)
        look_at_lock(cache, entry);
    else if (!is_lock && type == ZOO_DELETED_EVENT)
        remove_entry(cache, entry);
    else if (!is_lock && type == ZOO_CHANGED_EVENT)
        read_entry(cache, entry);
    else if (!is_lock && type == ZOO_CHILD_EVENT && entry->interest)
        look_at_lock(cache, entry);
}

static void
on_own_write(const char *path, GBytes *data, gint32 version, gint64 mzxid, gpointer user_data)
{
    DroverCache *cache = user_data;
    gboolean is_lock;
    g_autofree char *name = parse_path(cache, path, &is_lock);
    Entry *entry = name != NULL ? find_entry(cache, name) : NULL;

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
        if (created && (entry = find_entry(cache, name)) != NULL)
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
        Entry *entry = value;

        set_due(cache, entry, FALSE);
        entry->lock = DROVER_CACHE_LOCK_UNKNOWN;
        if (entry->interest)
            look_at_lock(cache, entry);
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
        ((Entry *)value)->version = -1;
        ((Entry *)value)->mzxid = 0;
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
        if (((Entry *)value)->object != NULL)
            cache->klass.free(((Entry *)value)->object);
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
    const Entry *entry = find_entry(cache, name);

    return entry != NULL ? entry->object : NULL;
}

gboolean
drover_cache_exists(const DroverCache *cache, const char *name)
{
    return find_entry(cache, name) != NULL;
}

gboolean
drover_cache_is_current(const DroverCache *cache, const char *name)
{
    const Entry *entry = find_entry(cache, name);

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
        Entry *entry = value;

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
    Entry *entry = find_entry(cache, name);

    if (entry != NULL)
        read_entry(cache, entry);
}
