#include "launcher/launcher.h"

#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "launcher/cleaner.h"
#include "launcher/cluster.h"
#include "launcher/deleter.h"
#include "launcher/host-name.h"
#include "launcher/inheritance.h"
#include "launcher/manager.h"
#include "launcher/pool.h"
#include "launcher/standby.h"
#include "model/connection.h"
#include "zk/registration.h"

#define DEFAULT_SYNC_SECONDS    60
#define DEFAULT_CLEANUP_SECONDS 60
#define SWEEP_TICKS             5

struct _DroverLauncher {
    char *config_path, *secure_path;
    guint sync_interval, cleanup_interval;
    char *stamp; /* of the files, when they were last looked at */
    DroverConfig *config;
    DroverDriverHost *drivers;
    DroverSession *session;
    DroverCluster *cluster;
    DroverParts parts;
    guint session_listener;
    DroverDeleter *deleter;
    DroverInheritance *inheritance; /* NULL until the pools had their turn */
    DroverCleaner *cleaner;
    DroverStandby *standby;
    DroverRegistration *component;
    gboolean passed; /* the first pass is done */
    GPtrArray *managers, *pools;
    guint open_runners; /* of present and retired managers */
    guint tick_timer, ticks;
    guint pass_source;
    guint stop_timer, stop_source;
    gboolean stopping;
    DroverLauncherFunc stopped;
    gpointer stopped_data;
};

static const struct drover_driver *
find_driver(const char *name, gpointer user_data, GError **error)
{
    return drover_driver_host_find(user_data, name, error);
}

/* ---- The pass ---- */

static GBytes *
component_record(const DroverLauncher *launcher)
{
    DroverComponent component = {.hostname = (char *)drover_host_name(),
                                 .kind = (char *)"launcher",
                                 .state = (char *)(launcher->passed ? "running" : "initializing"),
                                 .version = (char *)DROVER_VERSION,
                                 .model_api = DROVER_MODEL_API};

    return drover_component_encode(&component);
}

static void
announce_running(DroverLauncher *launcher)
{
    g_autoptr(GBytes) record = NULL;

    launcher->passed = TRUE;
    record = component_record(launcher);
    drover_registration_update(launcher->component, record);
}

static DroverPool *
find_pool(DroverLauncher *launcher, const char *provider, const char *name)
{
    for (guint i = 0; i < launcher->pools->len; i++)
        if (drover_pool_is(launcher->pools->pdata[i], provider, name))
            return launcher->pools->pdata[i];
    return NULL;
}

/* The labels of pools that others do not see yet, of providers that have not failed. */
static GPtrArray *
coming_pools(DroverLauncher *launcher)
{
    GPtrArray *coming = g_ptr_array_new();

    for (guint i = 0; i < launcher->managers->len; i++) {
        DroverManager *manager = launcher->managers->pdata[i];
        const DroverProviderConfig *config = drover_manager_config(manager);

        for (guint k = 0; drover_manager_problem(manager) == NULL && k < config->pools->len; k++) {
            const DroverPoolConfig *pool_config = config->pools->pdata[k];
            DroverPool *pool = find_pool(launcher, config->name, pool_config->name);

            if (pool == NULL || !drover_pool_is_announced(pool))
                g_ptr_array_add(coming, pool_config->labels);
        }
    }
    return coming;
}

static gboolean
is_served(DroverLauncher *launcher, const char *request_id)
{
    for (guint i = 0; i < launcher->pools->len; i++)
        if (drover_pool_serves(launcher->pools->pdata[i], request_id))
            return TRUE;
    return FALSE;
}

/* The id is that of a request or of a node, which a handler may be about to take up. */
static gboolean
is_in_use(const char *id, gpointer user_data)
{
    DroverLauncher *launcher = user_data;
    const DroverNode *node = drover_cluster_node(launcher->cluster, id);

    return is_served(launcher, id) || g_hash_table_contains(launcher->parts.busy_nodes, id) ||
           (node != NULL && node->allocated_to != NULL && is_served(launcher, node->allocated_to));
}

/* Once all pools have taken up what is theirs. */
static void
settle_inheritance(DroverLauncher *launcher)
{
    launcher->inheritance = drover_inheritance_new(&launcher->parts, is_in_use, launcher);
    drover_journal_prune(launcher->parts.journal, is_in_use, launcher);
}

static gboolean
pass(gpointer user_data)
{
    DroverLauncher *launcher = user_data;
    g_autoptr(GPtrArray) coming = NULL;

    launcher->pass_source = 0;
    if (launcher->stopping || !drover_cluster_is_complete(launcher->cluster))
        return G_SOURCE_REMOVE;
    for (guint i = 0; i < launcher->managers->len; i++)
        drover_manager_step(launcher->managers->pdata[i]);
    coming = coming_pools(launcher);
    for (guint i = 0; i < launcher->pools->len; i++)
        drover_pool_pass(launcher->pools->pdata[i], coming);
    drover_standby_step(launcher->standby);
    if (launcher->inheritance == NULL && coming->len == 0)
        settle_inheritance(launcher);
    if (!launcher->passed)
        announce_running(launcher);
    return G_SOURCE_REMOVE;
}

/* Many pieces of news that come together cost one pass. */
static void
wake(gpointer user_data)
{
    DroverLauncher *launcher = user_data;

    if (launcher->pass_source == 0 && !launcher->stopping)
        launcher->pass_source = g_idle_add_full(G_PRIORITY_DEFAULT, pass, launcher, NULL);
}

/* ---- News of the cluster ---- */

static DroverManager *
find_manager(const char *provider, gpointer user_data)
{
    DroverLauncher *launcher = user_data;

    for (guint i = 0; i < launcher->managers->len; i++) {
        DroverManager *manager = launcher->managers->pdata[i];
        if (strcmp(drover_manager_name(manager), provider) == 0)
            return drover_manager_is_running(manager) ? manager : NULL;
    }
    return NULL;
}

static void
on_node(const char *id, const DroverNode *old, const DroverNode *new_node, gpointer user_data)
{
    DroverLauncher *launcher = user_data;
    const DroverNode *node = new_node != NULL ? new_node : old;
    DroverManager *manager = node->provider != NULL ? find_manager(node->provider, launcher) : NULL;

    drover_usage_note(launcher->parts.usage, id, new_node);
    drover_standby_note_node(launcher->standby, old, new_node);
    for (guint i = 0; i < launcher->pools->len; i++)
        drover_pool_note_node(launcher->pools->pdata[i], id, new_node);
    if (new_node != NULL)
        drover_deleter_note_node(launcher->deleter, id);
    else if (manager != NULL)
        drover_manager_node_deleted(manager, old);
    wake(launcher);
}

static void
on_node_lock(const char *id, DroverCacheLock lock, gpointer user_data)
{
    DroverLauncher *launcher = user_data;

    for (guint i = 0; i < launcher->pools->len; i++)
        drover_pool_note_node_lock(launcher->pools->pdata[i], id, lock);
    if (lock == DROVER_CACHE_LOCK_FREE)
        drover_deleter_note_node(launcher->deleter, id);
    wake(launcher);
}

static void
on_request(const char *id, const DroverRequest *old, const DroverRequest *new_request,
           gpointer user_data)
{
    DroverLauncher *launcher = user_data;

    for (guint i = 0; i < launcher->pools->len; i++)
        drover_pool_note_request(launcher->pools->pdata[i], id, new_request);
    drover_standby_note_request(launcher->standby, id, old, new_request);
    if (new_request == NULL)
        drover_deleter_note_request_gone(launcher->deleter, old);
    else if (new_request->state == DROVER_REQUEST_REQUESTED)
        wake(launcher);
}

static void
on_pools(gpointer user_data)
{
    DroverLauncher *launcher = user_data;

    for (guint i = 0; i < launcher->pools->len; i++)
        drover_pool_note_registry(launcher->pools->pdata[i]);
    wake(launcher);
}

static void
on_complete(gboolean complete, gpointer user_data)
{
    DroverLauncher *launcher = user_data;

    if (!complete)
        return;
    on_pools(launcher);
    drover_deleter_sweep(launcher->deleter);
    if (launcher->cleaner != NULL)
        drover_cleaner_note_complete(launcher->cleaner);
}

static const DroverResources *
find_cost(const char *provider, const char *pool, const char *label, gpointer user_data)
{
    DroverManager *manager = find_manager(provider, user_data);
    const DroverPoolConfig *config =
        manager != NULL ? drover_provider_config_find_pool(drover_manager_config(manager), pool)
                        : NULL;

    if (config == NULL || drover_manager_has_inventory(manager) ||
        !g_strv_contains((const char *const *)config->labels, label))
        return NULL;
    return drover_facts_cost(drover_manager_facts(manager), pool, label);
}

static gboolean
offers(DroverManager *manager, const char *label)
{
    const GPtrArray *pools = drover_manager_config(manager)->pools;
    DroverFacts *facts = drover_manager_facts(manager);

    for (guint i = 0; i < pools->len; i++) {
        const DroverPoolConfig *pool = pools->pdata[i];

        if (g_strv_contains((const char *const *)pool->labels, label) &&
            drover_facts_label_error(facts, label) == NULL &&
            drover_facts_label_ready(facts, pool->name, label) == DROVER_FACT_YES)
            return TRUE;
    }
    return FALSE;
}

static gboolean
can_make(const char *label, gpointer user_data)
{
    DroverLauncher *launcher = user_data;

    for (guint i = 0; i < launcher->managers->len; i++) {
        DroverManager *manager = launcher->managers->pdata[i];

        if (drover_manager_is_running(manager) && !drover_manager_has_inventory(manager) &&
            offers(manager, label))
            return TRUE;
    }
    return FALSE;
}

static const DroverStandbyHooks standby_hooks = {.can_make = can_make, .wake = wake};

/* Its locks are gone: nothing that was under way may write any more. */
static void
on_session(DroverSession *session, DroverSessionState state, gpointer user_data)
{
    DroverLauncher *launcher = user_data;

    if (state != DROVER_SESSION_LOST)
        return;
    for (guint i = 0; i < launcher->pools->len; i++)
        drover_pool_drop(launcher->pools->pdata[i]);
    drover_parts_drop_work(&launcher->parts);
}

/* ---- Configuration ---- */

static DroverConfig *
load_config(const char *path, const char *secure_path, DroverDriverHost *drivers)
{
    g_autoptr(DroverConfigReport) report = drover_config_report_new();
    DroverConfig *config =
        drover_config_load(path, secure_path, FALSE, find_driver, drivers, report);
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

/* The pools of a provider that has started get its object; new ones begin. */
static void
equip_pools(DroverLauncher *launcher, DroverManager *manager)
{
    const DroverProviderConfig *config = drover_manager_config(manager);

    for (guint i = 0; i < config->pools->len; i++) {
        const DroverPoolConfig *pool_config = config->pools->pdata[i];
        DroverPool *pool = find_pool(launcher, config->name, pool_config->name);

        if (pool != NULL)
            drover_pool_configure(pool, manager, pool_config, launcher->config->tenants);
        else
            g_ptr_array_add(
                launcher->pools,
                drover_pool_new(manager, pool_config, launcher->config->tenants, wake, launcher));
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

/* A provider started, or failed to: its pools follow. */
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
    wake(launcher);
}

static void stop_when_all_ended(DroverLauncher *launcher);

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
    stop_when_all_ended(launcher);
}

/* What nodes without resources count for may be known now. */
static void
on_manager_woken(gpointer user_data)
{
    DroverLauncher *launcher = user_data;

    for (guint i = 0; i < launcher->managers->len; i++)
        drover_usage_note_costs(launcher->parts.usage,
                                drover_manager_name(launcher->managers->pdata[i]));
    wake(launcher);
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
static void
apply_config(DroverLauncher *launcher, DroverConfig *config)
{
    g_autoptr(GPtrArray) old = g_steal_pointer(&launcher->managers);

    g_clear_pointer(&launcher->config, drover_config_unref);
    launcher->config = config;
    drover_cleaner_set_config(launcher->cleaner, config);
    drover_standby_set_config(launcher->standby, config);
    launcher->managers = g_ptr_array_new_with_free_func((GDestroyNotify)drover_manager_retire);
    for (guint i = 0; i < config->providers->len; i++) {
        const DroverProviderConfig *provider = config->providers->pdata[i];
        DroverManager *manager = take_unchanged(old, provider);

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

void
drover_launcher_reload(DroverLauncher *launcher)
{
    DroverConfig *config;

    if (launcher->stopping)
        return;
    config = load_config(launcher->config_path, launcher->secure_path, launcher->drivers);
    if (config == NULL) {
        drover_log_for(DROVER_LOG_ERROR, "NodePool",
                       "The new configuration is not used; the running one stays in force");
        return;
    }
    drover_log_for(DROVER_LOG_INFO, "NodePool", "Using the configuration %s",
                   launcher->config_path);
    set_servers(launcher, config);
    apply_config(launcher, config);
    drop_unserved_pools(launcher);
    wake(launcher);
}

static void
reload_when_files_differ(DroverLauncher *launcher)
{
    g_autofree char *stamp = drover_config_stamp(launcher->config_path, launcher->secure_path);

    if (g_strcmp0(stamp, launcher->stamp) == 0)
        return;
    g_free(launcher->stamp);
    launcher->stamp = g_steal_pointer(&stamp);
    drover_launcher_reload(launcher);
}

static gboolean
tick(gpointer user_data)
{
    DroverLauncher *launcher = user_data;

    reload_when_files_differ(launcher);
    if (drover_cluster_is_complete(launcher->cluster) && ++launcher->ticks % SWEEP_TICKS == 0)
        drover_deleter_sweep(launcher->deleter);
    wake(launcher);
    return G_SOURCE_CONTINUE;
}

/* ---- Life ---- */

static gboolean
begin_session(DroverLauncher *launcher, const char *state_dir, GError **error)
{
    const DroverConfig *config = launcher->config;
    g_autofree DroverSessionServer *servers = drover_connection_servers(config);
    DroverSessionOptions options = drover_connection_options(config, servers);

    options.state_dir = state_dir;
    launcher->session = drover_session_new(&options, error);
    return launcher->session != NULL;
}

static gboolean
take_over_component(GBytes *data, gpointer user_data)
{
    g_autoptr(DroverComponent) component = drover_component_decode(data, NULL);

    return component != NULL && g_strcmp0(component->kind, "launcher") == 0;
}

static void
on_request_closed(gpointer user_data)
{
    stop_when_all_ended(user_data);
}

static void
begin_work(DroverLauncher *launcher, const char *state_dir)
{
    static const DroverClusterListener listener = {.node_changed = on_node,
                                                   .node_lock_changed = on_node_lock,
                                                   .request_changed = on_request,
                                                   .pools_changed = on_pools,
                                                   .complete_changed = on_complete};
    g_autoptr(GBytes) record = component_record(launcher);

    launcher->session_listener =
        drover_session_add_listener(launcher->session, on_session, launcher);
    launcher->parts.scanner = drover_scanner_new();
    launcher->parts.usage = drover_usage_new(find_cost, launcher);
    launcher->parts.journal = drover_journal_new(state_dir);
    launcher->parts.busy_nodes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    launcher->parts.work = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    launcher->parts.closed = on_request_closed;
    launcher->parts.closed_data = launcher;
    launcher->cluster = drover_cluster_new(launcher->session, &listener, launcher);
    launcher->parts.cluster = launcher->cluster;
    launcher->deleter = drover_deleter_new(launcher->cluster, find_manager, launcher);
    launcher->cleaner = drover_cleaner_new(launcher->cluster, launcher->config,
                                           launcher->cleanup_interval, find_manager, launcher);
    launcher->standby =
        drover_standby_new(launcher->cluster, launcher->config, &standby_hooks, launcher);
    launcher->component =
        drover_registration_new(launcher->session, DROVER_LAUNCHERS_PATH, drover_host_name(),
                                record, take_over_component, NULL, NULL);
    apply_config(launcher, g_steal_pointer(&launcher->config));
    launcher->tick_timer = g_timeout_add_seconds(1, tick, launcher);
}

DroverLauncher *
drover_launcher_new(const DroverLauncherOptions *options, GError **error)
{
    DroverLauncher *launcher = g_new0(DroverLauncher, 1);
    g_auto(GStrv) directories = drover_config_peek_driver_directories(options->config_path);

    launcher->config_path = g_strdup(options->config_path);
    launcher->secure_path = g_strdup(options->secure_path);
    launcher->sync_interval =
        options->sync_interval > 0 ? options->sync_interval : DEFAULT_SYNC_SECONDS;
    launcher->cleanup_interval =
        options->cleanup_interval > 0 ? options->cleanup_interval : DEFAULT_CLEANUP_SECONDS;
    launcher->managers = g_ptr_array_new();
    launcher->pools = g_ptr_array_new_with_free_func((GDestroyNotify)drover_pool_free);
    launcher->drivers = drover_driver_host_new((const char *const *)directories);
    launcher->stamp = drover_config_stamp(launcher->config_path, launcher->secure_path);
    launcher->config = load_config(launcher->config_path, launcher->secure_path, launcher->drivers);
    if (launcher->config == NULL) {
        g_set_error(error, DROVER_ERROR, DROVER_ERROR_CONFIG, "the configuration %s has errors",
                    launcher->config_path);
        drover_launcher_free(launcher);
        return NULL;
    }
    if (!begin_session(launcher, options->state_dir, error)) {
        drover_launcher_free(launcher);
        return NULL;
    }
    begin_work(launcher, options->state_dir);
    return launcher;
}

/* ---- Stopping ---- */

static gboolean
finish_stop(gpointer user_data)
{
    DroverLauncher *launcher = user_data;
    DroverLauncherFunc stopped = g_steal_pointer(&launcher->stopped);

    launcher->stop_source = 0;
    g_clear_handle_id(&launcher->stop_timer, g_source_remove);
    if (launcher->open_runners > 0)
        drover_log_for(DROVER_LOG_WARNING, "NodePool",
                       "%u driver(s) did not come back in time; stopping all the same",
                       launcher->open_runners);
    if (stopped != NULL)
        stopped(launcher->stopped_data);
    return G_SOURCE_REMOVE;
}

static gboolean
on_stop_limit(gpointer user_data)
{
    ((DroverLauncher *)user_data)->stop_timer = 0;
    finish_stop(user_data);
    return G_SOURCE_REMOVE;
}

static void
stop_when_all_ended(DroverLauncher *launcher)
{
    if (launcher->stopping && launcher->open_runners == 0 && launcher->parts.closing == 0 &&
        launcher->stop_source == 0)
        launcher->stop_source = g_idle_add(finish_stop, launcher);
}

static void
end_work(DroverLauncher *launcher)
{
    launcher->stopping = TRUE;
    g_clear_handle_id(&launcher->tick_timer, g_source_remove);
    g_clear_handle_id(&launcher->pass_source, g_source_remove);
    g_clear_pointer(&launcher->cleaner, drover_cleaner_free);
    g_ptr_array_set_size(launcher->pools, 0);
    if (launcher->parts.work != NULL)
        drover_parts_drop_work(&launcher->parts);
    g_ptr_array_set_size(launcher->managers, 0);
    g_clear_pointer(&launcher->component, drover_registration_free);
}

void
drover_launcher_stop(DroverLauncher *launcher, guint limit, DroverLauncherFunc stopped,
                     gpointer user_data)
{
    if (launcher->stopping)
        return;
    drover_log_for(DROVER_LOG_INFO, "NodePool", "Stopping");
    launcher->stopped = stopped;
    launcher->stopped_data = user_data;
    end_work(launcher);
    launcher->stop_timer = g_timeout_add_seconds(limit, on_stop_limit, launcher);
    stop_when_all_ended(launcher);
}

void
drover_launcher_free(DroverLauncher *launcher)
{
    end_work(launcher);
    g_clear_handle_id(&launcher->stop_timer, g_source_remove);
    g_clear_handle_id(&launcher->stop_source, g_source_remove);
    g_ptr_array_unref(launcher->pools);
    g_ptr_array_unref(launcher->managers);
    drover_deleter_free(launcher->deleter);
    drover_standby_free(launcher->standby);
    drover_scanner_free(launcher->parts.scanner);
    drover_usage_free(launcher->parts.usage);
    g_clear_pointer(&launcher->parts.work, g_hash_table_unref);
    g_clear_pointer(&launcher->parts.busy_nodes, g_hash_table_unref);
    drover_journal_free(launcher->parts.journal);
    drover_inheritance_free(launcher->inheritance);
    if (launcher->session_listener != 0)
        drover_session_remove(launcher->session, launcher->session_listener);
    drover_cluster_free(launcher->cluster);
    if (launcher->session != NULL)
        drover_session_close(launcher->session);
    /* Code that a thread is still in cannot be unloaded. */
    if (launcher->open_runners == 0)
        drover_driver_host_free(launcher->drivers);
    g_clear_pointer(&launcher->config, drover_config_unref);
    g_free(launcher->stamp);
    g_free(launcher->config_path);
    g_free(launcher->secure_path);
    g_free(launcher);
}

char *
drover_launcher_dump(DroverLauncher *launcher)
{
    const DroverSessionCounters *counters = drover_session_counters(launcher->session);

    return g_strdup_printf(
        "session 0x%" G_GINT64_MODIFIER "x, %s, %u nodes, %u requests, %u pools registered, "
        "%u providers, %u drivers running; reads %" G_GUINT64_FORMAT
        ", transactions %" G_GUINT64_FORMAT ", writes %" G_GUINT64_FORMAT
        ", events %" G_GUINT64_FORMAT ", batches %" G_GUINT64_FORMAT,
        (guint64)drover_session_id(launcher->session),
        drover_cluster_is_complete(launcher->cluster) ? "caches complete" : "caches not complete",
        drover_cache_size(drover_cluster_nodes(launcher->cluster)),
        drover_cluster_requests(launcher->cluster)->len,
        drover_cluster_pools(launcher->cluster)->len, launcher->managers->len,
        launcher->open_runners, counters->reads, counters->transactions, counters->writes,
        counters->events, counters->batches);
}
