/*
 * Carries the plain bytes of the ZooKeeper client library to the servers over TLS, which the
 * library itself, as distributions build it, cannot do.
 *
 *      client library      relay's own thread              ZooKeeper
 *     ┌──────────────┐    ┌────────────────────┐    TLS   ┌─────────┐
 *     │ 127.0.0.2:p1 │ ─► │ p1 for server 1    │ ───────► │ zk1     │
 *     │ 127.0.0.3:p2 │ ─► │ p2 for server 2    │ ───────► │ zk2     │
 *     └──────────────┘    └────────────────────┘          └─────────┘
 *
 * Only sockets of this very process are served. A server is trusted when its certificate is signed
 * by the given CA or by one the system trusts, and is made for the name or address that was asked
 * for. A server that is not trusted gets no data: the client's connection is closed, so that the
 * library tries again, and a warning tells why, at most every 10 s for each server.
 *
 * All functions are called from one thread, which may be any.
 */
#pragma once

#include "zk/session.h"

typedef struct _DroverZkRelay DroverZkRelay;

/* PEM files. The certificate's file may hold its chain. */
typedef struct {
    const char *cert, *key, *ca;
    gboolean any_hostname; /* do not compare the name in the server's certificate */
} DroverZkTls;

/*
 * Reads the files and begins to listen. DROVER_ERROR_CONFIG names the file that cannot be used;
 * DROVER_ERROR_UNSUPPORTED says that GLib's TLS module is not installed.
 */
DroverZkRelay *drover_zk_relay_new(const DroverSessionServer *servers, guint n_servers,
                                   const DroverZkTls *tls, GError **error);

/*
 * "127.0.0.2:p1,127.0.0.3:p2,127.0.0.4:p3", in the order of the servers, for the client library. Of
 * an even number the first is repeated at the end. Free with g_free.
 */
char *drover_zk_relay_hosts(const DroverZkRelay *relay);

/*
 * Another list of servers. Those that were in the old list keep their addresses. Connections to
 * servers that are not in the new one live on until the client gives them up. On an error nothing
 * changes.
 */
gboolean drover_zk_relay_set_servers(DroverZkRelay *relay, const DroverSessionServer *servers,
                                     guint n_servers, GError **error);

/*
 * What the client has sent so far is still delivered, such as its end of the session; for that it
 * blocks two seconds at the most. Then all connections are closed.
 */
void drover_zk_relay_free(DroverZkRelay *relay);
