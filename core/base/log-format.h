/*
 * How a message becomes text: a format as Python's logging has it, such as
 *
 *     %(asctime)s %(levelname)-8s %(name)s: %(message)s
 *
 * Made once and never changed; may be used from every thread.
 */
#pragma once

#include <time.h>

#include "base/log.h"

/* One message on its way to the handlers; valid during the call. */
typedef struct {
    DroverLogLevel level;
    const char *logger; /* its full name: "nodepool.NodePool" */
    const char *text;   /* may have several lines */
    /* The text without what it is about, and what that is; what is not known is NULL in it. */
    const char *message;
    const DroverLogSubject *subject;
    gint64 time; /* microseconds, of the real-time clock */
} DroverLogRecord;

/* The parts that stand before each line of the default layout, and the message. */
#define DROVER_LOG_DEFAULT_FORMAT "%(asctime)s %(levelname)s %(name)s: %(message)s"

typedef struct _DroverLogFormat DroverLogFormat;

/*
 * `date_format` is strftime's; NULL: "2026-12-01 04:46:38,218". With `every_line` each further line
 * of a message is formatted like the first one, with two blanks before its text; otherwise it
 * stands as it is. NULL with an error when the format has an attribute or a conversion that there
 * is not.
 */
DroverLogFormat *drover_log_format_new(const char *format, const char *date_format,
                                       gboolean every_line, GError **error);
/* Never NULL. */
DroverLogFormat *drover_log_format_new_structured(DroverLogForm form);
void drover_log_format_free(DroverLogFormat *format);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DroverLogFormat, drover_log_format_free)

/* Appends the message, without a newline at its end. */
void drover_log_format_append(const DroverLogFormat *format, const DroverLogRecord *record,
                              GString *out);

/* strftime() with a format that somebody configured; empty when the text does not fit. */
void drover_log_format_date(const char *format, const struct tm *date, char *text, gsize size);
