/* drover export-image-data, import-image-data */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/command.h"
#include "model/image-reading.h"

#define UPLOAD_DEPTH 9 /* /nodepool/images/<i>/builds/<b>/providers/<p>/images/<u> */

/* ---- export ---- */

/* Records below a znode, by their paths; data that is no text is none of ours. */
static gboolean
export_records(DroverStore *store, const char *parent, json_t *data, GPtrArray **records,
               GError **error)
{
    *records = drover_store_read_all(store, parent, DROVER_READ_PLAIN, error);
    for (guint i = 0; *records != NULL && i < (*records)->len; i++) {
        const DroverRecord *record = (*records)->pdata[i];
        g_autofree char *path = g_strconcat(parent, "/", record->name, NULL);
        gsize length;
        const char *text = g_bytes_get_data(record->data, &length);

        json_object_set_new(data, path, json_stringn(text, length));
    }
    return *records != NULL;
}

static gboolean
export_uploads(DroverStore *store, const char *build_path, json_t *data, GError **error)
{
    g_autofree char *providers_path = g_strconcat(build_path, "/providers", NULL);
    g_auto(GStrv) names = drover_store_list(store, providers_path, error);

    for (char **name = names; name != NULL && *name != NULL; name++) {
        g_autofree char *parent = g_strconcat(providers_path, "/", *name, "/images", NULL);
        g_autoptr(GPtrArray) uploads = NULL;

        if (!export_records(store, parent, data, &uploads, error))
            return FALSE;
    }
    return names != NULL;
}

static gboolean
export_image(DroverStore *store, const char *image, json_t *data, GError **error)
{
    g_autofree char *pause = g_strconcat(DROVER_IMAGES_PATH "/", image, "/pause", NULL);
    g_autofree char *builds_path = g_strconcat(DROVER_IMAGES_PATH "/", image, "/builds", NULL);
    const char *const paths[] = {pause, NULL};
    g_autoptr(GPtrArray) paused = drover_store_list_each(store, paths, error);
    g_autoptr(GPtrArray) builds = NULL;

    if (paused == NULL || !export_records(store, builds_path, data, &builds, error))
        return FALSE;
    if (paused->pdata[0] != NULL)
        json_object_set_new(data, pause, json_string(""));
    for (guint i = 0; i < builds->len; i++) {
        const DroverRecord *build = builds->pdata[i];
        g_autofree char *path = g_strconcat(builds_path, "/", build->name, NULL);

        if (!export_uploads(store, path, data, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean
export_images(DroverStore *store, json_t *data, GError **error)
{
    g_auto(GStrv) images = drover_store_list(store, DROVER_IMAGES_PATH, error);

    for (char **image = images; image != NULL && *image != NULL; image++)
        if (!export_image(store, *image, data, error))
            return FALSE;
    return images != NULL;
}

/* The file is replaced as a whole; only its owner may read it. */
static int export(DroverCli *cli, const char *path)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(json_t) data = json_object();
    g_autofree char *text = NULL;

    if (!export_images(cli->store, data, &error))
        return drover_cli_fail(cli, "%s", error->message);
    text = json_dumps(data, JSON_ENSURE_ASCII);
    if (!g_file_set_contents_full(path, text, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0600, &error))
        return drover_cli_fail(cli, "%s", error->message);
    if (cli->json)
        drover_cli_print_json(json_pack("{s:I}", "exported", (json_int_t)json_object_size(data)));
    return 0;
}

const DroverCommand drover_export_image_data_command = {
    .name = "export-image-data",
    .summary = "Save what ZooKeeper knows of images in a file",
    .argument = "PATH",
    .needs_store = TRUE,
    .run = export,
};

/* ---- import: the file ---- */

static gboolean
is_path_of_image(const char *path)
{
    return g_str_has_prefix(path, DROVER_IMAGES_PATH "/") && !g_str_has_suffix(path, "/") &&
           strstr(path, "//") == NULL && strstr(path, "/./") == NULL &&
           strstr(path, "/../") == NULL && !g_str_has_suffix(path, "/..") &&
           !g_str_has_suffix(path, "/.");
}

static json_t *
read_file(const char *path, GError **error)
{
    g_autofree char *text = NULL;
    g_autoptr(json_t) data = NULL;
    gsize length;
    const char *key;
    json_t *value;

    if (!g_file_get_contents(path, &text, &length, error))
        return NULL;
    data = drover_json_parse_object(text, length, error);
    if (data == NULL) {
        g_prefix_error(error, "%s: ", path);
        return NULL;
    }
    json_object_foreach(data, key, value)
    {
        if (is_path_of_image(key) && json_is_string(value))
            continue;
        g_set_error(error, DROVER_ERROR, DROVER_ERROR_MALFORMED,
                    "%s: %s is no path below " DROVER_IMAGES_PATH
                    " with a text; nothing was imported",
                    path, key);
        return NULL;
    }
    return g_steal_pointer(&data);
}

/* ---- import: numbers of uploads ---- */

/* Parents of uploads -> their largest number. Free with g_hash_table_unref. */
static GHashTable *
find_largest_numbers(json_t *data)
{
    GHashTable *numbers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    const char *path;
    json_t *value;

    json_object_foreach(data, path, value)
    {
        g_auto(GStrv) words = g_strsplit(path + 1, "/", -1);
        gint64 number;
        char *parent;

        if (g_strv_length(words) != UPLOAD_DEPTH ||
            !g_ascii_string_to_signed(words[UPLOAD_DEPTH - 1], 10, 0, G_MAXINT32, &number, NULL))
            continue;
        parent = g_path_get_dirname(path);
        if (number > GPOINTER_TO_INT(g_hash_table_lookup(numbers, parent)))
            g_hash_table_replace(numbers, parent, GINT_TO_POINTER((gint)number));
        else
            g_free(parent);
    }
    return numbers;
}

/* Makes one numbered znode, and deletes it unless it is among the data. Returns its number, or -1.
 */
static gint
use_number(DroverStore *store, const char *parent, const json_t *data, GError **error)
{
    g_autofree char *pattern = g_strconcat(parent, "/", NULL), *name = NULL, *path = NULL;
    DroverChange *change = drover_change_new(drover_store_session(store));
    DroverChangeOutcome outcome;

    drover_change_create(change, pattern, NULL, ZOO_SEQUENCE);
    outcome = drover_store_commit(store, change, &name);
    if (outcome != DROVER_CHANGE_DONE) {
        g_set_error(error, DROVER_ERROR, DROVER_ERROR_FAILED, "%s cannot be written: %s", parent,
                    drover_change_outcome_name(outcome));
        return -1;
    }
    path = g_strconcat(parent, "/", name, NULL);
    if (json_object_get(data, path) == NULL && !drover_store_delete_tree(store, path, error))
        return -1;
    return atoi(name);
}

/* ZooKeeper counts what was made below a parent: no later upload gets an imported number. */
static gboolean
use_numbers(DroverStore *store, json_t *data, GError **error)
{
    g_autoptr(GHashTable) numbers = find_largest_numbers(data);
    g_autoptr(GBytes) nothing = g_bytes_new(NULL, 0);
    GHashTableIter iter;
    gpointer parent, largest;

    g_hash_table_iter_init(&iter, numbers);
    while (g_hash_table_iter_next(&iter, &parent, &largest)) {
        gint used = -1;

        if (!drover_store_put(store, parent, nothing, error))
            return FALSE;
        do {
            used = use_number(store, parent, data, error);
        } while (used >= 0 && used + 1 < GPOINTER_TO_INT(largest));
        if (used < 0)
            return FALSE;
    }
    return TRUE;
}

/* ---- import ---- */

static gboolean
write_records(DroverStore *store, json_t *data, GError **error)
{
    const char *path;
    json_t *value;

    json_object_foreach(data, path, value)
    {
        g_autoptr(GBytes) bytes = g_bytes_new(json_string_value(value), json_string_length(value));

        if (!drover_store_put(store, path, bytes, error))
            return FALSE;
    }
    return TRUE;
}

static int
import(DroverCli *cli, const char *path)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(json_t) data = read_file(path, &error);

    if (data == NULL || !use_numbers(cli->store, data, &error) ||
        !write_records(cli->store, data, &error))
        return drover_cli_fail(cli, "%s", error->message);
    if (cli->json)
        drover_cli_print_json(json_pack("{s:I}", "imported", (json_int_t)json_object_size(data)));
    return 0;
}

const DroverCommand drover_import_image_data_command = {
    .name = "import-image-data",
    .summary = "Restore what export-image-data saved, with no builder running",
    .argument = "PATH",
    .needs_store = TRUE,
    .run = import,
};
