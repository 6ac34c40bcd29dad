#include "support/kazoo-peer.h"

#include <errno.h>
#include <gio/gio.h>
#include <glib-unix.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "support/process.h"

enum { ANSWER_SECONDS = 30, START_SECONDS = 60 };

struct _TestKazooPeer {
    pid_t pid;
    int input, output; /* of the process */
    guint source, next_call;
    GString *unread;     /* the beginning of a line */
    GHashTable *answers; /* call -> json_t, not yet fetched */
    char *state;
};

/* ---- What the process tells ---- */

static void
take_line(TestKazooPeer *peer, const char *line)
{
    json_error_t problem;
    json_t *message = json_loads(line, 0, &problem);
    json_t *call = json_object_get(message, "id");
    json_t *state = json_object_get(message, "state");

    if (message == NULL)
        g_error("kazoo peer: %s: %s", problem.text, line);
    if (state != NULL) {
        g_free(peer->state);
        peer->state = g_strdup(json_string_value(state));
        json_decref(message);
    } else {
        g_hash_table_insert(peer->answers, GUINT_TO_POINTER((guint)json_integer_value(call)),
                            message);
    }
}

static void
take_lines(TestKazooPeer *peer)
{
    char *end;

    while ((end = memchr(peer->unread->str, '\n', peer->unread->len)) != NULL) {
        *end = '\0';
        take_line(peer, peer->unread->str);
        g_string_erase(peer->unread, 0, end + 1 - peer->unread->str);
    }
}

static gboolean
readable(int fd, GIOCondition condition, gpointer user_data)
{
    TestKazooPeer *peer = user_data;
    char piece[4096];
    gssize n = read(fd, piece, sizeof piece);

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return G_SOURCE_CONTINUE;
    if (n <= 0) {
        peer->source = 0;
        return G_SOURCE_REMOVE;
    }
    g_string_append_len(peer->unread, piece, n);
    take_lines(peer);
    return G_SOURCE_CONTINUE;
}

/* ---- Waiting ---- */

static gboolean
note_time(gpointer user_data)
{
    *(gboolean *)user_data = TRUE;
    return G_SOURCE_REMOVE;
}

static gboolean
wait_for(TestKazooPeer *peer, gboolean (*is_true)(TestKazooPeer *peer, gconstpointer argument),
         gconstpointer argument, int seconds, GError **error)
{
    gboolean is_late = FALSE;
    guint timer = g_timeout_add_seconds((guint)seconds, note_time, &is_late);

    while (!is_true(peer, argument) && !is_late && peer->source != 0)
        g_main_context_iteration(NULL, TRUE);
    if (!is_late)
        g_source_remove(timer);
    if (is_true(peer, argument))
        return TRUE;
    g_set_error(error, G_IO_ERROR, is_late ? G_IO_ERROR_TIMED_OUT : G_IO_ERROR_CLOSED,
                is_late ? "the kazoo peer does not answer" : "the kazoo peer has ended");
    return FALSE;
}

static gboolean
has_answer(TestKazooPeer *peer, gconstpointer call)
{
    return g_hash_table_contains(peer->answers, call);
}

static gboolean
has_state(TestKazooPeer *peer, gconstpointer state)
{
    return g_strcmp0(peer->state, state) == 0;
}

gboolean
test_kazoo_peer_is_answered(TestKazooPeer *peer, guint call)
{
    return has_answer(peer, GUINT_TO_POINTER(call));
}

gboolean
test_kazoo_peer_wait_state(TestKazooPeer *peer, const char *state, GError **error)
{
    return wait_for(peer, has_state, state, ANSWER_SECONDS, error);
}

json_t *
test_kazoo_peer_wait(TestKazooPeer *peer, guint call, GError **error)
{
    json_t *message = NULL;
    json_t *result;
    json_t *problem;

    if (!wait_for(peer, has_answer, GUINT_TO_POINTER(call), ANSWER_SECONDS, error))
        return NULL;
    g_hash_table_steal_extended(peer->answers, GUINT_TO_POINTER(call), NULL, (gpointer *)&message);
    result = json_incref(json_object_get(message, "result"));
    problem = json_object_get(message, "error");
    if (problem != NULL) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED, "%s: %s", json_string_value(problem),
                    json_string_value(json_object_get(message, "message")));
    }
    json_decref(message);
    return result;
}

/* ---- Commands ---- */

static guint
send_command(TestKazooPeer *peer, const char *command, const char *format, va_list arguments)
{
    json_error_t problem;
    json_t *message =
        format != NULL ? json_vpack_ex(&problem, 0, format, arguments) : json_object();
    guint call = ++peer->next_call;
    g_autofree char *line = NULL;
    size_t length;

    if (message == NULL)
        g_error("arguments of %s: %s", command, problem.text);
    json_object_set_new(message, "id", json_integer(call));
    json_object_set_new(message, "command", json_string(command));
    length = json_dumpb(message, NULL, 0, JSON_COMPACT);
    line = g_malloc(length + 1);
    json_dumpb(message, line, length, JSON_COMPACT);
    line[length] = '\n';
    json_decref(message);
    for (size_t sent = 0; sent < length + 1;) {
        gssize n = write(peer->input, line + sent, length + 1 - sent);

        if (n < 0 && errno != EINTR)
            break; /* it has ended; the wait for the answer tells */
        sent += n > 0 ? (size_t)n : 0;
    }
    return call;
}

guint
test_kazoo_peer_send(TestKazooPeer *peer, const char *command, const char *format, ...)
{
    va_list arguments;
    guint call;

    va_start(arguments, format);
    call = send_command(peer, command, format, arguments);
    va_end(arguments);
    return call;
}

json_t *
test_kazoo_peer_call(TestKazooPeer *peer, GError **error, const char *command, const char *format,
                     ...)
{
    va_list arguments;
    guint call;

    va_start(arguments, format);
    call = send_command(peer, command, format, arguments);
    va_end(arguments);
    return test_kazoo_peer_wait(peer, call, error);
}

/* ---- The process ---- */

static void
free_answer(gpointer message)
{
    json_decref(message);
}

TestKazooPeer *
test_kazoo_peer_start(const TestKazooPeerOptions *options, GError **error)
{
    g_autoptr(TestKazooPeer) peer = g_new0(TestKazooPeer, 1);
    char seconds[G_ASCII_DTOSTR_BUF_SIZE];
    const char *argv[] = {"/usr/bin/python3", DROVER_TEST_SUPPORT_DIR "/kazoo-peer.py",
                          options->hosts,     seconds,
                          options->tls_cert,  options->tls_key,
                          options->tls_ca,    NULL};

    g_ascii_dtostr(seconds, sizeof seconds, options->timeout > 0 ? options->timeout : 10.0);
    peer->input = peer->output = -1;
    peer->unread = g_string_new(NULL);
    peer->answers = g_hash_table_new_full(NULL, NULL, NULL, free_answer);
    if (!test_process_start_with_pipes(argv, &peer->input, &peer->output, &peer->pid, error))
        return NULL;
    peer->source = g_unix_fd_add(peer->output, G_IO_IN | G_IO_HUP, readable, peer);
    if (!wait_for(peer, has_state, "CONNECTED", START_SECONDS, error))
        return NULL;
    return g_steal_pointer(&peer);
}

void
test_kazoo_peer_pause(TestKazooPeer *peer)
{
    kill(peer->pid, SIGSTOP);
}

void
test_kazoo_peer_resume(TestKazooPeer *peer)
{
    kill(peer->pid, SIGCONT);
}

void
test_kazoo_peer_free(TestKazooPeer *peer)
{
    if (peer == NULL)
        return;
    test_process_end(&peer->pid, SIGKILL);
    if (peer->source != 0)
        g_source_remove(peer->source);
    if (peer->input >= 0)
        close(peer->input);
    if (peer->output >= 0)
        close(peer->output);
    g_string_free(peer->unread, TRUE);
    g_hash_table_unref(peer->answers);
    g_free(peer->state);
    g_free(peer);
}
