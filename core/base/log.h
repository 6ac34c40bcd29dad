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
    const char *provider, *pool; /* in structured lines only */
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

/* How a line looks. */
typedef enum {
    DROVER_LOG_TEXT,
    DROVER_LOG_KEY_VALUE, /* logfmt: time=... level=info message="..." */
    DROVER_LOG_JSON,      /* one object a line */
} DroverLogForm;
/* Its name: "text", "logfmt", "json". FALSE when there is none. */
gboolean drover_log_form_from_name(const char *name, DroverLogForm *form);

/* What the next drover_log_set_fd() or drover_log_set_file() writes; text by default. */
void drover_log_set_form(DroverLogForm form);

/* Where lines go: a file descriptor that stays open, 2 by default. */
void drover_log_set_fd(int fd);
/*
 * When the descriptor is a stream to the journal, as JOURNAL_STREAM says, messages go to the
 * journal itself, with fields of their own, and to the stream only if that fails. FALSE: it is
 * none.
 */
gboolean drover_log_set_journal(int fd);

/*
 * Appends to the file at `path`. It is opened again when it was renamed or removed, so that log
 * rotation needs no signal.
 */
gboolean drover_log_set_file(const char *path, GError **error);

/* ---- Levels of domains ---- */

/*
 * A domain is a logger with all below it: "nodepool.zk", "nodepool.PoolWorker.p-main"; "root" is
 * all of them. Levels are "debug", "info", "warning", "error", "critical", and "default", which is
 * that of the domain above.
 */
typedef struct {
    char *name;
    const char *level;     /* its own; NULL: that of the domain above */
    const char *effective; /* the level that counts */
} DroverLogDomain;

/* That there is a logger of this name, without "nodepool.", beside those that are always there. */
void drover_log_declare(const char *logger);
/* All that there are, sorted; elements are DroverLogDomain. Free with g_ptr_array_unref. */
GPtrArray *drover_log_domains(void);
/* The full name. NULL with DROVER_ERROR_NOT_FOUND; as below. Free with g_free. */
char *drover_log_find_domain(const char *domain, GError **error);
/*
 * Takes effect with the next message. The name may be given without "nodepool.". FALSE with
 * DROVER_ERROR_NOT_FOUND or DROVER_ERROR_MALFORMED, whose messages name the choices.
 */
gboolean drover_log_set_domain_level(const char *domain, const char *level, GError **error);
