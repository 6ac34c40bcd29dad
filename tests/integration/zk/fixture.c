#include "fixture.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "support/process.h"

TestZookeeper *server;
TestTcpProxy *proxy;
TestKazooPeer *peer;

int
run_with_cluster(int *argc, char ***argv, void (*add_tests)(void))
{
    g_autoptr(GError) error = NULL;
    TestKazooPeerOptions options = {.timeout = 10};
    int status;

    g_test_init(argc, argv, NULL);
    server = test_zookeeper_start(NULL, &error);
    g_assert_no_error(error);
    proxy = test_tcp_proxy_start(test_zookeeper_port(server));
    options.hosts = test_zookeeper_hosts(server);
    peer = test_kazoo_peer_start(&options, &error);
    g_assert_no_error(error);
    drover_log_set_level(DROVER_LOG_WARNING);
    add_tests();
    status = g_test_run();
    test_kazoo_peer_free(peer);
    test_tcp_proxy_free(proxy);
    test_zookeeper_free(server);
    return status;
}

char *
new_root(void)
{
    static guint number;
    char *root = g_strdup_printf("/t%u", ++number);

    peer_create(root, "");
    return root;
}

char *
below(const char *root, const char *format, ...)
{
    g_autofree char *rest = NULL;
    va_list arguments;

    va_start(arguments, format);
    rest = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    return g_strconcat(root, "/", rest, NULL);
}

/* ---- Waiting ---- */

static gboolean
look_again(gpointer user_data)
{
    return G_SOURCE_CONTINUE;
}

void
wait_until(TestCondition condition, gpointer user_data)
{
    /* Nothing tells us when other processes do something. */
    guint timer = g_timeout_add(10, look_again, NULL);
    gboolean holds = test_wait_until(condition, user_data, PATIENCE);

    g_source_remove(timer);
    g_assert_true(holds);
}

void
wait_for(const gboolean *flag)
{
    g_assert_true(test_wait_for(flag, PATIENCE));
}

/* ---- Sessions ---- */

static void
count_state(DroverSession *session, DroverSessionState state, gpointer user_data)
{
    TestSession *test = user_data;

    if (state == DROVER_SESSION_CONNECTED)
        test->connected++;
    else if (state == DROVER_SESSION_SUSPENDED)
        test->suspended++;
    else if (state == DROVER_SESSION_LOST)
        test->lost++;
}

TestSession *
begin_session(const TestSessionSetup *setup)
{
    static const TestSessionSetup defaults;
    g_autoptr(GError) error = NULL;
    TestSession *test = g_new0(TestSession, 1);
    DroverSessionServer address = {.host = "127.0.0.1"};
    DroverSessionOptions options = {.servers = &address, .n_servers = 1};

    if (setup == NULL)
        setup = &defaults;
    test->own_folder = setup->folder == NULL;
    test->folder = setup->folder != NULL ? g_strdup(setup->folder) : test_folder_make();
    address.port = setup->port != 0 ? setup->port : test_tcp_proxy_port(proxy);
    options.timeout = setup->timeout > 0 ? setup->timeout : 10;
    options.chroot = setup->chroot;
    options.leave_chroot = setup->leave_chroot;
    options.digest = setup->digest;
    options.state_dir = test->folder;
    test->session = drover_session_new(&options, &error);
    g_assert_no_error(error);
    drover_session_add_listener(test->session, count_state, test);
    return test;
}

TestSession *
open_session(const TestSessionSetup *setup)
{
    TestSession *test = begin_session(setup);

    wait_connected(test);
    return test;
}

void
close_session(TestSession *test)
{
    drover_session_close(test->session);
    if (test->own_folder)
        test_folder_remove(test->folder);
    g_free(test->folder);
    g_free(test);
}

static gboolean
is_connected(gpointer user_data)
{
    TestSession *test = user_data;

    return drover_session_state(test->session) == DROVER_SESSION_CONNECTED;
}

static gboolean
is_not_connected(gpointer user_data)
{
    return !is_connected(user_data);
}

void
wait_connected(TestSession *test)
{
    wait_until(is_connected, test);
}

void
suspend_session(TestSession *test)
{
    test_tcp_proxy_set_mode(proxy,
                            TEST_PROXY_REFUSE | TEST_PROXY_HOLD_REQUESTS | TEST_PROXY_HOLD_REPLIES);
    test_tcp_proxy_cut(proxy);
    wait_until(is_not_connected, test);
}

void
resume_session(TestSession *test)
{
    test_tcp_proxy_set_mode(proxy, TEST_PROXY_PASS);
    wait_connected(test);
}

void
end_session_at_server(const TestSession *test)
{
    g_autofree char *path = g_build_filename(test->folder, "session.json", NULL);
    g_autofree guchar *password = NULL;
    g_autoptr(GString) hex = g_string_new(NULL);
    g_autoptr(GError) error = NULL;
    json_t *saved = json_load_file(path, 0, NULL);
    gsize length;

    g_assert_nonnull(saved);
    password = g_base64_decode(json_string_value(json_object_get(saved, "password")), &length);
    for (gsize i = 0; i < length; i++)
        g_string_append_printf(hex, "%02x", password[i]);
    json_decref(saved);
    json_decref(test_kazoo_peer_call(peer, &error, "end_session", "{s:I, s:s}", "session",
                                     (json_int_t)drover_session_id(test->session), "password",
                                     hex->str));
    g_assert_no_error(error);
}

void
expire_session(TestSession *test)
{
    guint lost = test->lost;

    suspend_session(test);
    end_session_at_server(test);
    resume_session(test);
    g_assert_cmpuint(test->lost, ==, lost + 1);
}

/* ---- Operations that are waited for ---- */

typedef struct {
    gboolean answered;
    int rc;
    char *text;
    struct Stat stat;
} Answer;

static void
take_answer(const DroverReadReply *reply, gpointer user_data)
{
    Answer *answer = user_data;

    answer->answered = TRUE;
    answer->rc = reply->rc;
    answer->stat = reply->stat;
    if (reply->data != NULL)
        answer->text =
            g_strndup(g_bytes_get_data(reply->data, NULL), g_bytes_get_size(reply->data));
}

char *
get(TestSession *test, const char *path, struct Stat *stat)
{
    Answer answer = {0};

    drover_session_get(test->session, path, FALSE, take_answer, &answer);
    wait_for(&answer.answered);
    if (answer.rc != ZOK)
        g_assert_cmpint(answer.rc, ==, ZNONODE);
    if (stat != NULL)
        *stat = answer.stat;
    return answer.text;
}

int
exists(TestSession *test, const char *path)
{
    Answer answer = {0};

    drover_session_exists(test->session, path, FALSE, take_answer, &answer);
    wait_for(&answer.answered);
    return answer.rc;
}

void
sync_session(TestSession *test)
{
    exists(test, "/");
}

typedef struct {
    gboolean answered;
    DroverChangeOutcome outcome;
} ChangeAnswer;

static void
take_outcome(const DroverChangeResult *result, gpointer user_data)
{
    ChangeAnswer *answer = user_data;

    g_assert_false(answer->answered);
    answer->answered = TRUE;
    answer->outcome = result->outcome;
}

DroverChangeOutcome
commit(DroverChange *change)
{
    ChangeAnswer answer = {0};

    drover_change_commit(change, take_outcome, &answer);
    g_assert_false(answer.answered);
    wait_for(&answer.answered);
    return answer.outcome;
}

typedef struct {
    gboolean answered;
    DroverLockOutcome outcome;
} LockAnswer;

static void
take_lock(DroverLock *lock, DroverLockOutcome outcome, gpointer user_data)
{
    LockAnswer *answer = user_data;

    g_assert_false(answer->answered);
    answer->answered = TRUE;
    answer->outcome = outcome;
}

DroverLockOutcome
acquire(DroverLock *lock, gint64 wait)
{
    LockAnswer answer = {0};

    drover_lock_acquire(lock, wait, take_lock, &answer);
    g_assert_false(answer.answered);
    wait_for(&answer.answered);
    return answer.outcome;
}

/* ---- kazoo ---- */

void
peer_create(const char *path, const char *data)
{
    g_autoptr(GError) error = NULL;

    json_decref(test_kazoo_peer_call(peer, &error, "create", "{s:s, s:s, s:b}", "path", path,
                                     "data", data, "makepath", 1));
    g_assert_no_error(error);
}

void
peer_set(const char *path, const char *data)
{
    g_autoptr(GError) error = NULL;

    json_decref(
        test_kazoo_peer_call(peer, &error, "set", "{s:s, s:s}", "path", path, "data", data));
    g_assert_no_error(error);
}

void
peer_delete(const char *path)
{
    gboolean again = TRUE;

    while (again) {
        g_autoptr(GError) error = NULL;

        json_decref(test_kazoo_peer_call(peer, &error, "delete", "{s:s, s:b}", "path", path,
                                         "recursive", 1));
        /* A waiter whose contender was removed may have made a new one. */
        again = error != NULL && g_str_has_prefix(error->message, "NotEmptyError");
        if (!again)
            g_assert_no_error(error);
    }
}

char *
peer_get(const char *path)
{
    g_autoptr(GError) error = NULL;
    json_t *result = test_kazoo_peer_call(peer, &error, "get", "{s:s}", "path", path);
    char *data;

    g_assert_no_error(error);
    data = g_strdup(json_string_value(json_object_get(result, "data")));
    json_decref(result);
    return data;
}

gboolean
peer_exists(const char *path)
{
    g_autoptr(GError) error = NULL;
    json_t *result = test_kazoo_peer_call(peer, &error, "exists", "{s:s}", "path", path);
    gboolean is_there = json_is_object(result);

    g_assert_no_error(error);
    json_decref(result);
    return is_there;
}

gint64
peer_stat(const char *path, const char *field)
{
    g_autoptr(GError) error = NULL;
    json_t *result = test_kazoo_peer_call(peer, &error, "exists", "{s:s}", "path", path);
    gint64 value = json_integer_value(json_object_get(result, field));

    g_assert_no_error(error);
    g_assert_nonnull(json_object_get(result, field));
    json_decref(result);
    return value;
}

GStrv
peer_children(const char *path)
{
    g_autoptr(GError) error = NULL;
    json_t *result = test_kazoo_peer_call(peer, &error, "children", "{s:s}", "path", path);
    GStrv names = g_new0(char *, json_array_size(result) + 1);

    g_assert_no_error(error);
    for (size_t i = 0; i < json_array_size(result); i++)
        names[i] = g_strdup(json_string_value(json_array_get(result, i)));
    json_decref(result);
    return names;
}

int
peer_count(const char *path)
{
    g_autoptr(GError) error = NULL;
    json_t *result = test_kazoo_peer_call(peer, &error, "children", "{s:s}", "path", path);
    int count = result != NULL ? (int)json_array_size(result) : -1;

    if (error != NULL)
        g_assert_true(g_str_has_prefix(error->message, "NoNodeError"));
    json_decref(result);
    return count;
}

gboolean
peer_lock(const char *path, gboolean blocking)
{
    g_autoptr(GError) error = NULL;
    json_t *result = test_kazoo_peer_call(peer, &error, "lock", "{s:s, s:b}", "path", path,
                                          "blocking", blocking);
    gboolean acquired = json_is_true(result);

    g_assert_no_error(error);
    json_decref(result);
    return acquired;
}

void
peer_unlock(const char *path)
{
    g_autoptr(GError) error = NULL;

    json_decref(test_kazoo_peer_call(peer, &error, "unlock", "{s:s}", "path", path));
    g_assert_no_error(error);
}

/* ---- Logs ---- */

static int log_fd = -1;

void
keep_log(void)
{
    log_fd = memfd_create("log", MFD_CLOEXEC);
    drover_log_set_fd(log_fd);
    drover_log_set_level(DROVER_LOG_INFO);
}

static char *
read_log(void)
{
    off_t length = lseek(log_fd, 0, SEEK_END);
    char *text = g_malloc0((gsize)length + 1);

    g_assert_cmpint(pread(log_fd, text, (gsize)length, 0), ==, length);
    return text;
}

char *
take_log(void)
{
    char *text = read_log();

    drover_log_set_level(DROVER_LOG_WARNING);
    drover_log_set_fd(STDERR_FILENO);
    close(log_fd);
    log_fd = -1;
    return text;
}

static gboolean
log_contains(gpointer text)
{
    g_autofree char *log = read_log();

    return strstr(log, text) != NULL;
}

void
wait_log(const char *text)
{
    wait_until(log_contains, (gpointer)text);
}
