#include <gio/gio.h>
#include <glib-unix.h>
#include <microhttpd.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "http/server-private.h"

#define SPARE_CONNECTIONS 64 /* of those who are about to leave */
#define DEFAULT_PATIENCE  15
#define SPARE_PATIENCE    2           /* seconds that the library's is longer than ours */
#define BACKLOG           4096        /* or as many as the system allows */
#define SEND_BUFFER       (64 * 1024) /* what the kernel keeps for each who reads slowly */

/* ---- The loop ---- */

static void serve(DroverHttpServer *server);

static gboolean
on_timer(gpointer user_data)
{
    DroverHttpServer *server = user_data;

    server->timer = 0;
    server->soon = FALSE;
    serve(server);
    return G_SOURCE_REMOVE;
}

static gboolean
on_readable(gint fd, GIOCondition condition, gpointer user_data)
{
    serve(user_data);
    return G_SOURCE_CONTINUE;
}

/* The library says when it wants to be called again though nothing can be read or written. */
static void
serve(DroverHttpServer *server)
{
    MHD_UNSIGNED_LONG_LONG wait;

    MHD_run(server->daemon);
    if (!server->soon)
        g_clear_handle_id(&server->timer, g_source_remove);
    if (!server->soon && MHD_get_timeout(server->daemon, &wait) == MHD_YES)
        server->timer = g_timeout_add((guint)MIN(wait, G_MAXINT), on_timer, server);
    /* It accepts again only when it is called again, and nothing else may happen meanwhile. */
    if (server->full && server->connections < server->most) {
        server->full = FALSE;
        drover_http_server_serve_soon(server);
    }
}

void
drover_http_server_serve_soon(DroverHttpServer *server)
{
    if (server->soon)
        return;
    server->soon = TRUE;
    g_clear_handle_id(&server->timer, g_source_remove);
    server->timer = g_idle_add(on_timer, server);
}

/* ---- What the library tells ---- */

/* Each begins with a connection, and ends with it. */
static void
on_connection(void *data, struct MHD_Connection *connection, void **guest,
              enum MHD_ConnectionNotificationCode code)
{
    DroverHttpServer *server = data;

    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        server->connections++;
        *guest = drover_guest_new(
            server,
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd,
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr);
    } else {
        server->connections--;
        drover_guest_free(*guest);
    }
    server->full = server->full || server->connections >= server->most;
}

/* The first that the library tells of a request: its first line is there. */
static void *
on_address(void *data, const char *address, struct MHD_Connection *connection)
{
    DroverGuest *guest =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;

    return drover_http_exchange_new(data, connection, address, guest);
}

static enum MHD_Result
on_access(void *data, struct MHD_Connection *connection, const char *url, const char *method,
          const char *version, const char *upload, size_t *upload_size, void **exchange)
{
    return drover_http_exchange_go_on(*exchange, method, upload, upload_size);
}

static void
on_completed(void *data, struct MHD_Connection *connection, void **context,
             enum MHD_RequestTerminationCode code)
{
    DroverHttpExchange *exchange = *context;

    *context = NULL;
    if (exchange == NULL)
        return;
    if (code == MHD_REQUEST_TERMINATED_TIMEOUT_REACHED)
        drover_guest_note_cut(exchange->guest, DROVER_HTTP_CUT_UNREAD);
    drover_http_exchange_end(exchange);
}

/* Addresses are decoded by the exchange, which refuses what is broken. */
static size_t
keep_escapes(void *data, struct MHD_Connection *connection, char *text)
{
    return strlen(text);
}

/* ---- Life ---- */

static GInetAddress *
find_address(const char *name, GError **error)
{
    GInetAddress *literal = g_inet_address_new_from_string(name);
    g_autoptr(GResolver) resolver = NULL;
    GList *found;

    if (literal != NULL)
        return literal;
    resolver = g_resolver_get_default();
    found = g_resolver_lookup_by_name(resolver, name, NULL, error);
    if (found != NULL)
        literal = g_object_ref(found->data);
    g_resolver_free_addresses(found);
    return literal;
}

static GSocket *
listen_on(const DroverHttpOptions *options, GError **error)
{
    g_autoptr(GInetAddress) address = find_address(options->address, error);
    g_autoptr(GSocketAddress) place = NULL;
    g_autoptr(GSocket) socket = NULL;

    if (address == NULL)
        return NULL;
    place = g_inet_socket_address_new(address, (guint16)options->port);
    socket = g_socket_new(g_inet_address_get_family(address), G_SOCKET_TYPE_STREAM,
                          G_SOCKET_PROTOCOL_TCP, error);
    if (socket == NULL || !g_socket_bind(socket, place, TRUE, error))
        return NULL;
    g_socket_set_listen_backlog(socket, BACKLOG);
    g_socket_set_option(socket, SOL_SOCKET, SO_SNDBUF, SEND_BUFFER, NULL);
    g_socket_set_blocking(socket, FALSE);
    return g_socket_listen(socket, error) ? g_steal_pointer(&socket) : NULL;
}

static guint16
port_of(GSocket *socket)
{
    g_autoptr(GSocketAddress) place = g_socket_get_local_address(socket, NULL);

    return place != NULL ? g_inet_socket_address_get_port(G_INET_SOCKET_ADDRESS(place)) : 0;
}

/* "Name: value\n..." as name, value, ... */
static char **
split_headers(const char *text)
{
    g_auto(GStrv) lines = g_strsplit(text != NULL ? text : "", "\n", -1);
    GPtrArray *words = g_ptr_array_new();

    for (char **line = lines; *line != NULL; line++) {
        g_auto(GStrv) halves = g_strsplit(*line, ": ", 2);

        if (g_strv_length(halves) == 2) {
            g_ptr_array_add(words, g_strdup(halves[0]));
            g_ptr_array_add(words, g_strdup(halves[1]));
        }
    }
    g_ptr_array_add(words, NULL);
    return (char **)g_ptr_array_free(words, FALSE);
}

static struct MHD_Daemon *
start(DroverHttpServer *server, int fd)
{
    const guint patience = server->guests.patience + SPARE_PATIENCE;

    return MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, on_access, server,
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, server->most,
        MHD_OPTION_CONNECTION_TIMEOUT, patience, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)DROVER_HTTP_HEAD_LIMIT, MHD_OPTION_URI_LOG_CALLBACK, on_address, server,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, server, MHD_OPTION_NOTIFY_CONNECTION,
        on_connection, server, MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL, MHD_OPTION_END);
}

DroverHttpServer *
drover_http_server_new(const DroverHttpOptions *options, GError **error)
{
    g_autoptr(GSocket) socket = listen_on(options, error);
    DroverHttpServer *server;
    int fd;

    if (socket == NULL) {
        g_prefix_error(error, "cannot listen on %s port %d: ", options->address, options->port);
        return NULL;
    }
    server = g_new0(DroverHttpServer, 1);
    drover_guests_init(&server->guests,
                       options->patience > 0 ? options->patience : DEFAULT_PATIENCE);
    server->most = server->guests.places + SPARE_CONNECTIONS;
    server->name = g_strdup(options->name);
    server->pending = g_hash_table_new(NULL, NULL);
    server->streams = g_hash_table_new(NULL, NULL);
    server->port = port_of(socket);
    server->allow = g_strdup(options->allow);
    server->methods = g_strsplit(options->allow, ", ", -1);
    server->headers = split_headers(options->headers);
    server->handler = options->handler;
    server->user_data = options->user_data;
    fd = dup(g_socket_get_fd(socket)); /* the library closes its own */
    server->daemon = start(server, fd);
    if (server->daemon == NULL) {
        close(fd);
        g_set_error(error, DROVER_ERROR, DROVER_ERROR_FAILED, "cannot serve on %s port %d",
                    options->address, options->port);
        drover_http_server_free(server);
        return NULL;
    }
    server->fd_source =
        g_unix_fd_add(MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd,
                      G_IO_IN, on_readable, server);
    return server;
}

/* The library ends no connection that waits. */
static void
abandon_pending(DroverHttpServer *server)
{
    GHashTableIter iter;
    gpointer exchange;

    g_hash_table_iter_init(&iter, server->pending);
    while (g_hash_table_iter_next(&iter, &exchange, NULL))
        drover_http_exchange_abandon(exchange);
    g_hash_table_iter_init(&iter, server->streams);
    while (g_hash_table_iter_next(&iter, &exchange, NULL))
        drover_http_stream_wake(exchange);
}

void
drover_http_server_free(DroverHttpServer *server)
{
    if (server == NULL)
        return;
    if (server->daemon != NULL) {
        MHD_run(server->daemon); /* sends what was answered last, as far as it goes */
        abandon_pending(server);
        MHD_stop_daemon(server->daemon);
    }
    g_clear_handle_id(&server->fd_source, g_source_remove);
    g_clear_handle_id(&server->timer, g_source_remove);
    g_hash_table_unref(server->pending);
    g_hash_table_unref(server->streams);
    drover_guests_clear(&server->guests);
    g_free(server->name);
    g_free(server->allow);
    g_strfreev(server->methods);
    g_strfreev(server->headers);
    g_free(server);
}

guint16
drover_http_server_port(const DroverHttpServer *server)
{
    return server->port;
}

DroverHttpCounts
drover_http_server_counts(const DroverHttpServer *server)
{
    DroverHttpCounts counts = {.connections = server->guests.present,
                               .streams = g_hash_table_size(server->streams)};

    memcpy(counts.cut, server->guests.cut, sizeof(counts.cut));
    return counts;
}
