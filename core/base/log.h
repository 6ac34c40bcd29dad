/*
 * Logging. One line a message, in Nodepool's layout unless log-setup.h says otherwise, so that
 * existing log scrapers go on working:
 *
 *     2026-12-01 04:46:38,218 INFO nodepool.NodePool: [e: ..] [node_request: ..] [node: ..] text
 *
 * Each further line of a message carries the full prefix and two more blanks. May be called from
 * every thread. Callers never pass secrets.
 */
#pragma once

#include <glib.h>

typedef enum {
    DROVER_LOG_DEBUG,
    DROVER_LOG_INFO,
    DROVER_LOG_WARNING,
    DROVER_LOG_ERROR,
} DroverLogLevel;

/* As Python's logging counts them: 10 for DEBUG up to 40 for ERROR. */
int drover_log_level_number(DroverLogLevel level);

/* What a line is about. Unknown parts are NULL and left out. Strings are only read. */
typedef struct {
    const char *logger; /* without the leading "nodepool."; NULL means "NodePool" */
    const char *event_id;
    const char *request_id;
    const char *node_id;
} DroverLogSubject;

/* Writes one message. */
void drover_log(DroverLogLevel level, const DroverLogSubject *subject, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

/* Writes one message of a logger, about nothing in particular. */
#define drover_log_for(level, name, ...)                                                           \
    drover_log(level, &(DroverLogSubject){.logger = (name)}, __VA_ARGS__)

/* Messages below `level` are dropped; the default is INFO. */
void drover_log_set_level(DroverLogLevel level);
gboolean drover_log_enabled(DroverLogLevel level);

/* Where lines go: a file descriptor that stays open, 2 by default. */
void drover_log_set_fd(int fd);

/*
 * Appends to the file at `path`. It is opened again when it was renamed or removed, so that log
 * rotation needs no signal.
 */
gboolean drover_log_set_file(const char *path, GError **error);
