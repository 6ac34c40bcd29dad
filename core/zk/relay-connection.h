/*
 * One connection that the relay carries: a client's socket on one side, TLS to a server on the
 * other. Lives on the relay's thread, driven by that thread's default main context.
 */
#pragma once

#include "zk/relay-server.h"
#include "zk/relay-trust.h"

typedef struct _DroverZkRelayConnection DroverZkRelayConnection;

/* Called once, at the very end, from the main context; the connection is freed afterwards. */
typedef void (*DroverZkRelayEndedFunc)(DroverZkRelayConnection *connection, gpointer user_data);

/* Begins to connect to the server. `trust` must outlive the connection. */
DroverZkRelayConnection *
drover_zk_relay_connection_new(GSocket *client, DroverZkRelayServer *server, DroverZkTrust *trust,
                               DroverZkRelayEndedFunc ended, gpointer user_data);

/*
 * Delivers what the client has sent, then ends. Takes two seconds at the most. May call `ended`
 * before it returns.
 */
void drover_zk_relay_connection_drain(DroverZkRelayConnection *connection);
