/* ZooKeeper over TLS: the plain C client, through the relay, with a real server. */
#include <string.h>

#include "echo.h"
#include "fixture.h"
#include "support/process.h"

/* ---- Connections ---- */

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
        echo_start(&server, authority, "ipv6", address.host, &address.port);
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
        echo_clear(&server);
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
    echo_clear(&server);
}

static void
test_refuses_other_processes(void)
{
    static const char program[] = "import socket, sys\n"
                                  "host, port = sys.argv[1].split(':')\n"
                                  "with socket.create_connection((host, int(port)), 10) as peer:\n"
                                  "    try:\n"
                                  "        sys.exit(len(peer.recv(1)))\n"
                                  "    except ConnectionResetError:\n"
                                  "        pass\n";
    g_autoptr(TestZookeeper) server = start_server("server", NULL);
    DroverZkTls tls = good_tls();
    DroverZkRelay *relay = relay_to("127.0.0.1", server, &tls);
    g_autofree char *hosts = drover_zk_relay_hosts(relay);
    const char *const argv[] = {"/usr/bin/python3", "-c", program, hosts, NULL};
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
test_one_of_two_is_dead(gconstpointer place)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(TestZookeeper) server = start_server("server", NULL);
    DroverSessionServer two[] = {{.host = "127.0.0.1", .port = test_free_port()},
                                 {.host = "127.0.0.1", .port = test_free_port()}};
    DroverZkTls tls = good_tls();
    DroverZkRelay *relay;
    Client *client;

    two[GPOINTER_TO_INT(place)].port = test_zookeeper_tls_port(server);
    relay = relay_with(two, 2, &tls);
    client = client_of(relay);
    client_wait_connected(client);
    test_zookeeper_kill(server);
    reset_log(); /* then it tries both, and comes back to the one that lives */
    expect_logged("cannot connect");
    g_assert_true(test_zookeeper_restart(server, &error));
    g_assert_no_error(error);
    client_wait_connections(client, 2);
    client_free(client);
    drover_zk_relay_free(relay);
}

static void
test_other_servers(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(TestZookeeper) server = start_server("server", NULL);
    DroverSessionServer dead = {.host = "127.0.0.1", .port = test_free_port()};
    DroverSessionServer live = {.host = "127.0.0.1", .port = test_zookeeper_tls_port(server)};
    DroverSessionServer both[] = {live, dead};
    DroverZkTls tls = good_tls();
    DroverZkRelay *relay = relay_with(&dead, 1, &tls);
    g_autofree char *first = drover_zk_relay_hosts(relay);
    g_autofree char *second = NULL;
    g_autofree char *third = NULL;
    Client *client;

    reset_log();
    client = client_of(relay);
    expect_logged("cannot connect");
    g_assert_true(drover_zk_relay_set_servers(relay, both, 2, &error));
    g_assert_no_error(error);
    second = drover_zk_relay_hosts(relay);
    g_assert_nonnull(strstr(second, first)); /* the old one keeps its address */

    g_assert_true(drover_zk_relay_set_servers(relay, &live, 1, &error));
    third = drover_zk_relay_hosts(relay);
    g_assert_true(g_str_has_prefix(second, third));
    g_assert_cmpint(zoo_set_servers(client_handle(client), third), ==, ZOK);
    client_wait_connected(client);

    g_assert_true(drover_zk_relay_set_servers(relay, &dead, 1, &error)); /* leaves the client be */
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
    for (int i = 0; i < 10; i++) {
        DroverZkRelay *relay = relay_to("127.0.0.1", server, &tls);
        Client *client = client_of(relay);

        client_wait_connected(client);
        client_create(client, "/mine", "", ZOO_EPHEMERAL);
        client_free(client);
        drover_zk_relay_free(relay); /* at once, and nothing is lost */
        g_assert_cmpint(zoo_exists(client_handle(observer), "/mine", 0, NULL), ==, ZNONODE);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/zk/relay/half-close-over-ipv6", test_half_close_over_ipv6);
    g_test_add_func("/zk/relay/refuses-other-processes", test_refuses_other_processes);
    g_test_add_func("/zk/relay/server-restarts", test_server_restarts);
    g_test_add_func("/zk/relay/server-is-down", test_server_is_down);
    g_test_add_func("/zk/relay/silent-server", test_silent_server);
    g_test_add_data_func("/zk/relay/one-of-two-is-dead/second", GINT_TO_POINTER(0),
                         test_one_of_two_is_dead);
    g_test_add_data_func("/zk/relay/one-of-two-is-dead/first", GINT_TO_POINTER(1),
                         test_one_of_two_is_dead);
    g_test_add_func("/zk/relay/other-servers", test_other_servers);
    g_test_add_func("/zk/relay/many-bytes", test_many_bytes);
    g_test_add_func("/zk/relay/freed-while-busy", test_freed_while_busy);
    g_test_add_func("/zk/relay/delivers-the-end-of-the-session",
                    test_delivers_the_end_of_the_session);
    return fixture_run();
}
