/* Providers, inventories and reports as drivers see them. */
#include <glib.h>

#include <drover/host.h>

#include "format.h"
#include "handle.h"
#include "provider-private.h"

typedef struct {
    DroverHandled handled;
    char *name;
    const struct drover_value *config;
    const struct drover_provider_host *host;
    void *data;
} Provider;

static void
provider_release(gpointer object)
{
    Provider *provider = object;

    if (provider->host->released != NULL)
        provider->host->released(provider->data);
    g_free(provider->name);
    g_free(provider);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Provider, drover_handled_unref)

/* A new reference; NULL when it is closed. */
static Provider *
find(const struct drover_provider *handle)
{
    return drover_handle_find(handle, provider_release);
}

struct drover_provider *
drover_host_provider_new(const char *name, const struct drover_value *config,
                         const struct drover_provider_host *host, void *data)
{
    Provider *provider = g_new0(Provider, 1);

    provider->name = g_strdup(name);
    provider->config = config;
    provider->host = host;
    provider->data = data;
    return drover_handle_new(provider, provider_release);
}

void
drover_host_provider_free(struct drover_provider *handle)
{
    drover_handled_unref(drover_handle_end(handle));
}

const struct drover_value *
drover_provider_config(const struct drover_provider *handle)
{
    g_autoptr(Provider) provider = find(handle);

    return provider != NULL ? provider->config : NULL;
}

const char *
drover_provider_name(const struct drover_provider *handle)
{
    g_autoptr(Provider) provider = find(handle);

    return provider != NULL ? provider->name : NULL;
}

void
drover_provider_log(const struct drover_provider *handle, enum drover_log_level level,
                    const char *format, ...)
{
    g_autoptr(Provider) provider = find(handle);
    g_autofree char *text = NULL;

    FORMAT_TEXT(text, format);
    if (provider != NULL)
        provider->host->log(provider->data, level, text);
}

int
drover_provider_fail(struct drover_provider *handle, enum drover_failure failure,
                     const char *format, ...)
{
    g_autoptr(Provider) provider = find(handle);
    g_autofree char *text = NULL;

    FORMAT_TEXT(text, format);
    if (provider != NULL)
        provider->host->fail(provider->data, failure, text);
    return -1;
}

void
drover_provider_note_call(struct drover_provider *handle, const char *method, const char *url,
                          int status, int64_t milliseconds)
{
    g_autoptr(Provider) provider = find(handle);

    if (provider != NULL && provider->host->called != NULL)
        provider->host->called(provider->data, method, url, status, milliseconds);
}

void
drover_host_provider_called(struct drover_provider *handle, const char *method, const char *url,
                            int status, int64_t milliseconds)
{
    drover_provider_note_call(handle, method, url, status, milliseconds);
}

void
drover_host_provider_trouble(struct drover_provider *handle, const char *text)
{
    g_autoptr(Provider) provider = find(handle);

    if (provider != NULL && provider->host->trouble != NULL)
        provider->host->trouble(provider->data, text);
}

void
drover_provider_call_backing(struct drover_provider *handle, const struct drover_backing_call *call)
{
    g_autoptr(Provider) provider = find(handle);

    if (provider != NULL && provider->host->backing != NULL)
        provider->host->backing(provider->data, call);
}

void
drover_provider_cleaned(const struct drover_provider *handle, const char *what, uint32_t count)
{
    g_autoptr(Provider) provider = find(handle);

    if (provider != NULL && provider->host->cleaned != NULL)
        provider->host->cleaned(provider->data, what, count);
}

int64_t
drover_now(void)
{
    return g_get_monotonic_time() / 1000;
}

/* ---- Inventory ---- */

typedef struct {
    DroverHandled handled;
    drover_host_add_machine add;
    void *data;
} Inventory;

static void
inventory_release(gpointer object)
{
    g_free(object);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Inventory, drover_handled_unref)

struct drover_inventory *
drover_host_inventory_new(drover_host_add_machine add, void *data)
{
    Inventory *inventory = g_new0(Inventory, 1);

    inventory->add = add;
    inventory->data = data;
    return drover_handle_new(inventory, inventory_release);
}

void
drover_host_inventory_free(struct drover_inventory *handle)
{
    drover_handled_unref(drover_handle_end(handle));
}

void
drover_inventory_add(struct drover_inventory *handle, const char *pool,
                     const struct drover_value *config, uint32_t slots)
{
    g_autoptr(Inventory) inventory = drover_handle_find(handle, inventory_release);

    if (inventory != NULL)
        inventory->add(inventory->data, pool, config, slots);
}

/* ---- Reports ---- */

typedef struct {
    DroverHandled handled;
    drover_host_add_mistake add;
    void *data;
} Report;

static void
report_release(gpointer object)
{
    g_free(object);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Report, drover_handled_unref)

struct drover_report *
drover_host_report_new(drover_host_add_mistake add, void *data)
{
    Report *report = g_new0(Report, 1);

    report->add = add;
    report->data = data;
    return drover_handle_new(report, report_release);
}

void
drover_host_report_free(struct drover_report *handle)
{
    drover_handled_unref(drover_handle_end(handle));
}

static void
report_text(const struct drover_report *handle, enum drover_log_level level,
            const struct drover_value *where, const char *text)
{
    g_autoptr(Report) report = drover_handle_find(handle, report_release);

    if (report != NULL)
        report->add(report->data, level, where, text);
}

void
drover_report_error(struct drover_report *report, const struct drover_value *where,
                    const char *format, ...)
{
    g_autofree char *text = NULL;

    FORMAT_TEXT(text, format);
    report_text(report, DROVER_ERR, where, text);
}

void
drover_report_warning(struct drover_report *report, const struct drover_value *where,
                      const char *format, ...)
{
    g_autofree char *text = NULL;

    FORMAT_TEXT(text, format);
    report_text(report, DROVER_WARNING, where, text);
}
