/*
 * The lists of the status pages, made from the launcher's caches: arrays of JSON objects with the
 * keys of their columns, or text tables.
 */
#pragma once

#include "launcher/launcher.h"
#include "web/image-tree.h"
#include "web/node-rows.h"

typedef struct {
    DroverLauncher *launcher;
    DroverImageTree *images;
    DroverNodeRows *nodes;
    const char *node_id; /* of a list of nodes only this one; or NULL */
    gboolean hurry;      /* what is not known by now is left open */
} DroverListSource;

typedef struct _DroverList DroverList;

/* NULL when there is none at the path. */
const DroverList *drover_list_find(const char *path);
/* Whether node_id means anything for it. */
gboolean drover_list_has_nodes(const DroverList *list);

/*
 * A new reference; NULL: not all of it is known yet, ask again. `fields` chooses columns of a
 * table, see cli/row-table.h.
 */
GBytes *drover_list_make(const DroverList *list, const DroverListSource *source, gboolean as_json,
                         const char *fields);
