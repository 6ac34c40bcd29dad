#include "config/provider.h"

#include "config/convert.h"
#include "config/diskimage.h"

#define DEFAULT_PRIORITY 100

/* ---- Pools ---- */

static void
free_pool(gpointer data)
{
    DroverPoolConfig *pool = data;

    g_free(pool->name);
    json_decref(pool->node_attributes);
    g_strfreev(pool->labels);
    g_free(pool);
}

static DroverPoolConfig *
pool_new(const struct drover_value *values, const struct drover_value *provider,
         const DroverSchema *schema)
{
    DroverPoolConfig *pool = g_new0(DroverPoolConfig, 1);
    const struct drover_value *attributes = drover_value_get(values, "node-attributes");
    /* Where a driver lets the provider say it, that is the pools' default. */
    int max_servers = drover_value_get_int(provider, "max-servers", DROVER_UNLIMITED);
    int priority = drover_value_get_int(provider, "priority", DEFAULT_PRIORITY);

    pool->name = g_strdup(drover_value_get_string(values, "name", ""));
    pool->max_servers = drover_value_get_int(values, "max-servers", max_servers);
    pool->priority = drover_value_get_int(values, "priority", priority);
    pool->node_attributes = attributes != NULL ? drover_value_to_json(attributes) : NULL;
    pool->labels = drover_schema_references(schema, values, "labels");
    pool->values = values;
    return pool;
}

/* ---- Settings from elsewhere ---- */

static void
set_string(struct drover_value *map, const char *key, const char *string)
{
    if (string != NULL)
        drover_value_set(map, key, drover_value_new_string(string));
}

/* What a node made from each of the provider's disk images has of the image's own settings. */
static struct drover_value *
image_settings(const struct drover_value *values, const DroverSchema *schema,
               const GPtrArray *diskimages)
{
    g_auto(GStrv) names = drover_schema_references(schema, values, "diskimages");
    struct drover_value *settings = drover_value_new_map();

    for (char **name = names; *name != NULL; name++) {
        const DroverDiskImageConfig *image = drover_diskimages_find(diskimages, *name);
        struct drover_value *map;

        if (image == NULL)
            continue;
        map = drover_value_new_map();
        set_string(map, "username", image->username);
        set_string(map, "python-path", image->python_path);
        set_string(map, "shell-type", image->shell_type);
        drover_value_set(settings, *name, map);
    }
    return settings;
}

static struct drover_value *
complete_values(const struct drover_value *values, const DroverSchema *schema,
                const GPtrArray *diskimages, const struct drover_value *settings)
{
    struct drover_value *complete = drover_value_copy(values);
    struct drover_value *images = image_settings(values, schema, diskimages);

    if (drover_value_length(images) > 0)
        drover_value_set(complete, "diskimage-settings", images);
    else
        drover_value_free(images);
    if (settings != NULL)
        drover_value_set(complete, "driver-settings", drover_value_copy(settings));
    return complete;
}

/* ---- Providers ---- */

DroverProviderConfig *
drover_provider_config_new(const struct drover_value *values, const DroverSchema *schema,
                           const GPtrArray *diskimages, const struct drover_value *settings,
                           const char *problem)
{
    DroverProviderConfig *provider = g_new0(DroverProviderConfig, 1);
    const DroverSchema *pool_schema = drover_schema_member(schema, "pools");
    const struct drover_value *pools;

    provider->name = g_strdup(drover_value_get_string(values, "name", ""));
    provider->driver = g_strdup(drover_value_get_string(values, "driver", ""));
    provider->max_concurrency = drover_value_get_int(values, "max-concurrency", -1);
    provider->pools = g_ptr_array_new_with_free_func(free_pool);
    provider->values = complete_values(values, schema, diskimages, settings);
    provider->problem = g_strdup(problem);
    provider->line = drover_value_line(values);
    pools = drover_value_get(provider->values, "pools");
    for (gsize i = 0; i < drover_value_length(pools); i++)
        g_ptr_array_add(provider->pools,
                        pool_new(drover_value_item(pools, i), provider->values, pool_schema));
    return provider;
}

void
drover_provider_config_free(DroverProviderConfig *provider)
{
    g_free(provider->name);
    g_free(provider->driver);
    g_ptr_array_unref(provider->pools);
    drover_value_free(provider->values);
    g_free(provider->problem);
    g_free(provider);
}

DroverPoolConfig *
drover_provider_config_find_pool(const DroverProviderConfig *provider, const char *name)
{
    for (guint i = 0; i < provider->pools->len; i++) {
        DroverPoolConfig *pool = provider->pools->pdata[i];

        if (g_str_equal(pool->name, name))
            return pool;
    }
    return NULL;
}

gboolean
drover_provider_config_equal(const DroverProviderConfig *a, const DroverProviderConfig *b)
{
    return g_strcmp0(a->name, b->name) == 0 && g_strcmp0(a->driver, b->driver) == 0 &&
           (a->problem == NULL) == (b->problem == NULL) && drover_value_equal(a->values, b->values);
}
