/*
 * What the parts of a cache share; see cache.h.
 *
 *     cache.c       what there is: listings, records, events
 *     cache-lock.c  who holds the locks
 */
#pragma once

#include "zk/cache.h"

typedef struct {
    char *name;
    gpointer object;
    gint64 mzxid;   /* of the last change seen; 0 when our own create did not tell it */
    GBytes *made;   /* what our own create wrote, as long as that is not read */
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
} DroverCacheEntry;

struct _DroverCache {
    DroverSession *session;
    char *root;
    DroverCacheClass klass;
    gpointer user_data;
    GHashTable *entries; /* name -> DroverCacheEntry; the name is the entry's */
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
} DroverCacheQuestion;

DroverCacheEntry *drover_cache_find(const DroverCache *cache, const char *name);
char *drover_cache_child_path(const DroverCache *cache, const char *name);
/* It keeps the cache. */
DroverCacheQuestion *drover_cache_question_new(DroverCache *cache, const char *name);
void drover_cache_question_free(DroverCacheQuestion *question);

void drover_cache_look_at_lock(DroverCache *cache, DroverCacheEntry *entry);
/* Whoever waited for the record to be current, too, may go on, though it brought nothing new. */
void drover_cache_tell_lock_again(DroverCache *cache, DroverCacheEntry *entry);
