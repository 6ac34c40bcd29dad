/*
 * Which logger's messages go to which handlers, by the rules of Python's logging: a message is
 * handed to the handlers of its logger and, as long as that propagates, of the loggers above it;
 * "a.b" is below "a", and "" (the root) is above all. The level is that of the nearest logger that
 * has one.
 */
#pragma once

#include "base/log-handler.h"

/* Levels as numbers, as Python has them: 10 for DEBUG up to 40 for ERROR; 50 is above all. */
#define DROVER_LOG_LEVEL_UNSET   0
#define DROVER_LOG_LEVEL_HIGHEST 50

typedef struct {
    char *name; /* "" is the root */
    int level;  /* or DROVER_LOG_LEVEL_UNSET */
    gboolean propagate;
    GPtrArray *handlers; /* of DroverLogHandler, which it owns a reference to */
} DroverLogLogger;

DroverLogLogger *drover_log_logger_new(const char *name);
void drover_log_logger_free(DroverLogLogger *logger);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DroverLogLogger, drover_log_logger_free)

/*
 * Replaces what is in force, also what drover_log_set_level(), drover_log_set_fd() and
 * drover_log_set_file() said. `loggers` holds DroverLogLogger and owns them; it is taken over.
 * Messages for which there is no handler at all go to standard error if they are warnings or worse.
 */
void drover_log_set_up(GPtrArray *loggers);
