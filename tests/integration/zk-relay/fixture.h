/*
 * What the tests of the TLS relay share: certificates, servers, relays to them, and the log.
 */
#pragma once

#include <gio/gio.h>

#include "client.h"
#include "support/certificates.h"
#include "support/zookeeper.h"
#include "zk/relay.h"

enum { LOG_SECONDS = 20 };

/* One CA, with "server" (127.0.0.1), "named" (localhost), "elsewhere", "expired", "ipv6", "client"
 */
extern TestAuthority *authority;
extern TestAuthority *stranger; /* another CA, with "client" */

/* Makes the certificates, takes the log over, runs the tests that were added, tidies up. */
int fixture_run(void);

/* ---- The log ---- */

void reset_log(void);
/* Waits until a text has been logged since the last reset. */
void expect_logged(const char *text);
guint count_warnings(void); /* since the last reset */

/* ---- Parts ---- */

/* A server that shows a certificate of `authority`; `config` as in TestZookeeperOptions. */
TestZookeeper *start_server(const char *certificate, const char *config);

DroverZkTls good_tls(void);
DroverZkRelay *relay_with(const DroverSessionServer *servers, guint n, const DroverZkTls *tls);
DroverZkRelay *relay_to(const char *host, const TestZookeeper *server, const DroverZkTls *tls);
Client *client_of(DroverZkRelay *relay);

/* A connection of this process to the relay, without the client library. */
GSocketConnection *connect_raw(DroverZkRelay *relay);

/* ---- Expectations ---- */

/* Connects to the relay and waits until it closes the connection. */
void expect_closed(DroverZkRelay *relay);
void expect_carried(DroverZkRelay *relay);
/* The client keeps trying and is never connected; the log says why. */
void expect_refused(DroverZkRelay *relay, const char *reason);
