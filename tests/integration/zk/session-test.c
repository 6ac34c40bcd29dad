/* Sessions: beginning, losing and keeping one. */
#include "fixture.h"

#include <string.h>

#include "base/error.h"
#include "support/process.h"

/* ---- Beginning ---- */

static void
test_connects(void)
{
    TestSessionSetup setup = {.timeout = 0.1};
    TestSession *test;
    g_autofree char *log = NULL, *expected = NULL;

    keep_log();
    test = open_session(&setup);
    log = take_log();
    g_assert_cmpint(drover_session_id(test->session), !=, 0);
    /* Two ticks: the server's least. */
    g_assert_cmpint(drover_session_timeout(test->session), ==, 400);
    expected = g_strdup_printf("connection established, session 0x%" G_GINT64_MODIFIER
                               "x, time-out 400 ms",
                               (guint64)drover_session_id(test->session));
    g_assert_nonnull(strstr(log, expected));
    g_assert_false(drover_session_is_resumed(test->session));
    close_session(test);
}

static void
test_waits_for_the_server(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(TestZookeeper) late = test_zookeeper_start(NULL, &error);
    TestSessionSetup setup = {.port = test_zookeeper_port(late)};
    TestSession *test;
    g_autofree char *log = NULL;

    g_assert_no_error(error);
    test_zookeeper_stop(late);
    keep_log();
    test = begin_session(&setup);
    wait_log("WARNING nodepool.zk.ZooKeeper: Retrying zookeeper connection");
    g_assert_cmpint(drover_session_state(test->session), ==, DROVER_SESSION_CONNECTING);
    g_assert_true(test_zookeeper_restart(late, &error));
    wait_connected(test);
    log = take_log();
    g_assert_cmpint(exists(test, "/zookeeper"), ==, ZOK);
    close_session(test);
}

static void
test_operations_before_the_session_are_refused(void)
{
    TestSessionSetup setup = {.port = test_free_port()};
    TestSession *test = begin_session(&setup);
    DroverChange *change = drover_change_new(test->session);

    g_assert_cmpint(exists(test, "/"), ==, ZCONNECTIONLOSS);
    drover_change_create(change, "/x", NULL, 0);
    g_assert_cmpint(commit(change), ==, DROVER_CHANGE_UNKNOWN);
    close_session(test);
}

static void
test_several_servers(void)
{
    g_autoptr(GError) error = NULL;
    DroverSessionServer servers[] = {{"nowhere.invalid", 2181},
                                     {"127.0.0.1", test_free_port()},
                                     {"127.0.0.1", test_zookeeper_port(server)}};
    DroverSessionOptions options = {.servers = servers, .n_servers = 3, .timeout = 10};
    TestSession test = {.session = drover_session_new(&options, &error)};

    g_assert_no_error(error);
    wait_connected(&test);
    g_assert_cmpint(exists(&test, "/zookeeper"), ==, ZOK);
    drover_session_close(test.session);
}

enum { SESSIONS = 6 };

/*
 * Of two servers one never comes, and the other after all of the list was tried. The library begins
 * anywhere in the list, so there are some sessions that do the same.
 */
static void
test_two_servers(void)
{
    DroverSessionServer servers[] = {{"127.0.0.1", test_free_port()},
                                     {"127.0.0.1", test_tcp_proxy_port(proxy)}};
    DroverSessionOptions options = {.servers = servers, .n_servers = 2, .timeout = 10};
    TestSession tests[SESSIONS] = {0};

    test_tcp_proxy_set_mode(proxy, TEST_PROXY_REFUSE);
    keep_log();
    for (guint i = 0; i < SESSIONS; i++) {
        g_autoptr(GError) error = NULL;

        tests[i].session = drover_session_new(&options, &error);
        g_assert_no_error(error);
    }
    wait_log("Retrying zookeeper connection");
    g_free(take_log());
    test_tcp_proxy_set_mode(proxy, TEST_PROXY_PASS);
    for (guint i = 0; i < SESSIONS; i++)
        wait_connected(&tests[i]);
    for (guint i = 0; i < SESSIONS; i++)
        drover_session_close(tests[i].session);
}

static void
test_unknown_host_is_tried_again(void)
{
    g_autoptr(GError) error = NULL;
    DroverSessionServer nowhere = {"nowhere.invalid", 2181};
    DroverSessionServer good = {"127.0.0.1", test_zookeeper_port(server)};
    DroverSessionOptions options = {.servers = &nowhere, .n_servers = 1, .timeout = 10};
    TestSession test = {0};
    g_autofree char *log = NULL;

    keep_log();
    test.session = drover_session_new(&options, &error);
    g_assert_no_error(error);
    log = take_log();
    g_assert_nonnull(strstr(log, "cannot reach ZooKeeper at nowhere.invalid:2181"));
    /* The list is corrected: the next attempt takes it. */
    g_assert_true(drover_session_set_servers(test.session, &good, 1, &error));
    wait_connected(&test);
    drover_session_close(test.session);
}

/* ---- Chroot ---- */

static void
test_chroot_is_created(void)
{
    g_autofree char *root = new_root(), *chroot = below(root, "deep/er/root");
    TestSessionSetup setup = {.chroot = chroot};
    TestSession *test = open_session(&setup);
    DroverChange *change = drover_change_new(test->session);
    g_autofree char *path = below(chroot, "x"), *text = NULL, *acl = NULL;
    g_autoptr(GBytes) data = g_bytes_new("hello", 5);
    g_autoptr(GError) error = NULL;
    json_t *entries;

    g_assert_true(peer_exists(chroot));
    drover_change_create(change, "/x", data, 0);
    g_assert_cmpint(commit(change), ==, DROVER_CHANGE_DONE);
    text = peer_get(path);
    g_assert_cmpstr(text, ==, "hello");
    entries = test_kazoo_peer_call(peer, &error, "acl", "{s:s}", "path", path);
    g_assert_no_error(error);
    acl = json_dumps(entries, JSON_COMPACT);
    g_assert_cmpstr(acl, ==, "[[\"world\",\"anyone\",31]]");
    json_decref(entries);
    close_session(test);
}

/* Of ZooKeeper's permissions. */
enum { READ_AND_ADMIN = 1 + 16, ALL = 31 };

static void
allow(const char *path, int permissions)
{
    g_autoptr(GError) error = NULL;

    json_decref(test_kazoo_peer_call(peer, &error, "allow", "{s:s, s:i}", "path", path,
                                     "permissions", permissions));
    g_assert_no_error(error);
}

/* Nobody may create anything at the top, but the chroot is there and ours. */
static void
test_chroot_that_exists_needs_no_permission(void)
{
    g_autofree char *root = new_root(), *chroot = below(root, "chroot");
    TestSessionSetup setup = {.chroot = chroot};
    TestSession *test;
    DroverChange *change;

    peer_create(chroot, "");
    allow(root, READ_AND_ADMIN);
    test = open_session(&setup);
    change = drover_change_new(test->session);
    drover_change_create(change, "/x", NULL, 0);
    g_assert_cmpint(commit(change), ==, DROVER_CHANGE_DONE);
    close_session(test);
}

static void
test_chroot_that_must_not_be_created(void)
{
    g_autofree char *root = new_root(), *chroot = below(root, "chroot"), *log = NULL, *text = NULL;
    TestSessionSetup setup = {.chroot = chroot};
    TestSession *test;

    allow(root, READ_AND_ADMIN);
    text = g_strdup_printf("ERROR nodepool.zk.ZooKeeper: cannot create the chroot %s: not "
                           "authenticated",
                           chroot);
    keep_log();
    test = begin_session(&setup);
    wait_log(text);
    log = take_log();
    g_assert_cmpuint(test->connected, ==, 0);
    /* Somebody creates it. */
    allow(root, ALL);
    peer_create(chroot, "");
    wait_connected(test);
    close_session(test);
}

/* For programs that only look. */
static void
test_chroot_that_is_left(void)
{
    g_autofree char *root = new_root(), *chroot = below(root, "deep/chroot"), *log = NULL,
                    *text = g_strdup_printf("WARNING nodepool.zk.ZooKeeper: there is no chroot %s",
                                            chroot);
    TestSessionSetup setup = {.chroot = chroot, .leave_chroot = TRUE};
    TestSession *test;

    keep_log();
    test = open_session(&setup);
    log = take_log();
    g_assert_nonnull(strstr(log, text));
    g_assert_cmpint(exists(test, "/x"), ==, ZNONODE);
    g_assert_cmpint(peer_count(root), ==, 0);
    /* What is created there may bring it along. */
    drover_session_ensure(test->session, "/x", NULL, NULL);
    g_assert_cmpint(exists(test, "/x"), ==, ZOK);
    close_session(test);
}

/* ---- Digest ---- */

static void
test_digest(void)
{
    g_autofree char *root = new_root(), *chroot = below(root, "secret"), *path = NULL, *text = NULL;
    TestSessionSetup setup = {.chroot = chroot, .digest = "drover:password"};
    TestSession *test = open_session(&setup);
    DroverChange *change = drover_change_new(test->session);
    g_autoptr(GBytes) data = g_bytes_new("1", 1);
    g_autoptr(GError) error = NULL;

    path = below(chroot, "x");
    drover_change_create(change, "/x", data, 0);
    g_assert_cmpint(commit(change), ==, DROVER_CHANGE_DONE);
    json_decref(test_kazoo_peer_call(peer, &error, "get", "{s:s}", "path", path));
    g_assert_nonnull(error);
    g_assert_true(g_str_has_prefix(error->message, "NoAuthError"));

    /* Also after a reconnection, and in another session. */
    suspend_session(test);
    resume_session(test);
    text = get(test, "/x", NULL);
    g_assert_cmpstr(text, ==, "1");
    expire_session(test);
    g_free(text);
    text = get(test, "/x", NULL);
    g_assert_cmpstr(text, ==, "1");
    close_session(test);
}

static void
test_digest_without_a_password(void)
{
    DroverSessionServer address = {"127.0.0.1", test_zookeeper_port(server)};
    DroverSessionOptions options = {
        .servers = &address, .n_servers = 1, .timeout = 10, .digest = "drover"};
    g_autoptr(GError) error = NULL;

    g_assert_null(drover_session_new(&options, &error));
    g_assert_error(error, DROVER_ERROR, DROVER_ERROR_CONFIG);
}

/* ---- Suspended and lost ---- */

static void
test_suspended(void)
{
    g_autofree char *root = new_root(), *path = below(root, "x");
    g_autoptr(TestSession) test = open_session(NULL);
    DroverChange *change = drover_change_new(test->session);
    gint64 id = drover_session_id(test->session);

    drover_change_create(change, path, NULL, ZOO_EPHEMERAL);
    g_assert_cmpint(commit(change), ==, DROVER_CHANGE_DONE);
    suspend_session(test);
    g_assert_cmpint(drover_session_state(test->session), ==, DROVER_SESSION_SUSPENDED);
    g_assert_cmpint(exists(test, path), ==, ZCONNECTIONLOSS);
    resume_session(test);
    g_assert_cmpint(drover_session_id(test->session), ==, id);
    g_assert_cmpuint(test->lost, ==, 0);
    g_assert_cmpint(peer_stat(path, "ephemeralOwner"), ==, id);
    g_assert_false(drover_session_is_resumed(test->session));
}

static void
test_lost(void)
{
    g_autofree char *root = new_root(), *path = below(root, "x");
    g_autoptr(TestSession) test = open_session(NULL);
    DroverChange *change = drover_change_new(test->session);
    gint64 id = drover_session_id(test->session);

    drover_change_create(change, path, NULL, ZOO_EPHEMERAL);
    g_assert_cmpint(commit(change), ==, DROVER_CHANGE_DONE);
    expire_session(test);
    g_assert_cmpint(drover_session_id(test->session), !=, id);
    g_assert_cmpint(exists(test, path), ==, ZNONODE);
    g_assert_cmpuint(drover_session_counters(test->session)->sessions, ==, 2);
}

static void
count_answer(const DroverReadReply *reply, gpointer user_data)
{
    ++*(guint *)user_data;
}

static void
count_commit(const DroverCommitReply *reply, gpointer user_data)
{
    ++*(guint *)user_data;
}

typedef struct {
    guint asked, answered;
} Operations;

static gboolean
all_answered(gpointer user_data)
{
    const Operations *operations = user_data;

    return operations->answered == operations->asked;
}

/* A library that ends between a question and its answer must not swallow it. */
static void
test_every_operation_is_answered(void)
{
    g_autofree char *root = new_root(), *path = below(root, "x/");
    g_autoptr(TestSession) test = open_session(NULL);
    Operations operations = {0};

    for (guint round = 0; round < 20; round++) {
        guint lost = test->lost;

        suspend_session(test);
        end_session_at_server(test);
        test_tcp_proxy_set_mode(proxy, TEST_PROXY_PASS);
        while (test->lost == lost) {
            DroverTransaction *transaction = drover_transaction_new();

            drover_session_exists(test->session, root, TRUE, count_answer, &operations.answered);
            drover_transaction_create(transaction, path, NULL, ZOO_SEQUENCE);
            drover_session_commit(test->session, transaction, count_commit, &operations.answered);
            operations.asked += 2;
            g_main_context_iteration(NULL, operations.asked % 16 == 0);
        }
        wait_connected(test);
    }
    wait_until(all_answered, &operations);
}

static void
test_cuts_at_any_moment(void)
{
    g_autofree char *root = new_root(), *path = below(root, "n");
    g_autoptr(TestSession) test = open_session(NULL);
    Operations operations = {0};

    for (guint round = 0; round < 100; round++) {
        for (guint i = g_random_int_range(0, 50); i > 0; i--) {
            DroverTransaction *transaction = drover_transaction_new();

            drover_transaction_create(transaction, path, NULL, ZOO_SEQUENCE);
            drover_session_commit(test->session, transaction, count_commit, &operations.answered);
            operations.asked++;
            g_main_context_iteration(NULL, FALSE);
        }
        test_tcp_proxy_cut(proxy);
    }
    wait_until(all_answered, &operations);
    wait_connected(test);
    g_assert_cmpuint(test->lost, ==, 0);
}

/* ---- Another list of servers ---- */

static void
test_other_servers(void)
{
    g_autoptr(TestSession) test = open_session(NULL);
    g_autoptr(TestTcpProxy) other = test_tcp_proxy_start(test_zookeeper_port(server));
    DroverSessionServer address = {"127.0.0.1", test_tcp_proxy_port(other)};
    DroverSessionServer nowhere = {"nowhere.invalid", 2181};
    g_autoptr(GError) error = NULL;
    gint64 id = drover_session_id(test->session);

    g_assert_false(drover_session_set_servers(test->session, &nowhere, 1, &error));
    g_assert_error(error, DROVER_ERROR, DROVER_ERROR_CONFIG);
    g_assert_nonnull(strstr(error->message, "nowhere.invalid"));
    g_clear_error(&error);
    suspend_session(test);
    resume_session(test);

    g_assert_true(drover_session_set_servers(test->session, &address, 1, &error));
    g_assert_no_error(error);
    /* The old way is closed for ever, so it goes on by the new one. */
    test_tcp_proxy_set_mode(proxy, TEST_PROXY_REFUSE);
    test_tcp_proxy_cut(proxy);
    while (exists(test, "/") != ZOK)
        g_main_context_iteration(NULL, FALSE);
    g_assert_cmpint(drover_session_id(test->session), ==, id);
    g_assert_cmpuint(test->lost, ==, 0);
    g_assert_cmpuint(test->suspended, >=, 2);
    test_tcp_proxy_set_mode(proxy, TEST_PROXY_PASS);
    drover_session_close(test->session);
    test->session = NULL;
    test_folder_remove(test->folder);
    g_free(test->folder);
    g_free(g_steal_pointer(&test));
}

/* ---- Watches ---- */

enum { MANY = 10000 };

static void
ignore_answer(const DroverReadReply *reply, gpointer user_data)
{
}

/* The library sets its watches again with one request, here of 1.5 MB, which servers refuse. */
static void
test_more_watches_than_fit_into_a_request(void)
{
    g_autofree char *root = new_root(), *name = g_strnfill(120, 'n'),
                    *chroot = below(root, "%s", name);
    TestSessionSetup setup = {.chroot = chroot, .timeout = 20};
    g_autoptr(TestSession) test = open_session(&setup);
    gint64 id = drover_session_id(test->session);

    for (guint i = 0; i < MANY; i++) {
        g_autofree char *path = g_strdup_printf("/node-%010u", i);

        drover_session_exists(test->session, path, TRUE, ignore_answer, NULL);
    }
    sync_session(test);
    suspend_session(test);
    resume_session(test);
    g_assert_cmpint(drover_session_id(test->session), ==, id);
    g_assert_cmpuint(test->lost, ==, 0);
    g_assert_cmpint(exists(test, "/"), ==, ZOK);
}

/* ---- Subscribers ---- */

typedef struct {
    TestSession *test;
    guint own, victim;
    guint events, writes, victim_events;
} Subscription;

static void
on_victim(const char *path, int type, gpointer user_data)
{
    ((Subscription *)user_data)->victim_events++;
}

static void
on_event(const char *path, int type, gpointer user_data)
{
    Subscription *subscription = user_data;

    subscription->events++;
    /* Of another, and of oneself, while all are told. */
    drover_session_remove(subscription->test->session, subscription->victim);
    drover_session_remove(subscription->test->session, subscription->own);
}

static void
on_write(const char *path, GBytes *data, gint32 version, gint64 mzxid, gpointer user_data)
{
    ((Subscription *)user_data)->writes++;
}

static gboolean
has_event(gpointer user_data)
{
    return ((Subscription *)user_data)->events > 0;
}

static void
test_observers(void)
{
    static const DroverSessionObserver observer = {.event = on_event, .wrote = on_write};
    static const DroverSessionObserver victim = {.event = on_victim};
    g_autofree char *root = new_root(), *path = below(root, "x"),
                    *beside = g_strconcat(root, "x", NULL);
    g_autoptr(TestSession) test = open_session(NULL);
    Subscription subscription = {.test = test};
    DroverChange *change = drover_change_new(test->session);

    subscription.own = drover_session_add_observer(test->session, root, &observer, &subscription);
    subscription.victim = drover_session_add_observer(test->session, root, &victim, &subscription);
    drover_change_create(change, path, NULL, ZOO_EPHEMERAL);
    drover_change_create(change, beside, NULL, ZOO_EPHEMERAL);
    g_assert_cmpint(commit(change), ==, DROVER_CHANGE_DONE);
    g_assert_cmpuint(subscription.writes, ==, 1);

    drover_session_get(test->session, path, TRUE, ignore_answer, NULL);
    drover_session_get(test->session, beside, TRUE, ignore_answer, NULL);
    sync_session(test);
    peer_set(beside, "1");
    peer_set(path, "1");
    wait_until(has_event, &subscription);
    sync_session(test);
    g_assert_cmpuint(subscription.events, ==, 1);
    g_assert_cmpuint(subscription.victim_events, ==, 0);
}

static void
add_tests(void)
{
    g_test_add_func("/zk/session/connects-and-logs-the-time-out", test_connects);
    g_test_add_func("/zk/session/Z-08-server-down-at-the-start", test_waits_for_the_server);
    g_test_add_func("/zk/session/operations-before-the-session",
                    test_operations_before_the_session_are_refused);
    g_test_add_func("/zk/session/several-servers-first-dead", test_several_servers);
    g_test_add_func("/zk/session/two-servers-one-dead", test_two_servers);
    g_test_add_func("/zk/session/unknown-host", test_unknown_host_is_tried_again);
    g_test_add_func("/zk/session/chroot-is-created", test_chroot_is_created);
    g_test_add_func("/zk/session/chroot-that-exists-needs-no-permission",
                    test_chroot_that_exists_needs_no_permission);
    g_test_add_func("/zk/session/chroot-that-must-not-be-created",
                    test_chroot_that_must_not_be_created);
    g_test_add_func("/zk/session/chroot-that-is-left", test_chroot_that_is_left);
    g_test_add_func("/zk/session/digest", test_digest);
    g_test_add_func("/zk/session/digest-without-a-password", test_digest_without_a_password);
    g_test_add_func("/zk/session/suspended", test_suspended);
    g_test_add_func("/zk/session/lost", test_lost);
    g_test_add_func("/zk/session/every-operation-is-answered", test_every_operation_is_answered);
    g_test_add_func("/zk/session/cuts-at-any-moment", test_cuts_at_any_moment);
    g_test_add_func("/zk/session/other-servers", test_other_servers);
    g_test_add_func("/zk/session/more-watches-than-fit-into-a-request",
                    test_more_watches_than_fit_into_a_request);
    g_test_add_func("/zk/session/observers", test_observers);
}

int
main(int argc, char **argv)
{
    return run_with_cluster(&argc, &argv, add_tests);
}
