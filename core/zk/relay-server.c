#include "zk/relay-server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "base/error.h"
#include "base/log.h"

enum { WARNING_SECONDS = 10, FAILURE_SECONDS = 1 };

/* ---- Is it ours? ---- */

typedef struct {
    struct sockaddr_in own, peer;
} Ends;

static gboolean
ends_of(int fd, Ends *ends)
{
    socklen_t own_size = sizeof ends->own;
    socklen_t peer_size = sizeof ends->peer;

    *ends = (Ends){0};
    return getsockname(fd, (struct sockaddr *)&ends->own, &own_size) == 0 &&
           getpeername(fd, (struct sockaddr *)&ends->peer, &peer_size) == 0 &&
           ends->own.sin_family == AF_INET && ends->peer.sin_family == AF_INET;
}

static gboolean
is_same_address(const struct sockaddr_in *a, const struct sockaddr_in *b)
{
    return a->sin_port == b->sin_port && a->sin_addr.s_addr == b->sin_addr.s_addr;
}

/* Does this process hold the other end of the connection? The kernel's list of descriptors tells.
 */
static gboolean
other_end_is_own(int fd)
{
    g_autoptr(GDir) descriptors = g_dir_open("/proc/self/fd", 0, NULL);
    gboolean is_own = FALSE;
    const char *name;
    Ends ends;

    if (descriptors == NULL || !ends_of(fd, &ends))
        return FALSE;
    while (!is_own && (name = g_dir_read_name(descriptors)) != NULL) {
        Ends candidate;

        is_own = ends_of((int)g_ascii_strtoll(name, NULL, 10), &candidate) &&
                 is_same_address(&candidate.own, &ends.peer) &&
                 is_same_address(&candidate.peer, &ends.own);
    }
    return is_own;
}

static gboolean
is_gone(int fd)
{
    struct pollfd poller = {.fd = fd, .events = POLLRDHUP};

    return poll(&poller, 1, 0) > 0;
}

GSocket *
drover_zk_relay_server_accept(DroverZkRelayServer *server, GError **error)
{
    g_autoptr(GSocket) client = g_socket_accept(server->listener, NULL, error);

    if (client == NULL)
        return NULL;
    if (!other_end_is_own(g_socket_get_fd(client))) {
        /* A client that gave up before we came to it has no descriptor any more. */
        if (!is_gone(g_socket_get_fd(client)))
            drover_zk_relay_server_warn(server, DROVER_ZK_RELAY_WARN_CLIENT,
                                        "refused a connection of another process to %s, which is "
                                        "for Drover's own use",
                                        server->local);
        return NULL;
    }
    g_socket_set_option(client, IPPROTO_TCP, TCP_NODELAY, 1, NULL);
    return g_steal_pointer(&client);
}

/* ---- Warnings ---- */

void
drover_zk_relay_server_warn(DroverZkRelayServer *server, DroverZkRelayWarning kind,
                            const char *format, ...)
{
    gint64 now = g_get_monotonic_time();
    g_autofree char *text = NULL;
    va_list arguments;

    if (now < server->next_warning[kind])
        return;
    server->next_warning[kind] = now + WARNING_SECONDS * G_USEC_PER_SEC;
    va_start(arguments, format);
    text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    drover_log_for(DROVER_LOG_WARNING, "zk.ZooKeeper", "ZooKeeper server %s: %s", server->name,
                   text);
}

/* The first failure is told at once, so that the client can go to another server. */
guint
drover_zk_relay_server_failure_delay(DroverZkRelayServer *server)
{
    gint64 now = g_get_monotonic_time();
    gint64 moment = MAX(now, server->next_failure);

    server->next_failure = moment + FAILURE_SECONDS * G_USEC_PER_SEC;
    return (guint)((moment - now) / 1000);
}

/* ---- Life ---- */

/* The next of 127.0.0.2 to 127.255.255.254, all of which are this machine's own. */
static GSocketAddress *
next_loopback(void)
{
    static gint used;
    guint32 number = 0x7f000002 + (guint32)g_atomic_int_add(&used, 1) % 0xfffffd;
    guint8 bytes[4] = {number >> 24, number >> 16 & 0xff, number >> 8 & 0xff, number & 0xff};
    g_autoptr(GInetAddress) address = g_inet_address_new_from_bytes(bytes, G_SOCKET_FAMILY_IPV4);

    return g_inet_socket_address_new(address, 0);
}

static GSocket *
listen_on_loopback(char **local, GError **error)
{
    g_autoptr(GSocketAddress) wanted = next_loopback();
    g_autoptr(GSocketAddress) bound = NULL;
    g_autoptr(GSocket) socket =
        g_socket_new(G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, error);

    if (socket == NULL || !g_socket_bind(socket, wanted, FALSE, error) ||
        !g_socket_listen(socket, error))
        return NULL;
    bound = g_socket_get_local_address(socket, error);
    if (bound == NULL)
        return NULL;
    g_socket_set_blocking(socket, FALSE);
    *local = g_socket_connectable_to_string(G_SOCKET_CONNECTABLE(bound));
    return g_steal_pointer(&socket);
}

DroverZkRelayServer *
drover_zk_relay_server_new(const DroverSessionServer *server, GError **error)
{
    g_autoptr(DroverZkRelayServer) made = g_atomic_rc_box_new0(DroverZkRelayServer);
    gboolean is_ipv6 = strchr(server->host, ':') != NULL;

    made->host = g_strdup(server->host);
    made->port = server->port;
    made->name = g_strdup_printf(is_ipv6 ? "[%s]:%u" : "%s:%u", server->host, server->port);
    made->listener = listen_on_loopback(&made->local, error);
    if (made->listener == NULL) {
        g_prefix_error(
            error, "cannot listen on a loopback address for the ZooKeeper server %s: ", made->name);
        return NULL;
    }
    return g_steal_pointer(&made);
}

DroverZkRelayServer *
drover_zk_relay_server_ref(DroverZkRelayServer *server)
{
    return g_atomic_rc_box_acquire(server);
}

static void
clear_server(gpointer data)
{
    DroverZkRelayServer *server = data;

    g_clear_object(&server->listener);
    g_free(server->host);
    g_free(server->name);
    g_free(server->local);
}

void
drover_zk_relay_server_unref(DroverZkRelayServer *server)
{
    g_atomic_rc_box_release_full(server, clear_server);
}
