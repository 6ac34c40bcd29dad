#include "web/lists.h"

#include <string.h>

#include "cli/node-table.h"
#include "cli/output.h"
#include "cli/python-literal.h"
#include "cli/request-view.h"
#include "cli/table.h"
#include "zk/lock.h"

/* ---- Images ---- */

typedef void (*BuildFunc)(json_t *rows, const char *image, const char *build, const json_t *object,
                          const json_t *image_object);

static gint
compare_names(gconstpointer a, gconstpointer b)
{
    return strcmp(a, b);
}

static GList *
sorted_keys(const json_t *object)
{
    GList *keys = NULL;
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)object, key, value) keys = g_list_prepend(keys, (gpointer)key);
    return g_list_sort(keys, compare_names);
}

/* Calls for every build, sorted by image and id. NULL: not read yet. */
static json_t *
rows_of_builds(const DroverListSource *source, BuildFunc add)
{
    const json_t *images = drover_image_tree_get(source->images);
    g_autoptr(GList) names = NULL;
    json_t *rows;

    if (images == NULL)
        return NULL;
    rows = json_array();
    names = sorted_keys(images);
    for (GList *name = names; name != NULL; name = name->next) {
        const json_t *image = json_object_get(images, name->data);
        const json_t *builds = json_object_get(image, "builds");
        g_autoptr(GList) ids = sorted_keys(builds);

        for (GList *id = ids; id != NULL; id = id->next)
            add(rows, name->data, id->data, json_object_get(builds, id->data), image);
    }
    return rows;
}

/* A time is a whole number of seconds. */
static json_t *
time_value(const json_t *record)
{
    return json_integer((json_int_t)drover_json_real(record, "state_time", 0));
}

static json_t *
value_of(const json_t *record, const char *key)
{
    json_t *value = json_object_get(record, key);

    return value != NULL ? json_incref(value) : json_null();
}

static int
compare_uploads(const void *a, const void *b)
{
    const json_t *left = *(json_t *const *)a, *right = *(json_t *const *)b;
    int order = strcmp(drover_json_string(left, "provider"), drover_json_string(right, "provider"));

    return order != 0 ? order
                      : strcmp(drover_json_string(left, "id"), drover_json_string(right, "id"));
}

static void
add_uploads(json_t *rows, const char *image, const char *build, const json_t *object,
            const json_t *image_object)
{
    g_autoptr(GPtrArray) uploads = g_ptr_array_new();
    json_t *upload;
    size_t k;

    json_array_foreach(json_object_get(object, "uploads"), k, upload)
    {
        if (json_is_object(json_object_get(upload, "record")))
            g_ptr_array_add(uploads, upload);
    }
    g_ptr_array_sort(uploads, compare_uploads);
    for (guint i = 0; i < uploads->len; i++) {
        const json_t *one = uploads->pdata[i], *record = json_object_get(one, "record");

        json_array_append_new(rows,
                              json_pack("{s:s, s:O, s:O, s:s, s:o, s:o, s:o, s:o}", "id", build,
                                        "upload_id", json_object_get(one, "id"), "provider",
                                        json_object_get(one, "provider"), "image", image,
                                        "external_name", value_of(record, "external_name"),
                                        "external_id", value_of(record, "external_id"), "state",
                                        value_of(record, "state"), "age", time_value(record)));
    }
}

static json_t *
image_list(const DroverListSource *source)
{
    return rows_of_builds(source, add_uploads);
}

/* One string in the record, sorted and joined by commas. */
static json_t *
formats_value(const json_t *record)
{
    const char *text = drover_json_string(record, "formats");
    g_auto(GStrv) formats = NULL;

    if (text == NULL || *text == '\0')
        return json_array();
    formats = g_strsplit(text, ",", -1);
    return drover_json_from_strings((const char *const *)formats);
}

static void
add_build(json_t *rows, const char *image, const char *build, const json_t *object,
          const json_t *image_object)
{
    const json_t *record = json_object_get(object, "record");
    g_autofree char *id = g_strconcat(image, "-", build, NULL);
    gboolean paused = drover_json_boolean(image_object, "paused", FALSE);

    if (!json_is_object(record))
        return;
    json_array_append_new(
        rows, json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "id", id, "image", image, "builder",
                        value_of(record, "builder"), "formats", formats_value(record), "state",
                        paused ? json_string("paused") : value_of(record, "state"), "age",
                        time_value(record)));
}

static json_t *
build_list(const DroverListSource *source)
{
    return rows_of_builds(source, add_build);
}

static const char *
request_state(const json_t *image)
{
    return drover_json_boolean(image, "building", FALSE) ? "building" : "pending";
}

static json_t *
image_status(const DroverListSource *source)
{
    const json_t *images = drover_image_tree_get(source->images);
    g_autoptr(GList) names = images != NULL ? sorted_keys(images) : NULL;
    json_t *rows = images != NULL ? json_array() : NULL;

    for (GList *name = names; name != NULL; name = name->next) {
        const json_t *image = json_object_get(images, name->data);
        json_t *requested = json_object_get(image, "requested");
        const char *state = json_is_null(requested) ? NULL : request_state(image);

        json_array_append_new(rows, json_pack("{s:s, s:O, s:o, s:O}", "image", name->data, "paused",
                                              json_object_get(image, "paused"), "build_request",
                                              drover_json_from_string(state), "build_request_age",
                                              requested));
    }
    return rows;
}

static json_t *
build_request_list(const DroverListSource *source)
{
    const json_t *images = drover_image_tree_get(source->images);
    g_autoptr(GList) names = images != NULL ? sorted_keys(images) : NULL;
    json_t *rows = images != NULL ? json_array() : NULL;

    for (GList *name = names; name != NULL; name = name->next) {
        const json_t *image = json_object_get(images, name->data);
        json_t *requested = json_object_get(image, "requested");

        if (!json_is_null(requested))
            json_array_append_new(rows, json_pack("{s:s, s:s, s:O}", "image", name->data, "state",
                                                  request_state(image), "age", requested));
    }
    return rows;
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

static gint
compare_ids(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
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
    g_ptr_array_sort(ids, compare_ids);
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
    names = sorted_keys(labels);
    for (GList *name = names; name != NULL; name = name->next)
        json_array_append_new(rows, json_pack("{s:s}", "label", name->data));
    return rows;
}

/* ---- The lists ---- */

#define END                                                                                        \
    {                                                                                              \
        NULL, NULL, FALSE                                                                          \
    }

static const DroverListColumn image_columns[] = {{"id", "Build ID", FALSE},
                                                 {"upload_id", "Upload ID", FALSE},
                                                 {"provider", "Provider", FALSE},
                                                 {"image", "Image", FALSE},
                                                 {"external_name", "Provider Image Name", FALSE},
                                                 {"external_id", "Provider Image ID", FALSE},
                                                 {"state", "State", FALSE},
                                                 {"age", "Age", TRUE},
                                                 END};
static const DroverListColumn build_columns[] = {{"id", "ID", FALSE},
                                                 {"image", "Image", FALSE},
                                                 {"builder", "Builder", FALSE},
                                                 {"formats", "Formats", FALSE},
                                                 {"state", "State", FALSE},
                                                 {"age", "Age", TRUE},
                                                 END};
static const DroverListColumn status_columns[] = {{"image", "Image", FALSE},
                                                  {"paused", "Paused", FALSE},
                                                  {"build_request", "Build Request", FALSE},
                                                  {"build_request_age", "Build Request Age", TRUE},
                                                  END};
static const DroverListColumn build_request_columns[] = {
    {"image", "Image", FALSE}, {"state", "State", FALSE}, {"age", "Age", TRUE}, END};
static const DroverListColumn node_columns[] = {{"id", "ID", FALSE},
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
static const DroverListColumn request_columns[] = {{"id", "Request ID", FALSE},
                                                   {"relative_priority", "Priority", FALSE},
                                                   {"state", "State", FALSE},
                                                   {"requestor", "Requestor", FALSE},
                                                   {"node_types", "Node Types", FALSE},
                                                   {"nodes", "Nodes", FALSE},
                                                   {"declined_by", "Declined By", FALSE},
                                                   {"event_id", "Event ID", FALSE},
                                                   END};
static const DroverListColumn label_columns[] = {{"label", "Label", FALSE}, END};

static const DroverList lists[] = {
    {"/image-list", image_columns, image_list},
    {"/dib-image-list", build_columns, build_list},
    {"/image-status", status_columns, image_status},
    {"/node-list", node_columns, node_list},
    {"/request-list", request_columns, request_list},
    {"/label-list", label_columns, label_list},
    {"/dib-request-list", build_request_columns, build_request_list},
};

const DroverList *
drover_list_find(const char *path)
{
    for (guint i = 0; i < G_N_ELEMENTS(lists); i++)
        if (strcmp(lists[i].path, path) == 0)
            return &lists[i];
    return NULL;
}

/* ---- Tables ---- */

static GPtrArray *
choose_columns(const DroverList *list, const char *fields)
{
    gboolean all = fields == NULL || *fields == '\0';
    g_auto(GStrv) names = g_strsplit(fields != NULL ? fields : "", ",", -1);
    GPtrArray *columns = g_ptr_array_new();

    for (const DroverListColumn *column = list->columns; column->key != NULL; column++)
        if (all || g_strv_contains((const char *const *)names, column->key))
            g_ptr_array_add(columns, (gpointer)column);
    return columns;
}

static char *
cell_of(const json_t *row, const DroverListColumn *column)
{
    const json_t *value = json_object_get(row, column->key);

    if (column->is_time && json_is_integer(value))
        return drover_cli_age((double)json_integer_value(value));
    return drover_cell_text(value);
}

static DroverTable *
table_new(const GPtrArray *columns)
{
    g_autoptr(GPtrArray) headers = g_ptr_array_new();

    for (guint i = 0; i < columns->len; i++)
        g_ptr_array_add(headers, (gpointer)((const DroverListColumn *)columns->pdata[i])->header);
    g_ptr_array_add(headers, NULL);
    return drover_table_new((const char *const *)headers->pdata);
}

char *
drover_list_table(const DroverList *list, const json_t *rows, const char *fields)
{
    g_autoptr(GPtrArray) columns = choose_columns(list, fields);
    g_autoptr(DroverTable) table = NULL;
    const json_t *row;
    size_t k;

    if (columns->len == 0)
        return g_strdup("++\n||\n++");
    table = table_new(columns);
    json_array_foreach((json_t *)rows, k, row)
    {
        char **cells = g_new0(char *, columns->len + 1);

        for (guint i = 0; i < columns->len; i++)
            cells[i] = cell_of(row, columns->pdata[i]);
        drover_table_add_row(table, cells);
    }
    return g_strchomp(drover_table_text(table));
}
