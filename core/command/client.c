#include "command/client.h"

#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "command/socket.h"

#define MOST_BYTES    (64 * 1024 * 1024)
#define CHUNK         65536
#define RETRY_PAUSE   (10 * 1000) /* microseconds */
#define USEC_PER_MSEC 1000

typedef struct {
    GSocket *socket;
    const char *path;
    gint64 deadline; /* monotonic, microseconds */
} Call;

static gboolean
is_late(const Call *call, GError **error)
{
    if (g_get_monotonic_time() < call->deadline)
        return FALSE;
    g_set_error(error, DROVER_ERROR, DROVER_ERROR_TIMEOUT, "no answer at %s in time", call->path);
    return TRUE;
}

/* Whoever listens may be busy with others. */
static gboolean
open_call(Call *call, GError **error)
{
    do {
        g_autoptr(GError) problem = NULL;

        call->socket = drover_command_connect(call->path, &problem);
        if (call->socket != NULL)
            return TRUE;
        if (!g_error_matches(problem, DROVER_ERROR, DROVER_ERROR_BUSY)) {
            g_propagate_error(error, g_steal_pointer(&problem));
            return FALSE;
        }
        g_usleep(RETRY_PAUSE);
    } while (!is_late(call, error));
    return FALSE;
}

/* FALSE when it is late. */
static gboolean
wait_for(const Call *call, GIOCondition condition, GError **error)
{
    gint64 left = call->deadline - g_get_monotonic_time();

    g_socket_condition_timed_wait(call->socket, condition, MAX(left, 0), NULL, NULL);
    return !is_late(call, error);
}

static gboolean
would_block(const GError *problem)
{
    return g_error_matches(problem, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK);
}

/* FALSE when it is late. One who hears no more may have said why. */
static gboolean
send_line(const Call *call, const json_t *command, GError **error)
{
    g_autofree char *text = drover_json_text(command);
    g_autofree char *line = g_strconcat(text, "\n", NULL);
    gsize length = strlen(line), sent = 0;

    while (sent < length) {
        g_autoptr(GError) problem = NULL;
        gssize n = g_socket_send(call->socket, line + sent, length - sent, NULL, &problem);

        if (n < 0 && !would_block(problem))
            return TRUE;
        if (n < 0 && !wait_for(call, G_IO_OUT, error))
            return FALSE;
        sent += (gsize)MAX(n, 0);
    }
    return TRUE;
}

/* Up to the end of the line, which is not kept. */
static GString *
receive_line(const Call *call, GError **error)
{
    g_autofree char *chunk = g_malloc(CHUNK);
    GString *line = g_string_new(NULL);

    while (line->len < MOST_BYTES) {
        g_autoptr(GError) problem = NULL;
        gssize n = g_socket_receive(call->socket, chunk, CHUNK, NULL, &problem);
        const char *end = n > 0 ? memchr(chunk, '\n', (gsize)n) : NULL;

        if (n == 0 || (n < 0 && !would_block(problem))) {
            g_set_error(error, DROVER_ERROR, DROVER_ERROR_LOST,
                        "%s: the connection ended without an answer", call->path);
            break;
        }
        if (n < 0 && !wait_for(call, G_IO_IN, error))
            break;
        if (end != NULL)
            return g_string_append_len(line, chunk, end - chunk);
        g_string_append_len(line, chunk, MAX(n, 0));
    }
    if (line->len >= MOST_BYTES)
        g_set_error(error, DROVER_ERROR, DROVER_ERROR_MALFORMED, "%s: the answer is too long",
                    call->path);
    g_string_free(line, TRUE);
    return NULL;
}

static json_t *
take_result(const Call *call, const GString *line, GError **error)
{
    g_autoptr(json_t) answer = drover_json_parse_object(line->str, line->len, error);
    const char *refusal = drover_json_string(answer, "error");
    json_t *result = json_object_get(answer, "result");

    if (answer == NULL) {
        g_prefix_error(error, "%s: ", call->path);
    } else if (refusal != NULL) {
        g_set_error_literal(error, DROVER_ERROR, DROVER_ERROR_FAILED, refusal);
    } else if (result == NULL) {
        g_set_error(error, DROVER_ERROR, DROVER_ERROR_MALFORMED, "%s: this is no answer",
                    call->path);
    }
    return refusal == NULL && result != NULL ? json_incref(result) : NULL;
}

json_t *
drover_command_call(const char *path, const json_t *command, guint timeout, GError **error)
{
    Call call = {.path = path,
                 .deadline = g_get_monotonic_time() + (gint64)timeout * USEC_PER_MSEC};
    GString *line = NULL;
    json_t *result = NULL;

    if (open_call(&call, error) && send_line(&call, command, error))
        line = receive_line(&call, error);
    if (line != NULL) {
        result = take_result(&call, line, error);
        g_string_free(line, TRUE);
    }
    g_clear_object(&call.socket);
    return result;
}
