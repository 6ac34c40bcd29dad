/*
 * Environment variables in the text of a file: each %(NODEPOOL_X) is replaced by the variable's
 * value before the text is parsed. Other variables, and those that are not set, stay as they are;
 * nothing is replaced inside a value.
 */
#pragma once

#include <glib.h>

typedef struct _DroverSubstitution DroverSubstitution;

/* `text` is UTF-8. `environment` holds "NAME=value", as from g_get_environ(). */
DroverSubstitution *drover_substitution_new(const char *text, char **environment);
void drover_substitution_free(DroverSubstitution *substitution);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DroverSubstitution, drover_substitution_free)

/* The text with the values in it; owned by the substitution. */
const char *drover_substitution_text(const DroverSubstitution *substitution);

/*
 * Where the character at `index` (counted in characters, of the text with the values) stands in the
 * file on disk, counted from 1. What lies inside a value stands where its %( does.
 */
void drover_substitution_place(const DroverSubstitution *substitution, guint64 index, guint *line,
                               guint *column);
