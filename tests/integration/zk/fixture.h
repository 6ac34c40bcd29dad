/*
 * What the tests of the coordination room stand on: one real ZooKeeper for a test program, a proxy
 * before it through which Drover's sessions go, and a kazoo client that goes straight to it.
 * A call that fails ends the test.
 */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "support/kazoo-peer.h"
#include "support/tcp-proxy.h"
#include "support/wait.h"
#include "support/zookeeper.h"
#include "zk/change.h"
#include "zk/operation.h"

/* Milliseconds; no wait that ends well takes nearly so long. */
enum { PATIENCE = 60000 };

extern TestZookeeper *server;
extern TestTcpProxy *proxy;
extern TestKazooPeer *peer;

/* Starts the three, runs the tests and ends the three. Returns the program's exit status. */
int run_with_cluster(int *argc, char ***argv, void (*add_tests)(void));

/* A new znode "/t<number>" of the test's own; free with g_free. */
char *new_root(void);
/* The path below it; free with g_free. */
char *below(const char *root, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* Runs the main loop until the condition holds, which may also be about other processes. */
void wait_until(TestCondition condition, gpointer user_data);
void wait_for(const gboolean *flag);

/* ---- Drover's side ---- */

typedef struct {
    DroverSession *session;
    char *folder; /* of its state, removed at the end unless it was given */
    gboolean own_folder;
    guint connected, suspended, lost; /* how often it became so */
} TestSession;

typedef struct {
    guint16 port;       /* 0: the proxy's */
    double timeout;     /* seconds; 10 when 0 */
    const char *chroot; /* or NULL */
    gboolean leave_chroot;
    const char *digest; /* or NULL */
    const char *folder; /* or NULL for a new one */
} TestSessionSetup;

/* Waits until it is connected. `setup` may be NULL. */
TestSession *open_session(const TestSessionSetup *setup);
/* Does not wait. */
TestSession *begin_session(const TestSessionSetup *setup);
void close_session(TestSession *session);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TestSession, close_session)

void wait_connected(TestSession *session);
/* Cuts the connection, and waits until the session is suspended. Nothing passes the proxy then. */
void suspend_session(TestSession *session);
/* What is kept may pass, new connections too. Waits until the session is connected. */
void resume_session(TestSession *session);
/* Ends the session at the server, and waits until the new one is connected. */
void expire_session(TestSession *session);
/* Ends it at the server; for a session whose connections are refused. */
void end_session_at_server(const TestSession *session);

/* NULL when there is none. `stat` may be NULL. */
char *get(TestSession *session, const char *path, struct Stat *stat);
int exists(TestSession *session, const char *path);
/* Waits for the answer to all that was asked before. */
void sync_session(TestSession *session);

/* Takes the change over. */
DroverChangeOutcome commit(DroverChange *change);
DroverLockOutcome acquire(DroverLock *lock, gint64 wait);

/* ---- kazoo's side ---- */

void peer_create(const char *path, const char *data);
void peer_set(const char *path, const char *data);
void peer_delete(const char *path); /* with all below */
char *peer_get(const char *path);
gboolean peer_exists(const char *path);
gint64 peer_stat(const char *path, const char *field); /* of kazoo's ZnodeStat */
GStrv peer_children(const char *path);
/* -1 when there is no such znode. */
int peer_count(const char *path);
gboolean peer_lock(const char *path, gboolean blocking);
void peer_unlock(const char *path);

/* ---- Logs ---- */

/* Keeps what is logged from now on. */
void keep_log(void);
/* What was logged; logs go where they went before. Free with g_free. */
char *take_log(void);
/* Waits until the kept log contains the text. */
void wait_log(const char *text);
