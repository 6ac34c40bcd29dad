#include "zk/relay-connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>

enum { CONNECT_SECONDS = 10, BUFFER_SIZE = 32 * 1024 };
enum { CONNECT_LIMIT = CONNECT_SECONDS * 1000, DRAIN_LIMIT = 2000 }; /* milliseconds */

/* In this order, some left out. */
typedef enum {
    CONNECTING, /* to the server, with the TLS handshake */
    CARRYING,   /* both pumps run */
    LEAVING,    /* the client sends no more */
    FAILED,     /* ends as soon as the client has waited long enough */
    ENDED,
} State;

/* One direction. */
typedef struct {
    DroverZkRelayConnection *connection;
    GInputStream *from;
    GOutputStream *to;
    gboolean is_discarding; /* nobody is there to take it */
    guint8 buffer[BUFFER_SIZE];
} Pump;

struct _DroverZkRelayConnection {
    DroverZkRelayServer *server;
    DroverZkTrust *trust;
    GIOStream *client;
    GSocketConnection *base; /* the connection to the server, below TLS; NULL while connecting */
    GTlsConnection *tls;
    Pump up, down; /* to the server; to the client */
    GCancellable *cancellable;
    GSource *deadline;
    State state;
    gboolean is_answered; /* the server has sent something */
    DroverZkRelayEndedFunc ended;
    gpointer user_data;
};

/* ---- Life and end ---- */

/* It is alive until it has ended and each outstanding operation has answered: all hold it. */
static DroverZkRelayConnection *
hold(DroverZkRelayConnection *connection)
{
    return g_rc_box_acquire(connection);
}

static void
dispose(gpointer data)
{
    DroverZkRelayConnection *connection = data;

    connection->ended(connection, connection->user_data);
    /* The socket first: TLS would else wait to say good-bye when it is freed. */
    if (connection->base != NULL)
        g_socket_close(g_socket_connection_get_socket(connection->base), NULL);
    g_clear_object(&connection->tls);
    g_clear_object(&connection->base);
    g_clear_object(&connection->client);
    g_clear_object(&connection->cancellable);
    drover_zk_relay_server_unref(connection->server);
}

static void
release(DroverZkRelayConnection *connection)
{
    g_rc_box_release_full(connection, dispose);
}

static void
clear_deadline(DroverZkRelayConnection *connection)
{
    if (connection->deadline != NULL)
        g_source_destroy(connection->deadline);
    g_clear_pointer(&connection->deadline, g_source_unref);
}

static void
end(DroverZkRelayConnection *connection)
{
    if (connection->state == ENDED)
        return;
    connection->state = ENDED;
    clear_deadline(connection);
    g_cancellable_cancel(connection->cancellable);
    release(connection);
}

static gboolean
on_deadline(gpointer user_data)
{
    DroverZkRelayConnection *connection = user_data;

    if (connection->state == CONNECTING)
        drover_zk_relay_server_warn(connection->server, DROVER_ZK_RELAY_WARN_SERVER,
                                    "no TLS connection within %d s", CONNECT_SECONDS);
    end(connection);
    return G_SOURCE_REMOVE;
}

static void
set_deadline(DroverZkRelayConnection *connection, guint milliseconds)
{
    clear_deadline(connection);
    connection->deadline = g_timeout_source_new(milliseconds);
    g_source_set_callback(connection->deadline, on_deadline, connection, NULL);
    g_source_attach(connection->deadline, g_main_context_get_thread_default());
}

/* The server cannot be reached, is not trusted, or does not trust us. */
static void
fail(DroverZkRelayConnection *connection, const char *what, const char *reason)
{
    if (connection->state >= FAILED)
        return;
    connection->state = FAILED;
    g_cancellable_cancel(connection->cancellable);
    drover_zk_relay_server_warn(connection->server, DROVER_ZK_RELAY_WARN_SERVER, "%s: %s", what,
                                reason);
    set_deadline(connection, drover_zk_relay_server_failure_delay(connection->server));
}

/* The server may not like what we show it, or not speak TLS; it does not always tell. */
static void
fail_as_client(DroverZkRelayConnection *connection, const char *what, const char *reason)
{
    const DroverZkTrust *trust = connection->trust;
    g_autofree char *text = g_strdup_printf(
        "%s - does it speak TLS on this port, and accept the certificate in %s with the key in %s?",
        reason, drover_zk_trust_certificate_path(trust), drover_zk_trust_key_path(trust));

    fail(connection, what, text);
}

/* ---- Carrying bytes ---- */

static void pump_more(Pump *pump);

static void
on_server_informed(GObject *source, GAsyncResult *result, gpointer user_data)
{
    DroverZkRelayConnection *connection = user_data;

    g_output_stream_close_finish(G_OUTPUT_STREAM(source), result, NULL);
    release(connection);
}

/* The client sends no more: tell the server, and wait for what it still has to say. */
static void
client_left(DroverZkRelayConnection *connection)
{
    connection->state = LEAVING;
    set_deadline(connection, DRAIN_LIMIT);
    g_output_stream_close_async(connection->up.to, G_PRIORITY_DEFAULT, connection->cancellable,
                                on_server_informed, hold(connection));
}

/* `reason` is NULL when the server ended the connection in good order. */
static void
server_left(DroverZkRelayConnection *connection, const GError *reason)
{
    if (connection->is_answered || connection->state == LEAVING)
        end(connection);
    else
        fail_as_client(connection, "the connection ended before the first answer",
                       reason != NULL ? reason->message : "closed by the server");
}

static gboolean
is_up(const Pump *pump)
{
    return pump == &pump->connection->up;
}

static void
on_written(GObject *source, GAsyncResult *result, gpointer user_data)
{
    Pump *pump = user_data;
    DroverZkRelayConnection *connection = pump->connection;
    g_autoptr(GError) error = NULL;

    if (!g_output_stream_write_all_finish(G_OUTPUT_STREAM(source), result, NULL, &error)) {
        if (is_up(pump))
            server_left(connection, error);
        else
            pump->is_discarding = TRUE; /* the other pump sees that the client is gone */
    }
    pump_more(pump);
    release(connection);
}

static void
pump_write(Pump *pump, gsize size)
{
    hold(pump->connection);
    g_output_stream_write_all_async(pump->to, pump->buffer, size, G_PRIORITY_DEFAULT,
                                    pump->connection->cancellable, on_written, pump);
}

static void
on_read(GObject *source, GAsyncResult *result, gpointer user_data)
{
    Pump *pump = user_data;
    DroverZkRelayConnection *connection = pump->connection;
    g_autoptr(GError) error = NULL;
    gssize n = g_input_stream_read_finish(G_INPUT_STREAM(source), result, &error);

    if (connection->state >= FAILED) {
        release(connection);
        return;
    }
    if (n > 0 && !is_up(pump))
        connection->is_answered = TRUE;
    if (n > 0 && !pump->is_discarding)
        pump_write(pump, (gsize)n);
    else if (n > 0)
        pump_more(pump);
    else if (is_up(pump))
        client_left(connection);
    else
        server_left(connection, error);
    release(connection);
}

static void
pump_more(Pump *pump)
{
    DroverZkRelayConnection *connection = pump->connection;

    if (connection->state >= FAILED)
        return;
    hold(connection);
    g_input_stream_read_async(pump->from, pump->buffer, sizeof pump->buffer, G_PRIORITY_DEFAULT,
                              connection->cancellable, on_read, pump);
}

static void
start_pumps(DroverZkRelayConnection *connection)
{
    GIOStream *server = G_IO_STREAM(connection->tls);

    connection->state = CARRYING;
    clear_deadline(connection);
    connection->up.from = g_io_stream_get_input_stream(connection->client);
    connection->up.to = g_io_stream_get_output_stream(server);
    connection->down.from = g_io_stream_get_input_stream(server);
    connection->down.to = g_io_stream_get_output_stream(connection->client);
    pump_more(&connection->up);
    pump_more(&connection->down);
}

/* ---- Reaching the server ---- */

static void
on_handshake(GObject *source, GAsyncResult *result, gpointer user_data)
{
    DroverZkRelayConnection *connection = user_data;
    g_autoptr(GError) error = NULL;
    gboolean is_done = g_tls_connection_handshake_finish(G_TLS_CONNECTION(source), result, &error);
    g_autofree char *refusal = NULL;

    if (is_done || g_error_matches(error, G_TLS_ERROR, G_TLS_ERROR_BAD_CERTIFICATE))
        refusal = drover_zk_trust_refusal(connection->trust, connection->tls);
    if (refusal != NULL)
        fail(connection, "its certificate is refused", refusal);
    else if (!is_done)
        fail_as_client(connection, "TLS handshake failed", error->message);
    else if (connection->state == CONNECTING)
        start_pumps(connection);
    release(connection);
}

static void
on_connected(GObject *source, GAsyncResult *result, gpointer user_data)
{
    DroverZkRelayConnection *connection = user_data;
    g_autoptr(GError) error = NULL;

    connection->base = g_socket_client_connect_finish(G_SOCKET_CLIENT(source), result, &error);
    if (connection->base != NULL && connection->state == CONNECTING) {
        g_socket_set_option(g_socket_connection_get_socket(connection->base), IPPROTO_TCP,
                            TCP_NODELAY, 1, NULL);
        connection->tls =
            drover_zk_trust_wrap(connection->trust, connection->base, connection->server->host,
                                 connection->server->port, &error);
    }
    if (connection->tls != NULL)
        g_tls_connection_handshake_async(connection->tls, G_PRIORITY_DEFAULT,
                                         connection->cancellable, on_handshake, hold(connection));
    else
        fail(connection, "cannot connect", error != NULL ? error->message : "cancelled");
    release(connection);
}

DroverZkRelayConnection *
drover_zk_relay_connection_new(GSocket *client, DroverZkRelayServer *server, DroverZkTrust *trust,
                               DroverZkRelayEndedFunc ended, gpointer user_data)
{
    DroverZkRelayConnection *connection = g_rc_box_new0(DroverZkRelayConnection);
    g_autoptr(GSocketClient) connector = g_socket_client_new();
    g_autoptr(GSocketConnectable) address = g_network_address_new(server->host, server->port);

    connection->server = drover_zk_relay_server_ref(server);
    connection->trust = trust;
    connection->client = G_IO_STREAM(g_socket_connection_factory_create_connection(client));
    connection->cancellable = g_cancellable_new();
    connection->ended = ended;
    connection->user_data = user_data;
    connection->up.connection = connection->down.connection = connection;

    g_socket_client_set_enable_proxy(connector, FALSE);
    set_deadline(connection, CONNECT_LIMIT);
    g_socket_client_connect_async(connector, address, connection->cancellable, on_connected,
                                  hold(connection));
    return connection;
}

void
drover_zk_relay_connection_drain(DroverZkRelayConnection *connection)
{
    GSocket *client = g_socket_connection_get_socket(G_SOCKET_CONNECTION(connection->client));

    if (connection->state == CARRYING) {
        /* What it sent already can still be read; then comes the end. */
        g_socket_shutdown(client, TRUE, FALSE, NULL);
        set_deadline(connection, DRAIN_LIMIT);
    } else if (connection->state != LEAVING) {
        end(connection);
    }
}
