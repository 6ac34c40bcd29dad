/*
 * The exclusive lock that kazoo uses, on the wire exactly: contenders named
 * <32 hex digits>__lock__<sequence> in a lock directory, the smallest sequence holds it, and each
 * waiter watches the contender just before its own.
 *
 *     create directory ─► create contender ─► list ─┬─ smallest ────────────────► held
 *                                            ▲      ├─ not, will not wait ─► delete ─► busy
 *                                            └──────┴─ not: watch the one before
 *
 * The first three are sent at once and cost one round trip. In a session that was taken up from an
 * earlier process, a contender which that process left in the directory is taken over, so a lock
 * that it held is still held. What is left of its further contenders there is removed.
 *
 * Locks live on the core loop, and are freed before the session is closed. Whoever holds one hears
 * of its loss by the session's state.
 */
#pragma once

#include "zk/session.h"

typedef struct _DroverLock DroverLock;

typedef enum {
    DROVER_LOCK_HELD,
    DROVER_LOCK_BUSY,    /* somebody else holds it, and we would not wait */
    DROVER_LOCK_TIMEOUT, /* somebody else held it for longer than we would wait */
    DROVER_LOCK_GONE,    /* the object to lock does not exist, or somebody is deleting it */
    DROVER_LOCK_UNKNOWN, /* the connection went away meanwhile; no contender is left behind */
    DROVER_LOCK_FAILED,  /* the server refused: no permission, out of space */
} DroverLockOutcome;

#define DROVER_LOCK_WAIT_FOREVER (-1)
#define DROVER_LOCK_DO_NOT_WAIT  0

typedef void (*DroverLockFunc)(DroverLock *lock, DroverLockOutcome outcome, gpointer user_data);

/*
 * `directory` is where contenders stand. With `make_parents` its missing parents are created, else
 * only itself: a missing parent then means that the object is gone, and so does a contender of ours
 * that somebody removed. `identifier` (may be NULL) is
 * the contender's data.
 */
DroverLock *drover_lock_new(DroverSession *session, const char *directory, gboolean make_parents,
                            const char *identifier);

/* `done` is called exactly once, unless the lock is freed first. `wait` is in milliseconds. */
void drover_lock_acquire(DroverLock *lock, gint64 wait, DroverLockFunc done, gpointer user_data);

/*
 * Gives the lock up, or the attempt. The contender is removed, after a reconnection if need be. May
 * be acquired again at once.
 */
void drover_lock_release(DroverLock *lock);

/* Releases and frees; also from within the lock's own callback. NULL is allowed. */
void drover_lock_free(DroverLock *lock);

/*
 * FALSE from the moment on that the session is lost. TRUE while suspended, and also when somebody
 * else removed the contender; so a write proves the lock again.
 */
gboolean drover_lock_is_held(const DroverLock *lock);
/* The contender's path, for the fence of a transaction; NULL unless held. */
const char *drover_lock_contender(const DroverLock *lock);
const char *drover_lock_directory(const DroverLock *lock);

/* For change.c: the contender was removed by a transaction that released the lock on the way. */
void drover_lock_forget(DroverLock *lock);

/*
 * Whether a contender of our session's holder is in the directory: one that an earlier process has
 * left, if no lock of this one is there. Asked without becoming a contender.
 */
typedef void (*DroverLockInheritedFunc)(gboolean inherited, gpointer user_data);
void drover_lock_ask_inherited(DroverSession *session, const char *directory,
                               DroverLockInheritedFunc done, gpointer user_data);

/* ---- Names in a lock directory ---- */

/* The position of the ten digits (or '-' and ten) of a contender's name, or NULL for other names.
 */
const char *drover_lock_sequence(const char *name);
/* TRUE for a contender of the holder that has this identity (drover_session_holder). */
gboolean drover_lock_is_of_holder(const char *name, const char *holder);
/* Of a contender that is no session's, up to its sequence. Free with g_free. */
char *drover_lock_new_name(void);
/* The contender that holds the lock, or NULL when there is none. Points into the list. */
const char *drover_lock_find_holder(const char *const *names);
/* Whether that is the contender's data; `data` NULL: it has none. */
gboolean drover_lock_has_identifier(GBytes *data, const char *identifier);
