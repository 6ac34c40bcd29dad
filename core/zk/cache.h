/*
 * A cache of the children of one znode, kept current by one-shot watches: a read always sets the
 * next watch. Each change is read and decoded once. Our own writes are seen at once, without a
 * read.
 *
 *     connected ─► list (watch) ─► get each (watch) ─► complete ─► one get for each change
 *         ▲                                                            │
 *         └──────────── suspended or lost: not complete ◄──────────────┘
 *
 * After every reconnection the whole tree is compared again. While the cache is not complete it
 * answers for nothing: what it shows may be old, what it does not show may exist.
 *
 * A child's lock (<child>/lock) is watched only for children that somebody is interested in.
 */
#pragma once

#include "zk/session.h"

typedef struct _DroverCache DroverCache;

typedef enum {
    DROVER_CACHE_LOCK_UNKNOWN, /* never looked, or looking just now */
    DROVER_CACHE_LOCK_FREE,    /* nobody holds it or waits for it */
    DROVER_CACHE_LOCK_TAKEN,
} DroverCacheLock;

typedef struct {
    /*
     * Makes an object of a record; its version is stat->version. NULL for a record that means
     * nothing (zero bytes, malformed: the function logs why). Called once for each change.
     */
    gpointer (*decode)(const char *name, GBytes *data, gint32 version, gpointer user_data);
    GDestroyNotify free;
    /* After a change. Either object is NULL when there is or was none. `old` is freed afterwards.
     * May be NULL. */
    void (*changed)(DroverCache *cache, const char *name, gpointer old, gpointer new_object,
                    gpointer user_data);
    /* The lock of a child that was asked for is known, or has changed, or the child was read. May
     * be NULL. */
    void (*lock_changed)(DroverCache *cache, const char *name, DroverCacheLock lock,
                         gpointer user_data);
    /* Complete, or not any more. May be NULL. */
    void (*completed)(DroverCache *cache, gboolean complete, gpointer user_data);
    /* The last read under way has ended, whether it brought news or not. May be NULL. */
    void (*settled)(DroverCache *cache, gpointer user_data);
} DroverCacheClass;

/*
 * A root that does not exist has no children, and is noticed when it comes. The class is copied.
 * The cache is freed before the session is closed, and not from within one of its callbacks.
 */
DroverCache *drover_cache_new(DroverSession *session, const char *root,
                              const DroverCacheClass *klass, gpointer user_data);
void drover_cache_free(DroverCache *cache);

gboolean drover_cache_is_complete(const DroverCache *cache);
/*
 * Complete, and no read under way: everything that happened before the last answer of this session
 * is in the cache.
 */
gboolean drover_cache_is_settled(const DroverCache *cache);
/* How many reads are under way. */
guint drover_cache_reads(const DroverCache *cache);
/* NULL when there is none. Valid until the next change of that child. */
gpointer drover_cache_lookup(const DroverCache *cache, const char *name);
/* TRUE also for a child whose record means nothing. */
gboolean drover_cache_exists(const DroverCache *cache, const char *name);
guint drover_cache_size(const DroverCache *cache);
/*
 * FALSE while a child is being read again: what is known of its lock may be newer than its object.
 * Its change is told when it has been read, and its lock, if it is watched, again.
 */
gboolean drover_cache_is_current(const DroverCache *cache, const char *name);

/* Every child with an object, in no order. The cache must not change meanwhile. `name` may be NULL.
 */
typedef struct {
    GHashTableIter iter;
} DroverCacheIter;
void drover_cache_iter_init(DroverCacheIter *iter, const DroverCache *cache);
gboolean drover_cache_iter_next(DroverCacheIter *iter, const char **name, gpointer *object);

/*
 * What is known of a child's lock. The first question begins to watch it: the answer, and every
 * change of it, comes to lock_changed until drover_cache_ignore_lock().
 */
DroverCacheLock drover_cache_lock(DroverCache *cache, const char *name);
void drover_cache_ignore_lock(DroverCache *cache, const char *name);
/* Names of the contenders when the lock was last looked at; NULL when unknown or none. */
const char *const *drover_cache_contenders(const DroverCache *cache, const char *name);
/* Whether the lock directory is believed to exist. */
gboolean drover_cache_lock_directory_exists(const DroverCache *cache, const char *name);

/* Reads a child again although no watch has fired. */
void drover_cache_refresh(DroverCache *cache, const char *name);
