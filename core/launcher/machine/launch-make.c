#include "launcher/machine/launch-private.h"

#include <string.h>

#include "driver/tags.h"
#include "launcher/provider/instance.h"
#include "launcher/provider/label.h"

#define CLEAR_RETRY_SECONDS 1

/* ---- Making the machine ---- */

/* The most recent one, for each attempt anew. */
void
drover_launch_choose_image(DroverLaunch *launch, json_t *fields)
{
    const char *image = drover_label_diskimage(launch->pool, launch->label);
    DroverImageUpload upload;

    g_clear_pointer(&launch->image, g_free);
    launch->image_missing = FALSE;
    if (image == NULL)
        return;
    if (drover_images_find(launch->parts->images, image, drover_manager_name(launch->manager),
                           &upload) == DROVER_IMAGE_READY) {
        launch->image = g_strdup(upload.external_id);
        json_object_set_new(fields, "image_id", json_string(upload.path));
    }
    launch->image_missing = launch->image == NULL;
}

void
drover_launch_submit(DroverLaunch *launch, DroverTaskKind kind, const char *id,
                     const char *const *inputs, DroverTaskFunc done, DroverTaskIdFunc id_known)
{
    const struct drover_value *values = drover_label_values(launch->pool, launch->label);
    DroverTaskInput input = {.node_id = drover_launch_node_id(launch),
                             .external_id = id,
                             .pool = launch->pool->name,
                             .label = launch->label,
                             .pool_config = launch->pool->values,
                             .label_config = launch->filled != NULL ? launch->filled : values,
                             .inputs = inputs};

    if (kind == DROVER_TASK_MACHINE_CREATE) {
        input.saved = launch->resumed != NULL ? launch->resumed->saved : NULL;
        input.saved_changed = drover_launch_on_saved;
    }

    g_ref_count_inc(&launch->references);
    launch->task = drover_runner_submit(drover_manager_runner(launch->manager), kind, &input, done,
                                        id_known, launch);
}

/* As it is handed to a driver: an object as its text. NULL when nothing was made. */
char *
drover_launch_external_id(const DroverLaunch *launch)
{
    const json_t *id = json_object_get(launch->unsaved, "external_id");

    if (id == NULL)
        id = json_object_get(drover_held_node_record(launch->node), "external_id");
    if (json_is_string(id))
        return g_strdup(json_string_value(id));
    return id != NULL && !json_is_null(id) ? drover_json_text(id) : NULL;
}

static json_t *
external_id_field(const char *id)
{
    json_t *value = id[0] == '{' ? drover_json_parse_object(id, strlen(id), NULL) : NULL;

    return value != NULL ? value : json_string(id);
}

static void
on_id_known(const char *id, gpointer user_data)
{
    DroverLaunch *launch = user_data;
    json_t *fields;

    /* Later the lock is given up; what is made then is found by its tags. */
    if (drover_launch_is_decided(launch))
        return;
    fields = json_object();
    json_object_set_new(fields, "external_id", external_id_field(id));
    drover_launch_store(launch, fields, NULL);
}

static void
on_made(const DroverTaskResult *result, gpointer user_data)
{
    DroverLaunch *launch = user_data;

    launch->task = NULL;
    if (drover_launch_is_decided(launch)) {
        /* nobody is interested */
    } else if (result->ok && !launch->timed_out) {
        json_t *fields = drover_instance_fields(result, launch->pool);

        drover_launch_keep_slot(launch, fields);
        if (drover_launch_is_scanned(launch, fields))
            drover_launch_store(launch, fields, drover_launch_scan);
        else
            drover_launch_become_ready(launch, fields);
    } else if (launch->timed_out) {
        drover_launch_fail_for_time(launch);
    } else if (result->failure == DROVER_FAILURE_QUOTA) {
        drover_launch_abort_for_quota(launch, result->message);
    } else {
        drover_launch_fail_for(launch, result);
    }
    drover_launch_unref(launch);
}

static void
add_input(const char **inputs, guint *n, const char *name, const char *value)
{
    if (value == NULL)
        return;
    inputs[(*n)++] = name;
    inputs[(*n)++] = value;
}

void
drover_launch_make(DroverLaunch *launch)
{
    const char *node_id = drover_launch_node_id(launch);
    g_autofree char *hostname = g_strconcat("np", node_id, NULL);
    /* Only when it goes on with a machine that was begun. */
    g_autofree char *id = drover_launch_external_id(launch);
    g_autofree char *tags =
        drover_tags_of_node(node_id, launch->pool->name, drover_manager_name(launch->manager));
    const char *inputs[] = {"hostname", hostname, "tags", tags, NULL, NULL, NULL, NULL, NULL};
    guint n = 4;

    add_input(inputs, &n, "image", launch->image);
    add_input(inputs, &n, "az", launch->zone);
    if (launch->timed_out) {
        drover_launch_fail_for_time(launch);
    } else if (launch->image_missing) {
        drover_launch_fail_attempt(
            launch, &(DroverLaunchFailure){.level = DROVER_LOG_ERROR,
                                           .kind = "nodepool",
                                           .message = "there is no image to launch from",
                                           .refused = TRUE});
    } else {
        drover_launch_offer(launch);
        drover_launch_submit(launch, DROVER_TASK_MACHINE_CREATE, id, inputs, on_made, on_id_known);
    }
    g_clear_pointer(&launch->resumed, drover_journal_entry_free);
}

/* ---- Clearing away what the former attempt made ---- */

static gboolean
on_clear_again(gpointer user_data)
{
    DroverLaunch *launch = user_data;

    launch->pause = 0;
    drover_launch_clear(launch);
    return G_SOURCE_REMOVE;
}

static void
on_cleared(const DroverTaskResult *result, gpointer user_data)
{
    DroverLaunch *launch = user_data;
    DroverLogSubject subject = drover_launch_subject(launch);

    launch->task = NULL;
    if (drover_launch_is_decided(launch)) {
        /* nobody is interested */
    } else if (result->ok || result->failure == DROVER_FAILURE_NOT_FOUND) {
        json_t *fields = json_object();

        json_object_set_new(fields, "external_id", json_null());
        drover_launch_store(launch, fields, drover_launch_make);
    } else if (launch->timed_out) {
        drover_launch_fail_for_time(launch);
    } else {
        drover_log(DROVER_LOG_WARNING, &subject, "What was made cannot be deleted: %s",
                   result->message);
        launch->pause = g_timeout_add_seconds(CLEAR_RETRY_SECONDS, on_clear_again, launch);
    }
    drover_launch_unref(launch);
}

/* One node never has two machines. */
void
drover_launch_clear(DroverLaunch *launch)
{
    g_autofree char *id = drover_launch_external_id(launch);

    if (launch->timed_out)
        drover_launch_fail_for_time(launch);
    else if (id == NULL)
        drover_launch_make(launch);
    else
        drover_launch_submit(launch, DROVER_TASK_MACHINE_DELETE, id, NULL, on_cleared, NULL);
}
