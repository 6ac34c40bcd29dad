/* The servers and clients that the other tests stand on. */
#include <string.h>

#include "support/certificates.h"
#include "support/kazoo-peer.h"
#include "support/zookeeper.h"

static void
test_starts_and_answers(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(TestZookeeper) server = test_zookeeper_start(NULL, &error);
    g_autofree char *answer = NULL;

    g_assert_no_error(error);
    answer = test_zookeeper_command(server, "ruok", &error);
    g_assert_no_error(error);
    g_assert_cmpstr(answer, ==, "imok");
}

static void
test_restarts_on_the_same_port(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(TestZookeeper) server = test_zookeeper_start(NULL, &error);
    guint16 port = test_zookeeper_port(server);

    g_assert_no_error(error);
    test_zookeeper_stop(server);
    g_assert_null(test_zookeeper_command(server, "ruok", NULL));
    g_assert_true(test_zookeeper_restart(server, &error));
    g_assert_no_error(error);
    g_assert_cmpint(port, ==, test_zookeeper_port(server));
    g_assert_true(test_zookeeper_restart(server, &error)); /* also while it runs */
}

static void
test_tells_why_it_does_not_start(void)
{
    TestZookeeperOptions options = {.config = "electionAlg=none"};
    g_autoptr(GError) error = NULL;

    g_assert_null(test_zookeeper_start(&options, &error));
    g_assert_nonnull(strstr(error->message, "Invalid config"));
}

static void
test_peer_reads_what_it_wrote(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(TestZookeeper) server = test_zookeeper_start(NULL, &error);
    TestKazooPeerOptions options = {.hosts = test_zookeeper_hosts(server)};
    g_autoptr(TestKazooPeer) peer = test_kazoo_peer_start(&options, &error);
    json_t *result;

    g_assert_no_error(error);
    result = test_kazoo_peer_call(peer, &error, "create", "{s:s, s:s, s:b}", "path", "/a", "data",
                                  "text", "ephemeral", 1);
    g_assert_no_error(error);
    g_assert_cmpstr(json_string_value(result), ==, "/a");
    json_decref(result);

    result = test_kazoo_peer_call(peer, &error, "get", "{s:s}", "path", "/a");
    g_assert_no_error(error);
    g_assert_cmpstr(json_string_value(json_object_get(result, "data")), ==, "text");
    g_assert_cmpint(json_integer_value(json_object_get(result, "version")), ==, 0);
    json_decref(result);

    g_assert_null(test_kazoo_peer_call(peer, &error, "get", "{s:s}", "path", "/none"));
    g_assert_true(g_str_has_prefix(error->message, "NoNodeError: "));
}

static void
expect_boolean(TestKazooPeer *peer, guint call, gboolean expected)
{
    g_autoptr(GError) error = NULL;
    json_t *result = test_kazoo_peer_wait(peer, call, &error);

    g_assert_no_error(error);
    g_assert_cmpint(json_is_true(result), ==, expected);
    json_decref(result);
}

static void
test_peers_compete_for_a_lock(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(TestZookeeper) server = test_zookeeper_start(NULL, &error);
    TestKazooPeerOptions options = {.hosts = test_zookeeper_hosts(server)};
    g_autoptr(TestKazooPeer) first = test_kazoo_peer_start(&options, &error);
    g_autoptr(TestKazooPeer) second = test_kazoo_peer_start(&options, &error);
    guint call;

    g_assert_no_error(error);
    expect_boolean(first, test_kazoo_peer_send(first, "lock", "{s:s}", "path", "/l"), TRUE);
    expect_boolean(second,
                   test_kazoo_peer_send(second, "lock", "{s:s, s:b}", "path", "/l", "blocking", 0),
                   FALSE);
    g_assert_null(
        test_kazoo_peer_call(second, &error, "lock", "{s:s, s:f}", "path", "/l", "timeout", 0.1));
    g_assert_true(g_str_has_prefix(error->message, "LockTimeout: "));

    call = test_kazoo_peer_send(second, "lock", "{s:s, s:s}", "path", "/l", "identifier", "me");
    g_assert_false(test_kazoo_peer_is_answered(second, call));
    expect_boolean(first, test_kazoo_peer_send(first, "unlock", "{s:s}", "path", "/l"), TRUE);
    expect_boolean(second, call, TRUE);
}

static void
test_peer_loses_connection_and_session(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(TestZookeeper) server = test_zookeeper_start(NULL, &error);
    TestKazooPeerOptions options = {.hosts = test_zookeeper_hosts(server)};
    g_autoptr(TestKazooPeer) peer = test_kazoo_peer_start(&options, &error);
    json_t *before;
    json_t *after;

    g_assert_no_error(error);
    before = test_kazoo_peer_call(peer, &error, "session", NULL);
    json_decref(test_kazoo_peer_call(peer, &error, "drop_connection", NULL));
    g_assert_true(test_kazoo_peer_wait_state(peer, "SUSPENDED", &error));
    g_assert_true(test_kazoo_peer_wait_state(peer, "CONNECTED", &error));
    after = test_kazoo_peer_call(peer, &error, "session", NULL);
    g_assert_true(json_equal(before, after));
    json_decref(after);

    json_decref(test_kazoo_peer_call(peer, &error, "expire", NULL));
    g_assert_no_error(error);
    g_assert_true(test_kazoo_peer_wait_state(peer, "CONNECTED", &error));
    after = test_kazoo_peer_call(peer, &error, "session", NULL);
    g_assert_false(json_equal(before, after));
    json_decref(after);
    json_decref(before);
    json_decref(test_kazoo_peer_call(peer, &error, "close", NULL));
    g_assert_no_error(error);
}

static void
test_tls_asks_for_certificates(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(TestAuthority) authority = test_authority_new("Test CA", &error);
    TestCertificateRequest server_request = {.name = "localhost", .alternative_names = "DNS:x"};
    TestCertificateRequest client_request = {.name = "client"};
    TestZookeeperOptions server_options;
    TestKazooPeerOptions peer_options;
    g_autoptr(TestZookeeper) server = NULL;
    g_autoptr(TestKazooPeer) peer = NULL;
    g_autofree char *hosts = NULL;
    json_t *children;

    test_authority_issue(authority, &server_request, &error);
    test_authority_issue(authority, &client_request, &error);
    g_assert_no_error(error);
    server_options =
        (TestZookeeperOptions){.tls_cert = test_authority_issued(authority, "localhost"),
                               .tls_key = test_authority_key(authority, "localhost"),
                               .tls_ca = test_authority_certificate(authority)};
    server = test_zookeeper_start(&server_options, &error);
    g_assert_no_error(error);
    hosts = g_strdup_printf("127.0.0.1:%u", test_zookeeper_tls_port(server));
    peer_options = (TestKazooPeerOptions){.hosts = hosts,
                                          .tls_cert = test_authority_issued(authority, "client"),
                                          .tls_key = test_authority_key(authority, "client"),
                                          .tls_ca = test_authority_certificate(authority)};
    peer = test_kazoo_peer_start(&peer_options, &error);
    g_assert_no_error(error);
    children = test_kazoo_peer_call(peer, &error, "children", "{s:s}", "path", "/");
    g_assert_cmpint(json_array_size(children), ==, 1);
    json_decref(children);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/support/zookeeper/starts-and-answers", test_starts_and_answers);
    g_test_add_func("/support/zookeeper/restarts-on-the-same-port", test_restarts_on_the_same_port);
    g_test_add_func("/support/zookeeper/tells-why-it-does-not-start",
                    test_tells_why_it_does_not_start);
    g_test_add_func("/support/kazoo/reads-what-it-wrote", test_peer_reads_what_it_wrote);
    g_test_add_func("/support/kazoo/competes-for-a-lock", test_peers_compete_for_a_lock);
    g_test_add_func("/support/kazoo/loses-connection-and-session",
                    test_peer_loses_connection_and_session);
    g_test_add_func("/support/tls/asks-for-certificates", test_tls_asks_for_certificates);
    return g_test_run();
}
