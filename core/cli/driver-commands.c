/* drover driver list, driver info */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/table.h"
#include "config/option-json.h"

static const struct {
    uint64_t capability;
    const char *name;
} capabilities[] = {
    {DROVER_CAN_MACHINES, "machines"},   {DROVER_CAN_INVENTORY, "inventory"},
    {DROVER_CAN_IMAGES, "images"},       {DROVER_CAN_QUOTA, "quota"},
    {DROVER_CAN_RESOURCES, "resources"}, {DROVER_CAN_CONSOLE, "console"},
    {DROVER_CAN_BACKING, "backing"},
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
    {
        g_string_append_printf(out, "%s%s", i > 0 ? ", " : "", json_string_value(item));
    }
    return g_string_free(g_steal_pointer(&out), FALSE);
}

/* ---- driver list ---- */

static char *
abi_text(const struct drover_driver *driver)
{
    return driver != NULL ? g_strdup_printf("%u.%u", driver->abi_major, driver->abi_minor) : NULL;
}

/* The drivers that the configuration names; NULL when there is none that can be read. */
static GHashTable *
named_drivers(DroverCli *cli)
{
    g_autoptr(DroverConfigReport) report = drover_config_report_new();
    g_autoptr(DroverConfig) config = NULL;
    GHashTable *names;

    /* Loading waits a while for a file that is being replaced. */
    if (!g_file_test(cli->config_path, G_FILE_TEST_EXISTS))
        return NULL;
    config = drover_cli_load_config(cli, FALSE, report);
    if (config == NULL)
        return NULL;
    names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < config->providers->len; i++)
        g_hash_table_add(names,
                         g_strdup(((DroverProviderConfig *)config->providers->pdata[i])->driver));
    return names;
}

static json_t *
file_object(const DroverDriverFile *file, const char *enabled)
{
    g_autofree char *abi = abi_text(file->driver);

    return json_pack("{s:s, s:s?, s:s?, s:s, s:s, s:s?}", "name", file->name, "version",
                     file->driver != NULL ? file->driver->version : NULL, "abi", abi, "file",
                     file->path, "enabled", enabled, "problem", file->problem);
}

/* Each file found; then what the configuration names and nobody has installed. */
static json_t *
list_objects(DroverCli *cli)
{
    g_autoptr(GPtrArray) files = drover_driver_host_list(drover_cli_drivers(cli));
    g_autoptr(GHashTable) named = named_drivers(cli);
    g_autoptr(GList) missing = NULL;
    json_t *list = json_array();

    for (guint i = 0; i < files->len; i++) {
        const DroverDriverFile *file = files->pdata[i];
        gboolean enabled = named != NULL && g_hash_table_remove(named, file->name);

        json_array_append_new(list, file_object(file, named == NULL ? "unknown"
                                                      : enabled     ? "yes"
                                                                    : "no"));
    }
    if (named != NULL)
        missing = g_list_sort(g_hash_table_get_keys(named), (GCompareFunc)strcmp);
    for (GList *name = missing; name != NULL; name = name->next)
        json_array_append_new(list, json_pack("{s:s, s:n, s:n, s:n, s:s, s:s}", "name", name->data,
                                              "version", "abi", "file", "enabled", "yes", "problem",
                                              "not installed"));
    return list;
}

static int
driver_list(DroverCli *cli, const char *argument)
{
    static const DroverColumn columns[] = {
        {"name", "Name", FALSE}, {"version", "Version", FALSE}, {"abi", "ABI", FALSE},
        {"file", "File", FALSE}, {"enabled", "Enabled", FALSE}, {"problem", "Problem", FALSE},
        {NULL, NULL, FALSE}};

    drover_cli_print_rows(cli, columns, list_objects(cli));
    return 0;
}

const DroverCommand drover_driver_list_command = {
    .name = "driver list",
    .summary = "List the drivers that are installed",
    .run = driver_list,
};

/* ---- driver info ---- */

static json_t *
driver_object(const struct drover_driver *driver)
{
    g_autofree char *abi = abi_text(driver);
    json_t *options = json_array();

    for (const struct drover_option *option = driver->options;
         option != NULL && option->path != NULL; option++)
        json_array_append_new(options, drover_option_to_json(option));
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

    drover_cli_print("  %s (%s%s", drover_json_string(option, "path"),
                     drover_json_string(option, "type"),
                     drover_json_boolean(option, "required", FALSE) ? ", required" : "");
    if (fallback != NULL)
        drover_cli_print(", default %s", fallback);
    if (allowed != NULL)
        drover_cli_print(", %s", allowed);
    drover_cli_print(")\n");
    if (help != NULL)
        drover_cli_print("      %s\n", help);
}

static void
print_driver(const struct drover_driver *driver, const json_t *object)
{
    g_autofree char *abilities = joined(json_object_get(object, "capabilities"));
    const json_t *option;
    size_t i;

    drover_cli_print("%s %s - %s\nABI %s, licence %s\ncan: %s\n\n"
                     "Options of a provider with driver: %s\n",
                     driver->name, driver->version, driver->description,
                     drover_json_string(object, "abi"), driver->licence, abilities, driver->name);
    json_array_foreach(json_object_get(object, "options"), i, option)
    {
        print_option(option);
    }
}

static int
driver_info(DroverCli *cli, const char *name)
{
    g_autoptr(GError) error = NULL;
    const struct drover_driver *driver =
        drover_driver_host_find(drover_cli_drivers(cli), name, &error);
    g_autoptr(json_t) object = NULL;

    if (driver == NULL)
        return drover_cli_fail(cli, "%s", error->message);
    object = driver_object(driver);
    if (cli->json)
        drover_cli_print_json(g_steal_pointer(&object));
    else
        print_driver(driver, object);
    return 0;
}

const DroverCommand drover_driver_info_command = {
    .name = "driver info",
    .summary = "Describe a driver and its options",
    .argument = "NAME",
    .run = driver_info,
};
