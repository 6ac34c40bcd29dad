/* What the builders of handlers and loggers have in common. */
#pragma once

#include "base/log-setup.h"
#include "config/log-spec.h"

void drover_log_option_problem(const DroverConfigSource *source, DroverConfigSeverity severity,
                               const DroverLogOption *option, const char *format, ...)
    G_GNUC_PRINTF(4, 5);
/* The level's number. FALSE when it is none; reported. */
gboolean drover_log_option_level(const DroverConfigSource *source, const DroverLogOption *option,
                                 int *level);

/* Opens what the section describes, without a format. NULL with an error in the report. */
DroverLogHandler *drover_log_handler_from_section(const DroverLogSection *section,
                                                  const DroverConfigSource *source);
