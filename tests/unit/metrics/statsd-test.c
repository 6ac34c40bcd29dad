/* What a statsd server gets, and that a server which is not there is none of our business. */
#include "metrics/statsd.h"

#include <gio/gio.h>
#include <string.h>

#include "support/wait.h"

#define LIMIT          20000 /* milliseconds */
#define DATAGRAM_LIMIT 512

typedef struct {
    GSocket *socket;
    guint16 port;
    GPtrArray *datagrams; /* of char * */
} Server;

static GSocket *
bind_to(const char *host, guint16 *port)
{
    g_autoptr(GInetAddress) address = g_inet_address_new_from_string(host);
    g_autoptr(GSocketAddress) place = g_inet_socket_address_new(address, 0);
    g_autoptr(GSocketAddress) bound = NULL;
    GSocket *socket = g_socket_new(g_inet_address_get_family(address), G_SOCKET_TYPE_DATAGRAM,
                                   G_SOCKET_PROTOCOL_UDP, NULL);

    g_assert_true(g_socket_bind(socket, place, FALSE, NULL));
    g_socket_set_blocking(socket, FALSE);
    bound = g_socket_get_local_address(socket, NULL);
    *port = g_inet_socket_address_get_port(G_INET_SOCKET_ADDRESS(bound));
    return socket;
}

static void
set_up(Server *server, gconstpointer host)
{
    server->socket = bind_to(host, &server->port);
    server->datagrams = g_ptr_array_new_with_free_func(g_free);
}

static void
tear_down(Server *server, gconstpointer host)
{
    g_object_unref(server->socket);
    g_ptr_array_unref(server->datagrams);
}

static void
receive(Server *server)
{
    char buffer[65536];
    gssize size;

    while ((size = g_socket_receive(server->socket, buffer, sizeof buffer, NULL, NULL)) >= 0)
        g_ptr_array_add(server->datagrams, g_strndup(buffer, (gsize)size));
}

static char **
lines_of(Server *server)
{
    g_autofree char *all = NULL;

    receive(server);
    g_ptr_array_add(server->datagrams, NULL);
    all = g_strjoinv("\n", (char **)server->datagrams->pdata);
    g_ptr_array_set_size(server->datagrams, (gint)server->datagrams->len - 1);
    return g_strsplit(all, "\n", -1);
}

static gboolean
has_datagram(gpointer user_data)
{
    receive(user_data);
    return ((Server *)user_data)->datagrams->len > 0;
}

static void
test_forms(Server *server, gconstpointer host)
{
    g_autoptr(DroverStatsd) statsd = drover_statsd_new(host, server->port);

    drover_statsd_count(statsd, 1, "nodepool", "launch", "ready", NULL);
    drover_statsd_time(statsd, 21, "nodepool", "launch", "ready", NULL);
    drover_statsd_gauge(statsd, 0, "nodepool", "nodes", "in-use", NULL);
    drover_statsd_gauge(statsd, -9, "rc", NULL);
    g_assert_true(test_wait_until(has_datagram, server, LIMIT));
    g_assert_cmpuint(server->datagrams->len, ==, 1);
    g_assert_cmpstr(server->datagrams->pdata[0], ==,
                    "nodepool.launch.ready:1|c\n"
                    "nodepool.launch.ready:21.000000|ms\n"
                    "nodepool.nodes.in-use:0|g\n"
                    "rc:0|g\nrc:-9|g");
}

static void
test_datagrams(Server *server, gconstpointer host)
{
    g_autoptr(DroverStatsd) statsd = drover_statsd_new(host, server->port);
    g_autofree char *endless = g_strnfill(600, 'x');
    g_auto(GStrv) lines = NULL;
    guint longer = 0;

    for (guint i = 0; i < 200; i++) {
        g_autofree char *name = g_strdup_printf("%0*u", (int)(i % 40) + 1, i);

        drover_statsd_gauge(statsd, i % 3 == 0 ? -1 : 1, "key", name, NULL);
    }
    drover_statsd_count(statsd, 1, endless, NULL);
    drover_statsd_flush(statsd);
    lines = lines_of(server);
    g_assert_cmpuint(g_strv_length(lines), ==, 200 + 67 + 1);
    for (guint i = 0; i < server->datagrams->len; i++) {
        const char *datagram = server->datagrams->pdata[i];

        g_assert_false(g_str_has_suffix(datagram, "\n"));
        if (strlen(datagram) >= DATAGRAM_LIMIT) {
            g_assert_null(strchr(datagram, '\n'));
            longer++;
        }
    }
    g_assert_cmpuint(longer, ==, 1);
}

static void
test_keys(void)
{
    g_autofree char *key = drover_statsd_key("nodepool", "label", "a.b:c|d e@f\n\xc3\xa9", NULL);
    g_autofree char *flat = drover_statsd_flat("NodePool:min-ready.x");

    g_assert_cmpstr(key, ==, "nodepool.label.a.b_c_d_e_f_\xc3\xa9");
    g_assert_cmpstr(flat, ==, "NodePool_min-ready_x");
}

static void
test_environment(Server *server, gconstpointer host)
{
    g_autofree char *port = g_strdup_printf("%u", server->port);
    DroverStatsd *statsd;

    g_unsetenv("STATSD_HOST");
    g_unsetenv("STATSD_PORT");
    g_assert_null(drover_statsd_new_from_environment());
    g_setenv("STATSD_HOST", "", TRUE);
    g_setenv("STATSD_PORT", "", TRUE);
    g_assert_null(drover_statsd_new_from_environment());
    drover_statsd_count(NULL, 1, "nothing", NULL);
    drover_statsd_free(NULL);
    g_setenv("STATSD_PORT", port, TRUE);
    statsd = drover_statsd_new_from_environment(); /* to localhost, which is looked up */
    drover_statsd_count(statsd, 1, "key", NULL);
    g_assert_true(test_wait_until(has_datagram, server, LIMIT));
    drover_statsd_free(statsd);
    g_unsetenv("STATSD_HOST");
    g_unsetenv("STATSD_PORT");
}

/* Neither an address where nobody listens nor a name that does not exist is anything to see. */
static void
test_server_away(void)
{
    guint16 port;
    GSocket *socket = bind_to("127.0.0.1", &port);
    DroverStatsd *statsd;
    gint64 start;

    g_object_unref(socket);
    statsd = drover_statsd_new("127.0.0.1", port);
    start = g_get_monotonic_time();
    for (guint i = 0; i < 10000; i++) {
        drover_statsd_count(statsd, 1, "key", NULL);
        if (i % 100 == 0)
            drover_statsd_flush(statsd);
    }
    g_assert_cmpint(g_get_monotonic_time() - start, <, 5 * G_USEC_PER_SEC);
    drover_statsd_free(statsd);
    statsd = drover_statsd_new("no-such-host.invalid", 8125);
    for (guint i = 0; i < 10000; i++)
        drover_statsd_count(statsd, 1, "key", NULL);
    drover_statsd_free(statsd);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/statsd/forms", Server, "127.0.0.1", set_up, test_forms, tear_down);
    g_test_add("/statsd/over-ipv6", Server, "::1", set_up, test_forms, tear_down);
    g_test_add("/statsd/M-27-datagrams", Server, "127.0.0.1", set_up, test_datagrams, tear_down);
    g_test_add_func("/statsd/keys", test_keys);
    g_test_add("/statsd/M-25-environment", Server, "127.0.0.1", set_up, test_environment,
               tear_down);
    g_test_add_func("/statsd/M-26-server-away", test_server_away);
    return g_test_run();
}
