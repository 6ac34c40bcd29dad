/*
 * Gives a command to a running program and waits for its answer; see server.h.
 */
#pragma once

#include <glib.h>
#include <jansson.h>

/*
 * `command` is the object with the member "command". `timeout` is in milliseconds, for the whole of
 * it. A new reference to the result, or NULL with
 *
 *     DROVER_ERROR_NOT_FOUND  nobody listens at the path
 *     DROVER_ERROR_TIMEOUT    no answer in time
 *     DROVER_ERROR_LOST       the connection ended without an answer
 *     DROVER_ERROR_MALFORMED  what came is no answer
 *     DROVER_ERROR_FAILED     the program's own error, in its words; or the socket's
 */
json_t *drover_command_call(const char *path, const json_t *command, guint timeout, GError **error);
