#include "web/lists.h"

#include <string.h>

#include "base/compare.h"
#include "cli/image-rows.h"
#include "cli/node-table.h"
#include "cli/request-view.h"
#include "zk/lock.h"

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

static void
add_node(json_t *rows, DroverCache *nodes, const DroverNode *node)
{
    const char *contenders[] = {NULL};
    const char *const *names = drover_cache_contenders(nodes, node->id);
    DroverRecord record = {.name = node->id,
                           .data = node->record,
                           .contenders = (char **)(names != NULL ? names : contenders)};
    json_t *object = drover_node_object(&record);

    if (object != NULL)
        json_array_append_new(rows, object);
}

/* The first question about a lock begins to watch it. */
static gboolean
know_locks(DroverCache *nodes, const GPtrArray *ids)
{
    gboolean known = TRUE;

    for (guint i = 0; i < ids->len; i++)
        if (drover_cache_lock(nodes, ids->pdata[i]) == DROVER_CACHE_LOCK_UNKNOWN)
            known = FALSE;
    return known;
}

static json_t *
node_list(const DroverListSource *source)
{
    DroverCluster *cluster = drover_launcher_cluster(source->launcher);
    DroverCache *nodes = drover_cluster_nodes(cluster);
    g_autoptr(GPtrArray) ids = g_ptr_array_new();
    DroverCacheIter iter;
    const char *id;
    gpointer node;
    json_t *rows;

    if (!drover_cluster_is_complete(cluster))
        return NULL;
    drover_cache_iter_init(&iter, nodes);
    while (drover_cache_iter_next(&iter, &id, &node))
        if (source->node_id == NULL || strcmp(source->node_id, id) == 0)
            g_ptr_array_add(ids, (gpointer)id);
    if (!know_locks(nodes, ids) && !source->hurry)
        return NULL;
    g_ptr_array_sort(ids, drover_compare_strings);
    rows = json_array();
    for (guint i = 0; i < ids->len; i++)
        add_node(rows, nodes, drover_cluster_node(cluster, ids->pdata[i]));
    return rows;
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

static const DroverColumn node_columns[] = {{"id", "ID", FALSE},
                                            {"provider", "Provider", FALSE},
                                            {"label", "Label", FALSE},
                                            {"server_id", "Server ID", FALSE},
                                            {"public_ipv4", "Public IPv4", FALSE},
                                            {"ipv6", "IPv6", FALSE},
                                            {"state", "State", FALSE},
                                            {"age", "Age", FALSE},
                                            {"locked", "Locked", FALSE},
                                            {"pool", "Pool", FALSE},
                                            {"hostname", "Hostname", FALSE},
                                            {"private_ipv4", "Private IPv4", FALSE},
                                            {"AZ", "AZ", FALSE},
                                            {"username", "Username", FALSE},
                                            {"connection_port", "Port", FALSE},
                                            {"launcher", "Launcher", FALSE},
                                            {"allocated_to", "Allocated To", FALSE},
                                            {"hold_job", "Hold Job", FALSE},
                                            {"comment", "Comment", FALSE},
                                            {"user_data", "User Data", FALSE},
                                            {"driver_data", "Driver Data", FALSE},
                                            END};
static const DroverColumn label_columns[] = {{"label", "Label", FALSE}, END};

static const DroverList lists[] = {
    {"/image-list", drover_upload_columns, image_list},
    {"/dib-image-list", drover_build_columns, build_list},
    {"/image-status", drover_image_status_columns, image_status},
    {"/node-list", node_columns, node_list},
    {"/request-list", drover_request_columns, request_list},
    {"/label-list", label_columns, label_list},
    {"/dib-request-list", drover_build_request_columns, build_request_list},
};

const DroverList *
drover_list_find(const char *path)
{
    for (guint i = 0; i < G_N_ELEMENTS(lists); i++)
        if (strcmp(lists[i].path, path) == 0)
            return &lists[i];
    return NULL;
}
