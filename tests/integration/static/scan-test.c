/*
 * The scanner of the SDK against a real SSH server and against a server that misbehaves on command.
 * Case numbers are those of the node scan's specification; its times are scaled down.
 */
#include <drover/scan.h>

#include "support/sshd.h"
#include "support/tcp-server.h"
#include "support/wait.h"

#include <gio/gio.h>
#include <string.h>
#include <sys/resource.h>

enum { LONGEST_WAIT = 60000 };
/* The specification's second, on a busy machine; by itself the peer would go on for long. */
#define SOON (5 * G_TIME_SPAN_SECOND)

/* With one key of each usual type, for all tests that need no other. */
static TestSshd *usual_sshd;

/* ---- A scan and what became of it ---- */

typedef struct {
    struct drover_scan *scan;
    gboolean done;
    gint64 begun, ended;
    GPtrArray *log; /* of char *, "level text" */
} Run;

static void
note(enum drover_log_level level, const char *text, void *data)
{
    Run *run = data;

    g_ptr_array_add(run->log, g_strdup_printf("%d %s", (int)level, text));
}

static void
note_end(struct drover_scan *scan, void *data)
{
    Run *run = data;

    g_assert_true(scan == run->scan);
    g_assert_false(run->done);
    run->ended = g_get_monotonic_time();
    run->done = TRUE;
}

static Run *
run_new(enum drover_scan_kind kind, const char *host, guint16 port)
{
    Run *run = g_new0(Run, 1);

    run->log = g_ptr_array_new_with_free_func(g_free);
    run->scan = drover_scan_new(kind, host, port);
    drover_scan_set_pause(run->scan, 50);
    drover_scan_set_log(run->scan, note, run);
    return run;
}

static void
run_free(Run *run)
{
    drover_scan_free(run->scan);
    g_ptr_array_unref(run->log);
    g_free(run);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Run, run_free)

static void
run_start(Run *run)
{
    run->begun = g_get_monotonic_time();
    drover_scan_start(run->scan, note_end, run);
    g_assert_false(run->done);
}

static void
run_wait(Run *run)
{
    g_assert_true(test_wait_for(&run->done, LONGEST_WAIT));
}

static guint
run_milliseconds(const Run *run)
{
    return (guint)((run->ended - run->begun) / 1000);
}

/* How many lines of the log have that level and hold that text. */
static guint
run_logged(const Run *run, enum drover_log_level level, const char *text)
{
    guint count = 0;

    for (guint i = 0; i < run->log->len; i++) {
        const char *line = run->log->pdata[i];

        if (line[0] - '0' == (int)level && strstr(line, text) != NULL)
            count++;
    }
    return count;
}

typedef struct {
    const Run *run;
    const char *text;
} Expectation;

static gboolean
is_logged(gpointer user_data)
{
    const Expectation *expected = user_data;

    return run_logged(expected->run, DROVER_DEBUG, expected->text) > 0;
}

/* Waits for a try that fails with these words; the scan goes on. */
static void
run_wait_for_problem(const Run *run, const char *text)
{
    Expectation expected = {run, text};

    if (!test_wait_until(is_logged, &expected, LONGEST_WAIT))
        g_error("no try failed with \"%s\"", text);
    g_assert_false(run->done);
    g_assert_cmpuint(drover_scan_key_count(run->scan), ==, 0);
}

static void
assert_keys(const Run *run, const char *const *expected)
{
    g_assert_cmpstr(drover_scan_message(run->scan), ==, NULL);
    g_assert_cmpint(drover_scan_failure(run->scan), ==, 0);
    for (guint i = 0; expected[i] != NULL; i++)
        g_assert_cmpstr(drover_scan_key(run->scan, i), ==, expected[i]);
    g_assert_cmpuint(drover_scan_key_count(run->scan), ==, g_strv_length((char **)expected));
}

static void
assert_failed(const Run *run, enum drover_failure failure, const char *text)
{
    g_assert_cmpint(drover_scan_failure(run->scan), ==, failure);
    g_assert_cmpuint(drover_scan_key_count(run->scan), ==, 0);
    g_assert_null(drover_scan_key(run->scan, 0));
    if (strstr(drover_scan_message(run->scan), text) == NULL)
        g_error("\"%s\" is not in \"%s\"", text, drover_scan_message(run->scan));
}

static TestSshd *
start_sshd(const char *address, const char *const *key_types, const char *config)
{
    g_autoptr(GError) error = NULL;
    TestSshd *sshd = test_sshd_new(address, key_types, config, &error);

    g_assert_no_error(error);
    test_sshd_start(sshd, &error);
    g_assert_no_error(error);
    return sshd;
}

static TestTcpServer *
start_tcp_server(void)
{
    g_autoptr(GError) error = NULL;
    TestTcpServer *server = test_tcp_server_start("127.0.0.1", &error);

    g_assert_no_error(error);
    return server;
}

/* ---- Host keys of real servers ---- */

static void
test_three_keys(void)
{
    g_autoptr(Run) run = run_new(DROVER_SCAN_HOST_KEYS, "127.0.0.1", test_sshd_port(usual_sshd));

    run_start(run);
    run_wait(run);
    assert_keys(run, test_sshd_keys(usual_sshd));
    g_assert_cmpstr(drover_scan_address(run->scan), ==, "127.0.0.1");
    g_assert_cmpint(drover_scan_address_family(run->scan), ==, 4);
    g_assert_cmpuint(run->log->len, ==, 0);
}

static void
test_every_ecdsa_key(void)
{
    static const char *const types[] = {"ecdsa-256", "ecdsa-384", "ecdsa-521", NULL};

    for (guint i = 0; types[i] != NULL; i++) {
        g_autoptr(TestSshd) sshd = start_sshd("127.0.0.1", (const char *[]){types[i], NULL}, NULL);
        g_autoptr(Run) run = run_new(DROVER_SCAN_HOST_KEYS, "127.0.0.1", test_sshd_port(sshd));

        run_start(run);
        run_wait(run);
        assert_keys(run, test_sshd_keys(sshd));
    }
}

static void
test_rsa_without_sha1(void)
{
    static const char *const types[] = {"rsa-2048", NULL};
    g_autoptr(TestSshd) sshd =
        start_sshd("127.0.0.1", types, "HostKeyAlgorithms rsa-sha2-512,rsa-sha2-256");
    g_autoptr(Run) run = run_new(DROVER_SCAN_HOST_KEYS, "127.0.0.1", test_sshd_port(sshd));

    run_start(run);
    run_wait(run);
    assert_keys(run, test_sshd_keys(sshd));
    g_assert_true(g_str_has_prefix(drover_scan_key(run->scan, 0), "ssh-rsa AAAA"));
}

/* As old network devices are. */
static void
test_only_sha1(void)
{
    static const char *const types[] = {"rsa-2048", NULL};
    g_autoptr(TestSshd) sshd =
        start_sshd("127.0.0.1", types,
                   "HostKeyAlgorithms ssh-rsa\nKexAlgorithms diffie-hellman-group14-sha1\n"
                   "Ciphers aes128-cbc\nMACs hmac-sha1\n");
    g_autoptr(Run) run = run_new(DROVER_SCAN_HOST_KEYS, "127.0.0.1", test_sshd_port(sshd));

    run_start(run);
    run_wait(run);
    assert_keys(run, test_sshd_keys(sshd));
}

static void
test_nobody_is_authenticated(void)
{
    static const char *const types[] = {"ed25519", NULL};
    g_autoptr(TestSshd) sshd = start_sshd("127.0.0.1", types, "LogLevel DEBUG2");
    g_autoptr(Run) run = run_new(DROVER_SCAN_HOST_KEYS, "127.0.0.1", test_sshd_port(sshd));
    g_autofree char *log = NULL;

    run_start(run);
    run_wait(run);
    assert_keys(run, test_sshd_keys(sshd));
    log = test_sshd_log(sshd);
    g_assert_nonnull(strstr(log, "KEX done"));
    g_assert_null(strstr(log, "userauth-request"));
    g_assert_null(strstr(log, "nobody"));
}

static void
test_ipv6(void)
{
    static const char *const types[] = {"ed25519", NULL};
    g_autoptr(GError) error = NULL;
    g_autoptr(TestSshd) sshd = test_sshd_new("::1", types, NULL, &error);
    g_autoptr(Run) run = NULL;

    g_assert_no_error(error);
    if (!test_sshd_start(sshd, NULL)) {
        g_test_skip("this machine has no IPv6");
        return;
    }
    run = run_new(DROVER_SCAN_HOST_KEYS, "::1", test_sshd_port(sshd));
    run_start(run);
    run_wait(run);
    assert_keys(run, test_sshd_keys(sshd));
    g_assert_cmpstr(drover_scan_address(run->scan), ==, "::1");
    g_assert_cmpint(drover_scan_address_family(run->scan), ==, 6);
}

/* ---- Servers that are late ---- */

static void
test_refused_at_first(void)
{
    enum { PAUSE = 100, REFUSALS = 4 };
    g_autoptr(TestTcpServer) server = start_tcp_server();
    g_autoptr(Run) run = run_new(DROVER_SCAN_HOST_KEYS, "127.0.0.1", test_tcp_server_port(server));

    drover_scan_set_pause(run->scan, PAUSE);
    run_start(run);
    while (run->log->len < REFUSALS)
        g_main_context_iteration(NULL, TRUE);
    g_assert_cmpint((g_get_monotonic_time() - run->begun) / 1000, >=, (REFUSALS - 1) * PAUSE);
    g_assert_cmpuint(run_logged(run, DROVER_DEBUG, "refused"), ==, REFUSALS);
    test_tcp_server_command(server, "forward %u", test_sshd_port(usual_sshd));
    run_wait(run);
    assert_keys(run, test_sshd_keys(usual_sshd));
}

static void
test_silent_at_first(void)
{
    g_autoptr(TestTcpServer) server = start_tcp_server();
    g_autoptr(Run) run = run_new(DROVER_SCAN_HOST_KEYS, "127.0.0.1", test_tcp_server_port(server));

    test_tcp_server_command(server, "silent");
    drover_scan_set_try_limits(run->scan, 5000, 2000);
    run_start(run);
    test_tcp_server_wait(server, "accepted", 2);
    g_assert_cmpuint(run_logged(run, DROVER_DEBUG, "no SSH server answered"), ==, 1);
    g_assert_cmpuint(test_tcp_server_count(server, "closed"), ==, 1);
    test_tcp_server_command(server, "forward %u", test_sshd_port(usual_sshd));
    run_wait(run);
    assert_keys(run, test_sshd_keys(usual_sshd));
}

static void
test_packets_dropped(void)
{
    g_autoptr(TestTcpServer) server = start_tcp_server();
    g_autoptr(Run) run = run_new(DROVER_SCAN_HOST_KEYS, "127.0.0.1", test_tcp_server_port(server));

    test_tcp_server_command(server, "deaf");
    drover_scan_set_limit(run->scan, 1400);
    drover_scan_set_try_limits(run->scan, 500, 500);
    run_start(run);
    run_wait(run);
    assert_failed(run, DROVER_FAILURE_TIMEOUT, "not reached within 1.4 s: no answer in time");
    g_assert_cmpuint(run_milliseconds(run), >=, 1395);
    g_assert_cmpuint(run_milliseconds(run), <=, 3000);
    g_assert_cmpuint(run_logged(run, DROVER_DEBUG, "no answer in time"), ==, 2);
}

static void
test_closed_for_ever(void)
{
    g_autoptr(TestTcpServer) server = start_tcp_server();
    g_autoptr(Run) run = run_new(DROVER_SCAN_HOST_KEYS, "127.0.0.1", test_tcp_server_port(server));

    test_tcp_server_command(server, "close");
    drover_scan_set_limit(run->scan, 1000);
    drover_scan_set_pause(run->scan, 100);
    run_start(run);
    run_wait(run);
    assert_failed(run, DROVER_FAILURE_TIMEOUT, "not reached within 1 s");
    g_assert_cmpuint(test_tcp_server_count(server, "accepted"), >=, 2);
    g_assert_cmpuint(test_tcp_server_count(server, "accepted"), <=, 10);
}

/* An error that connect() gives at once is no reason to give up, nor to try without a pause. */
static void
test_network_error_at_once(void)
{
    g_autoptr(Run) run = run_new(DROVER_SCAN_CONNECT, "fe80::1", 22);

    drover_scan_set_limit(run->scan, 300);
    drover_scan_set_pause(run->scan, 100);
    run_start(run);
    run_wait(run);
    assert_failed(run, DROVER_FAILURE_TIMEOUT, "not reached within 0.3 s: ");
    g_assert_cmpuint(run->log->len, >=, 2);
    g_assert_cmpuint(run->log->len, <=, 3);
}

/* ---- Servers that misbehave ---- */

static void
test_one_type_dropped(void)
{
    const char *const *all = test_sshd_keys(usual_sshd);
    g_autoptr(TestTcpServer) server = start_tcp_server();
    g_autoptr(Run) run = run_new(DROVER_SCAN_HOST_KEYS, "127.0.0.1", test_tcp_server_port(server));

    test_tcp_server_command(server, "forward %u drop ^ecdsa-sha2-nistp256$",
                            test_sshd_port(usual_sshd));
    run_start(run);
    run_wait(run);
    assert_keys(run, (const char *[]){all[0], all[2], NULL});
    g_assert_cmpuint(run_logged(run, DROVER_WARNING, "ecdsa-sha2-nistp256: "), ==, 1);
    g_assert_cmpuint(run->log->len, ==, 1);
}

static void
test_every_single_type_dropped(void)
{
    g_autoptr(TestTcpServer) server = start_tcp_server();
    g_autoptr(Run) run = run_new(DROVER_SCAN_HOST_KEYS, "127.0.0.1", test_tcp_server_port(server));

    test_tcp_server_command(server, "forward %u drop ^[^,]*$", test_sshd_port(usual_sshd));
    run_start(run);
    run_wait(run);
    assert_failed(run, DROVER_FAILURE_UNREACHABLE, "gave no host key");
    g_assert_cmpuint(test_tcp_server_count(server, "accepted"), ==, 8);
    /* A type that the server has not may be found missing before the connection is dropped. */
    g_assert_cmpuint(run_logged(run, DROVER_WARNING, "ssh-ed25519: "), ==, 1);
    g_assert_cmpuint(run_logged(run, DROVER_WARNING, "ecdsa-sha2-nistp256: "), ==, 1);
    g_assert_cmpuint(run_logged(run, DROVER_WARNING, "rsa-sha2-512: "), ==, 1);
    g_assert_cmpuint(run_logged(run, DROVER_WARNING, "rsa-sha2-256: "), ==, 1);
}

static void
test_wrong_signature(void)
{
    g_autoptr(TestTcpServer) server = start_tcp_server();
    g_autoptr(Run) run = run_new(DROVER_SCAN_HOST_KEYS, "127.0.0.1", test_tcp_server_port(server));

    test_tcp_server_command(server, "forward %u corrupt .", test_sshd_port(usual_sshd));
    run_start(run);
    run_wait_for_problem(run, "signature");
}

/* The signature goes bad only after the first connection, when each answer counts. */
static void
test_wrong_signature_of_a_key(void)
{
    g_autoptr(TestTcpServer) server = start_tcp_server();
    g_autoptr(Run) run = run_new(DROVER_SCAN_HOST_KEYS, "127.0.0.1", test_tcp_server_port(server));

    test_tcp_server_command(server, "forward %u corrupt ^[^,]*$", test_sshd_port(usual_sshd));
    drover_scan_set_limit(run->scan, 10000);
    run_start(run);
    run_wait(run);
    assert_failed(run, DROVER_FAILURE_UNREACHABLE, "gave no host key");
    /* Ed25519, ECDSA, and RSA with two algorithms: this server has no SHA-1. */
    g_assert_cmpuint(run_logged(run, DROVER_WARNING, "signature"), ==, 4);
}

/* What is no SSH server is told apart from one, and its words do no harm in a log. */
static void
test_other_protocols(void)
{
    static const struct {
        const char *greeting, *message;
    } cases[] = {
        {"220 mail.example.org ESMTP\\r\\n", "no SSH server answered"},
        {"SSH-1.5-old\\r\\n", "banner"},
        {"SSH-2.0-x\\x1b[31m\\r\\n\\xff\\xff\\xff\\xff\\xff\\xff", ""},
        {"SSH-2.0-x\\r\\n\\0\\0\\0\\x0c\\x0a\\x15aaaaaaaaaa", ""},
        {"SSH-9.9-\\x1b[31m\\r\\n", "?[31m"},
    };
    g_autoptr(TestTcpServer) server = start_tcp_server();

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(Run) run =
            run_new(DROVER_SCAN_HOST_KEYS, "127.0.0.1", test_tcp_server_port(server));

        test_tcp_server_command(server, "say %s", cases[i].greeting);
        drover_scan_set_try_limits(run->scan, 5000, 500);
        run_start(run);
        run_wait_for_problem(run, cases[i].message);
        g_assert_null(strchr(run->log->pdata[run->log->len - 1], '\x1b'));
    }
}

/* ---- Connecting only, resolving only ---- */

static void
test_connect_open(void)
{
    g_autoptr(TestTcpServer) server = start_tcp_server();
    g_autoptr(Run) run = run_new(DROVER_SCAN_CONNECT, "127.0.0.1", test_tcp_server_port(server));

    test_tcp_server_command(server, "silent");
    run_start(run);
    run_wait(run);
    assert_keys(run, (const char *[]){NULL});
    g_assert_cmpstr(drover_scan_address(run->scan), ==, "127.0.0.1");
    test_tcp_server_wait(server, "closed", 1);
    g_assert_cmpuint(test_tcp_server_count(server, "accepted"), ==, 1);
}

static void
test_connect_closed(void)
{
    g_autoptr(TestTcpServer) server = start_tcp_server();
    g_autoptr(Run) run = run_new(DROVER_SCAN_CONNECT, "127.0.0.1", test_tcp_server_port(server));

    drover_scan_set_limit(run->scan, 300);
    run_start(run);
    run_wait(run);
    assert_failed(run, DROVER_FAILURE_TIMEOUT, "refused");
    g_assert_cmpuint(run_milliseconds(run), >=, 295);
}

static void
test_resolve(void)
{
    static const struct {
        const char *host, *address;
        int family;
    } cases[] = {
        {"192.0.2.7", "192.0.2.7", 4},
        {"2001:db8::7", "2001:db8::7", 6},
        {"localhost", NULL, 0},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(Run) run = run_new(DROVER_SCAN_RESOLVE, cases[i].host, 22);

        run_start(run);
        run_wait(run);
        g_assert_cmpint(drover_scan_failure(run->scan), ==, 0);
        if (cases[i].address != NULL) {
            g_assert_cmpstr(drover_scan_address(run->scan), ==, cases[i].address);
            g_assert_cmpint(drover_scan_address_family(run->scan), ==, cases[i].family);
        } else if (drover_scan_address_family(run->scan) == 4) {
            g_assert_cmpstr(drover_scan_address(run->scan), ==, "127.0.0.1");
        } else {
            g_assert_cmpstr(drover_scan_address(run->scan), ==, "::1");
        }
    }
}

static void
test_name_unknown(void)
{
    g_autoptr(Run) run = run_new(DROVER_SCAN_HOST_KEYS, "no-such-machine.invalid", 22);

    drover_scan_set_limit(run->scan, 25000);
    run_start(run);
    run_wait(run);
    assert_failed(run, DROVER_FAILURE_UNREACHABLE, "the name cannot be resolved: ");
    g_assert_null(drover_scan_address(run->scan));
    g_assert_cmpint(drover_scan_address_family(run->scan), ==, 0);
}

/* Nodepool never contacts a machine whose name holds "fake". Here it is a name like any other. */
static void
test_fake_name(void)
{
    g_autoptr(TestTcpServer) server = start_tcp_server();
    g_autoptr(Run) run =
        run_new(DROVER_SCAN_HOST_KEYS, "fake-host-1.localhost", test_tcp_server_port(server));

    drover_scan_set_limit(run->scan, 300);
    run_start(run);
    run_wait(run);
    assert_failed(run, DROVER_FAILURE_TIMEOUT, "refused");
    g_assert_cmpuint(run_logged(run, DROVER_DEBUG, "refused"), >=, 1);
}

/* ---- Ending early ---- */

static void
test_freed_in_every_state(void)
{
    static const char *const modes[] = {"silent", "say SSH-2.0-x\\r\\n", "forward"};
    g_autoptr(TestTcpServer) server = start_tcp_server();

    for (guint i = 0; i < G_N_ELEMENTS(modes); i++) {
        guint closed = test_tcp_server_count(server, "closed");
        guint accepted = test_tcp_server_count(server, "accepted");
        Run *run = run_new(DROVER_SCAN_HOST_KEYS, "127.0.0.1", test_tcp_server_port(server));
        gint64 freed;

        if (g_str_equal(modes[i], "forward"))
            test_tcp_server_command(server, "forward %u", test_sshd_port(usual_sshd));
        else
            test_tcp_server_command(server, "%s", modes[i]);
        run_start(run);
        test_tcp_server_wait(server, "accepted", accepted + 1);
        g_assert_false(run->done);
        freed = g_get_monotonic_time();
        run_free(run);
        test_tcp_server_wait(server, "closed", closed + 1);
        g_assert_cmpint(g_get_monotonic_time() - freed, <, SOON);
    }
}

static void
test_freed_before_anything(void)
{
    static const char *const hosts[] = {"127.0.0.1", "localhost", "no-such-machine.invalid"};

    run_free(run_new(DROVER_SCAN_CONNECT, "127.0.0.1", 1));
    for (guint i = 0; i < G_N_ELEMENTS(hosts); i++) {
        Run *run = run_new(DROVER_SCAN_CONNECT, hosts[i], 1);

        run_start(run);
        run_free(run);
    }
    /* A resolver's answer that was under way must find nobody. */
    while (g_main_context_iteration(NULL, FALSE))
        ;
    drover_scan_free(NULL);
}

static void
free_at_end(struct drover_scan *scan, void *data)
{
    gboolean *done = data;

    drover_scan_free(scan);
    *done = TRUE;
}

static void
test_freed_when_told(void)
{
    static const enum drover_scan_kind kinds[] = {DROVER_SCAN_RESOLVE, DROVER_SCAN_CONNECT,
                                                  DROVER_SCAN_HOST_KEYS};

    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
        struct drover_scan *scan =
            drover_scan_new(kinds[i], "127.0.0.1", test_sshd_port(usual_sshd));
        gboolean done = FALSE;

        drover_scan_start(scan, free_at_end, &done);
        g_assert_true(test_wait_for(&done, LONGEST_WAIT));
    }
}

/* ---- Threads and amounts ---- */

static void
quit_loop(struct drover_scan *scan, void *data)
{
    g_main_loop_quit(data);
}

static gpointer
scan_in_thread(gpointer user_data)
{
    g_autoptr(GMainContext) context = g_main_context_new();
    g_autoptr(GMainLoop) loop = g_main_loop_new(context, FALSE);
    struct drover_scan *scan;
    gsize count;

    g_main_context_push_thread_default(context);
    scan = drover_scan_new(DROVER_SCAN_HOST_KEYS, "127.0.0.1", test_sshd_port(usual_sshd));
    drover_scan_start(scan, quit_loop, loop);
    g_main_loop_run(loop);
    count = drover_scan_key_count(scan);
    drover_scan_free(scan);
    g_main_context_pop_thread_default(context);
    return GSIZE_TO_POINTER(count);
}

static void
test_thread_of_its_own(void)
{
    GThread *threads[3];

    for (guint i = 0; i < G_N_ELEMENTS(threads); i++)
        threads[i] = g_thread_new("scan", scan_in_thread, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(threads); i++)
        g_assert_cmpuint(GPOINTER_TO_SIZE(g_thread_join(threads[i])), ==, 3);
}

static guint
count_threads(void)
{
    g_autoptr(GDir) tasks = g_dir_open("/proc/self/task", 0, NULL);
    guint count = 0;

    while (g_dir_read_name(tasks) != NULL)
        count++;
    return count;
}

static double
cpu_milliseconds(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000.0 +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000.0;
}

/* Scans the usual server so many times at once. Returns the largest number of threads meanwhile. */
static guint
scan_at_once(guint amount)
{
    g_autoptr(GPtrArray) runs = g_ptr_array_new_with_free_func((GDestroyNotify)run_free);
    guint threads = 0;

    for (guint i = 0; i < amount; i++) {
        Run *run = run_new(DROVER_SCAN_HOST_KEYS, "127.0.0.1", test_sshd_port(usual_sshd));

        g_ptr_array_add(runs, run);
        run_start(run);
    }
    for (guint i = 0; i < amount; i++) {
        run_wait(runs->pdata[i]);
        threads = MAX(threads, count_threads());
        assert_keys(runs->pdata[i], test_sshd_keys(usual_sshd));
    }
    return threads;
}

static void
test_many_at_once(void)
{
    guint threads = count_threads();

    /* Those of earlier tests may end meanwhile. */
    g_assert_cmpuint(scan_at_once(20), <=, threads);
}

static void
test_cost(void)
{
    static const guint amounts[] = {1, 100};

    if (!g_test_perf()) {
        g_test_skip("only with -m perf");
        return;
    }
    for (guint i = 0; i < G_N_ELEMENTS(amounts); i++) {
        gint64 begun = g_get_monotonic_time();
        double cpu = cpu_milliseconds();
        guint before = count_threads();
        guint threads = scan_at_once(amounts[i]);

        g_test_message("%u scans: %.1f ms, CPU %.1f ms, %u threads before, %u meanwhile",
                       amounts[i], (double)(g_get_monotonic_time() - begun) / 1000.0,
                       cpu_milliseconds() - cpu, before, threads);
    }
}

int
main(int argc, char **argv)
{
    static const char *const usual_types[] = {"ed25519", "ecdsa-256", "rsa-2048", NULL};
    int status;

    g_test_init(&argc, &argv, NULL);
    usual_sshd = start_sshd("127.0.0.1", usual_types, NULL);
    g_test_add_func("/scan/H-01-three-keys", test_three_keys);
    g_test_add_func("/scan/every-ecdsa-key", test_every_ecdsa_key);
    g_test_add_func("/scan/H-03-rsa-without-sha1", test_rsa_without_sha1);
    g_test_add_func("/scan/only-sha1", test_only_sha1);
    g_test_add_func("/scan/nobody-is-authenticated", test_nobody_is_authenticated);
    g_test_add_func("/scan/H-16-ipv6", test_ipv6);
    g_test_add_func("/scan/H-07-refused-at-first", test_refused_at_first);
    g_test_add_func("/scan/H-08-silent-at-first", test_silent_at_first);
    g_test_add_func("/scan/H-09-packets-dropped", test_packets_dropped);
    g_test_add_func("/scan/H-10-closed-for-ever", test_closed_for_ever);
    g_test_add_func("/scan/network-error-at-once", test_network_error_at_once);
    g_test_add_func("/scan/H-11-one-type-dropped", test_one_type_dropped);
    g_test_add_func("/scan/H-12-every-single-type-dropped", test_every_single_type_dropped);
    g_test_add_func("/scan/H-13-wrong-signature", test_wrong_signature);
    g_test_add_func("/scan/H-13-wrong-signature-of-a-key", test_wrong_signature_of_a_key);
    g_test_add_func("/scan/other-protocols", test_other_protocols);
    g_test_add_func("/scan/H-04-connect-open", test_connect_open);
    g_test_add_func("/scan/H-04-connect-closed", test_connect_closed);
    g_test_add_func("/scan/resolve", test_resolve);
    g_test_add_func("/scan/H-17-name-unknown", test_name_unknown);
    g_test_add_func("/scan/H-32-fake-name", test_fake_name);
    g_test_add_func("/scan/H-18-freed-in-every-state", test_freed_in_every_state);
    g_test_add_func("/scan/freed-before-anything", test_freed_before_anything);
    g_test_add_func("/scan/freed-when-told", test_freed_when_told);
    g_test_add_func("/scan/thread-of-its-own", test_thread_of_its_own);
    g_test_add_func("/scan/many-at-once", test_many_at_once);
    g_test_add_func("/scan/cost", test_cost);
    status = g_test_run();
    test_sshd_free(usual_sshd);
    return status;
}
