/* Registrations: one znode, always, with what should be in it. */
#include "fixture.h"
#include "zk/registration.h"

#include <string.h>

#include "support/process.h"

typedef struct {
    TestSession *test;
    char *root, *directory;
    DroverRegistration *registration;
    guint registered, gone; /* how often it was told */
} Fixture;

static void
on_registered(const char *name, gpointer user_data)
{
    Fixture *fixture = user_data;

    if (name != NULL)
        fixture->registered++;
    else
        fixture->gone++;
}

static DroverRegistration *
begin_registration(Fixture *fixture, const char *name, const char *text,
                   DroverRegistrationMatch match)
{
    g_autoptr(GBytes) record = g_bytes_new(text, strlen(text));

    return drover_registration_new(fixture->test->session, fixture->directory, name, record, match,
                                   on_registered, fixture);
}

static void
set_up(Fixture *fixture, gconstpointer data)
{
    fixture->test = open_session(NULL);
    fixture->root = new_root();
    fixture->directory = below(fixture->root, "components/pool"); /* is not there */
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
    drover_registration_free(fixture->registration);
    close_session(fixture->test);
    g_free(fixture->root);
    g_free(fixture->directory);
}

static void
update(Fixture *fixture, const char *text)
{
    g_autoptr(GBytes) record = g_bytes_new(text, strlen(text));

    drover_registration_update(fixture->registration, record);
}

static gboolean
has_name(gpointer user_data)
{
    Fixture *fixture = user_data;

    return drover_registration_name(fixture->registration) != NULL;
}

static char *
own_path(Fixture *fixture)
{
    wait_until(has_name, fixture);
    return below(fixture->directory, "%s", drover_registration_name(fixture->registration));
}

typedef struct {
    const char *path, *text;
    int count;
} Expectation;

static gboolean
has_text(gpointer user_data)
{
    const Expectation *expected = user_data;
    g_autofree char *text = peer_get(expected->path);

    return strcmp(text, expected->text) == 0;
}

static void
wait_text(const char *path, const char *text)
{
    Expectation expected = {.path = path, .text = text};

    wait_until(has_text, &expected);
}

static gboolean
has_count(gpointer user_data)
{
    const Expectation *expected = user_data;

    return peer_count(expected->path) == expected->count;
}

static void
wait_count(const char *directory, int count)
{
    Expectation expected = {.path = directory, .count = count};

    wait_until(has_count, &expected);
}

/* ---- Plain ---- */

static void
test_registers(Fixture *fixture, gconstpointer data)
{
    g_autofree char *path = NULL, *text = NULL;

    fixture->registration = begin_registration(fixture, "host", "a", NULL);
    g_assert_null(drover_registration_name(fixture->registration));
    path = own_path(fixture);
    g_assert_true(g_regex_match_simple("/host[0-9]{10}$", path, 0, 0));
    text = peer_get(path);
    g_assert_cmpstr(text, ==, "a");
    g_assert_cmpint(peer_stat(path, "ephemeralOwner"), ==,
                    drover_session_id(fixture->test->session));
    g_assert_cmpuint(fixture->registered, ==, 1);
    drover_registration_free(g_steal_pointer(&fixture->registration));
    wait_count(fixture->directory, 0);
    g_assert_cmpuint(fixture->gone, ==, 0);
}

static void
test_updates(Fixture *fixture, gconstpointer data)
{
    g_autofree char *path = NULL;

    fixture->registration = begin_registration(fixture, "host", "a", NULL);
    path = own_path(fixture);
    update(fixture, "b");
    wait_text(path, "b");
    g_assert_cmpint(peer_stat(path, "version"), ==, 1);
    update(fixture, "b"); /* nothing new, nothing written */
    sync_session(fixture->test);
    g_assert_cmpint(peer_stat(path, "version"), ==, 1);
    /* Only the last of many that come at once counts. */
    update(fixture, "c");
    update(fixture, "d");
    update(fixture, "e");
    wait_text(path, "e");
    sync_session(fixture->test);
    g_assert_cmpint(peer_stat(path, "version"), <=, 3);
    g_assert_cmpint(peer_count(fixture->directory), ==, 1);
    /* Somebody else wrote into it. */
    peer_set(path, "stranger");
    update(fixture, "f");
    wait_text(path, "f");
    update(fixture, "g");
    wait_text(path, "g");
    g_assert_cmpint(peer_count(fixture->directory), ==, 1);
    g_assert_cmpuint(fixture->registered, ==, 1);
}

static void
test_updated_before_it_is_there(Fixture *fixture, gconstpointer data)
{
    g_autofree char *path = NULL;

    fixture->registration = begin_registration(fixture, "host", "a", NULL);
    update(fixture, "b");
    path = own_path(fixture);
    wait_text(path, "b");
    g_assert_cmpint(peer_count(fixture->directory), ==, 1);
}

static void
test_others_are_left_alone(Fixture *fixture, gconstpointer data)
{
    g_autofree char *theirs = below(fixture->directory, "host0000000099"), *path = NULL;

    peer_create(theirs, "a"); /* the same name and record, of another session */
    fixture->registration = begin_registration(fixture, "host", "a", NULL);
    path = own_path(fixture);
    g_assert_cmpstr(path, !=, theirs);
    drover_registration_free(g_steal_pointer(&fixture->registration));
    wait_count(fixture->directory, 1);
    g_assert_true(peer_exists(theirs));
}

/* ---- Gone ---- */

static void
test_deleted_by_hand(Fixture *fixture, gconstpointer data)
{
    g_autofree char *path = NULL, *again = NULL;

    fixture->registration = begin_registration(fixture, "host", "a", NULL);
    path = own_path(fixture);
    peer_delete(path);
    drover_registration_vanished(fixture->registration);
    g_assert_null(drover_registration_name(fixture->registration));
    g_assert_cmpuint(fixture->gone, ==, 1);
    again = own_path(fixture);
    g_assert_cmpstr(again, !=, path);
    g_assert_cmpint(peer_count(fixture->directory), ==, 1);

    /* Noticed by an update just as well. */
    peer_delete(again);
    update(fixture, "b");
    wait_count(fixture->directory, 1);
    g_free(g_steal_pointer(&again));
    again = own_path(fixture);
    wait_text(again, "b");

    /* With its directory. */
    peer_delete(fixture->root);
    drover_registration_vanished(fixture->registration);
    wait_count(fixture->directory, 1);
}

/* It was there all the time. */
static void
test_vanished_by_mistake(Fixture *fixture, gconstpointer data)
{
    g_autofree char *path = NULL, *again = NULL;

    fixture->registration = begin_registration(fixture, "host", "a", NULL);
    path = own_path(fixture);
    drover_registration_vanished(fixture->registration);
    again = own_path(fixture);
    g_assert_cmpstr(again, ==, path);
    sync_session(fixture->test);
    g_assert_cmpint(peer_count(fixture->directory), ==, 1);
}

static void
test_session_lost(Fixture *fixture, gconstpointer data)
{
    g_autofree char *path = NULL, *again = NULL, *text = NULL;

    fixture->registration = begin_registration(fixture, "host", "a", NULL);
    path = own_path(fixture);
    expire_session(fixture->test);
    g_assert_cmpuint(fixture->gone, ==, 1);
    again = own_path(fixture);
    g_assert_cmpstr(again, !=, path);
    text = peer_get(again);
    g_assert_cmpstr(text, ==, "a");
    g_assert_cmpint(peer_count(fixture->directory), ==, 1);
    g_assert_cmpint(peer_stat(again, "ephemeralOwner"), ==,
                    drover_session_id(fixture->test->session));
}

/* ---- Lost answers ---- */

static void
test_lost_answers(Fixture *fixture, gconstpointer data)
{
    for (guint round = 0; round < 30; round++) {
        g_autofree char *path = NULL;

        fixture->registration = begin_registration(fixture, "host", "a", NULL);
        for (guint i = g_random_int_range(0, 12); i > 0; i--)
            g_main_context_iteration(NULL, FALSE);
        test_tcp_proxy_set_mode(proxy, TEST_PROXY_HOLD_REPLIES);
        for (guint i = g_random_int_range(0, 12); i > 0; i--)
            g_main_context_iteration(NULL, FALSE);
        if (round % 2 == 0)
            update(fixture, "b"); /* what was attempted is not what is wanted any more */
        suspend_session(fixture->test);
        resume_session(fixture->test);
        path = own_path(fixture);
        wait_text(path, round % 2 == 0 ? "b" : "a");
        sync_session(fixture->test);
        g_assert_cmpint(peer_count(fixture->directory), ==, 1);
        drover_registration_free(g_steal_pointer(&fixture->registration));
        wait_count(fixture->directory, 0);
    }
}

/* ---- Freed at a bad moment ---- */

static void
test_freed_while_suspended(Fixture *fixture, gconstpointer data)
{
    g_autofree char *path = NULL;

    fixture->registration = begin_registration(fixture, "host", "a", NULL);
    path = own_path(fixture);
    suspend_session(fixture->test);
    drover_registration_free(g_steal_pointer(&fixture->registration));
    g_assert_true(peer_exists(path));
    resume_session(fixture->test);
    wait_count(fixture->directory, 0);
}

static void
test_freed_at_any_moment(Fixture *fixture, gconstpointer data)
{
    for (guint round = 0; round < 40; round++) {
        DroverRegistration *registration = begin_registration(fixture, "host", "a", NULL);

        for (guint i = round % 20; i > 0; i--)
            g_main_context_iteration(NULL, FALSE);
        if (round % 3 == 0)
            test_tcp_proxy_cut(proxy);
        drover_registration_free(registration);
    }
    wait_connected(fixture->test);
    fixture->registered = 0;
    fixture->registration = begin_registration(fixture, "other", "a", NULL);
    wait_until(has_name, fixture);
    wait_count(fixture->directory, 1);
}

/* ---- After a restart ---- */

static gboolean
match_old(GBytes *data, gpointer user_data)
{
    return g_bytes_get_size(data) == 3 && memcmp(g_bytes_get_data(data, NULL), "old", 3) == 0;
}

static void
leave_behind(const char *folder, const char *directory, const char *const *texts)
{
    TestSessionSetup setup = {.folder = folder};
    TestSession *test = open_session(&setup);

    for (; *texts != NULL; texts++) {
        g_autofree char *path = below(directory, "host");
        g_autoptr(GBytes) record = g_bytes_new(*texts, strlen(*texts));
        DroverChange *change = drover_change_new(test->session);

        drover_change_create(change, path, record, ZOO_EPHEMERAL | ZOO_SEQUENCE);
        g_assert_cmpint(commit(change), ==, DROVER_CHANGE_DONE);
    }
    drover_session_abandon(test->session);
    close_session(test);
}

static void
test_adopted(Fixture *fixture, gconstpointer data)
{
    static const char *const left[] = {"old", "another", "old", NULL};
    g_autofree char *folder = test_folder_make(), *path = NULL;
    TestSessionSetup setup = {.folder = folder};

    peer_create(fixture->directory, "");
    leave_behind(folder, fixture->directory, left);
    close_session(fixture->test);
    fixture->test = open_session(&setup);
    g_assert_true(drover_session_is_resumed(fixture->test->session));
    fixture->registration = begin_registration(fixture, "host", "new", match_old);
    path = own_path(fixture);
    wait_text(path, "new");
    /* The second one of ours is removed, what is not ours stays. */
    wait_count(fixture->directory, 2);
    g_assert_cmpint(peer_stat(path, "version"), ==, 1);
    g_assert_cmpuint(fixture->registered, ==, 1);
    drover_registration_free(g_steal_pointer(&fixture->registration));
    wait_count(fixture->directory, 1);
    close_session(fixture->test);
    test_folder_remove(folder);
    fixture->test = open_session(NULL);
}

static void
add(const char *path, void (*test)(Fixture *fixture, gconstpointer data))
{
    g_test_add(path, Fixture, NULL, set_up, test, tear_down);
}

static void
add_tests(void)
{
    add("/zk/registration/registers", test_registers);
    add("/zk/registration/Z-43-updates", test_updates);
    add("/zk/registration/updated-before-it-is-there", test_updated_before_it_is_there);
    add("/zk/registration/others-are-left-alone", test_others_are_left_alone);
    add("/zk/registration/Z-45-deleted-by-hand", test_deleted_by_hand);
    add("/zk/registration/vanished-by-mistake", test_vanished_by_mistake);
    add("/zk/registration/Z-36-session-lost", test_session_lost);
    add("/zk/registration/lost-answers", test_lost_answers);
    add("/zk/registration/Z-44-freed-while-suspended", test_freed_while_suspended);
    add("/zk/registration/freed-at-any-moment", test_freed_at_any_moment);
    add("/zk/registration/adopted-after-a-restart", test_adopted);
}

int
main(int argc, char **argv)
{
    return run_with_cluster(&argc, &argv, add_tests);
}
