/*
 * ZooKeeper for a program that does one thing and ends: calls that wait for their answer. Reads of
 * many records are sent at once, and sent again when the connection was lost meanwhile. Nothing
 * here writes unless it says so.
 *
 * Errors: DROVER_ERROR_TIMEOUT when there is no connection within the time allowed,
 * DROVER_ERROR_NOT_FOUND, and DROVER_ERROR_UNSUPPORTED when the server refuses.
 */
#pragma once

#include <jansson.h>

#include "config/config.h"
#include "zk/change.h"
#include "zk/operation.h"

typedef struct _DroverStore DroverStore;

/* Waits for the connection. `timeout` in seconds, also for later connections; 0: for ever. */
DroverStore *drover_store_open(const DroverConfig *config, guint timeout, GError **error);
void drover_store_close(DroverStore *store);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DroverStore, drover_store_close)
DroverSession *drover_store_session(const DroverStore *store);

/* Waits for events until `done` is TRUE or the deadline (monotonic, microseconds; -1: none). */
gboolean drover_store_wait(DroverStore *store, const gboolean *done, gint64 deadline);

/* ---- Reading ---- */

typedef enum {
    DROVER_READ_PLAIN = 0,
    DROVER_READ_LOCK = 1 << 0,  /* the contenders of <znode>/lock too */
    DROVER_READ_WATCH = 1 << 1, /* the next change is told to the session's observers */
    DROVER_READ_EMPTY = 1 << 2, /* also what has no data */
} DroverReadFlags;

typedef struct {
    char *name;   /* of the znode */
    GBytes *data; /* never NULL, nor empty unless asked for */
    gint32 version;
    gint64 owner; /* the session of an ephemeral znode; else 0 */
    gboolean has_children;
    char **contenders; /* names in <znode>/lock, when asked for */
} DroverRecord;
void drover_record_free(DroverRecord *record);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DroverRecord, drover_record_free)

/*
 * The children of a znode, or those of the given names, that have data; elements are DroverRecord,
 * sorted by name for the former. What does not exist is left out.
 */
GPtrArray *drover_store_read_all(DroverStore *store, const char *parent, DroverReadFlags flags,
                                 GError **error);
GPtrArray *drover_store_read_each(DroverStore *store, const char *parent, const char *const *names,
                                  DroverReadFlags flags, GError **error);
/* DROVER_ERROR_NOT_FOUND when it does not exist or has no data. */
DroverRecord *drover_store_read(DroverStore *store, const char *parent, const char *name,
                                DroverReadFlags flags, GError **error);

/*
 * The names below each of the znodes, in their order: elements are char **, sorted, or NULL when
 * there is no such znode.
 */
GPtrArray *drover_store_list_each(DroverStore *store, const char *const *paths, GError **error);
/* The names below one znode, sorted; an empty list when it does not exist. Free with g_strfreev. */
char **drover_store_list(DroverStore *store, const char *path, GError **error);

/* All images with their builds and uploads, as in model/image-reading.h; a new reference. */
json_t *drover_store_read_images(DroverStore *store, GError **error);

/* ---- Writing and locking ---- */

/* Commits the change and waits. `created` (may be NULL): the first name that the server gave. */
DroverChangeOutcome drover_store_commit(DroverStore *store, DroverChange *change, char **created);

/*
 * Returns when the server that is connected has all that was written before: one that is behind
 * does not show yet what another has stored. To be called between a change that is UNKNOWN and the
 * look whether it happened. `path`: a znode that may be written.
 */
void drover_store_catch_up(DroverStore *store, const char *path);

/* Deletes a znode with all that is below it; whatever appears meanwhile, too. */
gboolean drover_store_delete_tree(DroverStore *store, const char *path, GError **error);
/* Makes an empty znode and its parents, unless there is one. */
gboolean drover_store_ensure(DroverStore *store, const char *path, GError **error);
/* Writes the data at the path, whose znode and parents are made as needed. */
gboolean drover_store_put(DroverStore *store, const char *path, GBytes *data, GError **error);

/* Waits for a lock; `wait` as for drover_lock_acquire(). */
DroverLockOutcome drover_store_lock(DroverStore *store, DroverLock *lock, gint64 wait);
