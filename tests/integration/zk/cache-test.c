/* The cache of a tree: it equals the tree, and costs one read a change. */
#include "mirror.h"

#include <malloc.h>
#include <string.h>

typedef struct {
    TestSession *test;
    char *root;
    Mirror *mirror;
} Fixture;

static void
set_up(Fixture *fixture, gconstpointer data)
{
    fixture->test = open_session(NULL);
    fixture->root = new_root();
    fixture->mirror = NULL;
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
    mirror_free(fixture->mirror);
    close_session(fixture->test);
    g_free(fixture->root);
}

static void
begin_cache(Fixture *fixture)
{
    fixture->mirror = mirror_new(fixture->test->session, fixture->root);
    wait_settled(fixture->mirror);
}

static void
put(Fixture *fixture, const char *name, const char *text)
{
    g_autofree char *path = below(fixture->root, "%s", name);

    if (peer_exists(path))
        peer_set(path, text);
    else
        peer_create(path, text);
}

static void
drop(Fixture *fixture, const char *name)
{
    g_autofree char *path = below(fixture->root, "%s", name);

    peer_delete(path);
}

static guint64
reads(Fixture *fixture)
{
    return drover_session_counters(fixture->test->session)->reads;
}

/* ---- Following ---- */

static void
test_follows(Fixture *fixture, gconstpointer data)
{
    Mirror *mirror;
    DroverCacheIter iter;
    const char *name;
    gpointer object;

    put(fixture, "a", "1");
    begin_cache(fixture);
    mirror = fixture->mirror;
    g_assert_cmpstr(mirror_text(mirror, "a"), ==, "1");
    put(fixture, "a", "2");
    wait_text(mirror, "a", "2");
    put(fixture, "b", "3");
    wait_text(mirror, "b", "3");
    drop(fixture, "a");
    wait_text(mirror, "a", NULL);
    put(fixture, "a", "4"); /* once more, with versions from 0 */
    wait_text(mirror, "a", "4");
    drop(fixture, "a");
    wait_text(mirror, "a", NULL);
    g_assert_false(drover_cache_exists(mirror->cache, "a"));
    g_assert_cmpuint(drover_cache_size(mirror->cache), ==, 1);
    drover_cache_iter_init(&iter, mirror->cache);
    g_assert_true(drover_cache_iter_next(&iter, &name, &object));
    g_assert_cmpstr(name, ==, "b");
    g_assert_false(drover_cache_iter_next(&iter, &name, &object));
    g_assert_cmpuint(mirror->completions, ==, 1);
    g_assert_cmpuint(mirror->decoded, ==, 4);
}

/* Z-21, Z-22: what is there but means nothing. */
static void
test_empty_and_malformed(Fixture *fixture, gconstpointer data)
{
    put(fixture, "empty", "");
    put(fixture, "bad", "bad");
    put(fixture, "good", "1");
    begin_cache(fixture);
    g_assert_null(mirror_text(fixture->mirror, "empty"));
    g_assert_null(mirror_text(fixture->mirror, "bad"));
    g_assert_cmpstr(mirror_text(fixture->mirror, "good"), ==, "1");
    g_assert_true(drover_cache_exists(fixture->mirror->cache, "empty"));
    g_assert_true(drover_cache_exists(fixture->mirror->cache, "bad"));
    g_assert_cmpuint(fixture->mirror->decoded, ==, 2);
    /* Either way. */
    put(fixture, "bad", "2");
    wait_text(fixture->mirror, "bad", "2");
    put(fixture, "good", "bad");
    wait_text(fixture->mirror, "good", NULL);
    put(fixture, "empty", "3");
    wait_text(fixture->mirror, "empty", "3");
    put(fixture, "empty", "");
    wait_text(fixture->mirror, "empty", NULL);
}

static void
test_root_comes_and_goes(Fixture *fixture, gconstpointer data)
{
    g_autofree char *root = below(fixture->root, "later");
    g_autofree char *child = below(root, "a");
    Mirror *mirror = fixture->mirror = mirror_new(fixture->test->session, root);

    wait_settled(mirror);
    g_assert_cmpuint(drover_cache_size(mirror->cache), ==, 0);
    for (guint i = 0; i < 3; i++) {
        peer_create(child, "1");
        wait_text(mirror, "a", "1");
        peer_delete(root);
        wait_text(mirror, "a", NULL);
    }
    g_assert_true(drover_cache_is_complete(mirror->cache));
}

/* ---- Own writes ---- */

typedef struct {
    Mirror *mirror;
    const char *name, *expected;
    gboolean answered;
} OwnWrite;

/* The cache shows it already when the writer hears of it. */
static void
on_own_write(const DroverChangeResult *result, gpointer user_data)
{
    OwnWrite *write = user_data;

    g_assert_cmpint(result->outcome, ==, DROVER_CHANGE_DONE);
    g_assert_cmpstr(mirror_text(write->mirror, write->name), ==, write->expected);
    write->answered = TRUE;
}

static void
commit_own(Fixture *fixture, DroverChange *change, const char *name, const char *expected)
{
    OwnWrite write = {fixture->mirror, name, expected, FALSE};

    drover_change_commit(change, on_own_write, &write);
    wait_for(&write.answered);
}

static void
test_own_writes(Fixture *fixture, gconstpointer data)
{
    g_autofree char *path = below(fixture->root, "a");
    g_autoptr(GBytes) one = g_bytes_new("1", 1), two = g_bytes_new("2", 1);
    DroverChange *change;

    begin_cache(fixture);
    change = drover_change_new(fixture->test->session);
    drover_change_create(change, path, one, 0);
    commit_own(fixture, change, "a", "1");
    change = drover_change_new(fixture->test->session);
    drover_change_set(change, path, two, 0);
    commit_own(fixture, change, "a", "2");
    wait_settled(fixture->mirror);
    sync_session(fixture->test);
    wait_settled(fixture->mirror);
    g_assert_cmpuint(fixture->mirror->decoded, ==, 2);
    /* The others' writes are seen after them. */
    put(fixture, "a", "3");
    wait_text(fixture->mirror, "a", "3");
    change = drover_change_new(fixture->test->session);
    drover_change_delete_claimed(change, path, FALSE, -1);
    commit_own(fixture, change, "a", NULL);
    put(fixture, "a", "4");
    wait_text(fixture->mirror, "a", "4");
}

static gboolean
is_there(gpointer path)
{
    return peer_exists(path);
}

/* Made by us, deleted, and made anew by somebody before we have read it: both have version 0. */
static void
test_own_create_is_replaced(Fixture *fixture, gconstpointer data)
{
    g_autofree char *path = below(fixture->root, "a");
    g_autoptr(GBytes) ours = g_bytes_new_static("ours", strlen("ours"));
    DroverChange *change = drover_change_new(fixture->test->session);

    begin_cache(fixture);
    test_tcp_proxy_set_mode(proxy, TEST_PROXY_HOLD_REPLIES);
    drover_change_create(change, path, ours, 0);
    drover_change_commit(change, NULL, NULL);
    wait_until(is_there, path);
    peer_delete(path);
    peer_create(path, "theirs");
    test_tcp_proxy_set_mode(proxy, TEST_PROXY_PASS);
    wait_text(fixture->mirror, "a", "theirs");
}

/* Z-35: what another wrote in between is a conflict, and then seen. */
static void
test_own_write_on_an_old_version(Fixture *fixture, gconstpointer data)
{
    g_autofree char *path = below(fixture->root, "a");
    g_autoptr(GBytes) mine = g_bytes_new("mine", 4);
    DroverChange *change = drover_change_new(fixture->test->session);

    put(fixture, "a", "1");
    begin_cache(fixture);
    put(fixture, "a", "theirs");
    drover_change_set(change, path, mine, 0);
    g_assert_cmpint(commit(change), ==, DROVER_CHANGE_CONFLICT);
    wait_text(fixture->mirror, "a", "theirs");
}

/* ---- What it costs ---- */

static void
put_many(const char *root, guint count)
{
    g_autoptr(TestSession) writer = open_session(NULL);
    g_autofree char *text = g_strnfill(1000, 'x');
    g_autoptr(GBytes) data = g_bytes_new(text, 1000);

    for (guint i = 0; i < count;) {
        DroverChange *change = drover_change_new(writer->session);

        for (guint k = 0; k < 250 && i < count; k++, i++) {
            g_autofree char *path = below(root, "%010u", i);

            drover_change_create(change, path, data, 0);
        }
        g_assert_cmpint(commit(change), ==, DROVER_CHANGE_DONE);
    }
}

enum { MANY = 10000 };

static void
test_many(Fixture *fixture, gconstpointer data)
{
    guint64 before;
    gint64 began;
    gsize memory;

    put_many(fixture->root, MANY);
    memory = mallinfo2().uordblks;
    before = reads(fixture);
    began = g_get_monotonic_time();
    begin_cache(fixture);
    g_test_message("%d records of 1000 bytes: complete after %.0f ms, %.0f bytes a record (0: not "
                   "known with this allocator)",
                   MANY, (double)(g_get_monotonic_time() - began) / 1000,
                   (double)(mallinfo2().uordblks - memory) / MANY);
    g_assert_cmpuint(drover_cache_size(fixture->mirror->cache), ==, MANY);
    g_assert_cmpuint(reads(fixture), ==, before + MANY + 1);

    before = reads(fixture);
    put(fixture, "0000005000", "changed");
    wait_text(fixture->mirror, "0000005000", "changed");
    g_assert_cmpuint(reads(fixture), ==, before + 1);
    g_assert_cmpuint(fixture->mirror->decoded, ==, MANY + 1);

    /* After a reconnection all is compared, but nothing decoded that is the same. */
    began = g_get_monotonic_time();
    suspend_session(fixture->test);
    resume_session(fixture->test);
    wait_settled(fixture->mirror);
    g_test_message("compared again after %.0f ms", (double)(g_get_monotonic_time() - began) / 1000);
    g_assert_cmpuint(fixture->mirror->decoded, ==, MANY + 1);
    g_assert_cmpuint(fixture->test->lost, ==, 0);
}

/* ---- Without a connection ---- */

static void
change_everything(Fixture *fixture)
{
    put(fixture, "changed", "2");
    drop(fixture, "deleted");
    put(fixture, "created", "1");
    drop(fixture, "again");
    put(fixture, "again", "other"); /* with the version that it had */
    put(fixture, "passing", "1");
    drop(fixture, "passing");
}

static void
check_everything(Fixture *fixture)
{
    Mirror *mirror = fixture->mirror;

    wait_settled(mirror);
    g_assert_cmpstr(mirror_text(mirror, "same"), ==, "1");
    g_assert_cmpstr(mirror_text(mirror, "changed"), ==, "2");
    g_assert_null(mirror_text(mirror, "deleted"));
    g_assert_cmpstr(mirror_text(mirror, "created"), ==, "1");
    g_assert_cmpstr(mirror_text(mirror, "again"), ==, "other");
    g_assert_null(mirror_text(mirror, "passing"));
    g_assert_cmpuint(drover_cache_size(mirror->cache), ==, 4);
    /* And it goes on. */
    put(fixture, "same", "3");
    wait_text(mirror, "same", "3");
    put(fixture, "late", "4");
    wait_text(mirror, "late", "4");
}

static void
test_without_connection(Fixture *fixture, gconstpointer data)
{
    gboolean with_session = GPOINTER_TO_INT(data);

    put(fixture, "same", "1");
    put(fixture, "changed", "1");
    put(fixture, "deleted", "1");
    put(fixture, "again", "1");
    begin_cache(fixture);
    suspend_session(fixture->test);
    g_assert_false(drover_cache_is_complete(fixture->mirror->cache));
    g_assert_cmpstr(mirror_text(fixture->mirror, "changed"), ==, "1"); /* old, but shown */
    change_everything(fixture);
    if (with_session)
        end_session_at_server(fixture->test);
    resume_session(fixture->test);
    check_everything(fixture);
    g_assert_cmpuint(fixture->mirror->completions, ==, 2);
}

/* A walk that is interrupted again and again becomes complete in the end. */
static void
test_interrupted_walk(Fixture *fixture, gconstpointer data)
{
    put_many(fixture->root, 500);
    fixture->mirror = mirror_new(fixture->test->session, fixture->root);
    for (guint round = 0; round < 20; round++) {
        for (guint i = g_random_int_range(0, 30); i > 0; i--)
            g_main_context_iteration(NULL, FALSE);
        test_tcp_proxy_cut(proxy);
        wait_connected(fixture->test);
    }
    wait_settled(fixture->mirror);
    g_assert_cmpuint(drover_cache_size(fixture->mirror->cache), ==, 500);
    g_assert_cmpstr(mirror_text(fixture->mirror, "0000000499"), !=, NULL);
}

/* It becomes complete although records change faster than they are read. */
static void
test_complete_under_load(Fixture *fixture, gconstpointer data)
{
    static const char *const texts[] = {"1", "2"};
    g_autoptr(TestSession) writer = open_session(NULL);
    g_autofree char *path = below(fixture->root, "busy");
    guint rounds = 0;

    put_many(fixture->root, 200);
    put(fixture, "busy", "1");
    fixture->mirror = mirror_new(fixture->test->session, fixture->root);
    while (!drover_cache_is_complete(fixture->mirror->cache)) {
        DroverTransaction *transaction = drover_transaction_new();
        g_autoptr(GBytes) bytes = g_bytes_new(texts[rounds % 2], 1);

        drover_transaction_set(transaction, path, bytes, -1);
        drover_session_commit(writer->session, transaction, NULL, NULL);
        g_main_context_iteration(NULL, FALSE);
        g_assert_cmpuint(++rounds, <, 1000000);
    }
    sync_session(writer);
    wait_settled(fixture->mirror);
    wait_text(fixture->mirror, "busy", texts[(rounds - 1) % 2]);
}

/* ---- Locks ---- */

static void
test_lock_of_a_child(Fixture *fixture, gconstpointer data)
{
    g_autofree char *directory = below(fixture->root, "a/lock");
    Mirror *mirror;

    put(fixture, "a", "1");
    begin_cache(fixture);
    mirror = fixture->mirror;
    g_assert_cmpint(drover_cache_lock(mirror->cache, "a"), ==, DROVER_CACHE_LOCK_UNKNOWN);
    wait_lock(mirror, "a", DROVER_CACHE_LOCK_FREE);
    g_assert_false(drover_cache_lock_directory_exists(mirror->cache, "a"));
    for (guint round = 0; round < 3; round++) {
        /* In the first round the directory comes, in the others it is there. */
        g_assert_true(peer_lock(directory, FALSE));
        wait_lock(mirror, "a", DROVER_CACHE_LOCK_TAKEN);
        g_assert_cmpuint(g_strv_length((char **)drover_cache_contenders(mirror->cache, "a")), ==,
                         1);
        g_assert_true(drover_cache_lock_directory_exists(mirror->cache, "a"));
        peer_unlock(directory);
        wait_lock(mirror, "a", DROVER_CACHE_LOCK_FREE);
        g_assert_null(drover_cache_contenders(mirror->cache, "a"));
    }
    peer_delete(directory);
    g_assert_true(peer_lock(directory, FALSE));
    wait_lock(mirror, "a", DROVER_CACHE_LOCK_TAKEN);
    drop(fixture, "a");
    wait_text(mirror, "a", NULL);
    g_assert_cmpint(drover_cache_lock(mirror->cache, "a"), ==, DROVER_CACHE_LOCK_UNKNOWN);
    g_assert_cmpint(drover_cache_lock(mirror->cache, "never"), ==, DROVER_CACHE_LOCK_UNKNOWN);
}

static void
test_lock_nobody_asked_for(Fixture *fixture, gconstpointer data)
{
    g_autofree char *directory = below(fixture->root, "a/lock");
    guint64 before;

    put(fixture, "a", "1");
    begin_cache(fixture);
    before = reads(fixture);
    g_assert_true(peer_lock(directory, FALSE));
    peer_unlock(directory);
    sync_session(fixture->test);
    g_assert_cmpuint(reads(fixture), ==, before + 1); /* the last line's */
    g_assert_cmpuint(fixture->mirror->lock_changes, ==, 0);

    drover_cache_lock(fixture->mirror->cache, "a");
    wait_lock(fixture->mirror, "a", DROVER_CACHE_LOCK_FREE);
    drover_cache_ignore_lock(fixture->mirror->cache, "a");
    g_assert_true(peer_lock(directory, FALSE));
    sync_session(fixture->test);
    g_assert_cmpuint(fixture->mirror->lock_changes, ==, 1);
    wait_lock(fixture->mirror, "a", DROVER_CACHE_LOCK_TAKEN);
    peer_unlock(directory);
}

/* Known from the read of the record already. */
static void
test_lock_directory_exists(Fixture *fixture, gconstpointer data)
{
    g_autofree char *directory = below(fixture->root, "with/lock");

    put(fixture, "without", "1");
    put(fixture, "with", "1");
    peer_create(directory, "");
    begin_cache(fixture);
    g_assert_true(drover_cache_lock_directory_exists(fixture->mirror->cache, "with"));
    g_assert_false(drover_cache_lock_directory_exists(fixture->mirror->cache, "without"));
    g_assert_false(drover_cache_lock_directory_exists(fixture->mirror->cache, "never"));
}

static void
test_locks_without_connection(Fixture *fixture, gconstpointer data)
{
    gboolean with_session = GPOINTER_TO_INT(data);
    g_autofree char *a = below(fixture->root, "a/lock"), *b = below(fixture->root, "b/lock");

    put(fixture, "a", "1");
    put(fixture, "b", "1");
    g_assert_true(peer_lock(b, FALSE));
    begin_cache(fixture);
    wait_lock(fixture->mirror, "a", DROVER_CACHE_LOCK_FREE);
    wait_lock(fixture->mirror, "b", DROVER_CACHE_LOCK_TAKEN);
    suspend_session(fixture->test);
    g_assert_true(peer_lock(a, FALSE));
    peer_unlock(b);
    if (with_session)
        end_session_at_server(fixture->test);
    resume_session(fixture->test);
    wait_lock(fixture->mirror, "a", DROVER_CACHE_LOCK_TAKEN);
    wait_lock(fixture->mirror, "b", DROVER_CACHE_LOCK_FREE);
    peer_unlock(a);
    wait_lock(fixture->mirror, "a", DROVER_CACHE_LOCK_FREE);
}

/* Our own claims and locks are seen like those of others. */
static void
test_own_locks(Fixture *fixture, gconstpointer data)
{
    g_autofree char *path = below(fixture->root, "a"), *directory = below(path, "lock");
    DroverLock *lock = drover_lock_new(fixture->test->session, directory, FALSE, NULL);
    DroverChange *change = drover_change_new(fixture->test->session);

    put(fixture, "a", "1");
    begin_cache(fixture);
    wait_lock(fixture->mirror, "a", DROVER_CACHE_LOCK_FREE);
    drover_change_claim(change, directory, FALSE);
    g_assert_cmpint(commit(change), ==, DROVER_CHANGE_DONE);
    g_assert_true(drover_cache_lock_directory_exists(fixture->mirror->cache, "a"));
    g_assert_cmpint(acquire(lock, DROVER_LOCK_DO_NOT_WAIT), ==, DROVER_LOCK_HELD);
    wait_lock(fixture->mirror, "a", DROVER_CACHE_LOCK_TAKEN);
    drover_lock_free(lock);
    wait_lock(fixture->mirror, "a", DROVER_CACHE_LOCK_FREE);
}

typedef struct {
    Mirror *mirror;
    const char *text; /* set by who unlocks */
    gboolean done;
} Unlocking;

static void
on_unlocked(const DroverChangeResult *result, gpointer user_data)
{
    g_assert_cmpint(result->outcome, ==, DROVER_CHANGE_DONE);
    ((Unlocking *)user_data)->done = TRUE;
}

/* A child that is unlocked and current is as whoever unlocked it left it. */
static gboolean
is_unlocked(gpointer user_data)
{
    Unlocking *unlocking = user_data;
    const DroverCache *cache = unlocking->mirror->cache;

    if (drover_cache_lock(unlocking->mirror->cache, "a") != DROVER_CACHE_LOCK_FREE ||
        !drover_cache_is_current(cache, "a"))
        return FALSE;
    g_assert_cmpstr(mirror_text(unlocking->mirror, "a"), ==, unlocking->text);
    return unlocking->done;
}

static void
test_current(Fixture *fixture, gconstpointer data)
{
    g_autofree char *path = below(fixture->root, "a"), *directory = below(path, "lock");
    TestSession *writer = open_session(NULL);

    put(fixture, "a", "0");
    begin_cache(fixture);
    g_assert_false(drover_cache_is_current(fixture->mirror->cache, "never"));
    wait_lock(fixture->mirror, "a", DROVER_CACHE_LOCK_FREE);
    for (guint round = 1; round <= 30; round++) {
        DroverLock *lock = drover_lock_new(writer->session, directory, FALSE, NULL);
        DroverChange *change = drover_change_new(writer->session);
        g_autofree char *text = g_strdup_printf("%u", round);
        g_autoptr(GBytes) bytes = g_bytes_new(text, strlen(text));
        Unlocking unlocking = {fixture->mirror, text, FALSE};

        g_assert_cmpint(acquire(lock, DROVER_LOCK_DO_NOT_WAIT), ==, DROVER_LOCK_HELD);
        wait_lock(fixture->mirror, "a", DROVER_CACHE_LOCK_TAKEN);
        drover_change_release(change, lock);
        drover_change_set(change, path, bytes, -1);
        drover_change_commit(change, on_unlocked, &unlocking);
        wait_until(is_unlocked, &unlocking);
        drover_lock_free(lock);
    }
    close_session(writer);
}

/* ---- Its end ---- */

static void
test_freed_while_reading(Fixture *fixture, gconstpointer data)
{
    put_many(fixture->root, 100);
    for (guint round = 0; round < 20; round++) {
        Mirror *mirror = mirror_new(fixture->test->session, fixture->root);

        for (guint i = 0; i < round; i++)
            g_main_context_iteration(NULL, FALSE);
        mirror_free(mirror);
    }
    sync_session(fixture->test);
    begin_cache(fixture);
}

static void
add(const char *path, void (*test)(Fixture *fixture, gconstpointer data))
{
    g_test_add(path, Fixture, NULL, set_up, test, tear_down);
}

static void
add_with(const char *path, gboolean with_session,
         void (*test)(Fixture *fixture, gconstpointer data))
{
    g_test_add(path, Fixture, GINT_TO_POINTER(with_session), set_up, test, tear_down);
}

static void
add_tests(void)
{
    add("/zk/cache/follows", test_follows);
    add("/zk/cache/Z-21-Z-22-empty-and-malformed", test_empty_and_malformed);
    add("/zk/cache/root-comes-and-goes", test_root_comes_and_goes);
    add("/zk/cache/own-writes", test_own_writes);
    add("/zk/cache/Z-38-own-create-is-replaced", test_own_create_is_replaced);
    add("/zk/cache/Z-35-own-write-on-an-old-version", test_own_write_on_an_old_version);
    add("/zk/cache/Z-39-many", test_many);
    add_with("/zk/cache/Z-37-Z-38-suspended", FALSE, test_without_connection);
    add_with("/zk/cache/Z-38-lost", TRUE, test_without_connection);
    add("/zk/cache/interrupted-walk", test_interrupted_walk);
    add("/zk/cache/complete-under-load", test_complete_under_load);
    add("/zk/cache/lock-of-a-child", test_lock_of_a_child);
    add("/zk/cache/lock-nobody-asked-for", test_lock_nobody_asked_for);
    add("/zk/cache/lock-directory-exists", test_lock_directory_exists);
    add_with("/zk/cache/Z-38-locks-suspended", FALSE, test_locks_without_connection);
    add_with("/zk/cache/Z-38-locks-lost", TRUE, test_locks_without_connection);
    add("/zk/cache/own-locks", test_own_locks);
    add("/zk/cache/current", test_current);
    add("/zk/cache/freed-while-reading", test_freed_while_reading);
}

int
main(int argc, char **argv)
{
    return run_with_cluster(&argc, &argv, add_tests);
}
