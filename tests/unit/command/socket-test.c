/* The socket of commands: what is answered, and what clients cannot do to a program. */
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/json.h"
#include "command/client.h"
#include "command/server.h"
#include "command/socket.h"
#include "support/process.h"
#include "support/wait.h"

#define LIMIT    20000 /* milliseconds */
#define MANY     100
#define BIG_SIZE (1024 * 1024)

/* ---- The program ---- */

typedef struct {
    char *folder, *path;
    DroverCommandServer *server;
    guint runs;
} Scene;

static json_t *
run_echo(const json_t *command, gpointer user_data, GError **error)
{
    ((Scene *)user_data)->runs++;
    return json_pack("{s:O?}", "said", json_object_get(command, "text"));
}

static json_t *
run_fail(const json_t *command, gpointer user_data, GError **error)
{
    g_set_error(error, DROVER_ERROR, DROVER_ERROR_CONFIG, "the \"reason\" \xff");
    return NULL;
}

static json_t *
run_big(const json_t *command, gpointer user_data, GError **error)
{
    g_autofree char *text = g_strnfill(BIG_SIZE, 'x');

    return json_string(text);
}

static const char *const echo_arguments[] = {"text", NULL};
static const DroverCommandEntry table[] = {
    {"echo", echo_arguments, run_echo}, {"fail", NULL, run_fail}, {"big", NULL, run_big}, {0}};

static void
serve(Scene *scene, guint patience)
{
    DroverCommandServerOptions options = {
        .path = scene->path, .table = table, .user_data = scene, .patience = patience};
    g_autoptr(GError) error = NULL;

    scene->server = drover_command_server_new(&options, &error);
    g_assert_no_error(error);
}

static void
set_up(Scene *scene, gconstpointer data)
{
    scene->folder = test_folder_make();
    scene->path = g_build_filename(scene->folder, "command.sock", NULL);
    serve(scene, LIMIT);
}

static void
tear_down(Scene *scene, gconstpointer data)
{
    drover_command_server_free(scene->server);
    g_assert_false(g_file_test(scene->path, G_FILE_TEST_EXISTS));
    test_folder_remove(scene->folder);
    g_free(scene->folder);
    g_free(scene->path);
}

/* ---- A client that says anything ---- */

typedef struct {
    GSocket *socket;
    GString *heard;
    gboolean ended; /* by the server */
} Talk;

static Talk *
talk_new(const Scene *scene)
{
    Talk *talk = g_new0(Talk, 1);
    g_autoptr(GError) error = NULL;

    talk->socket = drover_command_connect(scene->path, &error);
    g_assert_no_error(error);
    talk->heard = g_string_new(NULL);
    return talk;
}

static void
talk_free(Talk *talk)
{
    g_socket_close(talk->socket, NULL);
    g_object_unref(talk->socket);
    g_string_free(talk->heard, TRUE);
    g_free(talk);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Talk, talk_free)

/* As much as goes; a server that hears no more is no failure. */
static void
say_bytes(Talk *talk, const char *bytes, gsize length)
{
    gint64 deadline = g_get_monotonic_time() + LIMIT * 1000;

    while (length > 0 && g_get_monotonic_time() < deadline) {
        g_autoptr(GError) error = NULL;
        gssize n = g_socket_send(talk->socket, bytes, length, NULL, &error);

        if (n < 0 && !g_error_matches(error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK))
            return;
        bytes += MAX(n, 0);
        length -= (gsize)MAX(n, 0);
        g_main_context_iteration(NULL, FALSE);
    }
    g_assert_cmpuint(length, ==, 0);
}

static void
say(Talk *talk, const char *text)
{
    say_bytes(talk, text, strlen(text));
}

static void
listen(Talk *talk)
{
    char chunk[4096];
    gssize n;

    while ((n = g_socket_receive(talk->socket, chunk, sizeof(chunk), NULL, NULL)) > 0)
        g_string_append_len(talk->heard, chunk, n);
    talk->ended = talk->ended || n == 0;
}

static gboolean
has_line(gpointer user_data)
{
    Talk *talk = user_data;

    listen(talk);
    return strchr(talk->heard->str, '\n') != NULL;
}

static gboolean
has_ended(gpointer user_data)
{
    Talk *talk = user_data;

    listen(talk);
    return talk->ended;
}

/* The next answer; fails the test when there is none. */
static json_t *
hear(Talk *talk)
{
    g_autoptr(GError) error = NULL;
    gsize length;
    json_t *answer;

    /* Nothing tells the loop that the client has something to read. */
    while (!has_line(talk)) {
        g_assert_false(talk->ended);
        g_main_context_iteration(NULL, FALSE);
    }
    length = (gsize)(strchr(talk->heard->str, '\n') - talk->heard->str);
    answer = drover_json_parse_object(talk->heard->str, length, &error);
    g_assert_no_error(error);
    g_string_erase(talk->heard, 0, (gssize)length + 1);
    return answer;
}

static void
assert_refused(Talk *talk, const char *part)
{
    g_autoptr(json_t) answer = hear(talk);
    const char *message = drover_json_string(answer, "error");

    g_assert_nonnull(message);
    if (strstr(message, part) == NULL)
        g_error("\"%s\" is not in \"%s\"", part, message);
}

static void
assert_said(Talk *talk, const char *text)
{
    g_autoptr(json_t) answer = hear(talk);

    g_assert_cmpstr(drover_json_string(json_object_get(answer, "result"), "said"), ==, text);
}

static void
wait_for_end(Talk *talk)
{
    gint64 deadline = g_get_monotonic_time() + LIMIT * 1000;

    while (!has_ended(talk)) {
        g_assert_cmpint(g_get_monotonic_time(), <, deadline);
        g_main_context_iteration(NULL, FALSE);
    }
}

/* ---- Tests ---- */

static void
test_answers(Scene *scene, gconstpointer data)
{
    g_autoptr(Talk) talk = talk_new(scene);

    say(talk, "{\"command\": \"echo\", \"text\": \"h\\u00e9\"}\n");
    assert_said(talk, "hé");
    say(talk, "{\"command\": \"echo\"}\n");
    assert_said(talk, NULL);
    say(talk, "{\"command\": \"fail\"}\n");
    assert_refused(talk, "the \"reason\" \xef\xbf\xbd");
    say(talk, "{\"command\": \"echo\", \"test\": 1}\n");
    assert_refused(talk, "the command echo has no argument \"test\"");
    g_assert_cmpuint(scene->runs, ==, 2);
}

static void
test_garbage(Scene *scene, gconstpointer data)
{
    static const char *const lines[] = {"\n",
                                        "garbage\n",
                                        "{\"command\": \n",
                                        "[]\n",
                                        "{}\n",
                                        "{\"command\": 7}\n",
                                        "{\"command\": \"\"}\n",
                                        "{\"command\": \"bogus\"}\n",
                                        "\xff\xfe\n",
                                        "{\"command\": \"echo\"} {\"command\": \"echo\"}\n"};
    g_autoptr(Talk) talk = talk_new(scene);
    g_autofree char *deep = g_strnfill(60000, '[');

    for (guint i = 0; i < G_N_ELEMENTS(lines); i++) {
        say(talk, lines[i]);
        assert_refused(talk, "");
    }
    say_bytes(talk, "{\"command\":\0\"echo\"}\n", 20);
    assert_refused(talk, "");
    say(talk, deep);
    say(talk, "\n");
    assert_refused(talk, "");
    g_assert_cmpuint(scene->runs, ==, 0);
    say(talk, "{\"command\": \"echo\", \"text\": \"x\"}\n");
    assert_said(talk, "x");
}

static void
test_byte_by_byte(Scene *scene, gconstpointer data)
{
    g_autoptr(Talk) talk = talk_new(scene);

    for (const char *at = "{\"command\": \"echo\", \"text\": \"x\"}\n"; *at != '\0'; at++) {
        say_bytes(talk, at, 1);
        while (g_main_context_iteration(NULL, FALSE))
            ;
    }
    assert_said(talk, "x");
}

static void
test_half_a_line(Scene *scene, gconstpointer data)
{
    g_autoptr(Talk) talk = talk_new(scene);

    say(talk, "{\"command\": \"echo\"}\n{\"command\": \"echo\"");
    g_socket_shutdown(talk->socket, FALSE, TRUE, NULL);
    assert_said(talk, NULL);
    wait_for_end(talk);
    g_assert_cmpuint(talk->heard->len, ==, 0);
    g_assert_cmpuint(scene->runs, ==, 1);
}

static void
test_many_lines_at_once(Scene *scene, gconstpointer data)
{
    g_autoptr(Talk) talk = talk_new(scene);
    g_autoptr(GString) lines = g_string_new(NULL);

    for (guint i = 0; i < 1000; i++)
        g_string_append_printf(lines, "{\"command\": \"echo\", \"text\": \"%u\"}\n", i);
    say(talk, lines->str);
    g_socket_shutdown(talk->socket, FALSE, TRUE, NULL);
    for (guint i = 0; i < 1000; i++) {
        g_autofree char *number = g_strdup_printf("%u", i);
        assert_said(talk, number);
    }
    wait_for_end(talk);
}

static void
test_huge_line(Scene *scene, gconstpointer data)
{
    g_autoptr(Talk) talk = talk_new(scene), other = talk_new(scene);
    g_autofree char *huge = g_strnfill(4 * DROVER_COMMAND_MOST_BYTES, 'x');

    say(talk, huge);
    assert_refused(talk, "the line is too long");
    wait_for_end(talk);
    say(other, "{\"command\": \"echo\", \"text\": \"x\"}\n");
    assert_said(other, "x");
}

static void
test_slow_client(Scene *scene, gconstpointer data)
{
    g_autoptr(Talk) silent = NULL, slow = NULL, other = NULL;

    drover_command_server_free(scene->server);
    serve(scene, 300);
    silent = talk_new(scene);
    slow = talk_new(scene);
    other = talk_new(scene);
    say(slow, "{\"command\":");
    say(other, "{\"command\": \"echo\", \"text\": \"x\"}\n");
    assert_said(other, "x");
    wait_for_end(slow);
    wait_for_end(silent);
    g_assert_cmpuint(slow->heard->len + silent->heard->len, ==, 0);
}

/* Its answers are not kept without limit, and it holds up nobody. */
static void
test_client_that_does_not_listen(Scene *scene, gconstpointer data)
{
    g_autoptr(Talk) deaf = NULL, other = NULL;

    drover_command_server_free(scene->server);
    serve(scene, 300);
    deaf = talk_new(scene);
    for (guint i = 0; i < 20; i++)
        say(deaf, "{\"command\": \"big\"}\n");
    other = talk_new(scene);
    say(other, "{\"command\": \"echo\", \"text\": \"x\"}\n");
    assert_said(other, "x");
    wait_for_end(other); /* it was silent for too long; so was the other one */
    wait_for_end(deaf);
    g_assert_cmpuint(deaf->heard->len, <, 2 * BIG_SIZE);
}

static void
test_big_answer(Scene *scene, gconstpointer data)
{
    g_autoptr(Talk) talk = talk_new(scene);

    for (guint i = 0; i < 3; i++) {
        g_autoptr(json_t) answer = NULL;

        say(talk, "{\"command\": \"big\"}\n");
        answer = hear(talk);
        g_assert_cmpuint(json_string_length(json_object_get(answer, "result")), ==, BIG_SIZE);
    }
}

/* ---- Many ---- */

typedef struct {
    const char *path;
    gint open; /* threads, atomic */
    gint answered;
} Crowd;

static gpointer
call_once(gpointer data)
{
    Crowd *crowd = data;
    g_autoptr(json_t) command = json_pack("{s:s, s:s}", "command", "echo", "text", "x");
    g_autoptr(GError) error = NULL;
    g_autoptr(json_t) result = drover_command_call(crowd->path, command, LIMIT, &error);

    g_assert_no_error(error);
    if (g_strcmp0(drover_json_string(result, "said"), "x") == 0)
        g_atomic_int_inc(&crowd->answered);
    g_atomic_int_dec_and_test(&crowd->open);
    g_main_context_wakeup(NULL);
    return NULL;
}

static gboolean
is_empty(gpointer data)
{
    return g_atomic_int_get(&((Crowd *)data)->open) == 0;
}

static void
test_many_clients(Scene *scene, gconstpointer data)
{
    Crowd crowd = {.path = scene->path, .open = MANY};
    GThread *threads[MANY];

    for (guint i = 0; i < MANY; i++)
        threads[i] = g_thread_new("client", call_once, &crowd);
    g_assert_true(test_wait_until(is_empty, &crowd, LIMIT));
    for (guint i = 0; i < MANY; i++)
        g_thread_join(threads[i]);
    g_assert_cmpint(crowd.answered, ==, MANY);
    g_assert_cmpuint(scene->runs, ==, MANY);
}

static void
test_too_many_clients(Scene *scene, gconstpointer data)
{
    g_autoptr(GPtrArray) talks = g_ptr_array_new_with_free_func((GDestroyNotify)talk_free);

    for (guint i = 0; i < DROVER_COMMAND_MOST_CLIENTS; i++) {
        g_ptr_array_add(talks, talk_new(scene));
        while (g_main_context_iteration(NULL, FALSE))
            ;
    }
    g_ptr_array_add(talks, talk_new(scene));
    assert_refused(talks->pdata[DROVER_COMMAND_MOST_CLIENTS], "too many clients");
    wait_for_end(talks->pdata[DROVER_COMMAND_MOST_CLIENTS]);
    say(talks->pdata[0], "{\"command\": \"echo\", \"text\": \"x\"}\n");
    assert_said(talks->pdata[0], "x");
}

/* ---- The file ---- */

static void
test_mode(Scene *scene, gconstpointer data)
{
    struct stat found;

    g_assert_cmpint(stat(scene->path, &found), ==, 0);
    g_assert_cmpuint(found.st_mode & 07777, ==, 0600);
}

static void
assert_no_server(const char *path, DroverErrorCode code, const char *part)
{
    DroverCommandServerOptions options = {.path = path, .table = table};
    g_autoptr(GError) error = NULL;

    g_assert_null(drover_command_server_new(&options, &error));
    g_assert_error(error, DROVER_ERROR, (gint)code);
    g_assert_nonnull(strstr(error->message, part));
}

static void
test_live_socket_is_refused(Scene *scene, gconstpointer data)
{
    g_autoptr(Talk) talk = NULL;

    assert_no_server(scene->path, DROVER_ERROR_BUSY, "somebody listens there");
    talk = talk_new(scene);
    say(talk, "{\"command\": \"echo\", \"text\": \"x\"}\n");
    assert_said(talk, "x");
}

static void
test_stale_socket_is_replaced(Scene *scene, gconstpointer data)
{
    g_autofree char *moved = g_strconcat(scene->path, ".old", NULL);
    g_autoptr(Talk) talk = NULL;

    /* As a process that is killed leaves it. */
    g_assert_cmpint(g_rename(scene->path, moved), ==, 0);
    drover_command_server_free(scene->server);
    g_assert_cmpint(g_rename(moved, scene->path), ==, 0);
    serve(scene, LIMIT);
    talk = talk_new(scene);
    say(talk, "{\"command\": \"echo\", \"text\": \"x\"}\n");
    assert_said(talk, "x");
}

static void
test_other_files_are_left_alone(Scene *scene, gconstpointer data)
{
    g_autofree char *file = g_build_filename(scene->folder, "file", NULL);
    g_autofree char *absent = g_build_filename(scene->folder, "absent", "socket", NULL);
    g_autofree char *name = g_strnfill(120, 'n');
    g_autofree char *long_path = g_build_filename(scene->folder, name, NULL);

    g_assert_true(g_file_set_contents(file, "text", -1, NULL));
    assert_no_server(file, DROVER_ERROR_BUSY, "is no socket");
    g_assert_true(g_file_test(file, G_FILE_TEST_IS_REGULAR));
    assert_no_server(absent, DROVER_ERROR_FAILED, "absent");
    assert_no_server(long_path, DROVER_ERROR_FAILED, "longer than");
}

/* ---- The calling side ---- */

static void
assert_call_fails(const char *path, DroverErrorCode code)
{
    g_autoptr(json_t) command = json_pack("{s:s}", "command", "echo");
    g_autoptr(GError) error = NULL;

    g_assert_null(drover_command_call(path, command, 300, &error));
    g_assert_error(error, DROVER_ERROR, (gint)code);
}

static void
test_call_without_a_server(Scene *scene, gconstpointer data)
{
    g_autofree char *absent = g_build_filename(scene->folder, "absent", NULL);

    assert_call_fails(absent, DROVER_ERROR_NOT_FOUND);
    /* It listens, and nobody runs its loop. */
    assert_call_fails(scene->path, DROVER_ERROR_TIMEOUT);
}

static gpointer
answer_badly(gpointer data)
{
    static const char *const answers[] = {"garbage\n", "{}\n", "{\"result\": 1", ""};
    GSocket *listener = data;

    for (guint i = 0; i < G_N_ELEMENTS(answers); i++) {
        g_autoptr(GSocket) client = NULL;

        g_socket_condition_wait(listener, G_IO_IN, NULL, NULL);
        client = g_socket_accept(listener, NULL, NULL);
        g_socket_send(client, answers[i], strlen(answers[i]), NULL, NULL);
    }
    return NULL;
}

static void
test_no_answers(Scene *scene, gconstpointer data)
{
    g_autofree char *path = g_build_filename(scene->folder, "other", NULL);
    g_autoptr(GSocket) listener = drover_command_listen(path, NULL);
    g_autoptr(GThread) server = g_thread_new("server", answer_badly, listener);

    assert_call_fails(path, DROVER_ERROR_MALFORMED);
    assert_call_fails(path, DROVER_ERROR_MALFORMED);
    assert_call_fails(path, DROVER_ERROR_LOST);
    assert_call_fails(path, DROVER_ERROR_LOST);
    g_thread_join(g_steal_pointer(&server));
}

int
main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(Scene *scene, gconstpointer data);
    } tests[] = {
        {"answers", test_answers},
        {"garbage", test_garbage},
        {"byte-by-byte", test_byte_by_byte},
        {"half-a-line", test_half_a_line},
        {"many-lines-at-once", test_many_lines_at_once},
        {"huge-line", test_huge_line},
        {"slow-client", test_slow_client},
        {"client-that-does-not-listen", test_client_that_does_not_listen},
        {"big-answer", test_big_answer},
        {"many-clients", test_many_clients},
        {"too-many-clients", test_too_many_clients},
        {"mode", test_mode},
        {"live-socket-is-refused", test_live_socket_is_refused},
        {"stale-socket-is-replaced", test_stale_socket_is_replaced},
        {"other-files-are-left-alone", test_other_files_are_left_alone},
        {"call-without-a-server", test_call_without_a_server},
        {"no-answers", test_no_answers},
    };

    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(tests); i++) {
        g_autofree char *path = g_strconcat("/command/", tests[i].name, NULL);
        g_test_add(path, Scene, NULL, set_up, tests[i].run, tear_down);
    }
    return g_test_run();
}
