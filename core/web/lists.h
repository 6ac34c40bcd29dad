/*
 * The lists of the status pages: each makes its rows, JSON objects with the keys of its columns,
 * from the launcher's caches.
 */
#pragma once

#include <jansson.h>

#include "launcher/launcher.h"
#include "web/image-tree.h"

typedef struct {
    const char *key, *header;
    gboolean is_time; /* seconds since the epoch; a table shows the age */
} DroverListColumn;

typedef struct {
    DroverLauncher *launcher;
    DroverImageTree *images;
    const char *node_id; /* only this one; or NULL */
    gboolean hurry;      /* what is not known by now is left open */
} DroverListSource;

typedef struct {
    const char *path;
    const DroverListColumn *columns; /* up to one without a key */
    /* A new array; NULL: not all of it is known yet, ask again. */
    json_t *(*rows)(const DroverListSource *source);
} DroverList;

/* NULL when there is none at the path. */
const DroverList *drover_list_find(const char *path);

/* The table, without a newline at its end; only the columns named in `fields` ("a,b"; NULL or ""
 * all). Free with g_free. */
char *drover_list_table(const DroverList *list, const json_t *rows, const char *fields);
