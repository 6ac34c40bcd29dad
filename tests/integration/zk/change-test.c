/* Changes: what proves that they may be made, and what becomes of those that may not. */
#include "fixture.h"

#include <string.h>

#include "base/log.h"

typedef struct {
    TestSession *test;
    char *root, *node, *directory; /* a record and its lock directory, which is not there */
    GBytes *data;
} Fixture;

static void
set_up(Fixture *fixture, gconstpointer data)
{
    fixture->test = open_session(NULL);
    fixture->root = new_root();
    fixture->node = below(fixture->root, "node");
    fixture->directory = below(fixture->node, "lock");
    fixture->data = g_bytes_new_static("drover", 6);
    peer_create(fixture->node, "kazoo");
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
    close_session(fixture->test);
    g_free(fixture->root);
    g_free(fixture->node);
    g_free(fixture->directory);
    g_bytes_unref(fixture->data);
}

static DroverChange *
change_new(Fixture *fixture)
{
    return drover_change_new(fixture->test->session);
}

static void
assert_record(Fixture *fixture, const char *expected, gint64 version)
{
    g_autofree char *text = peer_get(fixture->node);

    g_assert_cmpstr(text, ==, expected);
    g_assert_cmpint(peer_stat(fixture->node, "version"), ==, version);
}

/* A change of the record's first version that claims its lock. */
static DroverChangeOutcome
claim_and_set(Fixture *fixture, gboolean present, gint32 version)
{
    DroverChange *change = change_new(fixture);

    drover_change_claim(change, fixture->directory, present);
    drover_change_set(change, fixture->node, fixture->data, version);
    return commit(change);
}

typedef struct {
    gboolean answered;
    DroverChangeOutcome outcome;
    char *blamed;
    GStrv created;
} Result;

static void
on_result(const DroverChangeResult *result, gpointer user_data)
{
    Result *kept = user_data;

    g_assert_false(kept->answered);
    kept->answered = TRUE;
    kept->outcome = result->outcome;
    kept->blamed = g_strdup(result->blamed);
    kept->created = g_strdupv((char **)result->created);
}

static void
result_clear(Result *result)
{
    g_free(result->blamed);
    g_strfreev(result->created);
}

/* ---- Claims ---- */

static void
test_claim(Fixture *fixture, gconstpointer data)
{
    g_assert_cmpint(claim_and_set(fixture, FALSE, 0), ==, DROVER_CHANGE_DONE);
    assert_record(fixture, "drover", 1);
    g_assert_cmpint(peer_count(fixture->directory), ==, 0);
    /* Now the directory is there, and believed to be or not. */
    g_assert_cmpint(claim_and_set(fixture, TRUE, 1), ==, DROVER_CHANGE_DONE);
    g_assert_cmpint(claim_and_set(fixture, FALSE, 2), ==, DROVER_CHANGE_DONE);
    assert_record(fixture, "drover", 3);
    g_assert_true(peer_lock(fixture->directory, FALSE));
    peer_unlock(fixture->directory);
}

static void
test_claim_of_an_absent_directory_believed_present(Fixture *fixture, gconstpointer data)
{
    g_assert_cmpint(claim_and_set(fixture, TRUE, 0), ==, DROVER_CHANGE_DONE);
    assert_record(fixture, "drover", 1);
}

static void
test_claim_of_a_taken_lock(Fixture *fixture, gconstpointer data)
{
    g_autofree char *other = below(fixture->root, "other");
    DroverChange *change;

    g_assert_true(peer_lock(fixture->directory, FALSE));
    g_assert_cmpint(claim_and_set(fixture, FALSE, 0), ==, DROVER_CHANGE_BUSY);
    g_assert_cmpint(claim_and_set(fixture, TRUE, 0), ==, DROVER_CHANGE_BUSY);
    /* All or nothing. */
    change = change_new(fixture);
    drover_change_create(change, other, NULL, 0);
    drover_change_claim(change, fixture->directory, FALSE);
    g_assert_cmpint(commit(change), ==, DROVER_CHANGE_BUSY);
    g_assert_false(peer_exists(other));
    assert_record(fixture, "kazoo", 0);
    g_assert_cmpint(peer_count(fixture->directory), ==, 1);
    peer_unlock(fixture->directory);
    g_assert_cmpint(claim_and_set(fixture, TRUE, 0), ==, DROVER_CHANGE_DONE);
}

/* Each wrong belief costs one attempt, however many there are. */
static void
test_many_claims(Fixture *fixture, gconstpointer data)
{
    DroverChange *change = change_new(fixture);

    for (guint i = 0; i < 30; i++) {
        g_autofree char *node = below(fixture->root, "n%u", i), *directory = below(node, "lock");

        if (i % 2 == 0)
            peer_create(directory, "");
        else
            peer_create(node, "");
        drover_change_claim(change, directory, i % 3 == 0);
        drover_change_set(change, node, fixture->data, -1);
    }
    g_assert_cmpint(commit(change), ==, DROVER_CHANGE_DONE);
}

static void
test_claim_of_a_missing_record(Fixture *fixture, gconstpointer data)
{
    Result result = {0};
    DroverChange *change = change_new(fixture);

    peer_delete(fixture->node);
    drover_change_claim(change, fixture->directory, TRUE);
    drover_change_set(change, fixture->node, fixture->data, 0);
    drover_change_commit(change, on_result, &result);
    wait_for(&result.answered);
    g_assert_cmpint(result.outcome, ==, DROVER_CHANGE_GONE);
    g_assert_true(g_str_has_prefix(result.blamed, fixture->node));
    g_assert_false(peer_exists(fixture->node));
    result_clear(&result);
}

/* The record changed between the decision and the change. */
static void
test_stale_decision(Fixture *fixture, gconstpointer data)
{
    Result result = {0};
    DroverChange *change = change_new(fixture);

    peer_set(fixture->node, "changed");
    drover_change_claim(change, fixture->directory, FALSE);
    drover_change_set(change, fixture->node, fixture->data, 0);
    drover_change_commit(change, on_result, &result);
    wait_for(&result.answered);
    g_assert_cmpint(result.outcome, ==, DROVER_CHANGE_CONFLICT);
    g_assert_cmpstr(result.blamed, ==, fixture->node);
    assert_record(fixture, "changed", 1);
    g_assert_false(peer_exists(fixture->directory));
    result_clear(&result);

    change = change_new(fixture);
    drover_change_expect(change, fixture->node, 0);
    g_assert_cmpint(commit(change), ==, DROVER_CHANGE_CONFLICT);
    change = change_new(fixture);
    drover_change_expect(change, fixture->node, 1);
    g_assert_cmpint(commit(change), ==, DROVER_CHANGE_DONE);
}

/* ---- Deleting ---- */

static DroverChangeOutcome
delete_claimed(Fixture *fixture, gboolean present, gint32 version)
{
    DroverChange *change = change_new(fixture);

    drover_change_delete_claimed(change, fixture->node, present, version);
    return commit(change);
}

static void
test_delete(Fixture *fixture, gconstpointer data)
{
    for (guint i = 0; i < 4; i++) {
        g_assert_cmpint(delete_claimed(fixture, i % 2 == 0, 0), ==, DROVER_CHANGE_DONE);
        g_assert_false(peer_exists(fixture->node));
        g_assert_cmpint(delete_claimed(fixture, i % 2 == 0, 0), ==, DROVER_CHANGE_GONE);
        peer_create(i < 1 ? fixture->node : fixture->directory, "");
    }
}

static void
test_delete_of_a_taken_lock(Fixture *fixture, gconstpointer data)
{
    g_assert_true(peer_lock(fixture->directory, FALSE));
    g_assert_cmpint(delete_claimed(fixture, TRUE, 0), ==, DROVER_CHANGE_BUSY);
    g_assert_cmpint(delete_claimed(fixture, FALSE, 0), ==, DROVER_CHANGE_BUSY);
    peer_unlock(fixture->directory);
    peer_set(fixture->node, "changed");
    g_assert_cmpint(delete_claimed(fixture, FALSE, 0), ==, DROVER_CHANGE_CONFLICT);
    assert_record(fixture, "changed", 1);
}

/* Below a record there is something else than its lock: nothing that we may remove. */
static void
test_delete_of_a_record_with_strange_children(Fixture *fixture, gconstpointer data)
{
    g_autofree char *strange = below(fixture->node, "strange");

    peer_create(strange, "");
    g_assert_cmpint(delete_claimed(fixture, FALSE, 0), ==, DROVER_CHANGE_BUSY);
    g_assert_cmpint(delete_claimed(fixture, TRUE, 0), ==, DROVER_CHANGE_BUSY);
    peer_create(fixture->directory, "");
    g_assert_cmpint(delete_claimed(fixture, TRUE, 0), ==, DROVER_CHANGE_BUSY);
    g_assert_true(peer_exists(strange));
}

/* ---- With a held lock ---- */

static void
test_hold_and_release(Fixture *fixture, gconstpointer data)
{
    DroverLock *lock = drover_lock_new(fixture->test->session, fixture->directory, FALSE, NULL);
    DroverChange *change = change_new(fixture);

    g_assert_cmpint(acquire(lock, DROVER_LOCK_DO_NOT_WAIT), ==, DROVER_LOCK_HELD);
    drover_change_hold(change, lock);
    drover_change_set(change, fixture->node, fixture->data, 0);
    g_assert_cmpint(commit(change), ==, DROVER_CHANGE_DONE);
    g_assert_true(drover_lock_is_held(lock));
    assert_record(fixture, "drover", 1);

    change = change_new(fixture);
    drover_change_set(change, fixture->node, fixture->data, 1);
    drover_change_release(change, lock);
    g_assert_cmpint(commit(change), ==, DROVER_CHANGE_DONE);
    g_assert_false(drover_lock_is_held(lock));
    assert_record(fixture, "drover", 2);
    g_assert_cmpint(peer_count(fixture->directory), ==, 0);

    /* It can be had again, and released with a change that fails. */
    g_assert_cmpint(acquire(lock, DROVER_LOCK_DO_NOT_WAIT), ==, DROVER_LOCK_HELD);
    change = change_new(fixture);
    drover_change_set(change, fixture->node, fixture->data, 1);
    drover_change_release(change, lock);
    g_assert_cmpint(commit(change), ==, DROVER_CHANGE_CONFLICT);
    g_assert_true(drover_lock_is_held(lock));
    drover_lock_free(lock);
}

static void
test_unfenced(Fixture *fixture, gconstpointer data)
{
    DroverLock *lock = drover_lock_new(fixture->test->session, fixture->directory, FALSE, NULL);
    g_autofree char *contender = NULL;
    DroverChange *change;

    g_assert_cmpint(acquire(lock, DROVER_LOCK_DO_NOT_WAIT), ==, DROVER_LOCK_HELD);
    contender = g_strdup(drover_lock_contender(lock));
    peer_delete(contender);
    for (guint i = 0; i < 2; i++) {
        change = change_new(fixture);
        if (i == 0)
            drover_change_hold(change, lock);
        else
            drover_change_release(change, lock);
        drover_change_set(change, fixture->node, fixture->data, 0);
        g_assert_cmpint(commit(change), ==, DROVER_CHANGE_UNFENCED);
        assert_record(fixture, "kazoo", 0);
    }
    drover_lock_release(lock);

    /* Nor with a lock that is not held at all. */
    change = change_new(fixture);
    drover_change_hold(change, lock);
    drover_change_set(change, fixture->node, fixture->data, 0);
    g_assert_cmpint(commit(change), ==, DROVER_CHANGE_UNFENCED);
    drover_lock_free(lock);
}

/* ---- Creating ---- */

static void
test_created_names(Fixture *fixture, gconstpointer data)
{
    g_autofree char *path = below(fixture->root, "new-"), *fixed = below(fixture->root, "fixed"),
                    *ephemeral = NULL;
    Result result = {0};
    DroverChange *change = change_new(fixture);

    drover_change_create(change, path, fixture->data, ZOO_SEQUENCE);
    drover_change_claim(change, fixture->directory, FALSE);
    drover_change_create(change, fixed, NULL, 0);
    drover_change_create(change, path, fixture->data, ZOO_SEQUENCE | ZOO_EPHEMERAL);
    drover_change_commit(change, on_result, &result);
    wait_for(&result.answered);
    g_assert_cmpint(result.outcome, ==, DROVER_CHANGE_DONE);
    g_assert_cmpuint(g_strv_length(result.created), ==, 3);
    g_assert_true(g_regex_match_simple("/new-[0-9]{10}$", result.created[0], 0, 0));
    g_assert_cmpstr(result.created[1], ==, fixed);
    g_assert_cmpint(peer_stat(result.created[0], "ephemeralOwner"), ==, 0);
    g_assert_cmpint(peer_stat(result.created[2], "ephemeralOwner"), ==,
                    drover_session_id(fixture->test->session));
    result_clear(&result);

    change = change_new(fixture);
    drover_change_create(change, fixed, NULL, 0);
    g_assert_cmpint(commit(change), ==, DROVER_CHANGE_CONFLICT);
    ephemeral = below(fixture->root, "missing/child");
    change = change_new(fixture);
    drover_change_create(change, ephemeral, NULL, 0);
    g_assert_cmpint(commit(change), ==, DROVER_CHANGE_GONE);
}

static void
test_refused(Fixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    DroverChange *change = change_new(fixture);
    g_autofree char *log = NULL;

    json_decref(test_kazoo_peer_call(peer, &error, "allow", "{s:s, s:i}", "path", fixture->node,
                                     "permissions", 1));
    g_assert_no_error(error);
    drover_change_set(change, fixture->node, fixture->data, 0);
    keep_log();
    g_assert_cmpint(commit(change), ==, DROVER_CHANGE_REFUSED);
    log = take_log();
    g_assert_nonnull(strstr(log, fixture->node));
}

/* Names come from records that others write; the library frees memory of ours over such paths. */
static void
test_paths_that_are_none(Fixture *fixture, gconstpointer data)
{
    static const char *const wrong[] = {"/", "//x", "/..", "/./x", "/x/", "/a\nb", "/x//"};

    for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
        DroverChange *change = change_new(fixture);
        g_autofree char *path = g_strconcat(fixture->node, wrong[i], NULL);
        g_autofree char *other = below(fixture->root, "other");
        g_autofree char *log = NULL;

        drover_change_create(change, other, fixture->data, 0);
        drover_change_set(change, path, fixture->data, -1);
        drover_change_create(change, path, fixture->data, 0);
        drover_change_delete(change, path, -1);
        drover_change_expect(change, fixture->node, -1);
        keep_log();
        g_assert_cmpint(commit(change), ==, DROVER_CHANGE_REFUSED);
        log = take_log();
        g_assert_nonnull(strstr(log, "node/"));
        g_assert_false(peer_exists(other));
    }
    assert_record(fixture, "kazoo", 0);
}

static void
test_outcome_names(void)
{
    g_assert_cmpstr(drover_change_outcome_name(DROVER_CHANGE_DONE), ==, "done");
    g_assert_cmpstr(drover_change_outcome_name(DROVER_CHANGE_REFUSED), ==, "refused");
}

/* ---- Lost connections ---- */

static gboolean
is_deleted(gpointer path)
{
    return !peer_exists(path);
}

/* F-53: the record is marked deleted, and the connection ends before it is removed. */
static void
test_deleted_is_set_and_connection_lost(Fixture *fixture, gconstpointer data)
{
    gboolean with_session = GPOINTER_TO_INT(data);

    g_assert_cmpint(claim_and_set(fixture, FALSE, 0), ==, DROVER_CHANGE_DONE);
    suspend_session(fixture->test);
    g_assert_cmpint(delete_claimed(fixture, TRUE, 1), ==, DROVER_CHANGE_UNKNOWN);
    if (with_session)
        end_session_at_server(fixture->test);
    resume_session(fixture->test);
    g_assert_cmpint(delete_claimed(fixture, TRUE, 1), ==, DROVER_CHANGE_DONE);
    g_assert_false(peer_exists(fixture->node));
}

/* Carried out, but nobody hears of it: asking again tells. */
static void
test_lost_answer(Fixture *fixture, gconstpointer data)
{
    Result result = {0};
    DroverChange *change = change_new(fixture);

    test_tcp_proxy_set_mode(proxy, TEST_PROXY_HOLD_REPLIES);
    drover_change_delete_claimed(change, fixture->node, FALSE, 0);
    drover_change_commit(change, on_result, &result);
    wait_until(is_deleted, fixture->node);
    g_assert_false(result.answered);
    suspend_session(fixture->test);
    wait_for(&result.answered);
    g_assert_cmpint(result.outcome, ==, DROVER_CHANGE_UNKNOWN);
    g_assert_null(result.blamed);
    resume_session(fixture->test);
    g_assert_cmpint(delete_claimed(fixture, FALSE, 0), ==, DROVER_CHANGE_GONE);
    result_clear(&result);
}

static void
add(const char *path, void (*test)(Fixture *fixture, gconstpointer data))
{
    g_test_add(path, Fixture, NULL, set_up, test, tear_down);
}

static void
add_tests(void)
{
    add("/zk/change/claim", test_claim);
    add("/zk/change/claim-of-an-absent-directory-believed-present",
        test_claim_of_an_absent_directory_believed_present);
    add("/zk/change/claim-of-a-taken-lock", test_claim_of_a_taken_lock);
    add("/zk/change/many-claims", test_many_claims);
    add("/zk/change/Z-51-claim-of-a-missing-record", test_claim_of_a_missing_record);
    add("/zk/change/F-59-Z-35-stale-decision", test_stale_decision);
    add("/zk/change/F-01-delete", test_delete);
    add("/zk/change/delete-of-a-taken-lock", test_delete_of_a_taken_lock);
    add("/zk/change/delete-of-a-record-with-strange-children",
        test_delete_of_a_record_with_strange_children);
    add("/zk/change/hold-and-release", test_hold_and_release);
    add("/zk/change/unfenced", test_unfenced);
    add("/zk/change/created-names", test_created_names);
    add("/zk/change/refused", test_refused);
    add("/zk/change/paths-that-are-none", test_paths_that_are_none);
    g_test_add_func("/zk/change/outcome-names", test_outcome_names);
    g_test_add("/zk/change/F-53-connection-lost", Fixture, GINT_TO_POINTER(FALSE), set_up,
               test_deleted_is_set_and_connection_lost, tear_down);
    g_test_add("/zk/change/F-53-session-lost", Fixture, GINT_TO_POINTER(TRUE), set_up,
               test_deleted_is_set_and_connection_lost, tear_down);
    add("/zk/change/F-01-lost-answer", test_lost_answer);
}

int
main(int argc, char **argv)
{
    return run_with_cluster(&argc, &argv, add_tests);
}
