/* Whom the TLS relay trusts, what it tells the others, and what it says about it. */
#include <string.h>

#include "base/error.h"
#include "echo.h"
#include "fixture.h"

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

static void
test_tells_strangers_nothing(void)
{
    EchoServer server;
    DroverSessionServer address = {.host = "127.0.0.1"};
    g_autoptr(GSocketService) service =
        echo_start(&server, stranger, "client", address.host, &address.port);
    DroverZkTls tls = good_tls();
    DroverZkRelay *relay = relay_with(&address, 1, &tls);
    /* Sends its request as soon as it is connected to the relay. */
    Client *client = client_of(relay);

    for (int attempt = 0; attempt < 2; attempt++) {
        g_autoptr(GBytes) received = echo_wait(&server);

        g_assert_cmpint(g_bytes_get_size(received), ==, 0);
    }
    client_free(client);
    drover_zk_relay_free(relay);
    g_socket_service_stop(service);
    echo_clear(&server);
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

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
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
    g_test_add_func("/zk/relay/plain-server", test_plain_server);
    return fixture_run();
}
