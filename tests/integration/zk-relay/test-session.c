/* A whole session over TLS. */
#include <string.h>

#include "fixture.h"
#include "support/wait.h"
#include "zk/bulk.h"
#include "zk/session.h"

enum { WAIT_MS = 30000 };

static DroverSessionOptions
options_for(const DroverSessionServer *server)
{
    DroverZkTls tls = good_tls();

    return (DroverSessionOptions){.servers = server,
                                  .n_servers = 1,
                                  .timeout = 10,
                                  .chroot = "/over/tls",
                                  .tls_cert = tls.cert,
                                  .tls_key = tls.key,
                                  .tls_ca = tls.ca};
}

static gboolean
is_connected(gpointer session)
{
    return drover_session_state(session) == DROVER_SESSION_CONNECTED;
}

static gboolean
is_connected_again(gpointer session)
{
    return is_connected(session) && drover_session_counters(session)->connections > 1;
}

static void
note_reply(const DroverReadReply *reply, gpointer user_data)
{
    g_assert_cmpint(reply->rc, ==, ZOK);
    *(gboolean *)user_data = TRUE;
}

static void
read_in_bulk(DroverSession *session, const char *path)
{
    gboolean is_read = FALSE;
    DroverBulkRead read = {.path = path, .user_data = &is_read};
    g_autoptr(GError) error = NULL;

    drover_bulk_read(session, &read, 1, WAIT_MS / 1000, note_reply, &error);
    g_assert_no_error(error);
    g_assert_true(is_read);
}

static void
test_works(void)
{
    g_autoptr(TestZookeeper) server = start_server("named", NULL);
    DroverSessionServer address = {.host = "localhost", .port = test_zookeeper_tls_port(server)};
    DroverSessionOptions options = options_for(&address);
    g_autoptr(GError) error = NULL;
    DroverSession *session = drover_session_new(&options, &error);
    gboolean is_made = FALSE;
    gint64 id;

    g_assert_no_error(error);
    g_assert_true(test_wait_until(is_connected, session, WAIT_MS));
    drover_session_ensure(session, "/a/b", note_reply, &is_made);
    g_assert_true(test_wait_for(&is_made, WAIT_MS));
    read_in_bulk(session, "/a/b");

    id = drover_session_id(session);
    g_assert_true(test_zookeeper_restart(server, &error));
    g_assert_true(test_wait_until(is_connected_again, session, WAIT_MS));
    g_assert_cmpint(id, ==, drover_session_id(session));
    drover_session_close(session);
}

static void
test_unreadable_key(void)
{
    DroverSessionServer address = {.host = "localhost", .port = 1};
    DroverSessionOptions options = options_for(&address);
    g_autoptr(GError) error = NULL;

    options.tls_key = test_authority_path(authority, "missing.pem");
    g_assert_null(drover_session_new(&options, &error));
    g_assert_nonnull(strstr(error->message, options.tls_key));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/zk/session/over-tls", test_works);
    g_test_add_func("/zk/session/Z-05-unreadable-key", test_unreadable_key);
    return fixture_run();
}
