/* drover alien-image-list */
#include "cli/provider.h"
#include "cli/row-table.h"
#include "driver/tags.h"

#define LIST_SECONDS 300

/* ---- What ZooKeeper knows ---- */

/* An upload under way is none of an alien. */
static gboolean
is_upload(const json_t *upload, const char *provider)
{
    const char *state = drover_json_string(json_object_get(upload, "record"), "state");

    return g_strcmp0(drover_json_string(upload, "provider"), provider) == 0 &&
           (g_strcmp0(state, "ready") == 0 || g_strcmp0(state, "uploading") == 0);
}

/* A set of the ids at the provider's cloud. */
static GHashTable *
known_ids(const json_t *images, const char *provider)
{
    GHashTable *ids = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    const char *name;
    json_t *image, *build, *upload;
    size_t i;

    json_object_foreach((json_t *)images, name, image)
    {
        json_object_foreach(json_object_get(image, "builds"), name, build)
        {
            json_array_foreach(json_object_get(build, "uploads"), i, upload)
            {
                const char *id =
                    drover_json_string(json_object_get(upload, "record"), "external_id");

                if (id != NULL && is_upload(upload, provider))
                    g_hash_table_add(ids, g_strdup(id));
            }
        }
    }
    return ids;
}

/* ---- What the cloud has ---- */

static GPtrArray *
list_images(DroverCli *cli, const DroverProviderConfig *config, GError **error)
{
    g_autoptr(DroverCliProvider) provider = drover_cli_provider_open(cli, config, error);
    DroverTaskInput input = {0};
    GPtrArray *items = NULL;

    if (provider == NULL)
        return NULL;
    if (!drover_cli_provider_can(provider, DROVER_CAN_IMAGES))
        return g_ptr_array_new();
    drover_cli_provider_run(provider, DROVER_TASK_IMAGE_LIST, &input, LIST_SECONDS, &items, error);
    return items;
}

static gboolean
is_alien(const json_t *item, GHashTable *known)
{
    const char *id = drover_json_string(item, "id");
    g_autoptr(json_t) tags = drover_tags_parse(drover_json_string(item, "tags"));

    return id != NULL && drover_json_string(tags, DROVER_TAG_BUILD) != NULL &&
           !g_hash_table_contains(known, id);
}

static void
add_aliens(DroverCli *cli, const DroverProviderConfig *config, const json_t *images, json_t *rows)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) items = list_images(cli, config, &error);
    g_autoptr(GHashTable) known = known_ids(images, config->name);

    if (items == NULL) {
        g_printerr("Exception listing alien images for %s: %s\n", config->name, error->message);
        return;
    }
    for (guint i = 0; i < items->len; i++)
        if (is_alien(items->pdata[i], known))
            json_array_append_new(rows,
                                  json_pack("{s:s, s:O?, s:O}", "provider", config->name, "name",
                                            json_object_get(items->pdata[i], "name"), "image_id",
                                            json_object_get(items->pdata[i], "id")));
}

/* ---- The command ---- */

static int
alien_image_list(DroverCli *cli, const char *name)
{
    static const DroverColumn columns[] = {{"provider", "Provider", FALSE},
                                           {"name", "Name", FALSE},
                                           {"image_id", "Image ID", FALSE},
                                           {NULL, NULL, FALSE}};
    g_autoptr(GError) error = NULL;
    g_autoptr(json_t) images = drover_store_read_images(cli->store, &error);
    json_t *rows;

    if (images == NULL)
        return drover_cli_fail(cli, "%s", error->message);
    rows = json_array();
    for (guint i = 0; i < cli->config->providers->len; i++) {
        const DroverProviderConfig *config = cli->config->providers->pdata[i];

        if (name == NULL || g_str_equal(name, config->name))
            add_aliens(cli, config, images, rows);
    }
    drover_cli_print_rows(cli, columns, rows);
    return 0;
}

const DroverCommand drover_alien_image_list_command = {
    .name = "alien-image-list",
    .summary = "List images that clouds have and ZooKeeper does not know",
    .argument = "[PROVIDER]",
    .needs_store = TRUE,
    .run = alien_image_list,
};
