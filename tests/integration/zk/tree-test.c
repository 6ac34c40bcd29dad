/* Removing whole trees, unless somebody has a lock in them. */
#include "fixture.h"

#include "zk/tree.h"

typedef struct {
    TestSession *test;
    char *root, *top, *lock; /* a znode with some below it, and a lock directory */
    gboolean answered;
    int rc;
} Fixture;

static void
set_up(Fixture *fixture, gconstpointer data)
{
    g_autofree char *deep = NULL, *wide = NULL;

    fixture->test = open_session(NULL);
    fixture->root = new_root();
    fixture->top = below(fixture->root, "top");
    fixture->lock = below(fixture->top, "lock");
    deep = below(fixture->top, "a/b/c");
    wide = below(fixture->top, "a/d");
    peer_create(deep, "x");
    peer_create(wide, "");
    peer_create(fixture->lock, "");
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
    close_session(fixture->test);
    g_free(fixture->root);
    g_free(fixture->top);
    g_free(fixture->lock);
}

static void
on_deleted(int rc, gpointer user_data)
{
    Fixture *fixture = user_data;

    g_assert_false(fixture->answered);
    fixture->answered = TRUE;
    fixture->rc = rc;
}

static int
delete_top(Fixture *fixture, gint32 version, gboolean even_locked)
{
    fixture->answered = FALSE;
    drover_tree_delete(fixture->test->session, fixture->top, version, even_locked, on_deleted,
                       fixture);
    g_assert_false(fixture->answered);
    wait_for(&fixture->answered);
    return fixture->rc;
}

static void
test_whole(Fixture *fixture, gconstpointer data)
{
    g_assert_cmpint(delete_top(fixture, -1, FALSE), ==, ZOK);
    g_assert_cmpint(peer_count(fixture->root), ==, 0);
    g_assert_cmpint(delete_top(fixture, -1, FALSE), ==, ZNONODE);
}

static void
test_version(Fixture *fixture, gconstpointer data)
{
    peer_set(fixture->top, "changed");
    g_assert_cmpint(delete_top(fixture, 0, FALSE), ==, ZBADVERSION);
    g_assert_cmpint(peer_count(fixture->top), ==, 2);
    g_assert_cmpint(delete_top(fixture, 1, FALSE), ==, ZOK);
}

static void
test_locked(Fixture *fixture, gconstpointer data)
{
    g_assert_true(peer_lock(fixture->lock, FALSE));
    g_assert_cmpint(delete_top(fixture, -1, FALSE), ==, ZNOTEMPTY);
    g_assert_cmpint(peer_count(fixture->top), ==, 2);
    g_assert_cmpint(peer_count(fixture->lock), ==, 1);
    peer_unlock(fixture->lock);
    g_assert_cmpint(delete_top(fixture, -1, FALSE), ==, ZOK);
}

static void
test_even_locked(Fixture *fixture, gconstpointer data)
{
    g_autofree char *contender = below(fixture->lock, "%032d__lock__0000000000", 0);

    peer_create(contender, "");
    g_assert_cmpint(delete_top(fixture, -1, TRUE), ==, ZOK);
    g_assert_false(peer_exists(fixture->top));
}

/* While others create more in it. */
static void
test_growing(Fixture *fixture, gconstpointer data)
{
    for (guint i = 0; i < 20; i++) {
        g_autofree char *more = below(fixture->top, "more-%u", i);

        fixture->answered = FALSE;
        drover_tree_delete(fixture->test->session, fixture->top, -1, FALSE, on_deleted, fixture);
        peer_create(more, "");
        wait_for(&fixture->answered);
        g_assert_true(fixture->rc == ZOK || fixture->rc == ZNOTEMPTY || fixture->rc == ZNONODE);
    }
    delete_top(fixture, -1, FALSE);
    g_assert_false(peer_exists(fixture->top));
}

static void
test_connection_lost(Fixture *fixture, gconstpointer data)
{
    suspend_session(fixture->test);
    g_assert_true(drover_rc_is_unknown(delete_top(fixture, -1, FALSE)));
    resume_session(fixture->test);
    g_assert_cmpint(delete_top(fixture, -1, FALSE), ==, ZOK);
}

static void
add_tests(void)
{
    const struct {
        const char *name;
        void (*run)(Fixture *, gconstpointer);
    } tests[] = {
        {"/zk/tree/whole", test_whole},     {"/zk/tree/version", test_version},
        {"/zk/tree/locked", test_locked},   {"/zk/tree/even-locked", test_even_locked},
        {"/zk/tree/growing", test_growing}, {"/zk/tree/connection-lost", test_connection_lost},
    };

    for (guint i = 0; i < G_N_ELEMENTS(tests); i++)
        g_test_add(tests[i].name, Fixture, NULL, set_up, tests[i].run, tear_down);
}

int
main(int argc, char **argv)
{
    return run_with_cluster(&argc, &argv, add_tests);
}
