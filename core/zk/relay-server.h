/*
 * One server of the relay: its name, and the loopback port that stands for it. Counted references,
 * which may be taken and dropped on any thread; everything else on the relay's thread.
 *
 * Each has its own loopback address, never used again: when the client library compares lists of
 * servers it looks at the addresses and not at the ports, and ignores a list that looks the same.
 */
#pragma once

#include <gio/gio.h>

#include "zk/session.h"

typedef struct {
    char *host; /* IPv6 without brackets */
    guint16 port;
    char *name; /* "host:port", for messages */
    GSocket *listener;
    char *local; /* "127.0.0.2:port": where it listens */
    /* Monotonic microseconds. */
    gint64 next_warning[2]; /* by DroverZkRelayWarning */
    gint64 next_failure;    /* no client's connection fails earlier */
} DroverZkRelayServer;

/* Kinds of warnings that do not suppress each other. */
typedef enum {
    DROVER_ZK_RELAY_WARN_SERVER,
    DROVER_ZK_RELAY_WARN_CLIENT,
} DroverZkRelayWarning;

/* Listens on a port that the kernel chooses. Called on any thread. */
DroverZkRelayServer *drover_zk_relay_server_new(const DroverSessionServer *server, GError **error);
DroverZkRelayServer *drover_zk_relay_server_ref(DroverZkRelayServer *server);
void drover_zk_relay_server_unref(DroverZkRelayServer *server);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DroverZkRelayServer, drover_zk_relay_server_unref)

/*
 * The next client, if it is a socket of this process; NULL without an error when it is not, which
 * was logged, or when it is gone already.
 */
GSocket *drover_zk_relay_server_accept(DroverZkRelayServer *server, GError **error);

/* Logs a warning about the server, unless there was one of that kind less than 10 s ago. */
void drover_zk_relay_server_warn(DroverZkRelayServer *server, DroverZkRelayWarning kind,
                                 const char *format, ...) G_GNUC_PRINTF(3, 4);

/*
 * Milliseconds that a client whose connection has just failed is kept waiting: the client library
 * tries again at once, and would do so thousands of times a second.
 */
guint drover_zk_relay_server_failure_delay(DroverZkRelayServer *server);
