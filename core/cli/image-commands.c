/* drover image-list, dib-image-list, image-status, dib-request-list, image-build, image-pause,
 * image-unpause, image-delete, dib-image-delete */
#include <string.h>

#include "base/error.h"
#include "cli/command.h"
#include "cli/image-rows.h"
#include "model/image-reading.h"
#include "model/record.h"

/* ---- Lists ---- */

static json_t *
newest_uploads(const json_t *images)
{
    return drover_upload_rows(images, DROVER_BUILDS_NEWEST_FIRST);
}

static json_t *
newest_builds(const json_t *images)
{
    return drover_build_rows(images, DROVER_BUILDS_NEWEST_FIRST);
}

static const struct {
    const DroverCommand *command;
    const DroverColumn *columns;
    json_t *(*make)(const json_t *images);
} lists[] = {
    {&drover_image_list_command, drover_upload_columns, newest_uploads},
    {&drover_dib_image_list_command, drover_build_columns, newest_builds},
    {&drover_image_status_command, drover_image_status_columns, drover_image_status_rows},
    {&drover_dib_request_list_command, drover_build_request_columns, drover_build_request_rows},
};

static int
list(DroverCli *cli, const char *argument)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(json_t) images = drover_store_read_images(cli->store, &error);
    guint i = 0;

    if (images == NULL)
        return drover_cli_fail(cli, "%s", error->message);
    while (lists[i].command != cli->command)
        i++;
    drover_cli_print_rows(cli, lists[i].columns, lists[i].make(images));
    return 0;
}

#define LIST_COMMAND(word, what)                                                                   \
    {                                                                                              \
        .name = word, .summary = what, .needs_store = TRUE, .run = list                            \
    }

const DroverCommand drover_image_list_command =
    LIST_COMMAND("image-list", "List uploads of images");
const DroverCommand drover_dib_image_list_command =
    LIST_COMMAND("dib-image-list", "List builds of images");
const DroverCommand drover_image_status_command =
    LIST_COMMAND("image-status", "List images: paused, and builds asked for");
const DroverCommand drover_dib_request_list_command =
    LIST_COMMAND("dib-request-list", "List builds asked for");

/* ---- Flags of images ---- */

static const char *
find_mistake_in_name(const char *name)
{
    return *name == '\0' || strchr(name, '/') != NULL ? "No image has such a name." : NULL;
}

static const DroverDiskImageConfig *
find_image(const DroverConfig *config, const char *name)
{
    for (guint i = 0; i < config->diskimages->len; i++) {
        const DroverDiskImageConfig *image = config->diskimages->pdata[i];

        if (g_str_equal(image->name, name))
            return image;
    }
    return NULL;
}

static int
raise_flag(DroverCli *cli, const char *image, const char *flag)
{
    g_autofree char *path = g_strconcat(DROVER_IMAGES_PATH "/", image, "/", flag, NULL);
    g_autoptr(GError) error = NULL;

    if (!drover_store_ensure(cli->store, path, &error))
        return drover_cli_fail(cli, "%s", error->message);
    if (cli->json)
        drover_cli_print_json(json_pack("{s:s, s:s}", "image", image, "set", flag));
    return 0;
}

/* That the image is paused in ZooKeeper does not count: the build waits. */
static int
build(DroverCli *cli, const char *name)
{
    const DroverDiskImageConfig *image = find_image(cli->config, name);

    if (image == NULL || image->abstract)
        return drover_cli_fail(cli, "Trying to build a non disk-image-builder image: %s", name);
    if (image->pause)
        return drover_cli_fail(cli, "Skipping build request for image %s; paused", name);
    return raise_flag(cli, name, "request-build");
}

static int
pause_image(DroverCli *cli, const char *name)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(DroverRecord) known =
        drover_store_read(cli->store, DROVER_IMAGES_PATH, name, DROVER_READ_EMPTY, &error);

    if (known == NULL && !g_error_matches(error, DROVER_ERROR, DROVER_ERROR_NOT_FOUND))
        return drover_cli_fail(cli, "%s", error->message);
    if (known == NULL && find_image(cli->config, name) == NULL)
        return drover_cli_fail(cli, "there is no image %s", name);
    return raise_flag(cli, name, "pause");
}

static int
unpause_image(DroverCli *cli, const char *name)
{
    g_autofree char *path = g_strconcat(DROVER_IMAGES_PATH "/", name, "/pause", NULL);
    g_autoptr(GError) error = NULL;

    if (!drover_store_delete_tree(cli->store, path, &error))
        return drover_cli_fail(cli, "%s", error->message);
    if (cli->json)
        drover_cli_print_json(json_pack("{s:s, s:s}", "image", name, "cleared", "pause"));
    return 0;
}

const DroverCommand drover_image_build_command = {
    .name = "image-build",
    .summary = "Ask for a new build of an image",
    .argument = "IMAGE",
    .find_mistake = find_mistake_in_name,
    .needs_store = TRUE,
    .run = build,
};

const DroverCommand drover_image_pause_command = {
    .name = "image-pause",
    .summary = "Have an image not built",
    .argument = "IMAGE",
    .find_mistake = find_mistake_in_name,
    .needs_store = TRUE,
    .run = pause_image,
};

const DroverCommand drover_image_unpause_command = {
    .name = "image-unpause",
    .summary = "Have an image built again",
    .argument = "IMAGE",
    .find_mistake = find_mistake_in_name,
    .needs_store = TRUE,
    .run = unpause_image,
};

/* ---- Deletion, which a builder does ---- */

/* What is said of a build or an upload that is not there, or still being made. */
typedef struct {
    const char *busy_state, *absent, *busy;
} Wording;

static DroverChangeOutcome
write_deleting(DroverStore *store, const char *path, const DroverRecord *found, json_t *record)
{
    DroverChange *change = drover_change_new(drover_store_session(store));
    g_autoptr(GBytes) data = NULL;

    json_object_set_new(record, "state", json_string("deleting"));
    json_object_set_new(record, "state_time", json_real(drover_record_now()));
    data = drover_record_bytes(record);
    drover_change_set(change, path, data, found->version);
    return drover_store_commit(store, change, NULL);
}

/* What somebody writes meanwhile is read again. */
static int
mark(DroverCli *cli, const char *parent, const char *id, const Wording *wording)
{
    g_autofree char *path = g_strconcat(parent, "/", id, NULL);
    DroverChangeOutcome outcome;

    do {
        g_autoptr(GError) error = NULL;
        g_autoptr(DroverRecord) found =
            drover_store_read(cli->store, parent, id, DROVER_READ_PLAIN, &error);
        g_autoptr(json_t) record = NULL;
        gsize length;
        const char *text;

        if (found == NULL && !g_error_matches(error, DROVER_ERROR, DROVER_ERROR_NOT_FOUND))
            return drover_cli_fail(cli, "%s", error->message);
        text = found != NULL ? g_bytes_get_data(found->data, &length) : NULL;
        record = text != NULL ? drover_json_parse_object(text, length, NULL) : NULL;
        if (record == NULL ||
            g_strcmp0(drover_json_string(record, "state"), wording->busy_state) == 0) {
            drover_cli_notice(cli, "%s", record == NULL ? wording->absent : wording->busy);
            if (cli->json)
                drover_cli_print_json(json_object());
            return 0;
        }
        outcome = write_deleting(cli->store, path, found, record);
    } while (outcome == DROVER_CHANGE_CONFLICT);
    if (outcome != DROVER_CHANGE_DONE)
        return drover_cli_fail(cli, "%s was not changed: %s", path,
                               drover_change_outcome_name(outcome));
    if (cli->json)
        drover_cli_print_json(json_pack("{s:s}", "deleting", path));
    return 0;
}

static gboolean
is_one_name(const char *name)
{
    return *name != '\0' && *name != '.' && strchr(name, '/') == NULL;
}

/* <image>-<build>: an image's name may have dashes, a build's id has none. */
static const char *
find_mistake_in_build(const char *id)
{
    const char *dash = strrchr(id, '-');

    return dash == NULL || dash == id || dash[1] == '\0' || strchr(id, '/') != NULL
               ? "An ID is as in dib-image-list: IMAGE-BUILD."
               : NULL;
}

static int
delete_build(DroverCli *cli, const char *id)
{
    const char *dash = strrchr(id, '-'), *mistake = find_mistake_in_build(id);
    g_autofree char *absent = g_strdup_printf("Build %s not found", id);
    Wording wording = {"building", absent, "Cannot delete a build in progress"};
    g_autofree char *image = NULL, *parent = NULL;

    if (mistake != NULL)
        return drover_cli_fail(cli, "%s: %s", id, mistake);
    image = g_strndup(id, (gsize)(dash - id));
    parent = g_strconcat(DROVER_IMAGES_PATH "/", image, "/builds", NULL);
    return mark(cli, parent, dash + 1, &wording);
}

const DroverCommand drover_dib_image_delete_command = {
    .name = "dib-image-delete",
    .summary = "Have a build and its uploads deleted",
    .argument = "ID",
    .needs_store = TRUE,
    .run = delete_build,
};

static char *provider, *image, *build_id, *upload_id;

static const GOptionEntry delete_options[] = {
    {"provider", 0, 0, G_OPTION_ARG_STRING, &provider, "Where it was uploaded to", "PROVIDER"},
    {"image", 0, 0, G_OPTION_ARG_STRING, &image, "The image", "IMAGE"},
    {"build-id", 0, 0, G_OPTION_ARG_STRING, &build_id, "The build", "ID"},
    {"upload-id", 0, 0, G_OPTION_ARG_STRING, &upload_id, "The upload", "ID"},
    G_OPTION_ENTRY_NULL,
};

static const char *
find_missing_option(const char *argument)
{
    return provider == NULL || image == NULL || build_id == NULL || upload_id == NULL
               ? "--provider, --image, --build-id and --upload-id are all needed."
               : NULL;
}

static int
delete_upload(DroverCli *cli, const char *argument)
{
    static const Wording wording = {"uploading", "Image upload not found",
                                    "Cannot delete because image upload in progress"};
    g_autofree char *parent = NULL;

    if (!is_one_name(provider) || !is_one_name(image) || !is_one_name(build_id)) {
        drover_cli_notice(cli, "%s", wording.absent);
        return 0;
    }
    parent = g_strdup_printf(DROVER_IMAGES_PATH "/%s/builds/%s/providers/%s/images", image,
                             build_id, provider);
    return mark(cli, parent, upload_id, &wording);
}

const DroverCommand drover_image_delete_command = {
    .name = "image-delete",
    .summary = "Have one upload deleted",
    .options = delete_options,
    .find_mistake = find_missing_option,
    .needs_store = TRUE,
    .run = delete_upload,
};
