/*
 * Where messages go: handlers as Python's logging has them. Each has a threshold and a format, and
 * may be shared by several loggers. References are counted; everything else here is called by the
 * log itself, one thread at a time.
 */
#pragma once

#include "base/log-format.h"

typedef struct _DroverLogHandler DroverLogHandler;

/* Writes to a descriptor that stays open and is somebody else's. */
DroverLogHandler *drover_log_handler_new_stream(int fd);
DroverLogHandler *drover_log_handler_new_null(void);

typedef enum {
    DROVER_LOG_KEEP,    /* one file that grows */
    DROVER_LOG_BY_SIZE, /* before it would be larger than `size` bytes */
    DROVER_LOG_BY_TIME, /* after each `seconds` */
    DROVER_LOG_AT_MIDNIGHT,
    DROVER_LOG_ON_WEEKDAY, /* at the end of `weekday`, 0 is Monday */
} DroverLogTurn;

/* When a file is put aside, under a name with a number or a time at its end. */
typedef struct {
    DroverLogTurn turn;
    gint64 size; /* bytes; 0: never */
    gint64 seconds;
    guint weekday;
    const char *suffix; /* of names by time, a strftime format; a static string */
    guint backups; /* how many stay; by size: 0 means that it is never put aside, by time: all */
    gboolean utc;
} DroverLogRotation;

/*
 * Appends to the file at `path`, or begins it anew if `truncate`. It is opened again when it was
 * renamed or removed, so that log rotation by other programs needs no signal. `rotation` may be
 * NULL. NULL with an error when the file cannot be written.
 */
DroverLogHandler *drover_log_handler_new_file(const char *path, gboolean truncate,
                                              const DroverLogRotation *rotation, GError **error);

/*
 * Sends to a syslog daemon: at the socket `path`, or by UDP to `host` and `port`. `facility` is a
 * number as in <syslog.h>, not shifted. A daemon that is not there is tried again with each
 * message. NULL with an error when the host has no address.
 */
DroverLogHandler *drover_log_handler_new_syslog(const char *path, const char *host, guint16 port,
                                                int facility, GError **error);

/*
 * Sends to the journal's socket at `path` in its own protocol, with a field for each part of what a
 * message is about. What the journal does not take is written to `fd` (-1: dropped).
 */
DroverLogHandler *drover_log_handler_new_journal(const char *path, int fd, GError **error);
#define DROVER_LOG_JOURNAL_SOCKET "/run/systemd/journal/socket"

/* Messages below the threshold are dropped; a number as drover_log_level_number() has it. */
void drover_log_handler_set_threshold(DroverLogHandler *handler, int threshold);
/* Takes the format over. Until then it is DROVER_LOG_DEFAULT_FORMAT, for every line. */
void drover_log_handler_set_format(DroverLogHandler *handler, DroverLogFormat *format);

void drover_log_handler_emit(DroverLogHandler *handler, const DroverLogRecord *record);

DroverLogHandler *drover_log_handler_ref(DroverLogHandler *handler);
void drover_log_handler_unref(DroverLogHandler *handler);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DroverLogHandler, drover_log_handler_unref)
