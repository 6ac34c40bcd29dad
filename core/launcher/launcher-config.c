#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "driver/trial.h"
#include "launcher/launcher-private.h"
#include "model/connection.h"

static const struct drover_driver *
find_driver(const char *name, gpointer user_data, GError **error)
{
    return drover_driver_host_find(user_data, name, error);
}

DroverConfig *
drover_launcher_load_config(const char *path, const char *secure_path, DroverDriverHost *drivers)
{
    g_autoptr(DroverConfigReport) report = drover_config_report_new();
    const DroverConfigDrivers available = {find_driver, drover_trial_run, drivers};
    DroverConfig *config = drover_config_load(path, secure_path, FALSE, &available, report);
    const GPtrArray *problems = drover_config_report_problems(report);

    for (guint i = 0; i < problems->len; i++) {
        const DroverConfigProblem *problem = problems->pdata[i];
        g_autofree char *text = drover_config_problem_text(problem);

        drover_log_for(problem->severity == DROVER_CONFIG_ERROR ? DROVER_LOG_ERROR
                                                                : DROVER_LOG_WARNING,
                       "config", "%s", text);
    }
    return config;
}

static void
add_pool(DroverLauncher *launcher, DroverManager *manager, const DroverPoolConfig *config)
{
    DroverPool *pool =
        drover_pool_new(manager, config, launcher->config->tenants, drover_launcher_wake, launcher);

    drover_launcher_hold_pool(launcher, pool);
    g_ptr_array_add(launcher->pools, pool);
}

/* The pools of a provider that has started get its object; new ones begin. */
static void
equip_pools(DroverLauncher *launcher, DroverManager *manager)
{
    const DroverProviderConfig *config = drover_manager_config(manager);

    for (guint i = 0; i < config->pools->len; i++) {
        const DroverPoolConfig *pool_config = config->pools->pdata[i];
        DroverPool *pool = drover_launcher_find_pool(launcher, config->name, pool_config->name);

        if (pool != NULL)
            drover_pool_configure(pool, manager, pool_config, launcher->config->tenants);
        else if (!launcher->graceful)
            add_pool(launcher, manager, pool_config);
    }
}

/* A provider that is just starting keeps the pools that served its former object. */
static gboolean
is_configured(DroverLauncher *launcher, DroverPool *pool)
{
    for (guint i = 0; i < launcher->managers->len; i++) {
        DroverManager *manager = launcher->managers->pdata[i];
        const DroverProviderConfig *config = drover_manager_config(manager);

        for (guint k = 0; drover_manager_problem(manager) == NULL && k < config->pools->len; k++)
            if (drover_pool_is(pool, config->name,
                               ((DroverPoolConfig *)config->pools->pdata[k])->name))
                return TRUE;
    }
    return FALSE;
}

static void
drop_unserved_pools(DroverLauncher *launcher)
{
    for (guint i = launcher->pools->len; i > 0; i--)
        if (!is_configured(launcher, launcher->pools->pdata[i - 1]))
            g_ptr_array_remove_index(launcher->pools, i - 1);
}

/* A provider started, or failed to, or its health is another: its pools follow. */
static void
on_manager_changed(DroverManager *manager, gpointer user_data)
{
    DroverLauncher *launcher = user_data;

    if (launcher->stopping)
        return;
    if (drover_manager_is_running(manager))
        equip_pools(launcher, manager);
    drop_unserved_pools(launcher);
    drover_deleter_sweep(launcher->deleter);
    drover_launcher_wake(launcher);
}

static void
on_runner_began(gpointer user_data)
{
    ((DroverLauncher *)user_data)->open_runners++;
}

static void
on_runner_ended(gpointer user_data)
{
    DroverLauncher *launcher = user_data;

    launcher->open_runners--;
    drover_launcher_note_end(launcher);
}

/* What nodes without resources count for may be known now. */
static void
on_manager_woken(gpointer user_data)
{
    DroverLauncher *launcher = user_data;

    for (guint i = 0; i < launcher->managers->len; i++)
        drover_usage_note_costs(launcher->parts.usage,
                                drover_manager_name(launcher->managers->pdata[i]));
    drover_launcher_wake(launcher);
}

static const DroverManagerHooks manager_hooks = {.changed = on_manager_changed,
                                                 .woken = on_manager_woken,
                                                 .runner_began = on_runner_began,
                                                 .runner_ended = on_runner_ended};

static DroverManager *
take_unchanged(GPtrArray *managers, const DroverProviderConfig *config)
{
    for (guint i = 0; i < managers->len; i++) {
        DroverManager *manager = managers->pdata[i];
        if (drover_provider_config_equal(drover_manager_config(manager), config))
            return g_ptr_array_steal_index(managers, i);
    }
    return NULL;
}

/*
 * Providers with equal values keep their object. The others' old objects retire: their pools let go
 * of them first, and go on with the new one as soon as it has started.
 */
void
drover_launcher_apply_config(DroverLauncher *launcher, DroverConfig *config, const char *renewed)
{
    g_autoptr(GPtrArray) old = g_steal_pointer(&launcher->managers);

    g_clear_pointer(&launcher->config, drover_config_unref);
    launcher->config = config;
    drover_cleaner_set_config(launcher->cleaner, config);
    drover_standby_set_config(launcher->standby, config);
    launcher->managers = g_ptr_array_new_with_free_func((GDestroyNotify)drover_manager_retire);
    for (guint i = 0; i < config->providers->len; i++) {
        const DroverProviderConfig *provider = config->providers->pdata[i];
        DroverManager *manager =
            g_strcmp0(provider->name, renewed) != 0 ? take_unchanged(old, provider) : NULL;

        if (manager != NULL)
            drover_manager_set_config(manager, config, provider);
        else
            manager = drover_manager_new(&launcher->parts, launcher->drivers, config, provider,
                                         launcher->sync_interval, &manager_hooks, launcher);
        g_ptr_array_add(launcher->managers, manager);
        if (drover_manager_is_running(manager))
            equip_pools(launcher, manager);
    }
    for (guint i = 0; i < launcher->pools->len; i++)
        drover_pool_let_go(launcher->pools->pdata[i], old);
}

/* Sockets are opened at the start only. */
static void
warn_of_listeners(const DroverConfig *now, const DroverConfig *wanted)
{
    if (now->webapp != wanted->webapp || now->webapp_port != wanted->webapp_port ||
        g_strcmp0(now->webapp_address, wanted->webapp_address) != 0)
        drover_log_for(DROVER_LOG_WARNING, "WebApp",
                       "webapp has changed; restart the launcher to listen where it says now");
    if (now->metrics_of_launcher.port != wanted->metrics_of_launcher.port ||
        g_strcmp0(now->metrics_of_launcher.address, wanted->metrics_of_launcher.address) != 0)
        drover_log_for(DROVER_LOG_WARNING, "WebApp",
                       "prometheus has changed; restart the launcher to listen where it says now");
}

static void
set_servers(DroverLauncher *launcher, const DroverConfig *config)
{
    g_autofree char *now = drover_config_host_string(launcher->config);
    g_autofree char *wanted = drover_config_host_string(config);
    g_autofree DroverSessionServer *servers = NULL;
    g_autoptr(GError) error = NULL;

    if (g_strcmp0(launcher->config->chroot, config->chroot) != 0 ||
        launcher->config->zookeeper_timeout != config->zookeeper_timeout ||
        g_strcmp0(launcher->config->tls_cert, config->tls_cert) != 0 ||
        g_strcmp0(launcher->config->tls_key, config->tls_key) != 0 ||
        g_strcmp0(launcher->config->tls_ca, config->tls_ca) != 0)
        drover_log_for(DROVER_LOG_WARNING, "NodePool",
                       "ZooKeeper's chroot, time-out and TLS files are used as they were at the "
                       "start; restart the launcher to use the new ones");
    if (strcmp(now, wanted) == 0 || g_strcmp0(launcher->config->chroot, config->chroot) != 0)
        return;
    servers = drover_connection_servers(config);
    if (!drover_session_set_servers(launcher->session, servers, config->servers->len, &error))
        drover_log_for(DROVER_LOG_ERROR, "NodePool", "%s", error->message);
}

/* Why it may not be read now; NULL: it may. */
static const char *
reason_to_keep_config(const DroverLauncher *launcher)
{
    return launcher->stopping || launcher->graceful ? "the launcher is about to stop" : NULL;
}

static gboolean
fail(GError **error, DroverErrorCode code, const char *text, const char *detail)
{
    g_autofree char *message = g_strdup_printf("%s: %s", text, detail);

    drover_log_for(DROVER_LOG_ERROR, "NodePool", "%s", message);
    g_set_error_literal(error, DROVER_ERROR, (gint)code, message);
    return FALSE;
}

gboolean
drover_launcher_reload(DroverLauncher *launcher, const char *provider, GError **error)
{
    const char *obstacle = reason_to_keep_config(launcher);
    g_autoptr(DroverConfig) config = NULL;

    if (obstacle != NULL)
        return fail(error, DROVER_ERROR_BUSY, "The configuration is not read", obstacle);
    config = drover_launcher_load_config(launcher->config_path, launcher->secure_path,
                                         launcher->drivers);
    if (config == NULL)
        return fail(error, DROVER_ERROR_CONFIG,
                    "The new configuration is not used; the running one stays in force",
                    launcher->config_path);
    if (provider != NULL && drover_config_find_provider(config, provider) == NULL)
        return fail(error, DROVER_ERROR_NOT_FOUND, "There is no such provider in the configuration",
                    provider);
    drover_log_for(DROVER_LOG_INFO, "NodePool", "Using the configuration %s",
                   launcher->config_path);
    warn_of_listeners(launcher->config, config);
    set_servers(launcher, config);
    drover_launcher_apply_config(launcher, g_steal_pointer(&config), provider);
    drop_unserved_pools(launcher);
    drover_launcher_wake(launcher);
    return TRUE;
}

void
drover_launcher_look_at_files(DroverLauncher *launcher)
{
    g_autofree char *stamp = drover_config_stamp(launcher->config_path, launcher->secure_path);

    if (g_strcmp0(stamp, launcher->stamp) == 0 || reason_to_keep_config(launcher) != NULL)
        return;
    g_free(launcher->stamp);
    launcher->stamp = g_steal_pointer(&stamp);
    drover_launcher_reload(launcher, NULL, NULL);
}
