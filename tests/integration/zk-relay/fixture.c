#include "fixture.h"

#include <fcntl.h>
#include <glib-unix.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

TestAuthority *authority;
TestAuthority *stranger;

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

void
reset_log(void)
{
    while (read_log(0))
        continue;
    g_string_truncate(logged.text, 0);
}

void
expect_logged(const char *text)
{
    gint64 deadline = g_get_monotonic_time() + LOG_SECONDS * G_USEC_PER_SEC;

    while (strstr(logged.text->str, text) == NULL) {
        gint64 left = deadline - g_get_monotonic_time();

        if (left <= 0 || !read_log((int)(left / 1000) + 1))
            g_error("\"%s\" was not logged, but: %s", text, logged.text->str);
    }
}

guint
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

TestZookeeper *
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

DroverZkTls
good_tls(void)
{
    return (DroverZkTls){.cert = test_authority_issued(authority, "client"),
                         .key = test_authority_key(authority, "client"),
                         .ca = test_authority_certificate(authority)};
}

DroverZkRelay *
relay_with(const DroverSessionServer *servers, guint n, const DroverZkTls *tls)
{
    g_autoptr(GError) error = NULL;
    DroverZkRelay *relay = drover_zk_relay_new(servers, n, tls, &error);

    g_assert_no_error(error);
    return relay;
}

DroverZkRelay *
relay_to(const char *host, const TestZookeeper *server, const DroverZkTls *tls)
{
    DroverSessionServer one = {.host = host, .port = test_zookeeper_tls_port(server)};

    return relay_with(&one, 1, tls);
}

Client *
client_of(DroverZkRelay *relay)
{
    g_autofree char *hosts = drover_zk_relay_hosts(relay);

    return client_new(hosts);
}

GSocketConnection *
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

void
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

void
expect_carried(DroverZkRelay *relay)
{
    g_autoptr(Client) client = client_of(relay);
    g_autofree char *data = NULL;

    client_wait_connected(client);
    client_create(client, "/carried", "text", ZOO_EPHEMERAL);
    data = client_get(client, "/carried");
    g_assert_cmpstr(data, ==, "text");
}

void
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

/* ---- Running ---- */

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
fixture_run(void)
{
    int status;

    begin_log();
    make_certificates();
    status = g_test_run();
    test_authority_free(authority);
    test_authority_free(stranger);
    drover_log_set_fd(STDERR_FILENO);
    g_string_free(logged.text, TRUE);
    return status;
}
