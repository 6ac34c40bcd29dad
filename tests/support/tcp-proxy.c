#include "support/tcp-proxy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SET_MODE, CUT, COUNT, END };

/* The test's order to the thread, which answers with the number of bytes that it keeps. */
typedef struct {
    guint kind, mode;
} Order;

/* One way of a connection. */
typedef struct {
    int from, to;
    guint hold; /* the mode in which it is kept */
    GByteArray *pending;
} Way;

typedef struct {
    Way ways[2]; /* requests, replies */
} Connection;

struct _TestTcpProxy {
    GThread *thread;
    int orders; /* the test's end */
    guint16 port;

    /* The thread's own. */
    int listener, incoming; /* its end of the orders */
    guint16 server_port;
    guint mode;
    GPtrArray *connections;
};

/* ---- Sockets ---- */

static struct sockaddr_in
loopback(guint16 port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static int
connect_to(guint16 port)
{
    struct sockaddr_in address = loopback(port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    close(fd);
    return -1;
}

static int
listen_on_any(guint16 *port)
{
    struct sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 64) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        g_error("no loopback port: %s", g_strerror(errno));
    *port = ntohs(address.sin_port);
    return fd;
}

/* ---- Connections ---- */

static void
connection_free(gpointer data)
{
    Connection *connection = data;

    close(connection->ways[0].from);
    close(connection->ways[0].to);
    g_byte_array_unref(connection->ways[0].pending);
    g_byte_array_unref(connection->ways[1].pending);
    g_free(connection);
}

static void
accept_connection(TestTcpProxy *proxy)
{
    int client = accept4(proxy->listener, NULL, NULL, SOCK_CLOEXEC), server = -1, on = 1;
    Connection *connection;

    if (client < 0)
        return;
    if ((proxy->mode & TEST_PROXY_REFUSE) == 0)
        server = connect_to(proxy->server_port);
    if (server < 0) {
        close(client);
        return;
    }
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    connection = g_new0(Connection, 1);
    connection->ways[0] = (Way){client, server, TEST_PROXY_HOLD_REQUESTS, g_byte_array_new()};
    connection->ways[1] = (Way){server, client, TEST_PROXY_HOLD_REPLIES, g_byte_array_new()};
    g_ptr_array_add(proxy->connections, connection);
}

static gboolean
is_free(const TestTcpProxy *proxy, const Way *way)
{
    return (proxy->mode & way->hold) == 0;
}

/* FALSE when the connection is over. */
static gboolean
receive(Way *way)
{
    guint8 piece[65536];
    gssize n = recv(way->from, piece, sizeof piece, MSG_DONTWAIT);

    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    g_byte_array_append(way->pending, piece, (guint)n);
    return n > 0;
}

static gboolean
send_pending(Way *way)
{
    gssize n = send(way->to, way->pending->data, way->pending->len, MSG_DONTWAIT | MSG_NOSIGNAL);

    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    g_byte_array_remove_range(way->pending, 0, (guint)n);
    return TRUE;
}

static gboolean
move(const TestTcpProxy *proxy, Way *way)
{
    return receive(way) && (way->pending->len == 0 || !is_free(proxy, way) || send_pending(way));
}

static void
move_all(TestTcpProxy *proxy)
{
    for (guint i = proxy->connections->len; i > 0; i--) {
        Connection *connection = g_ptr_array_index(proxy->connections, i - 1);

        if (!move(proxy, &connection->ways[0]) || !move(proxy, &connection->ways[1]))
            g_ptr_array_remove_index(proxy->connections, i - 1);
    }
}

/* ---- The thread ---- */

static gsize
count_kept(const TestTcpProxy *proxy)
{
    gsize kept = 0;

    for (guint i = 0; i < proxy->connections->len; i++) {
        Connection *connection = g_ptr_array_index(proxy->connections, i);

        kept += connection->ways[0].pending->len + connection->ways[1].pending->len;
    }
    return kept;
}

/* FALSE at the end. */
static gboolean
obey(TestTcpProxy *proxy)
{
    Order order;
    gsize kept;

    if (recv(proxy->incoming, &order, sizeof order, 0) != sizeof order)
        return FALSE;
    if (order.kind == SET_MODE)
        proxy->mode = order.mode;
    else if (order.kind != COUNT)
        g_ptr_array_set_size(proxy->connections, 0);
    kept = count_kept(proxy);
    return send(proxy->incoming, &kept, sizeof kept, MSG_NOSIGNAL) == sizeof kept &&
           order.kind != END;
}

static void
add_poll(GArray *polls, int fd, short events)
{
    struct pollfd entry = {.fd = fd, .events = events};

    g_array_append_val(polls, entry);
}

static void
collect_polls(const TestTcpProxy *proxy, GArray *polls)
{
    g_array_set_size(polls, 0);
    add_poll(polls, proxy->incoming, POLLIN);
    add_poll(polls, proxy->listener, POLLIN);
    for (guint i = 0; i < proxy->connections->len; i++) {
        Connection *connection = g_ptr_array_index(proxy->connections, i);

        for (guint k = 0; k < 2; k++) {
            Way *way = &connection->ways[k];

            add_poll(polls, way->from, POLLIN);
            if (way->pending->len > 0 && is_free(proxy, way))
                add_poll(polls, way->to, POLLOUT);
        }
    }
}

static gpointer
run(gpointer data)
{
    TestTcpProxy *proxy = data;
    g_autoptr(GArray) polls = g_array_new(FALSE, FALSE, sizeof(struct pollfd));
    gboolean goes_on = TRUE;

    while (goes_on) {
        struct pollfd *entries;

        collect_polls(proxy, polls);
        entries = (struct pollfd *)polls->data;
        poll(entries, polls->len, -1);
        if (entries[0].revents != 0)
            goes_on = obey(proxy);
        else if (entries[1].revents != 0)
            accept_connection(proxy);
        else
            move_all(proxy);
    }
    return NULL;
}

/* ---- For the test ---- */

TestTcpProxy *
test_tcp_proxy_start(guint16 server_port)
{
    TestTcpProxy *proxy = g_new0(TestTcpProxy, 1);
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        g_error("socketpair: %s", g_strerror(errno));
    proxy->orders = pair[0];
    proxy->incoming = pair[1];
    proxy->server_port = server_port;
    proxy->listener = listen_on_any(&proxy->port);
    proxy->connections = g_ptr_array_new_with_free_func(connection_free);
    proxy->thread = g_thread_new("proxy", run, proxy);
    return proxy;
}

guint16
test_tcp_proxy_port(const TestTcpProxy *proxy)
{
    return proxy->port;
}

static gsize
give_order(TestTcpProxy *proxy, guint kind, guint mode)
{
    Order order = {kind, mode};
    gsize kept;

    if (send(proxy->orders, &order, sizeof order, MSG_NOSIGNAL) != sizeof order ||
        recv(proxy->orders, &kept, sizeof kept, 0) != sizeof kept)
        g_error("the proxy does not answer: %s", g_strerror(errno));
    return kept;
}

gsize
test_tcp_proxy_kept(TestTcpProxy *proxy)
{
    return give_order(proxy, COUNT, 0);
}

void
test_tcp_proxy_set_mode(TestTcpProxy *proxy, guint mode)
{
    give_order(proxy, SET_MODE, mode);
}

void
test_tcp_proxy_cut(TestTcpProxy *proxy)
{
    give_order(proxy, CUT, 0);
}

void
test_tcp_proxy_free(TestTcpProxy *proxy)
{
    if (proxy == NULL)
        return;
    give_order(proxy, END, 0);
    g_thread_join(proxy->thread);
    g_ptr_array_unref(proxy->connections);
    close(proxy->listener);
    close(proxy->incoming);
    close(proxy->orders);
    g_free(proxy);
}
