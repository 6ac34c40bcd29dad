#include "launcher/provider/leaks.h"

#include "base/log.h"
#include "driver/tags.h"
#include "model/image-reading.h"

#define LOGGER "driver.leaks"

struct _DroverLeaks {
    grefcount references; /* the owner, and every answer still to come */
    DroverCluster *cluster;
    DroverRunner *runner; /* NULL once freed */
    DroverTelemetry *telemetry;
    char *provider;
    DroverTask *listing;
    GPtrArray *things; /* of Thing: what was listed, while the images are being read */
    DroverImageReading *reading;
    GHashTable *suspects; /* owners that were unknown in the last round */
};

/* What is at the cloud and carries the provider's tags, and what it was made for: a node, or an
 * upload. */
typedef struct {
    json_t *item;
    char *node_id;              /* or NULL */
    char *build_id, *upload_id; /* or NULL, both */
} Thing;

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
    DroverLogSubject subject = {
        .logger = LOGGER, .node_id = removal->node_id, .provider = removal->leaks->provider};

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

/* ---- Things ---- */

static void
thing_free(gpointer data)
{
    Thing *thing = data;

    json_decref(thing->item);
    g_free(thing->node_id);
    g_free(thing->build_id);
    g_free(thing->upload_id);
    g_free(thing);
}

/* NULL for what is not the provider's, or not known to have been made for anything. */
static Thing *
thing_new(const DroverLeaks *leaks, json_t *item)
{
    g_autoptr(json_t) tags = drover_tags_parse(drover_json_string(item, "tags"));
    const char *node_id = drover_json_string(tags, DROVER_TAG_NODE);
    const char *build_id = drover_json_string(tags, DROVER_TAG_BUILD);
    const char *upload_id = drover_json_string(tags, DROVER_TAG_UPLOAD);
    Thing *thing;

    if (g_strcmp0(drover_json_string(tags, DROVER_TAG_PROVIDER), leaks->provider) != 0 ||
        (node_id == NULL && (build_id == NULL || upload_id == NULL)))
        return NULL;
    thing = g_new0(Thing, 1);
    thing->item = json_incref(item);
    thing->node_id = g_strdup(node_id);
    thing->build_id = g_strdup(build_id);
    thing->upload_id = g_strdup(upload_id);
    return thing;
}

static GPtrArray *
things_of(const DroverLeaks *leaks, const GPtrArray *items, gboolean *have_uploads)
{
    GPtrArray *things = g_ptr_array_new_with_free_func(thing_free);

    *have_uploads = FALSE;
    for (guint i = 0; i < items->len; i++) {
        Thing *thing = thing_new(leaks, items->pdata[i]);

        if (thing == NULL)
            continue;
        *have_uploads |= thing->node_id == NULL;
        g_ptr_array_add(things, thing);
    }
    return things;
}

static gboolean
is_upload_of(const json_t *build, const char *provider, const char *id)
{
    size_t i;
    json_t *upload;

    json_array_foreach(json_object_get(build, "uploads"), i, upload)
    {
        if (g_strcmp0(drover_json_string(upload, "provider"), provider) == 0 &&
            g_strcmp0(drover_json_string(upload, "id"), id) == 0)
            return TRUE;
    }
    return FALSE;
}

/* An upload's number is unique within its build only. */
static gboolean
is_known_upload(const DroverLeaks *leaks, const json_t *images, const Thing *thing)
{
    const char *name;
    json_t *image;

    json_object_foreach((json_t *)images, name, image)
    {
        const json_t *builds = json_object_get(image, "builds");

        if (is_upload_of(json_object_get(builds, thing->build_id), leaks->provider,
                         thing->upload_id))
            return TRUE;
    }
    return FALSE;
}

/* A new string that names what the thing was made for; NULL when that is there. */
static char *
name_if_lost(const DroverLeaks *leaks, const Thing *thing, const json_t *images)
{
    if (thing->node_id != NULL)
        return drover_cluster_node(leaks->cluster, thing->node_id) == NULL
                   ? g_strconcat("node ", thing->node_id, NULL)
                   : NULL;
    if (is_known_upload(leaks, images, thing))
        return NULL;
    return g_strdup_printf("upload %s of build %s", thing->upload_id, thing->build_id);
}

/* ---- A round ---- */

/* `images`: see model/image-reading.h; NULL when none of the things is an upload. */
static void
look_at_things(DroverLeaks *leaks, const GPtrArray *things, const json_t *images)
{
    GHashTable *suspects = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

    for (guint i = 0; i < things->len; i++) {
        const Thing *thing = things->pdata[i];
        char *name = name_if_lost(leaks, thing, images);

        if (name == NULL)
            continue;
        if (g_hash_table_contains(leaks->suspects, name))
            remove_item(leaks, thing->item, thing->node_id);
        g_hash_table_add(suspects, name);
    }
    g_hash_table_unref(leaks->suspects);
    leaks->suspects = suspects;
}

static void
on_images(const json_t *images, gpointer user_data)
{
    DroverLeaks *leaks = user_data;

    leaks->reading = NULL;
    if (images != NULL && drover_cluster_is_complete(leaks->cluster))
        look_at_things(leaks, leaks->things, images);
    g_clear_pointer(&leaks->things, g_ptr_array_unref);
}

/* The images are read after the list was made: what was uploaded before it is in them. */
static void
look_at_items(DroverLeaks *leaks, const GPtrArray *items)
{
    gboolean have_uploads;
    g_autoptr(GPtrArray) things = things_of(leaks, items, &have_uploads);

    if (!have_uploads) {
        look_at_things(leaks, things, NULL);
        return;
    }
    leaks->things = g_steal_pointer(&things);
    leaks->reading =
        drover_image_reading_begin(drover_cluster_session(leaks->cluster), on_images, leaks);
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

    if (leaks->listing != NULL || leaks->reading != NULL ||
        !drover_runner_can(leaks->runner, DROVER_CAN_RESOURCES))
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
    if (leaks->reading != NULL)
        drover_image_reading_cancel(leaks->reading);
    g_clear_pointer(&leaks->things, g_ptr_array_unref);
    leaks->runner = NULL;
    leaks_unref(leaks);
}
