/* drover info */
#include <string.h>

#include "cli/command.h"
#include "model/component.h"
#include "model/image-reading.h"
#include "model/node.h"

/* ---- Images ---- */

/* The paths <base>/<name><suffix>, NULL-ended; none for names NULL. Free with g_strfreev. */
static char **
paths_below(const char *base, char **names, const char *suffix)
{
    GPtrArray *paths = g_ptr_array_new();

    for (; names != NULL && *names != NULL; names++)
        g_ptr_array_add(paths, g_strconcat(base, "/", *names, suffix, NULL));
    g_ptr_array_add(paths, NULL);
    return (char **)g_ptr_array_free(paths, FALSE);
}

static json_t *
upload_ids(char **names)
{
    json_t *ids = json_array();

    for (; names != NULL && *names != NULL; names++)
        if (strcmp(*names, "lock") != 0)
            json_array_append_new(ids, json_string(*names));
    return ids;
}

/* One row for each build of the image that has something of the provider. */
static gboolean
add_builds(DroverStore *store, const char *provider, const char *image, char **builds, json_t *rows,
           GError **error)
{
    g_autofree char *base = g_strconcat(DROVER_IMAGES_PATH "/", image, "/builds", NULL);
    g_autofree char *own = g_strconcat("/providers/", provider, NULL);
    g_autofree char *own_images = g_strconcat(own, "/images", NULL);
    g_auto(GStrv) paths = paths_below(base, builds, own);
    g_auto(GStrv) image_paths = paths_below(base, builds, own_images);
    g_autoptr(GPtrArray) found = drover_store_list_each(store, (const char *const *)paths, error);
    g_autoptr(GPtrArray) uploads = NULL;

    if (found != NULL)
        uploads = drover_store_list_each(store, (const char *const *)image_paths, error);
    for (guint i = 0; uploads != NULL && i < uploads->len; i++)
        if (found->pdata[i] != NULL)
            json_array_append_new(rows, json_pack("{s:s, s:s, s:o}", "image", image, "build_id",
                                                  builds[i], "upload_ids",
                                                  upload_ids(uploads->pdata[i])));
    return uploads != NULL;
}

static json_t *
provider_images(DroverStore *store, const char *provider, GError **error)
{
    g_auto(GStrv) images = drover_store_list(store, DROVER_IMAGES_PATH, error), paths = NULL;
    g_autoptr(GPtrArray) builds = NULL;
    json_t *rows = json_array();
    gboolean complete;

    if (images != NULL) {
        paths = paths_below(DROVER_IMAGES_PATH, images, "/builds");
        builds = drover_store_list_each(store, (const char *const *)paths, error);
    }
    complete = builds != NULL;
    for (guint i = 0; complete && i < builds->len; i++)
        complete = add_builds(store, provider, images[i], builds->pdata[i], rows, error);
    if (!complete)
        g_clear_pointer(&rows, json_decref);
    return rows;
}

/* ---- Nodes ---- */

static json_t *
provider_nodes(DroverStore *store, const char *provider, GError **error)
{
    g_autoptr(GPtrArray) records =
        drover_store_read_all(store, DROVER_NODES_PATH, DROVER_READ_PLAIN, error);
    json_t *rows = records != NULL ? json_array() : NULL;

    for (guint i = 0; records != NULL && i < records->len; i++) {
        const DroverRecord *znode = records->pdata[i];
        gsize length;
        const char *text = g_bytes_get_data(znode->data, &length);
        g_autoptr(json_t) record = drover_json_parse_object(text, length, NULL);

        if (g_strcmp0(drover_json_string(record, "provider"), provider) == 0)
            json_array_append_new(rows, json_pack("{s:s, s:O?}", "id", znode->name, "server_id",
                                                  json_object_get(record, "external_id")));
    }
    return rows;
}

/* ---- Health ---- */

/* What is wrong with the provider, as its pools' components say: each launcher's words once. */
static json_t *
provider_problems(DroverStore *store, const char *provider, GError **error)
{
    g_autoptr(GPtrArray) records =
        drover_store_read_all(store, DROVER_COMPONENTS_PATH "/pool", DROVER_READ_PLAIN, error);
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    json_t *problems = records != NULL ? json_array() : NULL;

    for (guint i = 0; records != NULL && i < records->len; i++) {
        g_autoptr(DroverComponent) component =
            drover_component_decode(((const DroverRecord *)records->pdata[i])->data, NULL);
        g_autofree char *text = NULL;

        if (component == NULL || component->problem == NULL ||
            g_strcmp0(component->provider_name, provider) != 0)
            continue;
        text = g_strdup_printf("%s: %s", component->hostname, component->problem);
        if (g_hash_table_add(seen, g_strdup(text)))
            json_array_append_new(problems, drover_json_from_string(text));
    }
    return problems;
}

static void
print_problems(const json_t *problems)
{
    const json_t *problem;
    size_t i;

    json_array_foreach(problems, i, problem)
    {
        drover_cli_print("Unhealthy at %s\n", json_string_value(problem));
    }
}

/* ---- The command ---- */

static int
info(DroverCli *cli, const char *provider)
{
    static const DroverColumn image_columns[] = {{"image", "Image Name", FALSE},
                                                 {"build_id", "Build ID", FALSE},
                                                 {"upload_ids", "Upload IDs", FALSE},
                                                 {NULL, NULL, FALSE}};
    static const DroverColumn node_columns[] = {
        {"id", "ID", FALSE}, {"server_id", "Server ID", FALSE}, {NULL, NULL, FALSE}};
    g_autoptr(GError) error = NULL;
    g_autoptr(json_t) images = NULL, nodes = NULL, problems = NULL;

    /* A name with a slash would be another path; no provider has such a name. */
    if (strchr(provider, '/') == NULL)
        images = provider_images(cli->store, provider, &error);
    else
        images = json_array();
    if (images != NULL)
        nodes = provider_nodes(cli->store, provider, &error);
    if (nodes != NULL)
        problems = provider_problems(cli->store, provider, &error);
    if (problems == NULL)
        return drover_cli_fail(cli, "%s", error->message);
    if (cli->json) {
        drover_cli_print_json(json_pack("{s:s, s:O, s:O, s:O}", "provider", provider, "images",
                                        images, "nodes", nodes, "problems", problems));
        return 0;
    }
    drover_cli_print("ZooKeeper data for provider %s\n\nImage data:\n", provider);
    drover_row_table_print(image_columns, images);
    drover_cli_print("\nNodes:\n");
    drover_row_table_print(node_columns, nodes);
    print_problems(problems);
    return 0;
}

const DroverCommand drover_info_command = {
    .name = "info",
    .summary = "Show what ZooKeeper knows of a provider",
    .argument = "PROVIDER",
    .needs_store = TRUE,
    .run = info,
};
