/* ZooKeeper over TLS: the plain C client, through the relay, with a real server. */
#include <fcntl.h>
#include <gio/gio.h>
#include <glib-unix.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "client.h"
#include "support/certificates.h"
#include "support/process.h"
#include "support/zookeeper.h"
#include "zk/relay.h"

enum { LOG_SECONDS = 20 };

/* Certificates for all cases: "server", "named", "elsewhere", "expired", "ipv6" and "client", by
 * one CA. */
static TestAuthority *authority;
static TestAuthority *stranger; /* another CA, with a "client" */

/* ---- The log ---- */

static struct {
    int input, output;
    GString *text; /* since the last reset */
} logged;

static void
begin_log(void)
{
    int ends[2];

    g_assert_true(g_unix_open_pipe(ends, FD_CLOEXEC, NULL));
    logged.input = ends[0];
    logged.output = ends[1];
    logged.text = g_string_new(NULL);
    drover_log_set_fd(logged.output);
}

/* Takes what was logged within the time into logged.text. */
static gboolean
read_log(int milliseconds)
{
    struct pollfd poller = {.fd = logged.input, .events = POLLIN};
    char piece[4096];
    gssize n;

    if (poll(&poller, 1, milliseconds) <= 0)
        return FALSE;
    n = read(logged.input, piece, sizeof piece);
    g_string_append_len(logged.text, piece, n);
    return TRUE;
}

static void
reset_log(void)
{
    while (read_log(0))
        continue;
    g_string_truncate(logged.text, 0);
}

static void
expect_logged(const char *text)
{
    gint64 deadline = g_get_monotonic_time() + LOG_SECONDS * G_USEC_PER_SEC;

    while (strstr(logged.text->str, text) == NULL) {
        gint64 left = deadline - g_get_monotonic_time();

        if (left <= 0 || !read_log((int)(left / 1000) + 1))
            g_error("\"%s\" was not logged, but: %s", text, logged.text->str);
    }
}

static guint
count_warnings(void)
{
    guint n = 0;

    while (read_log(0))
        continue;
    for (const char *at = logged.text->str; (at = strstr(at, "WARNING")) != NULL; at++)
        n++;
    return n;
}

/* ---- Parts ---- */

static TestZookeeper *
start_server(const char *certificate, const char *config)
{
    TestZookeeperOptions options = {.tls_cert = test_authority_issued(authority, certificate),
                                    .tls_key = test_authority_key(authority, certificate),
                                    .tls_ca = test_authority_certificate(authority),
                                    .config = config};
    g_autoptr(GError) error = NULL;
    TestZookeeper *server = test_zookeeper_start(&options, &error);

    g_assert_no_error(error);
    return server;
}

static DroverZkTls
good_tls(void)
{
    return (DroverZkTls){.cert = test_authority_issued(authority, "client"),
                         .key = test_authority_key(authority, "client"),
                         .ca = test_authority_certificate(authority)};
}

static DroverZkRelay *
relay_with(const DroverSessionServer *servers, guint n, const DroverZkTls *tls)
{
    g_autoptr(GError) error = NULL;
    DroverZkRelay *relay = drover_zk_relay_new(servers, n, tls, &error);

    g_assert_no_error(error);
    return relay;
}

static DroverZkRelay *
relay_to(const char *host, const TestZookeeper *server, const DroverZkTls *tls)
{
    DroverSessionServer one = {.host = host, .port = test_zookeeper_tls_port(server)};

    return relay_with(&one, 1, tls);
}

static Client *
client_of(DroverZkRelay *relay)
{
    g_autofree char *hosts = drover_zk_relay_hosts(relay);

    return client_new(hosts);
}

/* A connection of this process to the relay, without the client library. */
static GSocketConnection *
connect_raw(DroverZkRelay *relay)
{
    g_autofree char *hosts = drover_zk_relay_hosts(relay);
    g_autoptr(GSocketClient) connector = g_socket_client_new();
    g_autoptr(GError) error = NULL;
    GSocketConnection *connection;

    g_socket_client_set_enable_proxy(connector, FALSE);
    g_socket_client_set_timeout(connector, LOG_SECONDS);
    connection = g_socket_client_connect_to_host(connector, hosts, 0, NULL, &error);
    g_assert_no_error(error);
    return connection;
}

/* Connects to the relay and waits until it closes the connection. */
static void
expect_closed(DroverZkRelay *relay)
{
    g_autoptr(GSocketConnection) connection = connect_raw(relay);
    g_autoptr(GError) error = NULL;
    char byte;

    g_assert_cmpint(g_input_stream_read(g_io_stream_get_input_stream(G_IO_STREAM(connection)),
                                        &byte, 1, NULL, &error),
                    ==, 0);
    g_assert_no_error(error);
}

static void
expect_carried(DroverZkRelay *relay)
{
    g_autoptr(Client) client = client_of(relay);
    g_autofree char *data = NULL;

    client_wait_connected(client);
    client_create(client, "/carried", "text", ZOO_EPHEMERAL);
    data = client_get(client, "/carried");
    g_assert_cmpstr(data, ==, "text");
}

/* The client keeps trying and is never connected; the log says why. */
static void
expect_refused(DroverZkRelay *relay, const char *reason)
{
    g_autoptr(Client) client = NULL;

    reset_log();
    client = client_of(relay);
    expect_logged(reason);
    g_test_message("%s", logged.text->str);
    expect_closed(relay);
    g_assert_false(client_is_connected(client));
    g_assert_cmpint(client_connections(client), ==, 0);
}

/* ---- Files ---- */

static void
expect_file_error(const DroverZkTls *tls, const char *file)
{
    DroverSessionServer server = {.host = "127.0.0.1", .port = 1};
    g_autoptr(GError) error = NULL;

    g_assert_null(drover_zk_relay_new(&server, 1, tls, &error));
    g_assert_error(error, DROVER_ERROR, DROVER_ERROR_CONFIG);
    g_test_message("%s", error->message);
    g_assert_nonnull(strstr(error->message, file));
}

static void
test_unreadable_files(void)
{
    const char *missing = test_authority_path(authority, "missing.pem");
    DroverZkTls tls = good_tls();

    tls.key = missing;
    expect_file_error(&tls, missing);
    tls = good_tls();
    tls.cert = missing;
    expect_file_error(&tls, missing);
    tls = good_tls();
    tls.ca = missing;
    expect_file_error(&tls, missing);
}

static void
test_files_of_other_content(void)
{
    const char *empty = test_authority_path(authority, "empty.pem");
    DroverZkTls tls = good_tls();

    g_assert_true(g_file_set_contents(empty, "", 0, NULL));
    tls.key = tls.cert; /* a certificate is no key */
    expect_file_error(&tls, tls.cert);
    tls = good_tls();
    tls.cert = tls.key;
    expect_file_error(&tls, tls.key);
    tls = good_tls();
    tls.ca = empty;
    expect_file_error(&tls, empty);
    tls.ca = test_authority_path(authority, "client.csr");
    expect_file_error(&tls, tls.ca);
    tls.ca = "/";
    expect_file_error(&tls, "/");
}

/* ---- Whom it trusts ---- */

static void
test_carries(void)
{
    g_autoptr(TestZookeeper) server = start_server("server", NULL);
    DroverZkTls tls = good_tls();
    DroverZkRelay *relay = relay_to("127.0.0.1", server, &tls);

    reset_log();
    expect_carried(relay);
    g_assert_cmpint(count_warnings(), ==, 0);
    drover_zk_relay_free(relay);
}

static void
test_carries_by_name(void)
{
    g_autoptr(TestZookeeper) server = start_server("named", NULL);
    DroverZkTls tls = good_tls();
    DroverZkRelay *relay = relay_to("localhost", server, &tls);

    expect_carried(relay);
    drover_zk_relay_free(relay);
}

static void
test_other_name(void)
{
    g_autoptr(TestZookeeper) server = start_server("elsewhere", NULL);
    DroverZkTls tls = good_tls();
    DroverZkRelay *relay = relay_to("localhost", server, &tls);

    expect_refused(relay, "zookeeper-tls: verify-hostname: false");
    expect_logged("localhost");
    expect_logged("zk1.example.com");
    expect_logged("192.0.2.7");
    drover_zk_relay_free(relay);

    relay = relay_to("127.0.0.1", server, &tls);
    expect_refused(relay, "not for 127.0.0.1");
    drover_zk_relay_free(relay);

    tls.any_hostname = TRUE;
    relay = relay_to("localhost", server, &tls);
    reset_log();
    expect_carried(relay);
    g_assert_cmpint(count_warnings(), ==, 0);
    drover_zk_relay_free(relay);
}

static void
test_wrong_ca(void)
{
    g_autoptr(TestZookeeper) server = start_server("server", NULL);
    DroverZkTls tls = good_tls();
    DroverZkRelay *relay;

    tls.ca = test_authority_certificate(stranger);
    relay = relay_to("127.0.0.1", server, &tls);
    expect_refused(relay, test_authority_certificate(stranger));
    drover_zk_relay_free(relay);

    tls.any_hostname = TRUE; /* turns off the name's check and nothing else */
    relay = relay_to("127.0.0.1", server, &tls);
    expect_refused(relay, test_authority_certificate(stranger));
    drover_zk_relay_free(relay);
}

/* The client library tries again at once; the relay makes it wait a second. */
static void
test_warns_once_in_ten_seconds(void)
{
    g_autoptr(TestZookeeper) server = start_server("server", NULL);
    DroverZkTls tls = good_tls();
    DroverZkRelay *relay;
    gint64 before;

    tls.ca = test_authority_certificate(stranger);
    relay = relay_to("127.0.0.1", server, &tls);
    reset_log();
    before = g_get_monotonic_time();
    for (int attempt = 0; attempt < 3; attempt++)
        expect_closed(relay);
    g_assert_cmpint(g_get_monotonic_time() - before, >=, 2 * G_USEC_PER_SEC - 10000);
    g_assert_cmpint(count_warnings(), ==, 1);
    drover_zk_relay_free(relay);
}

static void
test_expired(void)
{
    g_autoptr(TestZookeeper) server = start_server("expired", NULL);
    DroverZkTls tls = good_tls();
    DroverZkRelay *relay = relay_to("127.0.0.1", server, &tls);

    expect_refused(relay, "it has expired");
    drover_zk_relay_free(relay);
}

static void
test_client_certificate_refused(gconstpointer config)
{
    g_autoptr(TestZookeeper) server = start_server("server", config);
    DroverZkTls tls = good_tls();
    DroverZkRelay *relay;

    tls.cert = test_authority_issued(stranger, "client");
    tls.key = test_authority_key(stranger, "client");
    relay = relay_to("127.0.0.1", server, &tls);
    expect_refused(relay, tls.cert);
    drover_zk_relay_free(relay);

    tls = good_tls();
    relay = relay_to("127.0.0.1", server, &tls);
    expect_carried(relay);
    drover_zk_relay_free(relay);
}

static void
test_key_of_another_certificate(void)
{
    g_autoptr(TestZookeeper) server = start_server("server", NULL);
    DroverZkTls tls = good_tls();
    DroverZkRelay *relay;

    tls.key = test_authority_key(authority, "server");
    relay = relay_to("127.0.0.1", server, &tls);
    expect_refused(relay, tls.key);
    drover_zk_relay_free(relay);
}

/* ---- A server of our own, that sends everything back when the client sends no more ---- */

typedef struct {
    GTlsCertificate *certificate;
    GAsyncQueue *received; /* of GBytes, one a connection, as soon as it has ended */
} EchoServer;

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

/* Serves on a free port of the address. NULL when the machine has no such address. */
static GSocketService *
start_echo(EchoServer *server, TestAuthority *by, const char *name, const char *host, guint16 *port)
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

/* Runs the service until a connection has ended; returns what it received. */
static GBytes *
wait_for_echo(EchoServer *server)
{
    GBytes *received;

    while ((received = g_async_queue_try_pop(server->received)) == NULL)
        g_main_context_iteration(NULL, TRUE);
    return received;
}

static void
clear_echo(EchoServer *server)
{
    g_clear_object(&server->certificate);
    g_clear_pointer(&server->received, g_async_queue_unref);
}

static void
test_tells_strangers_nothing(void)
{
    EchoServer server;
    DroverSessionServer address = {.host = "127.0.0.1"};
    g_autoptr(GSocketService) service =
        start_echo(&server, stranger, "client", address.host, &address.port);
    DroverZkTls tls = good_tls();
    DroverZkRelay *relay = relay_with(&address, 1, &tls);
    /* Sends its request as soon as it is connected to the relay. */
    g_autoptr(Client) client = client_of(relay);

    for (int attempt = 0; attempt < 2; attempt++) {
        g_autoptr(GBytes) received = wait_for_echo(&server);

        g_assert_cmpint(g_bytes_get_size(received), ==, 0);
    }
    drover_zk_relay_free(relay);
    clear_echo(&server);
}

enum { STREAM_SIZE = 1000000 };

static void
note_written(GObject *source, GAsyncResult *result, gpointer user_data)
{
    g_autoptr(GError) error = NULL;

    g_output_stream_write_all_finish(G_OUTPUT_STREAM(source), result, user_data, &error);
    g_assert_no_error(error);
}

static void
note_read(GObject *source, GAsyncResult *result, gpointer user_data)
{
    g_autoptr(GError) error = NULL;

    g_input_stream_read_all_finish(G_INPUT_STREAM(source), result, user_data, &error);
    g_assert_no_error(error);
}

static void
wait_for_size(const gsize *size)
{
    while (*size == 0)
        g_main_context_iteration(NULL, TRUE);
    g_assert_cmpint(*size, ==, STREAM_SIZE);
}

/* The client sends, says that it sends no more, and still gets all of the answer. */
static void
test_half_close_over_ipv6(void)
{
    EchoServer server;
    DroverSessionServer address = {.host = "::1"};
    g_autoptr(GSocketService) service =
        start_echo(&server, authority, "ipv6", address.host, &address.port);
    g_autofree char *sent = g_malloc(STREAM_SIZE);
    g_autofree char *answer = g_malloc(STREAM_SIZE + 1);
    g_autoptr(GSocketConnection) connection = NULL;
    g_autoptr(GError) error = NULL;
    DroverZkTls tls = good_tls();
    DroverZkRelay *relay;
    gsize written = 0;
    gsize read = 0;

    if (service == NULL) {
        g_test_skip("no IPv6 here");
        clear_echo(&server);
        return;
    }
    relay = relay_with(&address, 1, &tls);
    connection = connect_raw(relay);
    for (gsize i = 0; i < STREAM_SIZE; i++)
        sent[i] = (char)(i * i >> 3);
    g_output_stream_write_all_async(g_io_stream_get_output_stream(G_IO_STREAM(connection)), sent,
                                    STREAM_SIZE, G_PRIORITY_DEFAULT, NULL, note_written, &written);
    wait_for_size(&written);
    g_socket_shutdown(g_socket_connection_get_socket(connection), FALSE, TRUE, &error);
    g_assert_no_error(error);
    g_input_stream_read_all_async(g_io_stream_get_input_stream(G_IO_STREAM(connection)), answer,
                                  STREAM_SIZE + 1, G_PRIORITY_DEFAULT, NULL, note_read, &read);
    wait_for_size(&read);
    g_assert_true(memcmp(sent, answer, STREAM_SIZE) == 0);
    drover_zk_relay_free(relay);
    clear_echo(&server);
}

static void
test_plain_server(void)
{
    g_autoptr(TestZookeeper) server = start_server("server", NULL);
    DroverSessionServer plain = {.host = "127.0.0.1", .port = test_zookeeper_port(server)};
    DroverZkTls tls = good_tls();
    DroverZkRelay *relay = relay_with(&plain, 1, &tls);

    expect_refused(relay, "does it speak TLS on this port");
    drover_zk_relay_free(relay);
}

static void
test_refuses_other_processes(void)
{
    static const char program[] =
        "import socket, sys\n"
        "with socket.create_connection(('127.0.0.1', int(sys.argv[1])), 10) as peer:\n"
        "    try:\n"
        "        sys.exit(len(peer.recv(1)))\n"
        "    except ConnectionResetError:\n"
        "        pass\n";
    g_autoptr(TestZookeeper) server = start_server("server", NULL);
    DroverZkTls tls = good_tls();
    DroverZkRelay *relay = relay_to("127.0.0.1", server, &tls);
    g_autofree char *hosts = drover_zk_relay_hosts(relay);
    const char *const argv[] = {"/usr/bin/python3", "-c", program, strchr(hosts, ':') + 1, NULL};
    g_autoptr(GError) error = NULL;

    reset_log();
    g_assert_true(test_process_run(argv, &error));
    g_assert_no_error(error);
    expect_logged("another process");
    expect_carried(relay);
    drover_zk_relay_free(relay);
}

/* ---- Faults in the middle ---- */

static void
test_server_restarts(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(TestZookeeper) server = start_server("server", NULL);
    DroverZkTls tls = good_tls();
    DroverZkRelay *relay = relay_to("127.0.0.1", server, &tls);
    Client *client = client_of(relay);
    g_autofree char *data = NULL;

    client_wait_connected(client);
    client_create(client, "/kept", "before", ZOO_EPHEMERAL);
    reset_log();
    g_assert_true(test_zookeeper_restart(server, &error));
    g_assert_no_error(error);
    client_wait_connections(client, 2);
    data = client_get(client, "/kept");
    g_assert_cmpstr(data, ==, "before"); /* the same session */
    client_free(client);
    drover_zk_relay_free(relay);
}

static void
test_server_is_down(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(TestZookeeper) server = start_server("server", NULL);
    DroverZkTls tls = good_tls();
    DroverZkRelay *relay = relay_to("127.0.0.1", server, &tls);
    Client *client;

    test_zookeeper_stop(server);
    reset_log();
    client = client_of(relay);
    expect_logged("cannot connect");
    g_assert_true(test_zookeeper_restart(server, &error));
    client_wait_connected(client);
    client_free(client);
    drover_zk_relay_free(relay);
}

static void
test_first_of_two_is_dead(void)
{
    g_autoptr(TestZookeeper) server = start_server("server", NULL);
    DroverSessionServer two[] = {{.host = "127.0.0.1", .port = test_free_port()},
                                 {.host = "127.0.0.1", .port = test_zookeeper_tls_port(server)}};
    DroverZkTls tls = good_tls();
    DroverZkRelay *relay = relay_with(two, 2, &tls);
    g_autofree char *hosts = drover_zk_relay_hosts(relay);
    g_auto(GStrv) parts = g_strsplit(hosts, ",", -1);
    Client *client;

    g_assert_cmpint(g_strv_length(parts), ==, 2);
    g_assert_cmpstr(parts[0], !=, parts[1]);
    zoo_deterministic_conn_order(1);
    client = client_of(relay);
    zoo_deterministic_conn_order(0);
    client_wait_connected(client);
    client_free(client);
    drover_zk_relay_free(relay);
}

static void
test_other_servers(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(TestZookeeper) server = start_server("server", NULL);
    DroverSessionServer dead = {.host = "127.0.0.1", .port = test_free_port()};
    DroverSessionServer both[] = {{.host = "127.0.0.1", .port = test_zookeeper_tls_port(server)},
                                  dead};
    DroverZkTls tls = good_tls();
    DroverZkRelay *relay = relay_with(&dead, 1, &tls);
    g_autofree char *before = drover_zk_relay_hosts(relay);
    g_autofree char *after = NULL;
    g_autofree char *last = NULL;
    Client *client = client_of(relay);

    g_assert_true(drover_zk_relay_set_servers(relay, both, 2, &error));
    g_assert_no_error(error);
    after = drover_zk_relay_hosts(relay);
    g_assert_true(g_str_has_suffix(after, before)); /* the old one keeps its port */
    g_assert_cmpint(zoo_set_servers(client_handle(client), after), ==, ZOK);
    client_wait_connected(client);

    g_assert_true(drover_zk_relay_set_servers(relay, both, 1, &error)); /* leaves the client be */
    last = drover_zk_relay_hosts(relay);
    g_assert_true(g_str_has_prefix(after, last));
    client_create(client, "/still", "there", ZOO_EPHEMERAL);
    client_free(client);
    drover_zk_relay_free(relay);
}

static void
test_silent_server(void)
{
    g_autoptr(TestZookeeper) server = start_server("server", NULL);
    DroverZkTls tls = good_tls();
    DroverZkRelay *relay = relay_to("127.0.0.1", server, &tls);

    test_zookeeper_pause(server);
    reset_log();
    expect_closed(relay);
    expect_logged("no TLS connection within 10 s");
    drover_zk_relay_free(relay);
}

/* ---- Load ---- */

enum { BLOCK_SIZE = 100 * 1024, BLOCKS = 1000 };

static void
fill_block(char *block, guint32 seed)
{
    g_autoptr(GRand) random = g_rand_new_with_seed(seed);

    for (gsize i = 0; i < BLOCK_SIZE; i += sizeof(guint32)) {
        guint32 word = g_rand_int(random);

        memcpy(block + i, &word, sizeof word);
    }
}

static void
test_many_bytes(void)
{
    g_autoptr(TestZookeeper) server = start_server("server", NULL);
    DroverZkTls tls = good_tls();
    DroverZkRelay *relay = relay_to("127.0.0.1", server, &tls);
    Client *client = client_of(relay);
    g_autofree char *sent = g_malloc(BLOCK_SIZE);
    g_autofree char *received = g_malloc(BLOCK_SIZE);

    client_wait_connected(client);
    client_create(client, "/block", "", 0);
    for (int i = 0; i < BLOCKS; i++) {
        int size = BLOCK_SIZE;

        fill_block(sent, (guint32)i);
        g_assert_cmpint(zoo_set(client_handle(client), "/block", sent, BLOCK_SIZE, i), ==, ZOK);
        g_assert_cmpint(zoo_get(client_handle(client), "/block", 0, received, &size, NULL), ==,
                        ZOK);
        g_assert_cmpint(size, ==, BLOCK_SIZE);
        g_assert_true(memcmp(sent, received, BLOCK_SIZE) == 0);
    }
    client_free(client);
    drover_zk_relay_free(relay);
}

static void
note_answer(int rc, const char *data, int size, const struct Stat *stat, const void *answers)
{
    g_async_queue_push((GAsyncQueue *)answers, GINT_TO_POINTER(1));
}

static void
test_freed_while_busy(void)
{
    g_autoptr(TestZookeeper) server = start_server("server", NULL);
    DroverZkTls tls = good_tls();
    DroverZkRelay *relay = relay_to("127.0.0.1", server, &tls);
    Client *client = client_of(relay);
    g_autofree char *block = g_malloc0(BLOCK_SIZE);
    g_autoptr(GAsyncQueue) answers = g_async_queue_new();
    gint64 before;

    client_wait_connected(client);
    client_create(client, "/block", "", 0);
    g_assert_cmpint(zoo_set(client_handle(client), "/block", block, BLOCK_SIZE, -1), ==, ZOK);
    for (int i = 0; i < BLOCKS; i++)
        g_assert_cmpint(zoo_aget(client_handle(client), "/block", 0, note_answer, answers), ==,
                        ZOK);
    before = g_get_monotonic_time();
    drover_zk_relay_free(relay);
    g_assert_cmpint(g_get_monotonic_time() - before, <, 5 * G_USEC_PER_SEC);
    for (int i = 0; i < BLOCKS; i++) /* each is answered, if with an error */
        g_assert_nonnull(g_async_queue_timeout_pop(answers, LOG_SECONDS * G_USEC_PER_SEC));
    client_free(client);
}

static void
test_delivers_the_end_of_the_session(void)
{
    g_autoptr(TestZookeeper) server = start_server("server", NULL);
    g_autoptr(Client) observer = client_new(test_zookeeper_hosts(server));
    DroverZkTls tls = good_tls();

    client_wait_connected(observer);
    for (int i = 0; i < 20; i++) {
        DroverZkRelay *relay = relay_to("127.0.0.1", server, &tls);
        Client *client = client_of(relay);

        client_wait_connected(client);
        client_create(client, "/mine", "", ZOO_EPHEMERAL);
        client_free(client);
        drover_zk_relay_free(relay); /* at once, and nothing is lost */
        g_assert_cmpint(zoo_exists(client_handle(observer), "/mine", 0, NULL), ==, ZNONODE);
    }
}

/* ---- */

static void
issue(TestAuthority *by, TestCertificateRequest request)
{
    g_autoptr(GError) error = NULL;

    g_assert_true(test_authority_issue(by, &request, &error));
    g_assert_no_error(error);
}

static void
make_certificates(void)
{
    g_autoptr(GError) error = NULL;

    authority = test_authority_new("Test CA", &error);
    g_assert_no_error(error);
    stranger = test_authority_new("Other CA", &error);
    g_assert_no_error(error);
    issue(authority,
          (TestCertificateRequest){.name = "server", .alternative_names = "IP:127.0.0.1"});
    issue(authority,
          (TestCertificateRequest){.name = "named", .alternative_names = "DNS:localhost"});
    issue(authority,
          (TestCertificateRequest){.name = "elsewhere",
                                   .alternative_names = "DNS:zk1.example.com,IP:192.0.2.7"});
    issue(authority, (TestCertificateRequest){.name = "expired",
                                              .alternative_names = "IP:127.0.0.1",
                                              .is_expired = TRUE});
    issue(authority, (TestCertificateRequest){.name = "ipv6", .alternative_names = "IP:::1"});
    issue(authority, (TestCertificateRequest){.name = "client"});
    issue(stranger, (TestCertificateRequest){.name = "client"});
}

int
main(int argc, char **argv)
{
    int status;

    g_test_init(&argc, &argv, NULL);
    begin_log();
    make_certificates();
    g_test_add_func("/zk/relay/Z-05-unreadable-files", test_unreadable_files);
    g_test_add_func("/zk/relay/Z-05-files-of-other-content", test_files_of_other_content);
    g_test_add_func("/zk/relay/carries", test_carries);
    g_test_add_func("/zk/relay/carries-by-name", test_carries_by_name);
    g_test_add_func("/zk/relay/Z-06-other-name", test_other_name);
    g_test_add_func("/zk/relay/Z-07-wrong-ca", test_wrong_ca);
    g_test_add_func("/zk/relay/Z-07-warns-once-in-ten-seconds", test_warns_once_in_ten_seconds);
    g_test_add_func("/zk/relay/Z-07-tells-strangers-nothing", test_tells_strangers_nothing);
    g_test_add_func("/zk/relay/Z-07-expired", test_expired);
    g_test_add_data_func("/zk/relay/Z-07-client-certificate-refused/TLS-1.2",
                         "ssl.protocol=TLSv1.2\nssl.enabledProtocols=TLSv1.2",
                         test_client_certificate_refused);
    g_test_add_data_func("/zk/relay/Z-07-client-certificate-refused/TLS-1.3",
                         "ssl.protocol=TLSv1.3\nssl.enabledProtocols=TLSv1.3\n"
                         "ssl.ciphersuites=TLS_AES_128_GCM_SHA256",
                         test_client_certificate_refused);
    g_test_add_func("/zk/relay/Z-07-key-of-another-certificate", test_key_of_another_certificate);
    g_test_add_func("/zk/relay/half-close-over-ipv6", test_half_close_over_ipv6);
    g_test_add_func("/zk/relay/plain-server", test_plain_server);
    g_test_add_func("/zk/relay/refuses-other-processes", test_refuses_other_processes);
    g_test_add_func("/zk/relay/server-restarts", test_server_restarts);
    g_test_add_func("/zk/relay/server-is-down", test_server_is_down);
    g_test_add_func("/zk/relay/silent-server", test_silent_server);
    g_test_add_func("/zk/relay/first-of-two-is-dead", test_first_of_two_is_dead);
    g_test_add_func("/zk/relay/other-servers", test_other_servers);
    g_test_add_func("/zk/relay/many-bytes", test_many_bytes);
    g_test_add_func("/zk/relay/freed-while-busy", test_freed_while_busy);
    g_test_add_func("/zk/relay/delivers-the-end-of-the-session",
                    test_delivers_the_end_of_the_session);
    status = g_test_run();
    test_authority_free(authority);
    test_authority_free(stranger);
    drover_log_set_fd(STDERR_FILENO);
    g_string_free(logged.text, TRUE);
    return status;
}
