/*
 * The checker: a file's tree against a tree of options. It reports every problem it finds and goes
 * on, and makes the values of the configuration with all defaults filled in. A value that came from
 * a default has place 0.
 */
#pragma once

#include "config/schema.h"

typedef struct {
    const DroverConfigSource *source;
    /* Names that options with refers_to may name, as sets of strings; NULL: not looked up. */
    GHashTable *labels, *diskimages;
    const DroverYaml *section; /* the provider being checked; its own lists can be referred to */
    gboolean tolerate_unknown; /* an unknown key is never more than a warning */
    GHashTable *seen; /* private: entries of the section that have to differ, by what they are */
} DroverCheck;

/* Begins a provider: the uniqueness of its entries does not concern other providers. */
void drover_check_begin_section(DroverCheck *check, const DroverYaml *section);
void drover_check_clear(DroverCheck *check);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DroverCheck, drover_check_clear)

/* Checks a map. Never NULL for a map; what could not be used is left out. Free the value. */
struct drover_value *drover_check_map(DroverCheck *check, const DroverSchema *schema,
                                      const DroverYaml *map);

/* The names of a list's entries, as a set that owns its strings. */
GHashTable *drover_check_names(const DroverYaml *list);
/* A set's strings, sorted, for suggestions; not owned. */
GPtrArray *drover_check_sorted(GHashTable *names);
