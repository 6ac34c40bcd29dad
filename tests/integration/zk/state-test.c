/* What a process leaves to its successor: the session, with its locks and ephemerals. */
#include "fixture.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "holder-process.h"
#include "support/process.h"
#include "zk/state-file.h"

/* ---- The folder ---- */

static void
test_one_process_holds_the_folder(void)
{
    g_autofree char *folder = test_folder_make(), *id = NULL, *message = NULL;
    g_autoptr(Holder) first = holder_start(folder, FALSE);
    g_autoptr(Holder) second = NULL, third = NULL;

    id = holder_wait(first, "connected ");
    second = holder_start(folder, FALSE);
    message = holder_wait(second, "refused ");
    g_assert_nonnull(strstr(message, folder));
    g_assert_cmpint(holder_end(second), ==, 2);
    /* It is free when the first has ended, however that came. */
    holder_kill(g_steal_pointer(&first));
    third = holder_start(folder, FALSE);
    g_free(id);
    id = holder_wait(third, "connected ");
    holder_send(third, "close");
    g_assert_cmpint(holder_end(third), ==, 0);
    test_folder_remove(folder);
}

static void
test_the_session_is_a_secret(void)
{
    g_autofree char *folder = test_folder_make(), *state = g_build_filename(folder, "state", NULL),
                    *path = g_build_filename(state, "session.json", NULL);
    TestSessionSetup setup = {.folder = state};
    TestSession *test = open_session(&setup);
    GStatBuf status;

    g_assert_cmpint(g_stat(state, &status), ==, 0);
    g_assert_cmpint(status.st_mode & 0777, ==, 0700);
    g_assert_cmpint(g_stat(path, &status), ==, 0);
    g_assert_cmpint(status.st_mode & 0777, ==, 0600);
    /* Nothing is left to take up when the session was ended. */
    close_session(test);
    g_assert_cmpint(g_stat(path, &status), !=, 0);
    test_folder_remove(folder);
}

static void
test_folder_that_cannot_be_made(void)
{
    DroverSessionServer address = {"127.0.0.1", test_zookeeper_port(server)};
    DroverSessionOptions options = {
        .servers = &address, .n_servers = 1, .timeout = 10, .state_dir = "/dev/null/state"};
    g_autoptr(GError) error = NULL;

    g_assert_null(drover_session_new(&options, &error));
    g_assert_error(error, DROVER_ERROR, DROVER_ERROR_FAILED);
    g_assert_nonnull(strstr(error->message, "/dev/null/state"));
}

static void
test_broken_files(void)
{
    static const char *const texts[] = {
        "",
        "{",
        "[]",
        "{}",
        "{\"session\": 1, \"holder\": 2, \"password\": 3, \"cluster\": 4}",
        "{\"session\": \"12\", \"holder\": \"short\", \"password\": "
        "\"AAAAAAAAAAAAAAAAAAAAAA==\", \"cluster\": \"\"}",
        "{\"session\": \"12\", \"holder\": \"0123456789abcdef\", \"password\": \"AAAA\", "
        "\"cluster\": \"\"}",
        "{\"session\": \"0\", \"holder\": \"0123456789abcdef\", \"password\": "
        "\"AAAAAAAAAAAAAAAAAAAAAA==\", \"cluster\": \"\"}",
    };
    g_autofree char *folder = test_folder_make(),
                    *path = g_build_filename(folder, "session.json", NULL);

    for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
        TestSessionSetup setup = {.folder = folder};
        TestSession *test;

        g_assert_true(g_file_set_contents(path, texts[i], -1, NULL));
        test = open_session(&setup);
        g_assert_false(drover_session_is_resumed(test->session));
        close_session(test);
    }
    test_folder_remove(folder);
}

/* ---- A successor ---- */

typedef struct {
    char *folder, *root, *lock, *other, *ephemeral;
} Legacy;

/* A process that holds two locks and an ephemeral, and dies. Returns its session's id. */
static gint64
die_with_locks(Legacy *legacy)
{
    g_autoptr(Holder) holder = NULL;
    g_autofree char *id = NULL, *held = NULL, *held_too = NULL, *created = NULL;

    legacy->folder = test_folder_make();
    legacy->root = new_root();
    legacy->lock = below(legacy->root, "lock");
    legacy->other = below(legacy->root, "other");
    legacy->ephemeral = below(legacy->root, "here");
    holder = holder_start(legacy->folder, FALSE);
    id = holder_wait(holder, "connected ");
    holder_send(holder, "lock %s", legacy->lock);
    held = holder_wait(holder, "held ");
    holder_send(holder, "lock %s", legacy->other);
    held_too = holder_wait(holder, "held ");
    holder_send(holder, "create %s", legacy->ephemeral);
    created = holder_wait(holder, "created ");
    g_assert_cmpstr(created, ==, legacy->ephemeral);
    return g_ascii_strtoll(id, NULL, 10);
}

static void
legacy_clear(Legacy *legacy)
{
    test_folder_remove(legacy->folder);
    g_free(legacy->folder);
    g_free(legacy->root);
    g_free(legacy->lock);
    g_free(legacy->other);
    g_free(legacy->ephemeral);
}

static void
test_a_successor_takes_the_session_up(void)
{
    Legacy legacy;
    gint64 id = die_with_locks(&legacy);
    TestSessionSetup setup = {.folder = legacy.folder, .timeout = 4};
    TestSession *test;
    DroverLock *lock, *other;
    g_auto(GStrv) before = peer_children(legacy.lock), after = NULL;

    g_assert_false(peer_lock(legacy.lock, FALSE));
    keep_log();
    test = open_session(&setup);
    {
        g_autofree char *log = take_log();

        g_assert_nonnull(strstr(log, "(taken up again)"));
    }
    g_assert_true(drover_session_is_resumed(test->session));
    g_assert_cmpint(drover_session_id(test->session), ==, id);
    lock = drover_lock_new(test->session, legacy.lock, FALSE, NULL);
    other = drover_lock_new(test->session, legacy.other, FALSE, NULL);
    g_assert_cmpint(acquire(lock, DROVER_LOCK_DO_NOT_WAIT), ==, DROVER_LOCK_HELD);
    g_assert_cmpint(acquire(other, DROVER_LOCK_WAIT_FOREVER), ==, DROVER_LOCK_HELD);

    /* The very contender of the dead process, so nobody could come in between. */
    after = peer_children(legacy.lock);
    g_assert_true(g_strv_equal((const char *const *)before, (const char *const *)after));
    g_assert_false(peer_lock(legacy.lock, FALSE));
    g_assert_cmpint(peer_stat(legacy.ephemeral, "ephemeralOwner"), ==, id);

    /* And it is a lock like any other. */
    drover_lock_release(lock);
    sync_session(test);
    g_assert_true(peer_lock(legacy.lock, FALSE));
    g_assert_cmpint(acquire(lock, DROVER_LOCK_DO_NOT_WAIT), ==, DROVER_LOCK_BUSY);
    peer_unlock(legacy.lock);
    g_assert_cmpint(acquire(lock, DROVER_LOCK_DO_NOT_WAIT), ==, DROVER_LOCK_HELD);
    drover_lock_free(lock);
    drover_lock_free(other);
    close_session(test);
    g_assert_cmpint(peer_count(legacy.lock), ==, 0);
    g_assert_false(peer_exists(legacy.ephemeral));
    legacy_clear(&legacy);
}

/* Two locks of one process never share what a former process left. */
static void
test_only_one_lock_inherits(void)
{
    Legacy legacy;
    TestSessionSetup setup = {.timeout = 4};
    TestSession *test;
    DroverLock *first, *second;

    die_with_locks(&legacy);
    setup.folder = legacy.folder;
    test = open_session(&setup);
    first = drover_lock_new(test->session, legacy.lock, FALSE, NULL);
    second = drover_lock_new(test->session, legacy.lock, FALSE, NULL);
    g_assert_cmpint(acquire(first, DROVER_LOCK_DO_NOT_WAIT), ==, DROVER_LOCK_HELD);
    g_assert_cmpint(acquire(second, DROVER_LOCK_DO_NOT_WAIT), ==, DROVER_LOCK_BUSY);
    g_assert_true(drover_lock_is_held(first));
    drover_lock_free(first);
    g_assert_cmpint(acquire(second, DROVER_LOCK_DO_NOT_WAIT), ==, DROVER_LOCK_HELD);
    drover_lock_free(second);
    close_session(test);
    legacy_clear(&legacy);
}

/* What a process left that died while it waited behind itself, or twice. */
static void
test_further_contenders_are_removed(void)
{
    g_autofree char *folder = test_folder_make(), *root = new_root(),
                    *directory = below(root, "lock");
    TestSessionSetup setup = {.folder = folder, .timeout = 4};
    TestSession *test = open_session(&setup);
    DroverLock *lock;

    for (guint i = 0; i < 3; i++) {
        g_autofree char *path =
            below(directory, "%s%016u__lock__", drover_session_holder(test->session), i);
        DroverChange *change = drover_change_new(test->session);

        if (i == 0)
            drover_change_create(change, directory, NULL, 0);
        drover_change_create(change, path, NULL, ZOO_EPHEMERAL | ZOO_SEQUENCE);
        g_assert_cmpint(commit(change), ==, DROVER_CHANGE_DONE);
    }
    drover_session_abandon(test->session);
    close_session(test);
    test = open_session(&setup);
    g_assert_true(drover_session_is_resumed(test->session));
    lock = drover_lock_new(test->session, directory, FALSE, NULL);
    g_assert_cmpint(acquire(lock, DROVER_LOCK_DO_NOT_WAIT), ==, DROVER_LOCK_HELD);
    sync_session(test);
    g_assert_cmpint(peer_count(directory), ==, 1);
    drover_lock_free(lock);
    sync_session(test);
    g_assert_cmpint(peer_count(directory), ==, 0);
    close_session(test);
    test_folder_remove(folder);
}

static void
test_abandoned(void)
{
    g_autofree char *folder = test_folder_make(), *root = new_root(),
                    *directory = below(root, "lock");
    TestSessionSetup setup = {.folder = folder};
    TestSession *test = open_session(&setup);
    gint64 id = drover_session_id(test->session);

    for (guint round = 0; round < 10; round++) {
        DroverLock *lock = drover_lock_new(test->session, directory, FALSE, NULL);

        g_assert_cmpint(acquire(lock, DROVER_LOCK_DO_NOT_WAIT), ==, DROVER_LOCK_HELD);
        drover_session_abandon(test->session);
        drover_lock_free(lock);
        close_session(test);
        g_assert_false(peer_lock(directory, FALSE));
        test = open_session(&setup);
        g_assert_cmpint(drover_session_id(test->session), ==, id);
    }
    g_assert_cmpint(peer_count(directory), ==, 1);
    close_session(test);
    g_assert_cmpint(peer_count(directory), ==, 0);
    test_folder_remove(folder);
}

/* A lock that was held in one session, lost with it and held again belongs to the successor too. */
static void
test_locks_of_a_later_session(void)
{
    g_autofree char *folder = test_folder_make(), *root = new_root(),
                    *directory = below(root, "lock");
    TestSessionSetup setup = {.folder = folder};
    TestSession *test = open_session(&setup);
    DroverLock *lock = drover_lock_new(test->session, directory, FALSE, NULL);

    g_assert_cmpint(acquire(lock, DROVER_LOCK_DO_NOT_WAIT), ==, DROVER_LOCK_HELD);
    expire_session(test);
    g_assert_false(drover_lock_is_held(lock));
    g_assert_cmpint(acquire(lock, DROVER_LOCK_DO_NOT_WAIT), ==, DROVER_LOCK_HELD);
    drover_session_abandon(test->session);
    drover_lock_free(lock);
    close_session(test);

    test = open_session(&setup);
    lock = drover_lock_new(test->session, directory, FALSE, NULL);
    g_assert_cmpint(acquire(lock, DROVER_LOCK_DO_NOT_WAIT), ==, DROVER_LOCK_HELD);
    drover_lock_free(lock);
    close_session(test);
    test_folder_remove(folder);
}

/* ---- Too late ---- */

static gboolean
is_gone(gpointer path)
{
    return !peer_exists(path);
}

static void
test_expired(void)
{
    Legacy legacy;
    gint64 id = die_with_locks(&legacy);
    TestSessionSetup setup = {.folder = legacy.folder};
    TestSession *test;

    wait_until(is_gone, legacy.ephemeral);
    g_assert_true(peer_lock(legacy.lock, FALSE));
    peer_unlock(legacy.lock);
    test = open_session(&setup);
    g_assert_false(drover_session_is_resumed(test->session));
    g_assert_cmpint(drover_session_id(test->session), !=, id);
    g_assert_cmpuint(test->lost, ==, 1);
    g_assert_cmpuint(test->connected, ==, 1);
    close_session(test);
    legacy_clear(&legacy);
}

static void
test_another_chroot_is_another_session(void)
{
    g_autofree char *folder = test_folder_make(), *root = new_root();
    TestSessionSetup setup = {.folder = folder};
    TestSession *test = open_session(&setup);
    gint64 id = drover_session_id(test->session);

    drover_session_abandon(test->session);
    close_session(test);
    setup.chroot = root;
    test = open_session(&setup);
    g_assert_false(drover_session_is_resumed(test->session));
    g_assert_cmpint(drover_session_id(test->session), !=, id);
    close_session(test);
    test_folder_remove(folder);
}

static void
add_tests(void)
{
    g_test_add_func("/zk/state/one-process-holds-the-folder", test_one_process_holds_the_folder);
    g_test_add_func("/zk/state/the-session-is-a-secret", test_the_session_is_a_secret);
    g_test_add_func("/zk/state/folder-that-cannot-be-made", test_folder_that_cannot_be_made);
    g_test_add_func("/zk/state/broken-files", test_broken_files);
    g_test_add_func("/zk/state/a-successor-takes-the-session-up",
                    test_a_successor_takes_the_session_up);
    g_test_add_func("/zk/state/only-one-lock-inherits", test_only_one_lock_inherits);
    g_test_add_func("/zk/state/further-contenders-are-removed",
                    test_further_contenders_are_removed);
    g_test_add_func("/zk/state/abandoned", test_abandoned);
    g_test_add_func("/zk/state/locks-of-a-later-session", test_locks_of_a_later_session);
    g_test_add_func("/zk/state/expired", test_expired);
    g_test_add_func("/zk/state/another-chroot-is-another-session",
                    test_another_chroot_is_another_session);
}

int
main(int argc, char **argv)
{
    return run_with_cluster(&argc, &argv, add_tests);
}
