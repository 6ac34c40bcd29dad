#include "web/lists.h"

#include <string.h>

#include "cli/image-rows.h"
#include "cli/request-view.h"

/* ---- Images ---- */

static json_t *
image_list(const DroverListSource *source)
{
    const json_t *images = drover_image_tree_get(source->images);

    return images != NULL ? drover_upload_rows(images, DROVER_BUILDS_BY_ID) : NULL;
}

static json_t *
build_list(const DroverListSource *source)
{
    const json_t *images = drover_image_tree_get(source->images);

    return images != NULL ? drover_build_rows(images, DROVER_BUILDS_BY_ID) : NULL;
}

static json_t *
image_status(const DroverListSource *source)
{
    const json_t *images = drover_image_tree_get(source->images);

    return images != NULL ? drover_image_status_rows(images) : NULL;
}

static json_t *
build_request_list(const DroverListSource *source)
{
    const json_t *images = drover_image_tree_get(source->images);

    return images != NULL ? drover_build_request_rows(images) : NULL;
}

/* ---- Nodes, requests, labels ---- */

/* Not by JSON objects, as the others: there are too many. */
static char *
node_list(const DroverListSource *source, gboolean as_json, const char *fields)
{
    DroverCluster *cluster = drover_launcher_cluster(source->launcher);

    if (!drover_cluster_is_complete(cluster) ||
        !drover_node_rows_prepare(source->nodes, source->node_id, source->hurry))
        return NULL;
    return as_json ? drover_node_rows_json(source->nodes, source->node_id)
                   : drover_node_rows_text(source->nodes, source->node_id, fields);
}

static json_t *
request_list(const DroverListSource *source)
{
    DroverCluster *cluster = drover_launcher_cluster(source->launcher);
    const GPtrArray *requests;
    json_t *rows;

    if (!drover_cluster_is_complete(cluster))
        return NULL;
    requests = drover_cluster_requests(cluster);
    rows = json_array();
    for (guint i = 0; i < requests->len; i++)
        json_array_append_new(rows, drover_request_object(requests->pdata[i]));
    return rows;
}

static json_t *
label_list(const DroverListSource *source)
{
    DroverCluster *cluster = drover_launcher_cluster(source->launcher);
    const GPtrArray *pools;
    g_autoptr(json_t) labels = NULL;
    g_autoptr(GList) names = NULL;
    json_t *rows;

    if (!drover_cluster_is_complete(cluster))
        return NULL;
    pools = drover_cluster_pools(cluster);
    labels = json_object();
    for (guint i = 0; i < pools->len; i++) {
        char **label = ((const DroverComponent *)pools->pdata[i])->supported_labels;

        for (; label != NULL && *label != NULL; label++)
            json_object_set_new(labels, *label, json_true());
    }
    rows = json_array();
    names = drover_json_sorted_keys(labels);
    for (GList *name = names; name != NULL; name = name->next)
        json_array_append_new(rows, json_pack("{s:s}", "label", name->data));
    return rows;
}

/* ---- The lists ---- */

#define END                                                                                        \
    {                                                                                              \
        NULL, NULL, FALSE                                                                          \
    }

static const DroverColumn label_columns[] = {{"label", "Label", FALSE}, END};

struct _DroverList {
    const char *path;
    const DroverColumn *columns; /* up to one without a key */
    /* A new array, or a text; NULL: not all of it is known yet. */
    json_t *(*rows)(const DroverListSource *source);
    char *(*text)(const DroverListSource *source, gboolean as_json, const char *fields);
};

static const DroverList lists[] = {
    {"/image-list", drover_upload_columns, image_list, NULL},
    {"/dib-image-list", drover_build_columns, build_list, NULL},
    {"/image-status", drover_image_status_columns, image_status, NULL},
    {"/node-list", drover_node_columns, NULL, node_list},
    {"/request-list", drover_request_columns, request_list, NULL},
    {"/label-list", label_columns, label_list, NULL},
    {"/dib-request-list", drover_build_request_columns, build_request_list, NULL},
};

const DroverList *
drover_list_find(const char *path)
{
    for (guint i = 0; i < G_N_ELEMENTS(lists); i++)
        if (strcmp(lists[i].path, path) == 0)
            return &lists[i];
    return NULL;
}

gboolean
drover_list_has_nodes(const DroverList *list)
{
    return list->text == node_list;
}

static char *
json_of(const json_t *rows)
{
    char *text = json_dumps(rows, JSON_ENSURE_ASCII), *copy = g_strdup(text);

    free(text);
    return copy;
}

GBytes *
drover_list_make(const DroverList *list, const DroverListSource *source, gboolean as_json,
                 const char *fields)
{
    g_autoptr(json_t) rows = list->rows != NULL ? list->rows(source) : NULL;
    char *text;

    if (list->text != NULL)
        text = list->text(source, as_json, fields);
    else if (rows == NULL)
        text = NULL;
    else
        text = as_json ? json_of(rows) : drover_row_table_text(list->columns, rows, fields);
    return text != NULL ? g_bytes_new_take(text, strlen(text)) : NULL;
}
