/*
 * A TLS server in this process that sends everything back when the client sends no more.
 */
#pragma once

#include <gio/gio.h>

#include "support/certificates.h"

typedef struct {
    GTlsCertificate *certificate;
    GAsyncQueue *received; /* of GBytes, one a connection, as soon as it has ended */
} EchoServer;

/*
 * Serves on a free port of the address, while the default main context runs. NULL when the machine
 * has no such address.
 */
GSocketService *echo_start(EchoServer *server, TestAuthority *by, const char *name,
                           const char *host, guint16 *port);

/* Runs the service until a connection has ended; returns what it received. */
GBytes *echo_wait(EchoServer *server);

void echo_clear(EchoServer *server);
