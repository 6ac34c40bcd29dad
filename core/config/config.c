#include "config/config-private.h"

#include <string.h>

#include "config/convert.h"
#include "config/provider.h"
#include "config/zookeeper.h"

#define SHORTEST_TOKEN 16

/* ---- Life ---- */

static void
free_label(gpointer data)
{
    DroverLabelConfig *label = data;

    g_free(label->name);
    g_free(label);
}

static void
free_tenant(gpointer data)
{
    DroverTenantConfig *tenant = data;

    g_free(tenant->name);
    g_hash_table_unref(tenant->limits);
    g_free(tenant);
}

static void
free_server(gpointer server)
{
    drover_server_config_free(server);
}

static void
free_provider(gpointer provider)
{
    drover_provider_config_free(provider);
}

static void
free_token(gpointer data)
{
    DroverTokenConfig *token = data;

    g_free(token->name);
    g_free(token->token);
    g_free(token->tenant);
    g_strfreev(token->labels);
    g_free(token);
}

DroverConfig *
drover_config_new(void)
{
    DroverConfig *config = g_atomic_rc_box_new0(DroverConfig);

    config->servers = g_ptr_array_new_with_free_func(free_server);
    config->labels = g_ptr_array_new_with_free_func(free_label);
    config->providers = g_ptr_array_new_with_free_func(free_provider);
    config->tenants = g_ptr_array_new_with_free_func(free_tenant);
    config->tokens = g_ptr_array_new_with_free_func(free_token);
    config->loaded = g_date_time_new_now_utc();
    return config;
}

DroverConfig *
drover_config_ref(DroverConfig *config)
{
    return g_atomic_rc_box_acquire(config);
}

static void
clear_config(gpointer data)
{
    DroverConfig *config = data;

    g_ptr_array_unref(config->servers);
    g_ptr_array_unref(config->labels);
    g_ptr_array_unref(config->providers);
    g_ptr_array_unref(config->tenants);
    g_ptr_array_unref(config->diskimages);
    g_ptr_array_unref(config->tokens);
    g_free(config->chroot);
    g_free(config->tls_cert);
    g_free(config->tls_key);
    g_free(config->tls_ca);
    g_free(config->zookeeper_digest);
    g_free(config->webapp_address);
    g_free(config->metrics_of_launcher.address);
    g_free(config->metrics_of_builder.address);
    g_free(config->elements_dir);
    g_free(config->images_dir);
    g_free(config->build_log_dir);
    g_strfreev(config->driver_directories);
    g_date_time_unref(config->loaded);
}

void
drover_config_unref(DroverConfig *config)
{
    if (config != NULL)
        g_atomic_rc_box_release_full(config, clear_config);
}

/* ---- Taking the checked values ---- */

static void
take_labels(DroverConfig *config, const struct drover_value *list)
{
    for (gsize i = 0; i < drover_value_length(list); i++) {
        const struct drover_value *entry = drover_value_item(list, i);
        DroverLabelConfig *label = g_new0(DroverLabelConfig, 1);

        label->name = g_strdup(drover_value_get_string(entry, "name", ""));
        label->min_ready = drover_value_get_int(entry, "min-ready", 0);
        label->max_ready_age = MAX(drover_value_get_int(entry, "max-ready-age", 0), 0);
        g_ptr_array_add(config->labels, label);
    }
}

/* The resource that a tenant's option limits. */
static const char *
resource_name(const char *option)
{
    static const char *const names[][2] = {
        {"max-servers", "instances"}, {"max-cores", "cores"},         {"max-ram", "ram"},
        {"max-volumes", "volumes"},   {"max-volume-gb", "volume-gb"},
    };

    for (guint i = 0; i < G_N_ELEMENTS(names); i++)
        if (g_str_equal(option, names[i][0]))
            return names[i][1];
    return option;
}

static void
take_tenants(DroverConfig *config, const struct drover_value *list)
{
    for (gsize i = 0; i < drover_value_length(list); i++) {
        const struct drover_value *entry = drover_value_item(list, i);
        DroverTenantConfig *tenant = g_new0(DroverTenantConfig, 1);

        tenant->name = g_strdup(drover_value_get_string(entry, "tenant-name", ""));
        tenant->limits = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        for (gsize k = 0; k < drover_value_length(entry); k++) {
            const char *option = drover_value_key(entry, k);
            gint64 *limit;

            if (drover_value_type(drover_value_item(entry, k)) != DROVER_VALUE_INTEGER)
                continue;
            limit = g_new(gint64, 1);
            *limit = drover_value_get_integer(entry, option, 0);
            g_hash_table_replace(tenant->limits, g_strdup(resource_name(option)), limit);
        }
        g_ptr_array_add(config->tenants, tenant);
    }
}

void
drover_config_take_tokens(DroverConfig *config, const struct drover_value *values,
                          const DroverConfigSource *source)
{
    const struct drover_value *list = drover_value_get(drover_value_get(values, "api"), "tokens");

    for (gsize i = 0; i < drover_value_length(list); i++) {
        const struct drover_value *entry = drover_value_item(list, i);
        const char *text = drover_value_get_string(entry, "token", "");
        DroverTokenConfig *token;

        if (strlen(text) < SHORTEST_TOKEN) {
            drover_config_report_add(
                source, DROVER_CONFIG_ERROR, drover_value_line(entry), drover_value_column(entry),
                NULL, "api.tokens: a token has at least %d characters", SHORTEST_TOKEN);
            continue;
        }
        token = g_new0(DroverTokenConfig, 1);
        token->name = g_strdup(drover_value_get_string(entry, "name", ""));
        token->token = g_strdup(text);
        token->tenant = g_strdup(drover_value_get_string(entry, "tenant", NULL));
        if (drover_value_get(entry, "labels") != NULL)
            token->labels = drover_value_get_strv(entry, "labels");
        token->max_nodes = drover_value_get_integer(entry, "max-nodes", 0);
        token->lease = drover_value_get_integer(entry, "lease", 0);
        g_ptr_array_add(config->tokens, token);
    }
}

static void
take_listener(DroverListenerConfig *listener, const struct drover_value *section)
{
    listener->address = g_strdup(drover_value_get_string(section, "listen_address", NULL));
    listener->port = drover_value_get_int(section, "port", DROVER_NO_PORT);
}

static void
take_builder_and_web(DroverConfig *config, const struct drover_value *values)
{
    const struct drover_value *webapp = drover_value_get(values, "webapp");
    const struct drover_value *metrics = drover_value_get(values, "prometheus");

    config->max_hold_age = MAX(drover_value_get_int(values, "max-hold-age", 0), 0);
    config->webapp_address = g_strdup(drover_value_get_string(webapp, "listen_address", NULL));
    take_listener(&config->metrics_of_launcher, drover_value_get(metrics, "launcher"));
    take_listener(&config->metrics_of_builder, drover_value_get(metrics, "builder"));
    config->webapp = drover_value_line(webapp) > 0;
    config->webapp_port = drover_value_get_int(webapp, "port", 0);
    config->elements_dir = g_strdup(drover_value_get_string(values, "elements-dir", NULL));
    config->images_dir = g_strdup(drover_value_get_string(values, "images-dir", NULL));
    config->build_log_dir = g_strdup(drover_value_get_string(values, "build-log-dir", NULL));
    config->build_log_retention = drover_value_get_int(values, "build-log-retention", 0);
    config->driver_directories =
        drover_value_get_strv(drover_value_get(values, "drivers"), "directories");
}

void
drover_config_take_plain(DroverConfig *config, const struct drover_value *values)
{
    take_labels(config, drover_value_get(values, "labels"));
    take_tenants(config, drover_value_get(values, "tenant-resource-limits"));
    take_builder_and_web(config, values);
}

/* ---- Looking up ---- */

DroverProviderConfig *
drover_config_find_provider(const DroverConfig *config, const char *name)
{
    for (guint i = 0; i < config->providers->len; i++) {
        DroverProviderConfig *provider = config->providers->pdata[i];

        if (g_str_equal(provider->name, name))
            return provider;
    }
    return NULL;
}

DroverLabelConfig *
drover_config_find_label(const DroverConfig *config, const char *name)
{
    for (guint i = 0; i < config->labels->len; i++) {
        DroverLabelConfig *label = config->labels->pdata[i];

        if (g_str_equal(label->name, name))
            return label;
    }
    return NULL;
}

DroverTenantConfig *
drover_config_find_tenant(const DroverConfig *config, const char *name)
{
    for (guint i = 0; i < config->tenants->len; i++) {
        DroverTenantConfig *tenant = config->tenants->pdata[i];

        if (g_str_equal(tenant->name, name))
            return tenant;
    }
    return NULL;
}

char *
drover_config_host_string(const DroverConfig *config)
{
    GString *text = g_string_new(NULL);

    for (guint i = 0; i < config->servers->len; i++) {
        const DroverServerConfig *server = config->servers->pdata[i];
        gboolean brackets = strchr(server->host, ':') != NULL;

        g_string_append_printf(text, "%s%s%s%s:%d", i > 0 ? "," : "", brackets ? "[" : "",
                               server->host, brackets ? "]" : "", server->port);
    }
    if (config->chroot != NULL)
        g_string_append(text, config->chroot);
    return g_string_free(text, FALSE);
}
