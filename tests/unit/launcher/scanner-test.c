/* Who waits for a place among those that are being reached. */
#include "launcher/provider/scanner.h"

#include <gio/gio.h>

#include "support/tcp-server.h"
#include "support/wait.h"

#define LIMIT_MILLISECONDS   60000
#define REFUSED_MILLISECONDS 4000
#define SHORT_SECONDS        3 /* less than the other one takes */

typedef struct {
    TestTcpServer *server;
    gboolean done;
    gint64 began, ended; /* monotonic */
    char *message;
} Target;

static void
on_done(const DroverScannerResult *result, gpointer user_data)
{
    Target *target = user_data;

    target->done = TRUE;
    target->began = result->began;
    target->ended = g_get_monotonic_time();
    target->message = g_strdup(result->message);
}

static void
begin(Target *target)
{
    g_autoptr(GError) error = NULL;

    *target = (Target){.server = test_tcp_server_start("127.0.0.1", &error)};
    g_assert_no_error(error);
}

static void
start(Target *target, DroverScanner *scanner, guint seconds)
{
    drover_scanner_start(scanner, "p", DROVER_SCAN_CONNECT, "127.0.0.1",
                         test_tcp_server_port(target->server), seconds, on_done, target);
}

static void
end(Target *target)
{
    test_tcp_server_free(target->server);
    g_free(target->message);
}

static gboolean
on_time(gpointer user_data)
{
    *(gboolean *)user_data = TRUE;
    return G_SOURCE_REMOVE;
}

/* The time of one that waits begins when its turn comes. */
static void
test_waiting_is_no_failure(void)
{
    DroverScanner *scanner = drover_scanner_new(1);
    Target first, second;
    gboolean late = FALSE;

    begin(&first);
    begin(&second);
    test_tcp_server_command(second.server, "silent");
    start(&first, scanner, LIMIT_MILLISECONDS / 1000);
    start(&second, scanner, SHORT_SECONDS);
    g_timeout_add(REFUSED_MILLISECONDS, on_time, &late);
    g_assert_true(test_wait_for(&late, LIMIT_MILLISECONDS));
    g_assert_false(first.done || second.done);
    g_assert_cmpuint(test_tcp_server_count(second.server, "accepted"), ==, 0);
    test_tcp_server_command(first.server, "silent");
    g_assert_true(test_wait_for(&second.done, LIMIT_MILLISECONDS));
    g_assert_true(first.done);
    g_assert_null(first.message);
    g_assert_null(second.message);
    g_assert_cmpint(second.began, >=, first.began + REFUSED_MILLISECONDS * G_TIME_SPAN_MILLISECOND);
    drover_scanner_free(scanner);
    end(&first);
    end(&second);
}

/* Of another provider: it does not wait. */
static void
test_providers_do_not_wait_for_each_other(void)
{
    DroverScanner *scanner = drover_scanner_new(1);
    Target first, second;
    DroverScannerJob *job;

    begin(&first);
    begin(&second);
    test_tcp_server_command(second.server, "silent");
    job = drover_scanner_start(scanner, "q", DROVER_SCAN_CONNECT, "127.0.0.1",
                               test_tcp_server_port(first.server), LIMIT_MILLISECONDS / 1000,
                               on_done, &first);
    start(&second, scanner, LIMIT_MILLISECONDS / 1000);
    g_assert_true(test_wait_for(&second.done, LIMIT_MILLISECONDS));
    g_assert_false(first.done);
    g_assert_null(second.message);
    drover_scanner_cancel(job);
    drover_scanner_free(scanner);
    end(&first);
    end(&second);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/launcher/scanner/H-15-waiting-is-no-failure", test_waiting_is_no_failure);
    g_test_add_func("/launcher/scanner/providers-do-not-wait-for-each-other",
                    test_providers_do_not_wait_for_each_other);
    return g_test_run();
}
