/* drover erase */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "model/image-reading.h"
#include "model/node.h"

static gboolean force;

static const GOptionEntry erase_options[] = {
    {"force", 0, 0, G_OPTION_ARG_NONE, &force, "Do not ask", NULL},
    G_OPTION_ENTRY_NULL,
};

/* ---- The question ---- */

typedef enum { ANSWER_NO, ANSWER_YES, ANSWER_NONE } Answer;

static Answer
ask(const char *provider)
{
    char line[16];

    drover_cli_print("\nWARNING! This action is not reversible!\n"
                     "Erase ZooKeeper data for provider %s? [N/y] ",
                     provider);
    fflush(stdout);
    if (fgets(line, sizeof line, stdin) == NULL)
        return ANSWER_NONE;
    line[strcspn(line, "\n")] = '\0';
    return strcmp(line, "y") == 0 || strcmp(line, "Y") == 0 ? ANSWER_YES : ANSWER_NO;
}

/* ---- Images ---- */

/* The provider's uploads of all builds of an image; the builds stay. */
static gboolean
erase_image(DroverStore *store, const char *image, const char *provider, GError **error)
{
    g_autofree char *builds_path = g_strconcat(DROVER_IMAGES_PATH "/", image, "/builds", NULL);
    g_auto(GStrv) builds = drover_store_list(store, builds_path, error);

    for (char **build = builds; build != NULL && *build != NULL; build++) {
        g_autofree char *own = g_strconcat(builds_path, "/", *build, "/providers/", provider, NULL);

        if (!drover_store_delete_tree(store, own, error))
            return FALSE;
    }
    return builds != NULL;
}

static gboolean
erase_images(DroverStore *store, const char *provider, GError **error)
{
    g_auto(GStrv) images = drover_store_list(store, DROVER_IMAGES_PATH, error);

    for (char **image = images; image != NULL && *image != NULL; image++)
        if (!erase_image(store, *image, provider, error))
            return FALSE;
    return images != NULL;
}

/* ---- Nodes ---- */

/* Marked first: whoever sees it half-way has no more use for it. */
static gboolean
erase_node(DroverStore *store, const DroverNode *node, GError **error)
{
    g_autoptr(json_t) record = drover_node_record(node);
    g_autoptr(GBytes) data = NULL;
    g_autofree char *path = drover_node_path(node->id);
    DroverChange *change = drover_change_new(drover_store_session(store));

    drover_node_record_set_state(record, DROVER_NODE_DELETED);
    data = drover_record_bytes(record);
    drover_change_set(change, path, data, -1);
    drover_store_commit(store, change, NULL);
    return drover_store_delete_tree(store, path, error);
}

static gboolean
erase_nodes(DroverStore *store, const char *provider, GError **error)
{
    g_autoptr(GPtrArray) records =
        drover_store_read_all(store, DROVER_NODES_PATH, DROVER_READ_PLAIN, error);

    for (guint i = 0; records != NULL && i < records->len; i++) {
        const DroverRecord *record = records->pdata[i];
        g_autoptr(DroverNode) node =
            drover_node_decode(record->name, record->data, record->version, NULL);

        if (node != NULL && g_strcmp0(node->provider, provider) == 0 &&
            !erase_node(store, node, error))
            return FALSE;
    }
    return records != NULL;
}

/* ---- The command ---- */

static const char *
find_mistake(const char *provider)
{
    return strchr(provider, '/') != NULL || *provider == '\0' ? "No provider has such a name."
                                                              : NULL;
}

static int
erase(DroverCli *cli, const char *provider)
{
    g_autoptr(GError) error = NULL;
    Answer answer = force ? ANSWER_YES : ask(provider);

    if (answer == ANSWER_NONE)
        return drover_cli_fail(cli, "nobody answers; --force erases without a question");
    if (answer == ANSWER_NO) {
        drover_cli_notice(cli, "Aborting. No data erased.");
        return 0;
    }
    drover_cli_notice(cli, "Erasing build data for %s...", provider);
    if (!erase_images(cli->store, provider, &error))
        return drover_cli_fail(cli, "%s", error->message);
    drover_cli_notice(cli, "Erasing node data for %s...", provider);
    if (!erase_nodes(cli->store, provider, &error))
        return drover_cli_fail(cli, "%s", error->message);
    if (cli->json)
        drover_cli_print_json(json_pack("{s:s}", "erased", provider));
    return 0;
}

const DroverCommand drover_erase_command = {
    .name = "erase",
    .summary = "Forget everything that ZooKeeper knows of a provider",
    .argument = "PROVIDER",
    .options = erase_options,
    .find_mistake = find_mistake,
    .needs_store = TRUE,
    .run = erase,
};
