#include <math.h>

#include "launcher/survey-private.h"

/* Resources that every tenant has a limit of, if only an endless one. */
static const char *const common_resources[] = {"cores", "instances", "ram"};

/* ---- To the registry ---- */

static void
export_resources(DroverMetrics *metrics, DroverFamily family, const char *provider,
                 const char *pool, const DroverResources *resources)
{
    g_autoptr(json_t) amounts = resources != NULL ? drover_resources_json(resources) : NULL;
    const char *resource;
    json_t *amount;

    json_object_foreach(amounts, resource, amount)
    {
        if (pool != NULL)
            drover_metrics_set(metrics, family, DROVER_LABELS(provider, pool, resource),
                               json_number_value(amount));
        else
            drover_metrics_set(metrics, family, DROVER_LABELS(provider, resource),
                               json_number_value(amount));
    }
}

static void
export_pool(const DroverSurvey *survey, const DroverProviderConfig *provider,
            const DroverPoolConfig *config)
{
    DroverLauncher *launcher = survey->launcher;
    DroverMetrics *metrics = survey->telemetry->metrics;
    const DroverPool *pool = drover_launcher_find_pool(launcher, provider->name, config->name);
    double most = config->max_servers == DROVER_UNLIMITED ? INFINITY : config->max_servers;

    drover_metrics_set(metrics, DROVER_FAMILY_POOL_MAX_SERVERS,
                       DROVER_LABELS(provider->name, config->name), MAX(most, 0));
    if (pool != NULL)
        drover_metrics_set(metrics, DROVER_FAMILY_POOL_PAUSED,
                           DROVER_LABELS(provider->name, config->name),
                           drover_pool_is_paused(pool));
    export_resources(metrics, DROVER_FAMILY_POOL_USAGE, provider->name, config->name,
                     drover_usage_of_pool(launcher->parts.usage, provider->name, config->name));
}

static void
export_provider(const DroverSurvey *survey, const DroverManager *manager)
{
    const DroverProviderConfig *config = drover_manager_config(manager);
    DroverFacts *facts = drover_manager_facts(manager);
    DroverMetrics *metrics = survey->telemetry->metrics;

    for (guint i = 0; i < config->pools->len; i++)
        export_pool(survey, config, config->pools->pdata[i]);
    drover_metrics_set(metrics, DROVER_FAMILY_PROVIDER_HEALTHY, DROVER_LABELS(config->name),
                       drover_manager_is_running(manager) &&
                           drover_manager_illness(manager) == NULL);
    export_resources(metrics, DROVER_FAMILY_PROVIDER_USAGE, config->name, NULL,
                     drover_usage_of_provider(survey->launcher->parts.usage, config->name));
    if (facts != NULL)
        export_resources(metrics, DROVER_FAMILY_PROVIDER_AVAILABLE, config->name, NULL,
                         drover_facts_last_available(facts));
}

static void
export_tenant(DroverMetrics *metrics, const DroverTenantConfig *tenant)
{
    GHashTableIter iter;
    gpointer resource, limit;

    for (guint i = 0; i < G_N_ELEMENTS(common_resources); i++)
        drover_metrics_set(metrics, DROVER_FAMILY_TENANT_LIMIT,
                           DROVER_LABELS(tenant->name, common_resources[i]), INFINITY);
    g_hash_table_iter_init(&iter, tenant->limits);
    while (g_hash_table_iter_next(&iter, &resource, &limit))
        drover_metrics_set(metrics, DROVER_FAMILY_TENANT_LIMIT,
                           DROVER_LABELS(tenant->name, resource), (double)*(const gint64 *)limit);
}

void
drover_survey_count_own(DroverSurvey *survey)
{
    static const DroverFamily families[] = {
        DROVER_FAMILY_POOL_MAX_SERVERS,   DROVER_FAMILY_POOL_PAUSED,
        DROVER_FAMILY_POOL_USAGE,         DROVER_FAMILY_PROVIDER_HEALTHY,
        DROVER_FAMILY_PROVIDER_AVAILABLE, DROVER_FAMILY_PROVIDER_USAGE,
        DROVER_FAMILY_TENANT_LIMIT};
    const DroverLauncher *launcher = survey->launcher;

    for (guint i = 0; i < G_N_ELEMENTS(families); i++)
        drover_metrics_clear(survey->telemetry->metrics, families[i]);
    for (guint i = 0; i < launcher->managers->len; i++)
        export_provider(survey, launcher->managers->pdata[i]);
    for (guint i = 0; launcher->config != NULL && i < launcher->config->tenants->len; i++)
        export_tenant(survey->telemetry->metrics, launcher->config->tenants->pdata[i]);
}

/* ---- To statsd ---- */

static gint64
sum_of_servers(const DroverProviderConfig *provider)
{
    gint64 sum = 0;

    for (guint i = 0; i < provider->pools->len; i++) {
        const DroverPoolConfig *pool = provider->pools->pdata[i];

        if (pool->max_servers > 0 && pool->max_servers != DROVER_UNLIMITED)
            sum += pool->max_servers;
    }
    return sum;
}

typedef void (*LineFunc)(gpointer data, const char *key, gint64 value);

/* Every gauge about the configuration; what has no limit is left out. */
static void
each_own(const DroverSurvey *survey, LineFunc line, gpointer data)
{
    const DroverConfig *config = survey->launcher->config;

    for (guint i = 0; config != NULL && i < config->providers->len; i++) {
        const DroverProviderConfig *provider = config->providers->pdata[i];
        g_autofree char *key =
            drover_statsd_key("nodepool.provider", provider->name, "max_servers", NULL);

        line(data, key, sum_of_servers(provider));
    }
    for (guint i = 0; config != NULL && i < config->tenants->len; i++) {
        const DroverTenantConfig *tenant = config->tenants->pdata[i];
        g_autofree char *name = drover_statsd_flat(tenant->name);
        GHashTableIter iter;
        gpointer resource, limit;

        g_hash_table_iter_init(&iter, tenant->limits);
        while (g_hash_table_iter_next(&iter, &resource, &limit)) {
            g_autofree char *flat = drover_statsd_flat(resource);
            g_autofree char *key = drover_statsd_key("nodepool.tenant_limits", name, flat, NULL);

            line(data, key, *(const gint64 *)limit);
        }
    }
}

static void
write_line(gpointer data, const char *key, gint64 value)
{
    g_string_append_printf(data, "%s %" G_GINT64_FORMAT "\n", key, value);
}

static void
send_line(gpointer data, const char *key, gint64 value)
{
    drover_statsd_gauge_key(data, key, value);
}

void
drover_survey_send_own(DroverSurvey *survey, gboolean always)
{
    GString *text = g_string_new(NULL);

    each_own(survey, write_line, text);
    if (always || g_strcmp0(text->str, survey->own) != 0)
        each_own(survey, send_line, survey->telemetry->statsd);
    g_free(survey->own);
    survey->own = g_string_free(text, FALSE);
}
