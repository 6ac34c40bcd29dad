#include "config/backing-check.h"
#include "config/check.h"
#include "config/common.h"
#include "config/config-private.h"
#include "config/convert.h"
#include "config/diskimage.h"
#include "config/driver-check.h"
#include "config/file.h"
#include "config/provider.h"
#include "config/zookeeper.h"

#define DEFAULT_DRIVER "openstack"

/* A driver as far as the configuration goes. */
typedef struct {
    const struct drover_driver *table; /* NULL when it cannot be used */
    DroverSchema *schema;
    char *problem; /* why it cannot be used, or NULL */
} Driver;

/* One load. */
typedef struct {
    DroverConfigSource main_file, secure_file;
    const DroverConfigDrivers *available; /* or NULL */
    DroverSchema *schema;                 /* of the main file */
    GHashTable *drivers;                  /* name -> Driver */
    GHashTable *good;                     /* checked providers with which nothing is wrong, a set */
    DroverCheck check;
} Loader;

/* ---- Drivers ---- */

static void
free_driver(gpointer data)
{
    Driver *driver = data;

    drover_schema_free(driver->schema);
    g_free(driver->problem);
    g_free(driver);
}

static DroverSchema *
common_schema(void)
{
    DroverSchema *schema = drover_schema_new();

    drover_schema_add(schema, drover_config_common_options(), sizeof(struct drover_option),
                      DROVER_PROVIDER_PREFIX, NULL);
    return schema;
}

/* For a driver that cannot be asked: beside the common options everything is taken as it is. */
static DroverSchema *
open_schema(void)
{
    DroverSchema *schema = common_schema();

    schema->open = TRUE;
    ((DroverSchema *)drover_schema_member(schema, "pools"))->open = TRUE;
    return schema;
}

/* Takes the driver's table, and its options beside the common ones. */
static gboolean
take_table(Driver *driver, const struct drover_driver *table, GError **error)
{
    g_autoptr(DroverSchema) schema = NULL;

    if (table == NULL)
        return FALSE;
    schema = common_schema();
    if (!drover_schema_add(schema, table->options, table->option_size, "", error)) {
        g_prefix_error(error, "the driver %s is broken: ", table->name);
        return FALSE;
    }
    driver->table = table;
    driver->schema = g_steal_pointer(&schema);
    return TRUE;
}

static Driver *
driver_new(Loader *loader, const char *name)
{
    Driver *driver = g_new0(Driver, 1);
    g_autoptr(GError) error = NULL;

    if (loader->available == NULL || name == NULL ||
        !take_table(driver, loader->available->find(name, loader->available->user_data, &error),
                    &error))
        driver->schema = open_schema();
    if (error != NULL)
        driver->problem = g_strdup(error->message);
    return driver;
}

/* `name` may be NULL when the file gives none that makes sense. */
static const Driver *
find_driver(Loader *loader, const char *name)
{
    const char *key = name != NULL ? name : "";
    Driver *driver = g_hash_table_lookup(loader->drivers, key);

    if (driver == NULL) {
        driver = driver_new(loader, name);
        g_hash_table_insert(loader->drivers, g_strdup(key), driver);
    }
    return driver;
}

/* What a provider's section is checked against depends on its driver. */
static DroverSchema *
choose_provider_schema(const DroverYaml *entry, gpointer user_data)
{
    Loader *loader = user_data;
    const DroverYaml *name = drover_yaml_get(entry, "driver"), *place = name;
    const DroverYaml *own_name = drover_yaml_get(entry, "name");
    const Driver *driver;

    if (name == NULL || name->type == DROVER_YAML_NULL)
        driver = find_driver(loader, DEFAULT_DRIVER);
    else
        driver = find_driver(loader, name->type == DROVER_YAML_STRING ? name->text : NULL);
    if (place == NULL)
        place = entry;
    if (driver->problem != NULL) {
        const char *text = own_name != NULL ? own_name->text : NULL;
        g_autofree char *object =
            g_strdup_printf("provider %s", text != NULL ? text : "without name");

        drover_config_report_add(&loader->main_file, drover_config_lenient(&loader->main_file),
                                 place->line, place->column, object, "%s", driver->problem);
    }
    drover_check_begin_section(&loader->check, entry);
    return driver->schema;
}

static void
note_checked_provider(const struct drover_value *entry, gboolean good, gpointer user_data)
{
    Loader *loader = user_data;

    if (good)
        g_hash_table_add(loader->good, (gpointer)entry);
    else
        g_hash_table_remove(loader->good, entry);
}

/* ---- Files ---- */

/* The file's root, a map. NULL with EMPTY and BROKEN; the latter is reported. */
static DroverYamlResult
read_file(const char *path, const DroverConfigSource *source, DroverYaml **root)
{
    g_autoptr(DroverSubstitution) text = NULL;
    DroverYamlResult result;

    drover_config_report_begin(source->report, source->file);
    text = drover_config_read(path, TRUE, source);
    if (text == NULL)
        return DROVER_YAML_BROKEN;
    result = drover_yaml_parse(text, source, root);
    if (result == DROVER_YAML_OK && (*root)->type != DROVER_YAML_MAP) {
        drover_config_report_add(source, DROVER_CONFIG_ERROR, (*root)->line, (*root)->column, NULL,
                                 "the file has to hold a map of options");
        g_clear_pointer(root, drover_yaml_unref);
        return DROVER_YAML_BROKEN;
    }
    return result;
}

static struct drover_value *
load_main(Loader *loader, const char *path)
{
    g_autoptr(DroverYaml) root = NULL;
    struct drover_value *values = NULL;
    DroverCheck *check = &loader->check;

    switch (read_file(path, &loader->main_file, &root)) {
    case DROVER_YAML_EMPTY:
        drover_config_report_add(&loader->main_file, DROVER_CONFIG_ERROR, 0, 0, NULL,
                                 "no configuration");
        break;
    case DROVER_YAML_OK:
        check->source = &loader->main_file;
        check->labels = drover_check_names(drover_yaml_get(root, "labels"));
        check->diskimages = drover_check_names(drover_yaml_get(root, "diskimages"));
        values = drover_check_map(check, loader->schema, root);
        drover_check_clear(check);
        g_clear_pointer(&check->labels, g_hash_table_unref);
        g_clear_pointer(&check->diskimages, g_hash_table_unref);
        break;
    case DROVER_YAML_BROKEN:
        break;
    }
    return values;
}

static struct drover_value *
load_secure(Loader *loader, const char *path)
{
    g_autoptr(DroverYaml) root = NULL;
    g_autoptr(DroverSchema) schema = drover_common_secure_schema();
    DroverCheck check = {.source = &loader->secure_file, .tolerate_unknown = TRUE};
    struct drover_value *values = NULL;

    if (read_file(path, &loader->secure_file, &root) == DROVER_YAML_OK)
        values = drover_check_map(&check, schema, root);
    if (drover_config_is_exposed(path))
        drover_config_report_add(&loader->secure_file, DROVER_CONFIG_WARNING, 0, 0, NULL,
                                 "the file holds secrets, but everybody may read it; take the "
                                 "permission away (chmod o-r)");
    return values;
}

/* ---- Taking the values ---- */

/* Documented as "no limit" in Nodepool, whose code serves nothing. */
static void
warn_of_no_concurrency(const Loader *loader, const struct drover_value *entry,
                       const DroverProviderConfig *provider)
{
    const struct drover_value *value = drover_value_get(entry, "max-concurrency");
    g_autofree char *object = g_strdup_printf("provider %s", provider->name);

    if (value != NULL && provider->max_concurrency == 0)
        drover_config_report_add(&loader->main_file, DROVER_CONFIG_WARNING,
                                 drover_value_line(value), drover_value_column(value), object,
                                 "max-concurrency: found the integer 0, with which the provider "
                                 "serves nothing; -1 means no limit");
}

static void
take_providers(Loader *loader, DroverConfig *config, const struct drover_value *values)
{
    const struct drover_value *list = drover_value_get(values, "providers");
    const struct drover_value *settings = drover_value_get(values, "drivers");
    g_autoptr(DroverDriverChecks) checks = drover_driver_checks_new(&loader->main_file);
    g_autoptr(GPtrArray) backed = g_ptr_array_new();

    for (gsize i = 0; i < drover_value_length(list); i++) {
        const struct drover_value *entry = drover_value_item(list, i);
        const char *name = drover_value_get_string(entry, "driver", NULL);
        const Driver *driver = find_driver(loader, name);
        DroverProviderConfig *provider =
            drover_provider_config_new(entry, driver->schema, config->diskimages,
                                       drover_value_get(settings, name), driver->problem);

        warn_of_no_concurrency(loader, entry, provider);
        /* What the driver would say of an entry that lacks values is no help. */
        if (driver->table != NULL && g_hash_table_contains(loader->good, entry))
            drover_driver_checks_add(checks, driver->table, provider);
        if (driver->table != NULL && (driver->table->capabilities & DROVER_CAN_BACKING) != 0)
            g_ptr_array_add(backed, provider);
        g_ptr_array_add(config->providers, provider);
    }
    drover_backing_check(&loader->main_file, backed);
    drover_driver_checks_run(checks, loader->available);
}

static DroverConfig *
assemble(Loader *loader, const struct drover_value *values, const struct drover_value *secure)
{
    DroverConfig *config = drover_config_new();

    drover_config_take_zookeeper(config, values, &loader->main_file, secure, &loader->secure_file);
    drover_config_take_plain(config, values);
    drover_config_take_tokens(config, values, &loader->main_file);
    drover_config_take_tokens(config, secure, &loader->secure_file);
    config->diskimages =
        drover_diskimages_new(drover_schema_member(loader->schema, "diskimages"),
                              drover_value_get(values, "diskimages"), &loader->main_file);
    take_providers(loader, config, values);
    drover_diskimages_add_secrets(config->diskimages, drover_value_get(secure, "diskimages"),
                                  &loader->secure_file);
    return config;
}

/* ---- Loading ---- */

static DroverConfig *
load(Loader *loader, const char *path, const char *secure_path)
{
    DroverSchema *providers;
    struct drover_value *values, *secure = NULL;
    DroverConfig *config = NULL;

    loader->schema = drover_common_main_schema();
    loader->drivers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_driver);
    providers = (DroverSchema *)drover_schema_member(loader->schema, "providers");
    providers->choose = choose_provider_schema;
    providers->checked = note_checked_provider;
    providers->choose_data = loader;
    loader->good = g_hash_table_new(NULL, NULL);
    values = load_main(loader, path);
    if (secure_path != NULL)
        secure = load_secure(loader, secure_path);
    if (values != NULL)
        config = assemble(loader, values, secure);
    drover_value_free(values);
    drover_value_free(secure);
    drover_schema_free(loader->schema);
    g_hash_table_unref(loader->drivers);
    g_hash_table_unref(loader->good);
    return config;
}

DroverConfig *
drover_config_load(const char *path, const char *secure_path, gboolean strict,
                   const DroverConfigDrivers *drivers, DroverConfigReport *report)
{
    guint errors = drover_config_report_errors(report);
    Loader loader = {
        .main_file = {report, path, strict, FALSE},
        .secure_file = {report, secure_path, strict, TRUE},
        .available = drivers,
    };
    DroverConfig *config = load(&loader, path, secure_path);

    drover_config_report_sort(report);
    if (config != NULL && drover_config_report_errors(report) > errors)
        g_clear_pointer(&config, drover_config_unref);
    return config;
}

char **
drover_config_peek_driver_directories(const char *path)
{
    g_autoptr(DroverConfigReport) unread = drover_config_report_new();
    DroverConfigSource source = {unread, path, FALSE, FALSE};
    g_autoptr(DroverSubstitution) text = drover_config_read(path, FALSE, &source);
    g_autoptr(DroverYaml) root = NULL;
    g_autoptr(GPtrArray) found = g_ptr_array_new();
    const DroverYaml *directories = NULL;

    if (text != NULL && drover_yaml_parse(text, &source, &root) == DROVER_YAML_OK)
        directories = drover_yaml_get(drover_yaml_get(root, "drivers"), "directories");
    if (directories != NULL && directories->type == DROVER_YAML_STRING)
        g_ptr_array_add(found, g_strdup(directories->text));
    for (guint i = 0;
         directories != NULL && directories->items != NULL && i < directories->items->len; i++) {
        const DroverYaml *item = directories->items->pdata[i];

        if (item->type == DROVER_YAML_STRING)
            g_ptr_array_add(found, g_strdup(item->text));
    }
    g_ptr_array_add(found, NULL);
    return (char **)g_ptr_array_free(g_steal_pointer(&found), FALSE);
}
