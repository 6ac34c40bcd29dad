/* drover driver list, driver info */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/table.h"

static const struct {
    uint64_t capability;
    const char *name;
} capabilities[] = {
    {DROVER_CAN_MACHINES, "machines"},   {DROVER_CAN_INVENTORY, "inventory"},
    {DROVER_CAN_IMAGES, "images"},       {DROVER_CAN_QUOTA, "quota"},
    {DROVER_CAN_RESOURCES, "resources"}, {DROVER_CAN_CONSOLE, "console"},
    {DROVER_CAN_BACKING, "backing"},
};

static const char *const type_names[] = {
    [DROVER_OPTION_STRING] = "string",   [DROVER_OPTION_INTEGER] = "integer",
    [DROVER_OPTION_NUMBER] = "number",   [DROVER_OPTION_BOOLEAN] = "boolean",
    [DROVER_OPTION_STRINGS] = "strings", [DROVER_OPTION_MAP] = "map",
    [DROVER_OPTION_LIST] = "list",       [DROVER_OPTION_ANY] = "any",
};

static json_t *
capability_list(const struct drover_driver *driver)
{
    json_t *list = json_array();

    for (guint i = 0; i < G_N_ELEMENTS(capabilities); i++)
        if ((driver->capabilities & capabilities[i].capability) != 0)
            json_array_append_new(list, json_string(capabilities[i].name));
    return list;
}

static char *
joined(const json_t *list)
{
    g_autoptr(GString) out = g_string_new(NULL);
    const json_t *item;
    size_t i;

    json_array_foreach(list, i, item)
        g_string_append_printf(out, "%s%s", i > 0 ? ", " : "", json_string_value(item));
    return g_string_free(g_steal_pointer(&out), FALSE);
}

/* ---- driver list ---- */

/* The drivers that the configuration names; NULL when there is none that can be read. */
static GHashTable *
enabled_drivers(DroverCli *cli)
{
    g_autoptr(DroverConfigReport) report = drover_config_report_new();
    g_autoptr(DroverConfig) config = NULL;
    GHashTable *names;

    if (!g_file_test(cli->config_path, G_FILE_TEST_EXISTS))
        return NULL;
    config = drover_config_load(cli->config_path, cli->secure_path, FALSE, drover_cli_find_driver,
                                cli, report);
    if (config == NULL)
        return NULL;
    names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < config->providers->len; i++)
        g_hash_table_add(names,
                         g_strdup(((DroverProviderConfig *)config->providers->pdata[i])->driver));
    return names;
}

static char *
abi_text(const struct drover_driver *driver)
{
    return driver != NULL ? g_strdup_printf("%u.%u", driver->abi_major, driver->abi_minor)
                          : g_strdup("");
}

static json_t *
file_object(const DroverDriverFile *file, const char *enabled)
{
    g_autofree char *abi = abi_text(file->driver);

    return json_pack("{s:s, s:s?, s:s?, s:s, s:s, s:s?}", "name", file->name, "version",
                     file->driver != NULL ? file->driver->version : NULL, "abi",
                     file->driver != NULL ? abi : NULL, "file", file->path, "enabled", enabled,
                     "problem", file->problem);
}

static char **
file_cells(const DroverDriverFile *file, const char *enabled)
{
    char **cells = g_new0(char *, 7);

    cells[0] = g_strdup(file->name);
    cells[1] = g_strdup(file->driver != NULL ? file->driver->version : "");
    cells[2] = abi_text(file->driver);
    cells[3] = g_strdup(enabled);
    cells[4] = g_strdup(file->path);
    cells[5] = g_strdup(file->problem);
    return cells;
}

int
drover_command_driver_list(DroverCli *cli, int argc, char **argv)
{
    static const char *const headers[] = {"Name", "Version", "ABI", "Enabled",
                                          "File", "Problem", NULL};
    g_autoptr(DroverTable) table = drover_table_new(headers);
    g_autoptr(GHashTable) enabled = NULL;
    g_autoptr(GPtrArray) files = NULL;
    g_autofree char *text = NULL;
    json_t *list = json_array();
    int status;

    if (!drover_cli_parse(cli, &argc, &argv, NULL, "", 0, &status)) {
        json_decref(list);
        return status;
    }
    files = drover_driver_host_list(drover_cli_drivers(cli));
    enabled = enabled_drivers(cli);
    for (guint i = 0; i < files->len; i++) {
        const DroverDriverFile *file = files->pdata[i];
        const char *is_enabled = enabled == NULL                              ? "unknown"
                                 : g_hash_table_contains(enabled, file->name) ? "yes"
                                                                              : "no";

        json_array_append_new(list, file_object(file, is_enabled));
        drover_table_add_row(table, file_cells(file, is_enabled));
    }
    if (cli->json) {
        drover_cli_print_json(list);
        return 0;
    }
    json_decref(list);
    text = drover_table_text(table);
    fputs(text, stdout);
    return 0;
}

/* ---- driver info ---- */

static json_t *
option_object(const struct drover_option *option)
{
    const char *type = option->type > 0 && option->type < G_N_ELEMENTS(type_names)
                           ? type_names[option->type]
                           : "unknown";

    return json_pack("{s:s, s:s, s:b, s:b, s:s?, s:s?, s:s?}", "path", option->path, "type", type,
                     "required", (option->flags & DROVER_OPTION_REQUIRED) != 0, "secret",
                     (option->flags & DROVER_OPTION_SECRET) != 0, "default", option->fallback,
                     "allowed", option->allowed, "help", option->help);
}

static json_t *
driver_object(const struct drover_driver *driver)
{
    g_autofree char *abi = abi_text(driver);
    json_t *options = json_array();

    for (const struct drover_option *option = driver->options;
         option != NULL && option->path != NULL; option++)
        json_array_append_new(options, option_object(option));
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:o}", "name", driver->name, "version",
                     driver->version, "abi", abi, "description", driver->description, "licence",
                     driver->licence, "capabilities", capability_list(driver), "options", options);
}

static void
print_option(const json_t *option)
{
    const char *fallback = drover_json_string(option, "default");
    const char *allowed = drover_json_string(option, "allowed");
    const char *help = drover_json_string(option, "help");

    printf("  %s (%s%s", drover_json_string(option, "path"), drover_json_string(option, "type"),
           drover_json_boolean(option, "required", FALSE) ? ", required" : "");
    if (fallback != NULL)
        printf(", default %s", fallback);
    if (allowed != NULL)
        printf(", %s", allowed);
    printf(")\n");
    if (help != NULL)
        printf("      %s\n", help);
}

int
drover_command_driver_info(DroverCli *cli, int argc, char **argv)
{
    const struct drover_driver *driver;
    g_autoptr(json_t) object = NULL;
    g_autoptr(GError) error = NULL;
    g_autofree char *abilities = NULL;
    json_t *option;
    size_t i;
    int status;

    if (!drover_cli_parse(cli, &argc, &argv, NULL, "NAME", 1, &status))
        return status;
    driver = drover_driver_host_find(drover_cli_drivers(cli), argv[1], &error);
    if (driver == NULL)
        return drover_cli_fail(cli, "%s", error->message);
    object = driver_object(driver);
    if (cli->json) {
        drover_cli_print_json(g_steal_pointer(&object));
        return 0;
    }
    abilities = joined(json_object_get(object, "capabilities"));
    printf("%s %s - %s\nABI %s, licence %s\ncan: %s\n\nOptions of a provider with driver: %s\n",
           driver->name, driver->version, driver->description, drover_json_string(object, "abi"),
           driver->licence, abilities, driver->name);
    json_array_foreach(json_object_get(object, "options"), i, option) print_option(option);
    return 0;
}
