/*
 * A process that does not know yet that its session is over: none of its writes lands on what
 * others do meanwhile.
 */
#include "fixture.h"

#include <string.h>

#include "holder-process.h"
#include "support/process.h"

typedef struct {
    char *root, *node, *directory, *folder;
    Holder *holder;
} Fixture;

/* A holder with the lock of a record. `data` tells whether it goes through the proxy. */
static void
set_up(Fixture *fixture, gconstpointer data)
{
    g_autofree char *id = NULL, *contender = NULL;

    fixture->root = new_root();
    fixture->node = below(fixture->root, "node");
    fixture->directory = below(fixture->node, "lock");
    fixture->folder = test_folder_make();
    peer_create(fixture->node, "before");
    fixture->holder = holder_start(fixture->folder, GPOINTER_TO_INT(data));
    id = holder_wait(fixture->holder, "connected ");
    holder_send(fixture->holder, "lock %s", fixture->directory);
    contender = holder_wait(fixture->holder, "held ");
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
    holder_kill(fixture->holder);
    test_folder_remove(fixture->folder);
    g_free(fixture->folder);
    g_free(fixture->root);
    g_free(fixture->node);
    g_free(fixture->directory);
}

/* kazoo gets the lock, which takes until the holder's session ends, and writes. */
static void
take_over(Fixture *fixture)
{
    g_assert_true(peer_lock(fixture->directory, TRUE));
    peer_set(fixture->node, "kazoo");
}

static void
assert_untouched(Fixture *fixture)
{
    g_autofree char *text = peer_get(fixture->node);

    g_assert_cmpstr(text, ==, "kazoo");
    g_assert_cmpint(peer_stat(fixture->node, "version"), ==, 1);
    g_assert_cmpint(peer_count(fixture->directory), ==, 1);
}

/* The order to write waits for the process when it wakes up. */
static void
test_write_after_waking(Fixture *fixture, gconstpointer data)
{
    g_autofree char *outcome = NULL, *again = NULL, *held = NULL;

    holder_stop(fixture->holder);
    holder_send(fixture->holder, "set %s %s drover", fixture->directory, fixture->node);
    take_over(fixture);
    holder_continue(fixture->holder);
    outcome = holder_wait(fixture->holder, "set ");
    g_assert_true(strcmp(outcome, "unknown") == 0 || strcmp(outcome, "unfenced") == 0);
    assert_untouched(fixture);

    /* In its next session it is as good as anybody. */
    again = holder_wait(fixture->holder, "connected ");
    holder_send(fixture->holder, "set %s %s drover", fixture->directory, fixture->node);
    g_free(g_steal_pointer(&outcome));
    outcome = holder_wait(fixture->holder, "set ");
    g_assert_cmpstr(outcome, ==, "unfenced");
    assert_untouched(fixture);
    peer_unlock(fixture->directory);
    holder_send(fixture->holder, "lock %s", fixture->directory);
    held = holder_wait(fixture->holder, "held ");
}

/* More than the few bytes by which a client says that it lives. */
static gboolean
keeps_the_write(gpointer user_data)
{
    return test_tcp_proxy_kept(proxy) > 100;
}

/* The write is on its way when the process is stopped, and arrives when it is too late. */
static void
test_write_under_way(Fixture *fixture, gconstpointer data)
{
    g_autofree char *outcome = NULL;

    test_tcp_proxy_set_mode(proxy, TEST_PROXY_HOLD_REQUESTS);
    holder_send(fixture->holder, "set %s %s drover", fixture->directory, fixture->node);
    wait_until(keeps_the_write, NULL);
    holder_stop(fixture->holder);
    take_over(fixture);
    test_tcp_proxy_set_mode(proxy, TEST_PROXY_PASS);
    holder_continue(fixture->holder);
    outcome = holder_wait(fixture->holder, "set ");
    g_assert_cmpstr(outcome, ==, "unknown");
    assert_untouched(fixture);
    peer_unlock(fixture->directory);
}

/* Cut off, but awake. */
static void
test_write_without_a_connection(Fixture *fixture, gconstpointer data)
{
    g_autofree char *outcome = NULL, *lost = NULL, *suspended = NULL;

    test_tcp_proxy_set_mode(proxy, TEST_PROXY_REFUSE);
    test_tcp_proxy_cut(proxy);
    suspended = holder_wait(fixture->holder, "suspended");
    take_over(fixture);
    holder_send(fixture->holder, "set %s %s drover", fixture->directory, fixture->node);
    outcome = holder_wait(fixture->holder, "set ");
    g_assert_cmpstr(outcome, ==, "unknown");
    test_tcp_proxy_set_mode(proxy, TEST_PROXY_PASS);
    lost = holder_wait(fixture->holder, "lost");
    assert_untouched(fixture);
    peer_unlock(fixture->directory);
}

static void
add_tests(void)
{
    g_test_add("/zk/fence/Z-34-F-51-write-after-waking", Fixture, GINT_TO_POINTER(FALSE), set_up,
               test_write_after_waking, tear_down);
    g_test_add("/zk/fence/Z-34-write-under-way", Fixture, GINT_TO_POINTER(TRUE), set_up,
               test_write_under_way, tear_down);
    g_test_add("/zk/fence/write-without-a-connection", Fixture, GINT_TO_POINTER(TRUE), set_up,
               test_write_without_a_connection, tear_down);
}

int
main(int argc, char **argv)
{
    return run_with_cluster(&argc, &argv, add_tests);
}
