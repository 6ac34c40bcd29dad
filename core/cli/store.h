/*
 * ZooKeeper for a program that does one thing and ends: calls that wait for their answer. Reads of
 * many records are sent at once. Nothing here writes unless it says so.
 */
#pragma once

#include "config/config.h"
#include "zk/change.h"
#include "zk/operation.h"

typedef struct _DroverStore DroverStore;

/* Waits for the connection; `timeout` in seconds, 0: for ever. */
DroverStore *drover_store_open(const DroverConfig *config, guint timeout, GError **error);
void drover_store_close(DroverStore *store);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DroverStore, drover_store_close)
DroverSession *drover_store_session(const DroverStore *store);

typedef struct {
    char *name; /* of the znode */
    GBytes *data;
    gint32 version;
    char **contenders; /* of <znode>/lock, when asked for; never NULL then */
} DroverRecord;
void drover_record_free(DroverRecord *record);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DroverRecord, drover_record_free)

/*
 * The children of a znode that have data, sorted by name; elements are DroverRecord. Those that
 * vanish meanwhile are left out. Empty when the parent does not exist.
 */
GPtrArray *drover_store_read_all(DroverStore *store, const char *parent, gboolean with_locks);
/* The names of the children, sorted; empty when the parent does not exist. Free with g_strfreev. */
char **drover_store_list(DroverStore *store, const char *parent);
/* NULL when it does not exist or has no data. */
DroverRecord *drover_store_read(DroverStore *store, const char *parent, const char *name,
                                gboolean with_lock);

/* Commits the change and waits. */
DroverChangeOutcome drover_store_commit(DroverStore *store, DroverChange *change, char **created);

/* Waits for a lock; `wait` as for drover_lock_acquire(). */
DroverLockOutcome drover_store_lock(DroverStore *store, DroverLock *lock, gint64 wait);

/* Waits for events until `done` is TRUE or the deadline (monotonic, microseconds; -1: none). */
gboolean drover_store_wait(DroverStore *store, const gboolean *done, gint64 deadline);
