/*
 * A value in its surroundings, as the checker meets it, and what there is to say about it.
 */
#pragma once

#include "config/check.h"

/* A list's entry around a value; they form a chain from the inside out. */
typedef struct _DroverScope DroverScope;
struct _DroverScope {
    const DroverScope *parent;
    const char *list;       /* the list's name */
    const char *identifier; /* the member that names an entry */
    const DroverYaml *entry;
    guint index;
};

typedef struct {
    const DroverSchema *schema;
    const DroverYaml *node;
    const char *name; /* its key, with those of the maps around it; NULL for a list's entry */
    const DroverScope *scope;
} DroverSpot;

/* "provider" for the list "providers". Free with g_free. */
char *drover_entry_kind(const char *list);
/* The entry's own name, or NULL. Free with g_free. */
char *drover_scope_name(const DroverScope *scope);
/* The name of the innermost entry of a list around a value, or NULL. Free with g_free. */
char *drover_scope_enclosing(const DroverScope *scope, const char *list);

/* The value or its key is not as the tables say. */
void drover_spot_problem(const DroverCheck *check, DroverConfigSeverity severity,
                         const DroverSpot *spot, const char *format, ...) G_GNUC_PRINTF(4, 5);
/* The form is good, but what it says does not fit the rest of the file. */
void drover_spot_misfit(const DroverCheck *check, DroverConfigSeverity severity,
                        const DroverSpot *spot, const char *format, ...) G_GNUC_PRINTF(4, 5);
/* An error: the value is of the wrong type. Returns NULL, to be returned. */
struct drover_value *drover_spot_mismatch(const DroverCheck *check, const DroverSpot *spot);
/* A wrong type that Nodepool converts; `taken` is what it counts as. */
void drover_spot_converted(const DroverCheck *check, const DroverSpot *spot, const char *taken);

/* "the integer 5", "a list"; of a secret only its kind. Free with g_free. */
char *drover_spot_found(const DroverCheck *check, const DroverSpot *spot);
/* "a text" */
const char *drover_spot_expectation(const DroverSpot *spot);
gboolean drover_spot_is_secret(const DroverCheck *check, const DroverSpot *spot);

/* Gives the value the place of its node, and returns it. */
struct drover_value *drover_spot_place(const DroverSpot *spot, struct drover_value *value);
