/*
 * Where the problems of one file go. The list itself is public, see config.h.
 */
#pragma once

#include "config/config.h"

/* One file while it is read. The strings live longer. */
typedef struct {
    DroverConfigReport *report;
    const char *file; /* as the operator named it */
    gboolean strict;  /* what loads only for old files' sake is an error */
    gboolean secret;  /* no value of the file may be in a message */
} DroverConfigSource;

/* What is a warning for the daemons and an error for config-validate. */
DroverConfigSeverity drover_config_lenient(const DroverConfigSource *source);

/* Line and column are 0 when the problem is about the whole file; `object` may be NULL. */
void drover_config_report_add(const DroverConfigSource *source, DroverConfigSeverity severity,
                              guint line, guint column, const char *object, const char *format, ...)
    G_GNUC_PRINTF(6, 7);

/* Says that `file` comes next in the order of the files. */
void drover_config_report_begin(DroverConfigReport *report, const char *file);
/* Puts the problems into the order of the files. */
void drover_config_report_sort(DroverConfigReport *report);
