/*
 * A proxy between the clients and a server on 127.0.0.1, as a thread of the test. The test decides
 * what passes: it can hold back one direction, so that a request is carried out and nobody hears of
 * it, and cut connections.
 *
 * A call is in force when it returns.
 */
#pragma once

#include <glib.h>

typedef struct _TestTcpProxy TestTcpProxy;

typedef enum {
    TEST_PROXY_PASS = 0,
    TEST_PROXY_HOLD_REQUESTS = 1 << 0, /* what clients send is kept */
    TEST_PROXY_HOLD_REPLIES = 1 << 1,  /* what the server sends is kept */
    TEST_PROXY_REFUSE = 1 << 2,        /* new connections are closed at once */
} TestTcpProxyMode;

TestTcpProxy *test_tcp_proxy_start(guint16 server_port);
guint16 test_tcp_proxy_port(const TestTcpProxy *proxy);

/* Flags of TestTcpProxyMode. What was kept and may pass now is passed on. */
void test_tcp_proxy_set_mode(TestTcpProxy *proxy, guint mode);
/* Closes all connections. What was kept is lost. */
void test_tcp_proxy_cut(TestTcpProxy *proxy);
/* How many bytes are kept now, of both directions. */
gsize test_tcp_proxy_kept(TestTcpProxy *proxy);

void test_tcp_proxy_free(TestTcpProxy *proxy); /* NULL is allowed */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TestTcpProxy, test_tcp_proxy_free)
