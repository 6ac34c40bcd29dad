#include "launcher/provider/leaks.h"

#include "base/log.h"
#include "launcher/provider/tags.h"

#define LOGGER "driver.leaks"

struct _DroverLeaks {
    grefcount references; /* the owner, and every answer still to come */
    DroverCluster *cluster;
    DroverRunner *runner; /* NULL once freed */
    DroverTelemetry *telemetry;
    char *provider;
    DroverTask *listing;
    GHashTable *suspects; /* node ids that were unknown in the last round */
};

/* A deletion under way. */
typedef struct {
    DroverLeaks *leaks;
    char *kind, *id, *node_id;
} Removal;

static void
leaks_unref(DroverLeaks *leaks)
{
    if (!g_ref_count_dec(&leaks->references))
        return;
    g_hash_table_unref(leaks->suspects);
    g_free(leaks->provider);
    g_free(leaks);
}

static DroverLeaks *
leaks_ref(DroverLeaks *leaks)
{
    g_ref_count_inc(&leaks->references);
    return leaks;
}

static void
on_removed(const DroverTaskResult *result, gpointer user_data)
{
    Removal *removal = user_data;
    DroverLogSubject subject = {.logger = LOGGER, .node_id = removal->node_id};

    if (result->ok && removal->leaks->runner != NULL)
        drover_telemetry_note_leak(removal->leaks->telemetry, removal->leaks->provider,
                                   removal->kind);
    if (result->ok || result->failure == DROVER_FAILURE_NOT_FOUND)
        drover_log(DROVER_LOG_INFO, &subject, "Deleted leaked %s %s of provider %s", removal->kind,
                   removal->id, removal->leaks->provider);
    else
        drover_log(DROVER_LOG_ERROR, &subject, "Leaked %s %s of provider %s cannot be deleted: %s",
                   removal->kind, removal->id, removal->leaks->provider, result->message);
    leaks_unref(removal->leaks);
    g_free(removal->kind);
    g_free(removal->id);
    g_free(removal->node_id);
    g_free(removal);
}

static void
remove_item(DroverLeaks *leaks, const json_t *item, const char *node_id)
{
    const char *kind = drover_json_string(item, "kind"), *id = drover_json_string(item, "id");
    const char *inputs[] = {"kind", kind, NULL};
    DroverTaskInput input = {.external_id = id, .node_id = node_id, .inputs = inputs};
    Removal *removal;

    if (kind == NULL || id == NULL)
        return;
    removal = g_new0(Removal, 1);
    removal->leaks = leaks_ref(leaks);
    removal->kind = g_strdup(kind);
    removal->id = g_strdup(id);
    removal->node_id = g_strdup(node_id);
    drover_runner_submit(leaks->runner, DROVER_TASK_RESOURCE_DELETE, &input, on_removed, NULL,
                         removal);
}

/* The node that the item was made for, if it is ours and no such node is there; new string. */
static char *
find_lost_node(const DroverLeaks *leaks, const json_t *item)
{
    g_autoptr(json_t) tags = drover_tags_parse(drover_json_string(item, "tags"));
    const char *node_id = drover_json_string(tags, DROVER_TAG_NODE);

    if (node_id == NULL ||
        g_strcmp0(drover_json_string(tags, DROVER_TAG_PROVIDER), leaks->provider) != 0 ||
        drover_cluster_node(leaks->cluster, node_id) != NULL)
        return NULL;
    return g_strdup(node_id);
}

static void
look_at_items(DroverLeaks *leaks, const GPtrArray *items)
{
    GHashTable *suspects = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

    for (guint i = 0; i < items->len; i++) {
        g_autofree char *node_id = find_lost_node(leaks, items->pdata[i]);

        if (node_id == NULL)
            continue;
        if (g_hash_table_contains(leaks->suspects, node_id))
            remove_item(leaks, items->pdata[i], node_id);
        g_hash_table_add(suspects, g_steal_pointer(&node_id));
    }
    g_hash_table_unref(leaks->suspects);
    leaks->suspects = suspects;
}

static void
on_listed(const DroverTaskResult *result, gpointer user_data)
{
    DroverLeaks *leaks = user_data;

    leaks->listing = NULL;
    if (leaks->runner == NULL) {
        /* nobody is interested */
    } else if (!result->ok) {
        drover_log_for(DROVER_LOG_ERROR, LOGGER, "Provider %s does not list its resources: %s",
                       leaks->provider, result->message);
    } else if (drover_cluster_is_complete(leaks->cluster)) {
        look_at_items(leaks, result->items);
    }
    leaks_unref(leaks);
}

void
drover_leaks_run(DroverLeaks *leaks)
{
    DroverTaskInput input = {0};

    if (leaks->listing != NULL || !drover_runner_can(leaks->runner, DROVER_CAN_RESOURCES))
        return;
    leaks->listing = drover_runner_submit(leaks->runner, DROVER_TASK_RESOURCE_LIST, &input,
                                          on_listed, NULL, leaks_ref(leaks));
}

DroverLeaks *
drover_leaks_new(DroverCluster *cluster, DroverRunner *runner, DroverTelemetry *telemetry)
{
    DroverLeaks *leaks = g_new0(DroverLeaks, 1);

    g_ref_count_init(&leaks->references);
    leaks->cluster = cluster;
    leaks->runner = runner;
    leaks->telemetry = telemetry;
    leaks->provider = g_strdup(drover_runner_name(runner));
    leaks->suspects = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    return leaks;
}

void
drover_leaks_free(DroverLeaks *leaks)
{
    if (leaks == NULL)
        return;
    if (leaks->listing != NULL)
        drover_task_cancel(leaks->listing);
    leaks->runner = NULL;
    leaks_unref(leaks);
}
