/*
 * A logging configuration as it is written, before anybody knows what its options mean. Both forms
 * that Python has, the dictionary and the INI file, become this, in the dictionary's terms.
 */
#pragma once

#include "config/report.h"

typedef struct {
    char *name;   /* "filename" */
    char **texts; /* the value; a list has any number of them, everything else has one */
    gboolean is_list;
    guint line, column; /* of the value */
} DroverLogOption;

/* A formatter, handler or logger. */
typedef struct {
    char *name;         /* "" for the root logger */
    GPtrArray *options; /* of DroverLogOption */
    guint line, column;
} DroverLogSection;

typedef struct {
    GPtrArray *formatters, *handlers, *loggers; /* of DroverLogSection; the root is a logger */
} DroverLogSpec;

DroverLogSpec *drover_log_spec_new(void);
void drover_log_spec_free(DroverLogSpec *spec);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DroverLogSpec, drover_log_spec_free)

DroverLogSection *drover_log_section_add(GPtrArray *sections, const char *name, guint line,
                                         guint column);
/* Takes the texts over. A later option of the same name replaces an earlier one. */
void drover_log_section_set(DroverLogSection *section, const char *name, char **texts,
                            gboolean is_list, guint line, guint column);
const DroverLogOption *drover_log_section_get(const DroverLogSection *section, const char *name);
const DroverLogSection *drover_log_section_find(const GPtrArray *sections, const char *name);

/* Read one of the forms. NULL when it is not of that form; reported. */
DroverLogSpec *drover_log_spec_from_dict(const char *path, const DroverConfigSource *source);
DroverLogSpec *drover_log_spec_from_ini(const char *path, const DroverConfigSource *source);
