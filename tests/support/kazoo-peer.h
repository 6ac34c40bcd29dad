/*
 * An independent ZooKeeper client, kazoo in a process of its own, to compare with and to compete
 * against. The commands and their arguments are the methods of class Peer in kazoo-peer.py.
 *
 * To be used from the thread of the default main context, which goes on running while a function
 * waits for an answer. An answer that does not come within 30 s is an error.
 */
#pragma once

#include <glib.h>
#include <jansson.h>
#include <sys/types.h>

typedef struct _TestKazooPeer TestKazooPeer;

typedef struct {
    const char *hosts;
    double timeout;                          /* of the session, in seconds; 10 when 0 */
    const char *tls_cert, *tls_key, *tls_ca; /* PEM files; or all NULL */
} TestKazooPeerOptions;

/* Starts the process and waits until it has a session. */
TestKazooPeer *test_kazoo_peer_start(const TestKazooPeerOptions *options, GError **error);

/*
 * Runs one command. `format` and what follows are the arguments, as an object for json_pack(); or
 * NULL. Returns a new reference to the result; null is json_null(). An error's message begins with
 * the name of kazoo's exception: "NoNodeError: ".
 *
 *     test_kazoo_peer_call(peer, &error, "create", "{s:s, s:b}", "path", "/a", "ephemeral", 1)
 */
json_t *test_kazoo_peer_call(TestKazooPeer *peer, GError **error, const char *command,
                             const char *format, ...);

/* The two halves of a call, for commands that block: lock. */
guint test_kazoo_peer_send(TestKazooPeer *peer, const char *command, const char *format, ...);
gboolean test_kazoo_peer_is_answered(TestKazooPeer *peer, guint call);
json_t *test_kazoo_peer_wait(TestKazooPeer *peer, guint call, GError **error);

/* Waits until the connection is "CONNECTED", "SUSPENDED" or "LOST". */
gboolean test_kazoo_peer_wait_state(TestKazooPeer *peer, const char *state, GError **error);

/* Stops and continues the process: its session expires at the server meanwhile. */
void test_kazoo_peer_pause(TestKazooPeer *peer);
void test_kazoo_peer_resume(TestKazooPeer *peer);

/* Kills the process. Its session stays until the server ends it; call "close" first to end it. */
void test_kazoo_peer_free(TestKazooPeer *peer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TestKazooPeer, test_kazoo_peer_free)
