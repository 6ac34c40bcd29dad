/*
 * The lists of the status pages: each makes its rows, JSON objects with the keys of its columns,
 * from the launcher's caches.
 */
#pragma once

#include <jansson.h>

#include "cli/row-table.h"
#include "launcher/launcher.h"
#include "web/image-tree.h"

typedef struct {
    DroverLauncher *launcher;
    DroverImageTree *images;
    const char *node_id; /* only this one; or NULL */
    gboolean hurry;      /* what is not known by now is left open */
} DroverListSource;

typedef struct {
    const char *path;
    const DroverColumn *columns; /* up to one without a key */
    /* A new array; NULL: not all of it is known yet, ask again. */
    json_t *(*rows)(const DroverListSource *source);
} DroverList;

/* NULL when there is none at the path. */
const DroverList *drover_list_find(const char *path);
