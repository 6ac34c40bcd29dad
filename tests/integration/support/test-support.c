/* The servers and clients that the other tests stand on. */
#include <string.h>

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

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/support/zookeeper/starts-and-answers", test_starts_and_answers);
    g_test_add_func("/support/zookeeper/restarts-on-the-same-port", test_restarts_on_the_same_port);
    g_test_add_func("/support/zookeeper/tells-why-it-does-not-start",
                    test_tells_why_it_does_not_start);
    return g_test_run();
}
