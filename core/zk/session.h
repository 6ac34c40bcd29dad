/*
 * A session with ZooKeeper that outlives its connections, and its own end.
 *
 *      core loop                              the client library's threads
 *     ┌───────────────┐   requests           ┌─────────────────────────────┐
 *     │ DroverSession │ ───────────────────► │ zhandle                     │
 *     │  listeners    │ ◄─── queue, batches ─│ completions, watches, state │
 *     │  observers    │                      └─────────────────────────────┘
 *     └───────────────┘
 *
 * Everything here is called, and calls back, on the core loop (the default main context). Paths are
 * relative to the chroot. Znodes are created open to the world, as the rest of the cluster expects,
 * unless a digest identity is configured.
 */
#pragma once

#include <glib.h>
#include <zookeeper/zookeeper.h>

typedef struct _DroverSession DroverSession;

typedef enum {
    DROVER_SESSION_CONNECTING, /* no session yet */
    DROVER_SESSION_CONNECTED,
    DROVER_SESSION_SUSPENDED, /* connection lost, the session may still live: decide nothing new */
    DROVER_SESSION_LOST,      /* over: every lock and ephemeral is gone; a new one is begun */
} DroverSessionState;

typedef struct {
    const char *host; /* IPv6 without brackets */
    guint16 port;
} DroverSessionServer;

typedef struct {
    const DroverSessionServer *servers;
    guint n_servers;
    const char *chroot;    /* "/a/b" or NULL; created when missing */
    gboolean leave_chroot; /* do not create it: where it is missing, reads find nothing */
    double timeout;        /* seconds; the server clamps it */
    const char *digest; /* "user:password": all znodes readable and writable by it alone; or NULL */
    const char *tls_cert, *tls_key, *tls_ca; /* PEM files, or all NULL for a plain connection */
    gboolean tls_any_hostname;               /* do not compare the server certificate's name */
    const char *state_dir; /* where the session's identity outlives the process; or NULL */
} DroverSessionOptions;

/*
 * Begins to connect, and goes on for ever. An error is only something that no waiting mends:
 * unreadable TLS files, a state folder that cannot be written or that another process holds.
 * With a state folder, a session that an earlier process left there is taken up again, with its
 * locks and ephemerals, if the servers still know it.
 */
DroverSession *drover_session_new(const DroverSessionOptions *options, GError **error);

/*
 * Ends the session at the server, if it is connected: ephemerals and locks are gone. Forgets the
 * state folder's copy. Listeners are told DROVER_SESSION_LOST. Not from within a callback.
 */
void drover_session_close(DroverSession *session);

/*
 * Gives the connection up and leaves the session as it is at the server, for a successor that takes
 * it up again from the state folder. Nothing more is read or written. The session's locks, caches
 * and so on are to be freed, and the session be closed, as ever; that does no harm to the
 * successor, which can begin when drover_session_close() returns.
 */
void drover_session_abandon(DroverSession *session);

/*
 * Another list of servers, without a new session: the session is suspended until it is connected to
 * one of them. On an error the old list stays.
 */
gboolean drover_session_set_servers(DroverSession *session, const DroverSessionServer *servers,
                                    guint n_servers, GError **error);

DroverSessionState drover_session_state(const DroverSession *session);
gint64 drover_session_id(const DroverSession *session); /* 0 without a session */
/* Milliseconds, as negotiated. */
int drover_session_timeout(const DroverSession *session);
/* TRUE when the present session was begun by an earlier process. */
gboolean drover_session_is_resumed(const DroverSession *session);
/*
 * 16 hex digits that stay the same as long as the session's identity is handed on in the state
 * folder. Lock contenders of this holder begin with them, so a successor knows its own.
 */
const char *drover_session_holder(const DroverSession *session);

/* ---- Changes of state ---- */

typedef void (*DroverSessionListener)(DroverSession *session, DroverSessionState state,
                                      gpointer user_data);
/* Listeners are called in the order they were added. Returns an id for removal. */
guint drover_session_add_listener(DroverSession *session, DroverSessionListener listener,
                                  gpointer user_data);

/* ---- Events and own writes of a part of the tree ---- */

typedef struct {
    /* A watch that a read of this session set has fired. `type` is a ZOO_*_EVENT. */
    void (*event)(const char *path, int type, gpointer user_data);
    /*
     * A write of this session was applied. `data` is NULL when the znode was deleted. `version` is
     * the record's new one, `mzxid` 0 when the server did not tell it.
     */
    void (*wrote)(const char *path, GBytes *data, gint32 version, gint64 mzxid, gpointer user_data);
} DroverSessionObserver;

/* For `root` itself and everything below it. Members of the observer may be NULL; it is copied. */
guint drover_session_add_observer(DroverSession *session, const char *root,
                                  const DroverSessionObserver *observer, gpointer user_data);

/* Removes a listener or an observer. Allowed at any time, also from within a callback. */
void drover_session_remove(DroverSession *session, guint id);

/* Counters since the start, for statistics and the benchmark. */
typedef struct {
    guint64 reads, writes, transactions, events, batches, sessions, connections;
    /* Now: operations that are not answered yet; answers and events not looked at yet. */
    guint64 pending, waiting;
} DroverSessionCounters;
const DroverSessionCounters *drover_session_counters(DroverSession *session);
