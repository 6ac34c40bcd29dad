#include "echo.h"

static gboolean
serve_echo(GThreadedSocketService *service, GSocketConnection *connection, GObject *source,
           gpointer user_data)
{
    EchoServer *server = user_data;
    g_autoptr(GIOStream) tls =
        g_tls_server_connection_new(G_IO_STREAM(connection), server->certificate, NULL);
    g_autoptr(GByteArray) all = g_byte_array_new();
    guint8 data[4096];
    gssize n;

    while ((n = g_input_stream_read(g_io_stream_get_input_stream(tls), data, sizeof data, NULL,
                                    NULL)) > 0)
        g_byte_array_append(all, data, (guint)n);
    g_output_stream_write_all(g_io_stream_get_output_stream(tls), all->data, all->len, NULL, NULL,
                              NULL);
    g_io_stream_close(tls, NULL, NULL);
    g_async_queue_push(server->received, g_byte_array_free_to_bytes(g_steal_pointer(&all)));
    g_main_context_wakeup(NULL);
    return TRUE;
}

GSocketService *
echo_start(EchoServer *server, TestAuthority *by, const char *name, const char *host, guint16 *port)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GSocketAddress) wanted = g_inet_socket_address_new_from_string(host, 0);
    g_autoptr(GSocketAddress) bound = NULL;
    g_autoptr(GSocketService) service = g_threaded_socket_service_new(4);

    server->received = g_async_queue_new_full((GDestroyNotify)g_bytes_unref);
    server->certificate = g_tls_certificate_new_from_files(test_authority_issued(by, name),
                                                           test_authority_key(by, name), &error);
    g_assert_no_error(error);
    if (!g_socket_listener_add_address(G_SOCKET_LISTENER(service), wanted, G_SOCKET_TYPE_STREAM,
                                       G_SOCKET_PROTOCOL_TCP, NULL, &bound, NULL))
        return NULL;
    *port = g_inet_socket_address_get_port(G_INET_SOCKET_ADDRESS(bound));
    g_signal_connect(service, "run", G_CALLBACK(serve_echo), server);
    return g_steal_pointer(&service);
}

GBytes *
echo_wait(EchoServer *server)
{
    GBytes *received;

    while ((received = g_async_queue_try_pop(server->received)) == NULL)
        g_main_context_iteration(NULL, TRUE);
    return received;
}

void
echo_clear(EchoServer *server)
{
    g_clear_object(&server->certificate);
    g_clear_pointer(&server->received, g_async_queue_unref);
}
