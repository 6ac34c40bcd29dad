/* Providers, inventories and reports as drivers see them. */
#include <glib.h>

#include <drover/host.h>

#include "format.h"
#include "provider-private.h"

struct drover_provider {
    char *name;
    const struct drover_value *config;
    const struct drover_provider_host *host;
    void *data;
};

struct drover_provider *
drover_host_provider_new(const char *name, const struct drover_value *config,
                         const struct drover_provider_host *host, void *data)
{
    struct drover_provider *provider = g_new0(struct drover_provider, 1);

    provider->name = g_strdup(name);
    provider->config = config;
    provider->host = host;
    provider->data = data;
    return provider;
}

void
drover_host_provider_free(struct drover_provider *provider)
{
    g_free(provider->name);
    g_free(provider);
}

const struct drover_value *
drover_provider_config(const struct drover_provider *provider)
{
    return provider->config;
}

const char *
drover_provider_name(const struct drover_provider *provider)
{
    return provider->name;
}

void
drover_provider_log(const struct drover_provider *provider, enum drover_log_level level,
                    const char *format, ...)
{
    g_autofree char *text = NULL;

    FORMAT_TEXT(text, format);
    provider->host->log(provider->data, level, text);
}

int
drover_provider_fail(struct drover_provider *provider, enum drover_failure failure,
                     const char *format, ...)
{
    g_autofree char *text = NULL;

    FORMAT_TEXT(text, format);
    provider->host->fail(provider->data, failure, text);
    return -1;
}

void
drover_provider_note_call(struct drover_provider *provider, const char *method, const char *url,
                          int status, int64_t milliseconds)
{
    if (provider->host->called != NULL)
        provider->host->called(provider->data, method, url, status, milliseconds);
}

int64_t
drover_now(void)
{
    return g_get_monotonic_time() / 1000;
}

/* ---- Inventory ---- */

struct drover_inventory {
    drover_host_add_machine add;
    void *data;
};

struct drover_inventory *
drover_host_inventory_new(drover_host_add_machine add, void *data)
{
    struct drover_inventory *inventory = g_new0(struct drover_inventory, 1);

    inventory->add = add;
    inventory->data = data;
    return inventory;
}

void
drover_host_inventory_free(struct drover_inventory *inventory)
{
    g_free(inventory);
}

void
drover_inventory_add(struct drover_inventory *inventory, const char *pool,
                     const struct drover_value *config, uint32_t slots)
{
    inventory->add(inventory->data, pool, config, slots);
}

/* ---- Reports ---- */

struct drover_report {
    drover_host_add_mistake add;
    void *data;
};

struct drover_report *
drover_host_report_new(drover_host_add_mistake add, void *data)
{
    struct drover_report *report = g_new0(struct drover_report, 1);

    report->add = add;
    report->data = data;
    return report;
}

void
drover_host_report_free(struct drover_report *report)
{
    g_free(report);
}

void
drover_report_error(struct drover_report *report, const struct drover_value *where,
                    const char *format, ...)
{
    g_autofree char *text = NULL;

    FORMAT_TEXT(text, format);
    report->add(report->data, DROVER_ERR, where, text);
}

void
drover_report_warning(struct drover_report *report, const struct drover_value *where,
                      const char *format, ...)
{
    g_autofree char *text = NULL;

    FORMAT_TEXT(text, format);
    report->add(report->data, DROVER_WARNING, where, text);
}
