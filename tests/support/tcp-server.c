#include "support/tcp-server.h"

#include "support/wait.h"

#include <gio/gio.h>

enum { LONGEST_WAIT = 60000 };

struct _TestTcpServer {
    GSubprocess *process;
    GDataInputStream *events;
    GOutputStream *commands; /* the process owns it */
    GHashTable *counts;      /* event -> number of times */
    guint16 port;
    gboolean reading;
};

static void read_event(TestTcpServer *server);

static void
event_is_read(GObject *stream, GAsyncResult *result, gpointer user_data)
{
    TestTcpServer *server = user_data;
    g_autofree char *line =
        g_data_input_stream_read_line_finish(G_DATA_INPUT_STREAM(stream), result, NULL, NULL);

    server->reading = FALSE;
    if (line == NULL)
        return;
    if (g_str_has_prefix(line, "port "))
        server->port = (guint16)g_ascii_strtoull(line + strlen("port "), NULL, 10);
    else
        g_hash_table_insert(server->counts, g_strdup(line),
                            GUINT_TO_POINTER(test_tcp_server_count(server, line) + 1));
    read_event(server);
}

static void
read_event(TestTcpServer *server)
{
    server->reading = TRUE;
    g_data_input_stream_read_line_async(server->events, G_PRIORITY_DEFAULT, NULL, event_is_read,
                                        server);
}

static gboolean
has_port(gpointer user_data)
{
    const TestTcpServer *server = user_data;

    return server->port != 0;
}

TestTcpServer *
test_tcp_server_start(const char *address, GError **error)
{
    g_autoptr(TestTcpServer) server = g_new0(TestTcpServer, 1);

    server->counts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    server->process = g_subprocess_new(
        G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_PIPE, error, "/usr/bin/python3",
        DROVER_TEST_SUPPORT_DIR "/tcp-server.py", address, NULL);
    if (server->process == NULL)
        return NULL;
    server->events = g_data_input_stream_new(g_subprocess_get_stdout_pipe(server->process));
    server->commands = g_subprocess_get_stdin_pipe(server->process);
    read_event(server);
    if (!test_wait_until(has_port, server, LONGEST_WAIT)) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED, "tcp-server.py does not start");
        return NULL;
    }
    return g_steal_pointer(&server);
}

guint16
test_tcp_server_port(const TestTcpServer *server)
{
    return server->port;
}

void
test_tcp_server_command(TestTcpServer *server, const char *format, ...)
{
    g_autofree char *command = NULL;
    g_autofree char *line = NULL;
    g_autoptr(GError) error = NULL;
    va_list arguments;

    va_start(arguments, format);
    command = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    line = g_strconcat(command, "\n", NULL);
    g_output_stream_write_all(server->commands, line, strlen(line), NULL, NULL, &error);
    g_assert_no_error(error);
    test_tcp_server_wait(server, "ready", test_tcp_server_count(server, "ready") + 1);
}

guint
test_tcp_server_count(const TestTcpServer *server, const char *event)
{
    return GPOINTER_TO_UINT(g_hash_table_lookup(server->counts, event));
}

typedef struct {
    const TestTcpServer *server;
    const char *event;
    guint count;
} Expectation;

static gboolean
happened(gpointer user_data)
{
    const Expectation *expected = user_data;

    return test_tcp_server_count(expected->server, expected->event) >= expected->count;
}

void
test_tcp_server_wait(TestTcpServer *server, const char *event, guint count)
{
    Expectation expected = {server, event, count};

    if (!test_wait_until(happened, &expected, LONGEST_WAIT))
        g_error("the server did not say \"%s\" %u times", event, count);
}

static gboolean
is_read_out(gpointer user_data)
{
    const TestTcpServer *server = user_data;

    return !server->reading;
}

void
test_tcp_server_free(TestTcpServer *server)
{
    if (server == NULL)
        return;
    if (server->process != NULL) {
        g_output_stream_close(server->commands, NULL, NULL);
        test_wait_until(is_read_out, server, LONGEST_WAIT);
        g_subprocess_force_exit(server->process);
        g_subprocess_wait(server->process, NULL, NULL);
    }
    g_clear_object(&server->events);
    g_clear_object(&server->process);
    g_hash_table_unref(server->counts);
    g_free(server);
}
