/* Locks, in both directions with kazoo, and when connections and sessions end in the middle. */
#include "fixture.h"

#include <string.h>

typedef struct {
    TestSession *test;
    char *root, *directory; /* of the lock; its parent is there */
    DroverLock *lock;
} Fixture;

static void
set_up(Fixture *fixture, gconstpointer data)
{
    fixture->test = open_session(NULL);
    fixture->root = new_root();
    fixture->directory = below(fixture->root, "lock");
    fixture->lock = drover_lock_new(fixture->test->session, fixture->directory, FALSE, NULL);
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
    drover_lock_free(fixture->lock);
    close_session(fixture->test);
    g_free(fixture->root);
    g_free(fixture->directory);
}

/* How many contenders there are when all of ours that was under way is done. */
static int
settled_count(Fixture *fixture)
{
    sync_session(fixture->test);
    sync_session(fixture->test);
    return peer_count(fixture->directory);
}

typedef struct {
    guint answers;
    DroverLockOutcome outcome;
} Attempt;

static void
on_outcome(DroverLock *lock, DroverLockOutcome outcome, gpointer user_data)
{
    Attempt *attempt = user_data;

    attempt->answers++;
    attempt->outcome = outcome;
}

static gboolean
is_answered(gpointer user_data)
{
    return ((Attempt *)user_data)->answers > 0;
}

static gboolean
has_contender(gpointer directory)
{
    return peer_count(directory) == 1;
}

static gboolean
has_two_contenders(gpointer directory)
{
    return peer_count(directory) == 2;
}

static gboolean
has_no_contender(gpointer directory)
{
    return peer_count(directory) == 0;
}

/* ---- Names ---- */

static void
test_names(void)
{
    const char *const names[] = {"a__lock__0000000003",
                                 "b__lock__0000000001",
                                 "c__lock__-2147483648",
                                 "d__rlock__0000000000",
                                 "x-1-0000000000",
                                 "aaaa0000000001",
                                 "e__lock__",
                                 NULL};
    const char *const others[] = {"d__rlock__0000000000", NULL};

    g_assert_cmpstr(drover_lock_sequence("a__lock__0000000003"), ==, "0000000003");
    g_assert_cmpstr(drover_lock_sequence("a__lock__-2147483648"), ==, "-2147483648");
    g_assert_cmpstr(drover_lock_sequence("__lock____lock__0000000001"), ==, "0000000001");
    g_assert_null(drover_lock_sequence("a__lock__000000003"));
    g_assert_null(drover_lock_sequence("a__lock__00000000003"));
    g_assert_null(drover_lock_sequence("a__lock__0000000003x"));
    g_assert_null(drover_lock_sequence("a__lock__--000000003"));
    g_assert_null(drover_lock_sequence("a__rlock__0000000003"));
    g_assert_null(drover_lock_sequence("lock"));
    g_assert_null(drover_lock_sequence(""));
    g_assert_cmpstr(drover_lock_find_holder(names), ==, "c__lock__-2147483648");
    g_assert_null(drover_lock_find_holder(others));
    g_assert_true(drover_lock_is_of_holder("abc__lock__0000000001", "ab"));
    g_assert_false(drover_lock_is_of_holder("abc__lock__0000000001", "b"));
    g_assert_false(drover_lock_is_of_holder("abc", "ab"));
}

static void
test_contender(Fixture *fixture, gconstpointer data)
{
    g_auto(GStrv) names = NULL;

    g_assert_cmpint(acquire(fixture->lock, DROVER_LOCK_DO_NOT_WAIT), ==, DROVER_LOCK_HELD);
    names = peer_children(fixture->directory);
    g_assert_cmpuint(g_strv_length(names), ==, 1);
    g_assert_true(g_regex_match_simple("^[0-9a-f]{32}__lock__[0-9]{10}$", names[0], 0, 0));
    g_assert_true(g_str_has_suffix(drover_lock_contender(fixture->lock), names[0]));
    g_assert_cmpint(peer_stat(drover_lock_contender(fixture->lock), "ephemeralOwner"), ==,
                    drover_session_id(fixture->test->session));
    g_assert_cmpint(peer_stat(drover_lock_contender(fixture->lock), "dataLength"), ==, 0);
    g_assert_cmpint(peer_stat(fixture->directory, "ephemeralOwner"), ==, 0);
    g_assert_cmpint(peer_stat(fixture->directory, "dataLength"), ==, 0);
}

static void
test_identifier(Fixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *text = NULL;
    json_t *contenders;
    DroverLock *lock =
        drover_lock_new(fixture->test->session, fixture->directory, FALSE, "host-123");

    g_assert_cmpint(acquire(lock, DROVER_LOCK_WAIT_FOREVER), ==, DROVER_LOCK_HELD);
    contenders =
        test_kazoo_peer_call(peer, &error, "contenders", "{s:s}", "path", fixture->directory);
    g_assert_no_error(error);
    text = json_dumps(contenders, 0);
    g_assert_cmpstr(text, ==, "[\"host-123\"]");
    json_decref(contenders);
    drover_lock_free(lock);
}

/* ---- With kazoo ---- */

static void
test_kazoo_holds(Fixture *fixture, gconstpointer data)
{
    g_auto(GStrv) before = NULL, after = NULL;

    g_assert_true(peer_lock(fixture->directory, FALSE));
    before = peer_children(fixture->directory);
    g_assert_cmpint(acquire(fixture->lock, DROVER_LOCK_DO_NOT_WAIT), ==, DROVER_LOCK_BUSY);
    g_assert_false(drover_lock_is_held(fixture->lock));
    g_assert_null(drover_lock_contender(fixture->lock));
    g_assert_cmpint(settled_count(fixture), ==, 1);
    after = peer_children(fixture->directory);
    g_assert_true(g_strv_equal((const char *const *)before, (const char *const *)after));
    peer_unlock(fixture->directory);
}

static void
test_drover_holds(Fixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    json_t *result;

    g_assert_cmpint(acquire(fixture->lock, DROVER_LOCK_DO_NOT_WAIT), ==, DROVER_LOCK_HELD);
    g_assert_false(peer_lock(fixture->directory, FALSE));
    result = test_kazoo_peer_call(peer, &error, "lock", "{s:s, s:i}", "path", fixture->directory,
                                  "timeout", 1);
    g_assert_null(result);
    g_assert_true(g_str_has_prefix(error->message, "LockTimeout"));
    g_assert_cmpint(peer_count(fixture->directory), ==, 1);
}

static void
test_kazoo_waits(Fixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    json_t *result;
    guint call;

    g_assert_cmpint(acquire(fixture->lock, DROVER_LOCK_DO_NOT_WAIT), ==, DROVER_LOCK_HELD);
    call = test_kazoo_peer_send(peer, "lock", "{s:s}", "path", fixture->directory);
    wait_until(has_two_contenders, fixture->directory);
    g_assert_false(test_kazoo_peer_is_answered(peer, call));
    drover_lock_release(fixture->lock);
    result = test_kazoo_peer_wait(peer, call, &error);
    g_assert_no_error(error);
    g_assert_true(json_is_true(result));
    json_decref(result);
    peer_unlock(fixture->directory);
}

static void
test_drover_waits(Fixture *fixture, gconstpointer data)
{
    Attempt attempt = {0};

    g_assert_true(peer_lock(fixture->directory, FALSE));
    drover_lock_acquire(fixture->lock, DROVER_LOCK_WAIT_FOREVER, on_outcome, &attempt);
    wait_until(has_two_contenders, fixture->directory);
    sync_session(fixture->test);
    g_assert_cmpuint(attempt.answers, ==, 0);
    peer_unlock(fixture->directory);
    wait_until(is_answered, &attempt);
    g_assert_cmpint(attempt.outcome, ==, DROVER_LOCK_HELD);
}

static void
test_time_out(Fixture *fixture, gconstpointer data)
{
    g_assert_true(peer_lock(fixture->directory, FALSE));
    g_assert_cmpint(acquire(fixture->lock, 50), ==, DROVER_LOCK_TIMEOUT);
    g_assert_cmpint(settled_count(fixture), ==, 1);
    peer_unlock(fixture->directory);
    g_assert_cmpint(acquire(fixture->lock, 60000), ==, DROVER_LOCK_HELD);
}

/* The session of the holder ends: not before that is the lock had. */
static void
test_kazoo_dies(Fixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    TestKazooPeerOptions options = {.hosts = test_zookeeper_hosts(server), .timeout = 2};
    TestKazooPeer *other = test_kazoo_peer_start(&options, &error);
    Attempt attempt = {0};
    gint64 died;
    json_t *result;

    g_assert_no_error(error);
    result = test_kazoo_peer_call(other, &error, "lock", "{s:s}", "path", fixture->directory);
    g_assert_no_error(error);
    json_decref(result);
    drover_lock_acquire(fixture->lock, DROVER_LOCK_WAIT_FOREVER, on_outcome, &attempt);
    wait_until(has_two_contenders, fixture->directory);
    died = g_get_monotonic_time();
    test_kazoo_peer_free(other);
    sync_session(fixture->test);
    g_assert_cmpuint(attempt.answers, ==, 0);
    wait_until(is_answered, &attempt);
    g_assert_cmpint(attempt.outcome, ==, DROVER_LOCK_HELD);
    /* The client pings each third of the two seconds, so at least the rest was left. */
    g_assert_cmpint(g_get_monotonic_time() - died, >, G_USEC_PER_SEC);
}

/* ---- Objects that are not there ---- */

static void
test_missing_object(Fixture *fixture, gconstpointer data)
{
    g_autofree char *node = below(fixture->root, "node"), *directory = below(node, "lock");
    DroverLock *lock = drover_lock_new(fixture->test->session, directory, FALSE, NULL);

    g_assert_cmpint(acquire(lock, DROVER_LOCK_DO_NOT_WAIT), ==, DROVER_LOCK_GONE);
    g_assert_cmpint(acquire(lock, 100), ==, DROVER_LOCK_GONE);
    g_assert_cmpint(acquire(lock, DROVER_LOCK_WAIT_FOREVER), ==, DROVER_LOCK_GONE);
    drover_lock_free(lock);
    sync_session(fixture->test);
    g_assert_false(peer_exists(node));
    g_assert_cmpint(peer_count(fixture->root), ==, 0);
}

static void
test_parents_are_made(Fixture *fixture, gconstpointer data)
{
    g_autofree char *directory = below(fixture->root, "a/b/c");
    DroverLock *lock = drover_lock_new(fixture->test->session, directory, TRUE, NULL);

    g_assert_cmpint(acquire(lock, DROVER_LOCK_DO_NOT_WAIT), ==, DROVER_LOCK_HELD);
    g_assert_false(peer_lock(directory, FALSE));
    drover_lock_release(lock);
    g_assert_cmpint(acquire(lock, DROVER_LOCK_DO_NOT_WAIT), ==, DROVER_LOCK_HELD);
    drover_lock_free(lock);
}

/* Removed in one step, as Drover does it. */
static void
delete_at_once(TestSession *test, const char *node, const char *directory)
{
    DroverChange *change = drover_change_new(test->session);
    g_auto(GStrv) names = peer_children(directory);

    for (guint i = 0; names[i] != NULL; i++) {
        g_autofree char *path = below(directory, "%s", names[i]);

        drover_change_delete(change, path, -1);
    }
    drover_change_delete(change, directory, -1);
    drover_change_delete(change, node, -1);
    g_assert_cmpint(commit(change), ==, DROVER_CHANGE_DONE);
}

static void
test_object_vanishes_while_waiting(Fixture *fixture, gconstpointer data)
{
    g_autofree char *node = below(fixture->root, "node"), *directory = below(node, "lock");
    DroverLock *lock = drover_lock_new(fixture->test->session, directory, FALSE, NULL);
    Attempt attempt = {0};

    peer_create(node, "record");
    g_assert_true(peer_lock(directory, FALSE));
    drover_lock_acquire(lock, DROVER_LOCK_WAIT_FOREVER, on_outcome, &attempt);
    wait_until(has_two_contenders, directory);
    sync_session(fixture->test);
    delete_at_once(fixture->test, node, directory);
    wait_until(is_answered, &attempt);
    g_assert_cmpint(attempt.outcome, ==, DROVER_LOCK_GONE);
    drover_lock_free(lock);
    sync_session(fixture->test);
    g_assert_false(peer_exists(node));
}

static void
delete_own_contender(Fixture *fixture, const char *directory)
{
    const char *holder = drover_session_holder(fixture->test->session);
    g_auto(GStrv) names = peer_children(directory);

    for (guint i = 0; names[i] != NULL; i++)
        if (drover_lock_is_of_holder(names[i], holder)) {
            g_autofree char *path = below(directory, "%s", names[i]);

            peer_delete(path);
        }
}

/* As Nodepool deletes a record: the contenders, then their directory, then the record. */
static void
test_object_is_deleted_in_steps(Fixture *fixture, gconstpointer data)
{
    gboolean with_directory = GPOINTER_TO_INT(data);
    g_autofree char *node = below(fixture->root, "node"), *directory = below(node, "lock");
    DroverLock *lock = drover_lock_new(fixture->test->session, directory, FALSE, NULL);
    Attempt attempt = {0};

    peer_create(node, "record");
    g_assert_true(peer_lock(directory, FALSE));
    drover_lock_acquire(lock, DROVER_LOCK_WAIT_FOREVER, on_outcome, &attempt);
    wait_until(has_two_contenders, directory);
    sync_session(fixture->test);
    delete_own_contender(fixture, directory);
    if (with_directory)
        peer_delete(directory);
    peer_unlock(directory);
    wait_until(is_answered, &attempt);
    g_assert_cmpint(attempt.outcome, ==, DROVER_LOCK_GONE);
    drover_lock_free(lock);
    sync_session(fixture->test);
    g_assert_cmpint(peer_count(node), ==, with_directory ? 0 : 1);
    if (!with_directory)
        g_assert_cmpint(peer_count(directory), ==, 0);
    /* Fails if anything has grown again. */
    peer_delete(node);
}

/* At any moment of an attempt; the deletion would fail over a contender that comes late. */
static void
test_object_is_deleted_at_any_moment(Fixture *fixture, gconstpointer data)
{
    for (guint round = 0; round < 100; round++) {
        g_autofree char *node = below(fixture->root, "n%u", round),
                        *directory = below(node, "lock");
        DroverLock *lock = drover_lock_new(fixture->test->session, directory, FALSE, NULL);
        Attempt attempt = {0};

        peer_create(node, "record");
        g_assert_true(peer_lock(directory, FALSE));
        drover_lock_acquire(lock, DROVER_LOCK_WAIT_FOREVER, on_outcome, &attempt);
        wait_until(has_two_contenders, directory);
        for (guint i = round % 10; i > 0; i--)
            g_main_context_iteration(NULL, FALSE);
        peer_delete(node);
        peer_unlock(directory);
        /* Held when the contender before it went first; then ours went as well. */
        wait_until(is_answered, &attempt);
        g_assert_true(attempt.outcome == DROVER_LOCK_GONE || attempt.outcome == DROVER_LOCK_HELD);
        drover_lock_free(lock);
        sync_session(fixture->test);
        g_assert_false(peer_exists(node));
    }
}

static void
test_no_permission(Fixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *deep = below(fixture->directory, "below/lock");
    DroverLock *lock = drover_lock_new(fixture->test->session, deep, TRUE, NULL);

    peer_create(fixture->directory, "");
    json_decref(test_kazoo_peer_call(peer, &error, "allow", "{s:s, s:i}", "path",
                                     fixture->directory, "permissions", 1));
    g_assert_no_error(error);
    g_assert_cmpint(acquire(fixture->lock, DROVER_LOCK_WAIT_FOREVER), ==, DROVER_LOCK_FAILED);
    g_assert_cmpint(acquire(lock, DROVER_LOCK_WAIT_FOREVER), ==, DROVER_LOCK_FAILED);
    drover_lock_free(lock);
}

/* ---- Other names in the directory ---- */

static void
test_read_locks_and_foreign_names(Fixture *fixture, gconstpointer data)
{
    static const char *const names[] = {"0123456789abcdef0123456789abcdef__rlock__0000000000",
                                        "x-1-0000000000", "aaaa0000000001",
                                        "_c_11111111-2222-3333-4444-555555555555-lock-0000000000"};

    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *path = below(fixture->directory, "%s", names[i]);

        peer_create(path, "");
    }
    g_assert_cmpint(acquire(fixture->lock, DROVER_LOCK_DO_NOT_WAIT), ==, DROVER_LOCK_HELD);
}

/* A sequence that has wrapped compares as a string, so it comes first. */
static void
test_wrapped_sequence(Fixture *fixture, gconstpointer data)
{
    g_autofree char *path = below(fixture->directory, "0123__lock__-2147483648");
    Attempt attempt = {0};

    peer_create(path, "");
    g_assert_cmpint(acquire(fixture->lock, DROVER_LOCK_DO_NOT_WAIT), ==, DROVER_LOCK_BUSY);
    drover_lock_acquire(fixture->lock, DROVER_LOCK_WAIT_FOREVER, on_outcome, &attempt);
    wait_until(has_two_contenders, fixture->directory);
    peer_delete(path);
    wait_until(is_answered, &attempt);
    g_assert_cmpint(attempt.outcome, ==, DROVER_LOCK_HELD);
}

/* ---- Connections that end in the middle ---- */

/* Lets the contender be created without an answer, and cuts the connection. */
static void
lose_the_answer(Fixture *fixture, gint64 wait, Attempt *attempt)
{
    test_tcp_proxy_set_mode(proxy, TEST_PROXY_HOLD_REPLIES);
    drover_lock_acquire(fixture->lock, wait, on_outcome, attempt);
    wait_until(has_contender, fixture->directory);
    g_assert_cmpuint(attempt->answers, ==, 0);
    suspend_session(fixture->test);
}

static void
test_lost_answer_without_waiting(Fixture *fixture, gconstpointer data)
{
    Attempt attempt = {0};

    lose_the_answer(fixture, DROVER_LOCK_DO_NOT_WAIT, &attempt);
    /* Told at once, not when the connection is back. */
    wait_until(is_answered, &attempt);
    g_assert_cmpint(attempt.outcome, ==, DROVER_LOCK_UNKNOWN);
    g_assert_false(drover_lock_is_held(fixture->lock));
    g_assert_cmpint(peer_count(fixture->directory), ==, 1);
    resume_session(fixture->test);
    wait_until(has_no_contender, fixture->directory);
    g_assert_cmpuint(attempt.answers, ==, 1);
    g_assert_true(peer_lock(fixture->directory, FALSE));
    peer_unlock(fixture->directory);
}

static void
test_lost_answer_while_waiting(Fixture *fixture, gconstpointer data)
{
    Attempt attempt = {0};

    lose_the_answer(fixture, DROVER_LOCK_WAIT_FOREVER, &attempt);
    resume_session(fixture->test);
    wait_until(is_answered, &attempt);
    g_assert_cmpint(attempt.outcome, ==, DROVER_LOCK_HELD);
    g_assert_cmpint(settled_count(fixture), ==, 1);
    drover_lock_release(fixture->lock);
    g_assert_cmpint(settled_count(fixture), ==, 0);
}

static void
test_lost_answer_and_freed(Fixture *fixture, gconstpointer data)
{
    Attempt attempt = {0};

    lose_the_answer(fixture, DROVER_LOCK_WAIT_FOREVER, &attempt);
    drover_lock_free(g_steal_pointer(&fixture->lock));
    resume_session(fixture->test);
    wait_until(has_no_contender, fixture->directory);
    g_assert_cmpuint(attempt.answers, ==, 0);
}

static void
test_lost_answer_and_session(Fixture *fixture, gconstpointer data)
{
    Attempt attempt = {0};

    lose_the_answer(fixture, DROVER_LOCK_WAIT_FOREVER, &attempt);
    end_session_at_server(fixture->test);
    g_assert_cmpint(peer_count(fixture->directory), ==, 0);
    resume_session(fixture->test);
    wait_until(is_answered, &attempt);
    g_assert_cmpint(attempt.outcome, ==, DROVER_LOCK_HELD);
    g_assert_cmpint(settled_count(fixture), ==, 1);
}

/* The time-out runs on without a connection. */
static void
test_time_out_while_suspended(Fixture *fixture, gconstpointer data)
{
    Attempt attempt = {0};

    lose_the_answer(fixture, 100, &attempt);
    wait_until(is_answered, &attempt);
    g_assert_cmpint(attempt.outcome, ==, DROVER_LOCK_TIMEOUT);
    resume_session(fixture->test);
    wait_until(has_no_contender, fixture->directory);
}

static void
test_attempts_while_suspended(Fixture *fixture, gconstpointer data)
{
    Attempt attempt = {0};

    suspend_session(fixture->test);
    g_assert_cmpint(acquire(fixture->lock, DROVER_LOCK_DO_NOT_WAIT), ==, DROVER_LOCK_UNKNOWN);
    g_assert_cmpint(acquire(fixture->lock, 50), ==, DROVER_LOCK_TIMEOUT);
    drover_lock_acquire(fixture->lock, DROVER_LOCK_WAIT_FOREVER, on_outcome, &attempt);
    resume_session(fixture->test);
    wait_until(is_answered, &attempt);
    g_assert_cmpint(attempt.outcome, ==, DROVER_LOCK_HELD);
    g_assert_cmpint(settled_count(fixture), ==, 1);
}

static void
test_held_while_suspended(Fixture *fixture, gconstpointer data)
{
    g_assert_cmpint(acquire(fixture->lock, DROVER_LOCK_DO_NOT_WAIT), ==, DROVER_LOCK_HELD);
    suspend_session(fixture->test);
    g_assert_true(drover_lock_is_held(fixture->lock));
    g_assert_false(peer_lock(fixture->directory, FALSE));
    resume_session(fixture->test);
    g_assert_true(drover_lock_is_held(fixture->lock));
    g_assert_cmpint(settled_count(fixture), ==, 1);
}

static void
test_released_while_suspended(Fixture *fixture, gconstpointer data)
{
    g_assert_cmpint(acquire(fixture->lock, DROVER_LOCK_DO_NOT_WAIT), ==, DROVER_LOCK_HELD);
    suspend_session(fixture->test);
    drover_lock_release(fixture->lock);
    g_assert_false(drover_lock_is_held(fixture->lock));
    g_assert_cmpint(peer_count(fixture->directory), ==, 1);
    resume_session(fixture->test);
    wait_until(has_no_contender, fixture->directory);
}

static void
test_waits_through_a_lost_connection(Fixture *fixture, gconstpointer data)
{
    Attempt attempt = {0};

    g_assert_true(peer_lock(fixture->directory, FALSE));
    drover_lock_acquire(fixture->lock, DROVER_LOCK_WAIT_FOREVER, on_outcome, &attempt);
    wait_until(has_two_contenders, fixture->directory);
    suspend_session(fixture->test);
    peer_unlock(fixture->directory); /* unseen */
    resume_session(fixture->test);
    wait_until(is_answered, &attempt);
    g_assert_cmpint(attempt.outcome, ==, DROVER_LOCK_HELD);
    g_assert_cmpint(settled_count(fixture), ==, 1);
}

static void
test_waits_through_a_lost_session(Fixture *fixture, gconstpointer data)
{
    Attempt attempt = {0};

    g_assert_true(peer_lock(fixture->directory, FALSE));
    drover_lock_acquire(fixture->lock, DROVER_LOCK_WAIT_FOREVER, on_outcome, &attempt);
    wait_until(has_two_contenders, fixture->directory);
    expire_session(fixture->test);
    wait_until(has_two_contenders, fixture->directory);
    g_assert_cmpuint(attempt.answers, ==, 0);
    peer_unlock(fixture->directory);
    wait_until(is_answered, &attempt);
    g_assert_cmpint(attempt.outcome, ==, DROVER_LOCK_HELD);
}

static void
test_held_and_session_lost(Fixture *fixture, gconstpointer data)
{
    g_assert_cmpint(acquire(fixture->lock, DROVER_LOCK_DO_NOT_WAIT), ==, DROVER_LOCK_HELD);
    expire_session(fixture->test);
    g_assert_false(drover_lock_is_held(fixture->lock));
    g_assert_null(drover_lock_contender(fixture->lock));
    g_assert_true(peer_lock(fixture->directory, FALSE));
    g_assert_cmpint(acquire(fixture->lock, DROVER_LOCK_DO_NOT_WAIT), ==, DROVER_LOCK_BUSY);
    peer_unlock(fixture->directory);
}

/* ---- The owner changes its mind ---- */

static void
test_freed_while_acquiring(Fixture *fixture, gconstpointer data)
{
    Attempt attempt = {0};

    for (guint round = 0; round < 100; round++) {
        DroverLock *lock = drover_lock_new(fixture->test->session, fixture->directory, FALSE, NULL);

        drover_lock_acquire(lock, DROVER_LOCK_WAIT_FOREVER, on_outcome, &attempt);
        for (guint i = round % 10; i > 0; i--)
            g_main_context_iteration(NULL, FALSE);
        drover_lock_free(lock);
    }
    wait_until(has_no_contender, fixture->directory);
}

static void
free_in_callback(DroverLock *lock, DroverLockOutcome outcome, gpointer user_data)
{
    on_outcome(lock, outcome, user_data);
    drover_lock_free(lock);
}

static void
test_freed_in_its_callback(Fixture *fixture, gconstpointer data)
{
    static const gint64 waits[] = {DROVER_LOCK_DO_NOT_WAIT, 10, DROVER_LOCK_WAIT_FOREVER};

    for (guint busy = 0; busy < 2; busy++) {
        if (busy)
            g_assert_true(peer_lock(fixture->directory, FALSE));
        for (guint i = 0; i + busy < G_N_ELEMENTS(waits); i++) {
            DroverLock *lock =
                drover_lock_new(fixture->test->session, fixture->directory, FALSE, NULL);
            Attempt attempt = {0};

            drover_lock_acquire(lock, waits[i], free_in_callback, &attempt);
            wait_until(is_answered, &attempt);
        }
        g_assert_cmpint(settled_count(fixture), ==, busy);
    }
    peer_unlock(fixture->directory);
}

static void
acquire_again(DroverLock *lock, DroverLockOutcome outcome, gpointer user_data)
{
    if (outcome == DROVER_LOCK_HELD)
        on_outcome(lock, outcome, user_data);
    else
        drover_lock_acquire(lock, g_random_int_range(1, 4), acquire_again, user_data);
}

/* Each attempt times out while its questions are under way, until kazoo lets go at some moment. */
static void
test_acquired_again_at_once(Fixture *fixture, gconstpointer data)
{
    for (guint round = 0; round < 50; round++) {
        Attempt attempt = {0};

        g_assert_true(peer_lock(fixture->directory, TRUE));
        drover_lock_acquire(fixture->lock, 2, acquire_again, &attempt);
        peer_unlock(fixture->directory);
        wait_until(is_answered, &attempt);
        g_assert_true(drover_lock_is_held(fixture->lock));
        g_assert_true(peer_exists(drover_lock_contender(fixture->lock)));
        g_assert_cmpint(settled_count(fixture), ==, 1);
        g_assert_true(drover_lock_is_held(fixture->lock));
        drover_lock_release(fixture->lock);
    }
}

/* Released and wanted again before the first answer has come. */
static void
test_released_and_acquired_at_once(Fixture *fixture, gconstpointer data)
{
    for (guint round = 0; round < 100; round++) {
        Attempt former = {0};

        drover_lock_acquire(fixture->lock, DROVER_LOCK_WAIT_FOREVER, on_outcome, &former);
        for (guint i = round % 10; i > 0; i--)
            g_main_context_iteration(NULL, FALSE);
        drover_lock_release(fixture->lock);
        g_assert_cmpint(acquire(fixture->lock, DROVER_LOCK_DO_NOT_WAIT), ==, DROVER_LOCK_HELD);
        g_assert_true(peer_exists(drover_lock_contender(fixture->lock)));
        drover_lock_release(fixture->lock);
    }
    wait_until(has_no_contender, fixture->directory);
}

/* Somebody removes the contender by hand, in a directory that stands for itself. */
static void
test_contender_removed(Fixture *fixture, gconstpointer data)
{
    DroverLock *lock = drover_lock_new(fixture->test->session, fixture->directory, TRUE, NULL);
    Attempt attempt = {0};

    g_assert_true(peer_lock(fixture->directory, FALSE));
    drover_lock_acquire(lock, DROVER_LOCK_WAIT_FOREVER, on_outcome, &attempt);
    wait_until(has_two_contenders, fixture->directory);
    delete_own_contender(fixture, fixture->directory);
    peer_unlock(fixture->directory);
    wait_until(is_answered, &attempt);
    g_assert_cmpint(attempt.outcome, ==, DROVER_LOCK_HELD);
    g_assert_cmpint(settled_count(fixture), ==, 1);
    drover_lock_free(lock);
}

static void
add(const char *path, void (*test)(Fixture *fixture, gconstpointer data))
{
    g_test_add(path, Fixture, NULL, set_up, test, tear_down);
}

static void
add_tests(void)
{
    g_test_add_func("/zk/lock/Z-29-names", test_names);
    add("/zk/lock/Z-31-contender", test_contender);
    add("/zk/lock/identifier", test_identifier);
    add("/zk/lock/Z-23-kazoo-holds", test_kazoo_holds);
    add("/zk/lock/Z-24-drover-holds", test_drover_holds);
    add("/zk/lock/Z-25-kazoo-waits", test_kazoo_waits);
    add("/zk/lock/drover-waits", test_drover_waits);
    add("/zk/lock/time-out", test_time_out);
    add("/zk/lock/Z-26-kazoo-dies", test_kazoo_dies);
    add("/zk/lock/Z-27-missing-object", test_missing_object);
    add("/zk/lock/parents-are-made", test_parents_are_made);
    add("/zk/lock/Z-27-object-vanishes-while-waiting", test_object_vanishes_while_waiting);
    g_test_add("/zk/lock/Z-27-object-is-deleted-in-steps/contenders", Fixture,
               GINT_TO_POINTER(FALSE), set_up, test_object_is_deleted_in_steps, tear_down);
    g_test_add("/zk/lock/Z-27-object-is-deleted-in-steps/directory", Fixture, GINT_TO_POINTER(TRUE),
               set_up, test_object_is_deleted_in_steps, tear_down);
    add("/zk/lock/Z-27-object-is-deleted-at-any-moment", test_object_is_deleted_at_any_moment);
    add("/zk/lock/no-permission", test_no_permission);
    add("/zk/lock/Z-28-Z-29-read-locks-and-foreign-names", test_read_locks_and_foreign_names);
    add("/zk/lock/wrapped-sequence", test_wrapped_sequence);
    add("/zk/lock/F-51-lost-answer-without-waiting", test_lost_answer_without_waiting);
    add("/zk/lock/Z-30-lost-answer-while-waiting", test_lost_answer_while_waiting);
    add("/zk/lock/F-51-lost-answer-and-freed", test_lost_answer_and_freed);
    add("/zk/lock/lost-answer-and-session", test_lost_answer_and_session);
    add("/zk/lock/F-51-time-out-while-suspended", test_time_out_while_suspended);
    add("/zk/lock/attempts-while-suspended", test_attempts_while_suspended);
    add("/zk/lock/Z-37-held-while-suspended", test_held_while_suspended);
    add("/zk/lock/released-while-suspended", test_released_while_suspended);
    add("/zk/lock/waits-through-a-lost-connection", test_waits_through_a_lost_connection);
    add("/zk/lock/waits-through-a-lost-session", test_waits_through_a_lost_session);
    add("/zk/lock/held-and-session-lost", test_held_and_session_lost);
    add("/zk/lock/freed-while-acquiring", test_freed_while_acquiring);
    add("/zk/lock/freed-in-its-callback", test_freed_in_its_callback);
    add("/zk/lock/acquired-again-at-once", test_acquired_again_at_once);
    add("/zk/lock/released-and-acquired-at-once", test_released_and_acquired_at_once);
    add("/zk/lock/contender-removed", test_contender_removed);
}

int
main(int argc, char **argv)
{
    return run_with_cluster(&argc, &argv, add_tests);
}
