/* A cache of a tree, as the tests look at one: its objects are the records' texts. */
#pragma once

#include "fixture.h"
#include "zk/cache.h"

typedef struct {
    char *root;
    DroverCache *cache;
    guint decoded, changes, lock_changes, completions; /* how often */
    guint alive;                                       /* objects that are not freed */
} Mirror;

/* Of all children of the root. Locks are watched from the first question on. */
Mirror *mirror_new(DroverSession *session, const char *root);
void mirror_free(Mirror *mirror);

/* The child's text, NULL when there is none. */
const char *mirror_text(const Mirror *mirror, const char *name);
void wait_settled(Mirror *mirror);
/* Waits until the child's text is this one, or NULL for none. */
void wait_text(Mirror *mirror, const char *name, const char *text);
void wait_lock(Mirror *mirror, const char *name, DroverCacheLock lock);
