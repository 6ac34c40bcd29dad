/*
 * tcp-server.py as a child process: a server of which the test decides step by step how it treats
 * connections. Its commands are described there. It ends with its owner.
 */
#pragma once

#include <glib.h>

typedef struct _TestTcpServer TestTcpServer;

/* Refuses connections at first. */
TestTcpServer *test_tcp_server_start(const char *address, GError **error);
guint16 test_tcp_server_port(const TestTcpServer *server);

/* Gives a command and waits until it is in force; connections of the one before are closed. */
void test_tcp_server_command(TestTcpServer *server, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* How often something happened since the start: "accepted" or "closed". */
guint test_tcp_server_count(const TestTcpServer *server, const char *event);
/* Iterates the default main context until it happened so many times; the test fails after a minute.
 */
void test_tcp_server_wait(TestTcpServer *server, const char *event, guint count);

void test_tcp_server_free(TestTcpServer *server); /* NULL is allowed */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TestTcpServer, test_tcp_server_free)
