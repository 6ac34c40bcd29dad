/*
 * Asynchronous reads and transactions. Each call answers exactly once, on the core loop, never
 * before it returns; also when the connection or the session is lost meanwhile. Many may be in
 * flight: the servers answer them in order.
 */
#pragma once

#include "zk/session.h"

typedef struct {
    int rc; /* ZOK or one of zookeeper.h: ZNONODE, ZCONNECTIONLOSS, ... */
    struct Stat stat;
    GBytes *data;          /* of a get; NULL for other calls */
    const char **children; /* of a list, NULL-terminated, not sorted */
    guint n_children;
} DroverReadReply;

typedef void (*DroverReadFunc)(const DroverReadReply *reply, gpointer user_data);

/*
 * With `watch`, the next change is reported once to the observers of the path. For a znode that
 * does not exist only drover_session_exists() leaves a watch.
 */
void drover_session_get(DroverSession *session, const char *path, gboolean watch,
                        DroverReadFunc done, gpointer user_data);
void drover_session_exists(DroverSession *session, const char *path, gboolean watch,
                           DroverReadFunc done, gpointer user_data);
void drover_session_list(DroverSession *session, const char *path, gboolean watch,
                         DroverReadFunc done, gpointer user_data);

/* ---- Transactions: all or nothing ---- */

typedef struct _DroverTransaction DroverTransaction;

typedef struct {
    int rc;                   /* of the first operation that failed, or ZOK */
    guint n_operations;       /* as many as were added */
    const int *codes;         /* of each; ZRUNTIMEINCONSISTENCY for those after the failed one */
    const char *const *paths; /* of each: what was created, else what was named */
    const gint32 *versions;   /* of each: the record's version after a create or set */
} DroverCommitReply;

typedef void (*DroverCommitFunc)(const DroverCommitReply *reply, gpointer user_data);

DroverTransaction *drover_transaction_new(void);
void drover_transaction_free(DroverTransaction *transaction);
/* Each returns its index. Version -1 means any. `data` may be NULL for an empty znode. */
guint drover_transaction_create(DroverTransaction *transaction, const char *path, GBytes *data,
                                int flags);
guint drover_transaction_set(DroverTransaction *transaction, const char *path, GBytes *data,
                             gint32 version);
guint drover_transaction_delete(DroverTransaction *transaction, const char *path, gint32 version);
guint drover_transaction_check(DroverTransaction *transaction, const char *path, gint32 version);

/* Takes the transaction over. `done` may be NULL. */
void drover_session_commit(DroverSession *session, DroverTransaction *transaction,
                           DroverCommitFunc done, gpointer user_data);

/* Deletes one znode, whatever its version. `done` may be NULL. */
void drover_session_delete(DroverSession *session, const char *path, DroverCommitFunc done,
                           gpointer user_data);

/* Creates a persistent, empty znode and its missing parents; ZOK when it exists already. */
void drover_session_ensure(DroverSession *session, const char *path, DroverReadFunc done,
                           gpointer user_data);

/* The connection or the session went away: nobody knows whether it happened. */
gboolean drover_rc_is_unknown(int rc);
