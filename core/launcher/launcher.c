#include "launcher/launcher-private.h"

#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "launcher/cluster/host-name.h"
#include "launcher/request/room.h"
#include "launcher/survey.h"
#include "model/connection.h"

#define DEFAULT_SYNC_SECONDS    60
#define DEFAULT_CLEANUP_SECONDS 60
#define DEFAULT_DELETE_SECONDS  600
#define SWEEP_TICKS             5
#define MOST_SCANS              100 /* of a provider at a time */

/* ---- The pass ---- */

static const char *
state_name(const DroverLauncher *launcher)
{
    if (launcher->graceful)
        return "stopping";
    if (launcher->paused)
        return "paused";
    return launcher->passed ? "running" : "initializing";
}

static GBytes *
component_record(const DroverLauncher *launcher)
{
    DroverComponent component = {.hostname = (char *)drover_host_name(),
                                 .kind = (char *)"launcher",
                                 .state = (char *)state_name(launcher),
                                 .version = (char *)DROVER_VERSION,
                                 .model_api = DROVER_MODEL_API};

    return drover_component_encode(&component);
}

void
drover_launcher_announce(DroverLauncher *launcher)
{
    g_autoptr(GBytes) record = component_record(launcher);

    drover_registration_update(launcher->component, record);
}

static void
announce_running(DroverLauncher *launcher)
{
    launcher->passed = TRUE;
    drover_backing_report_orphans(launcher->cluster, launcher->config);
    drover_launcher_announce(launcher);
}

DroverPool *
drover_launcher_find_pool(DroverLauncher *launcher, const char *provider, const char *name)
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

    /* Pools that a launcher dropped because it stops do not come back. */
    for (guint i = 0; !launcher->graceful && i < launcher->managers->len; i++) {
        DroverManager *manager = launcher->managers->pdata[i];
        const DroverProviderConfig *config = drover_manager_config(manager);

        for (guint k = 0; drover_manager_problem(manager) == NULL && k < config->pools->len; k++) {
            const DroverPoolConfig *pool_config = config->pools->pdata[k];
            DroverPool *pool = drover_launcher_find_pool(launcher, config->name, pool_config->name);

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

/* A handler of its request may be about to take it up. */
static gboolean
is_of_handler(DroverLauncher *launcher, const DroverNode *node)
{
    return (node->state == DROVER_NODE_INIT || node->state == DROVER_NODE_BUILDING ||
            node->state == DROVER_NODE_READY) &&
           node->allocated_to != NULL && is_served(launcher, node->allocated_to);
}

/* The id is that of a request or of a node. */
static gboolean
is_in_use(const char *id, gpointer user_data)
{
    DroverLauncher *launcher = user_data;
    const DroverNode *node = drover_cluster_node(launcher->cluster, id);

    return is_served(launcher, id) || g_hash_table_contains(launcher->parts.busy_nodes, id) ||
           (node != NULL && is_of_handler(launcher, node));
}

static gboolean
is_own_pool(const char *launcher_id, gpointer user_data)
{
    DroverLauncher *launcher = user_data;

    for (guint i = 0; i < launcher->pools->len; i++)
        if (strcmp(drover_pool_launcher_id(launcher->pools->pdata[i]), launcher_id) == 0)
            return TRUE;
    return FALSE;
}

static void
on_given_up(gpointer user_data)
{
    drover_cleaner_hurry(((DroverLauncher *)user_data)->cleaner);
}

/* Once all pools have taken up what is theirs. */
static void
settle_inheritance(DroverLauncher *launcher)
{
    static const DroverInheritanceHooks hooks = {
        .in_use = is_in_use, .is_own = is_own_pool, .given_up = on_given_up};

    launcher->inheritance = drover_inheritance_new(&launcher->parts, &hooks, launcher);
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
    drover_backing_step_all(launcher->parts.backings);
    coming = coming_pools(launcher);
    for (guint i = 0; i < launcher->pools->len; i++)
        drover_pool_pass(launcher->pools->pdata[i], coming);
    drover_standby_step(launcher->standby);
    if (launcher->inheritance == NULL && coming->len == 0 && !launcher->graceful)
        settle_inheritance(launcher);
    if (!launcher->passed)
        announce_running(launcher);
    return G_SOURCE_REMOVE;
}

/* Many pieces of news that come together cost one pass. */
void
drover_launcher_wake(gpointer user_data)
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

static DroverManager *
find_deleting_manager(const char *provider, gpointer user_data)
{
    return drover_launcher_deletes(user_data) ? find_manager(provider, user_data) : NULL;
}

static void
on_node(const char *id, const DroverNode *old, const DroverNode *new_node, gpointer user_data)
{
    DroverLauncher *launcher = user_data;
    const DroverNode *node = new_node != NULL ? new_node : old;
    DroverManager *manager = node->provider != NULL ? find_manager(node->provider, launcher) : NULL;

    drover_usage_note(launcher->parts.usage, id, new_node);
    drover_standby_note_node(launcher->standby, old, new_node);
    drover_backing_note_node(launcher->parts.backings, id, new_node);
    for (guint i = 0; i < launcher->managers->len; i++)
        drover_manager_note_node(launcher->managers->pdata[i], id, new_node);
    for (guint i = 0; i < launcher->pools->len; i++)
        drover_pool_note_node(launcher->pools->pdata[i], id, new_node);
    if (new_node != NULL)
        drover_deleter_note_node(launcher->deleter, id);
    else if (manager != NULL)
        drover_manager_node_deleted(manager, old);
    drover_launcher_wake(launcher);
}

static void
on_node_lock(const char *id, DroverCacheLock lock, gpointer user_data)
{
    DroverLauncher *launcher = user_data;

    for (guint i = 0; i < launcher->pools->len; i++)
        drover_pool_note_node_lock(launcher->pools->pdata[i], id, lock);
    if (lock == DROVER_CACHE_LOCK_FREE)
        drover_deleter_note_node(launcher->deleter, id);
    drover_launcher_wake(launcher);
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
        drover_launcher_wake(launcher);
    drover_backing_note_request(launcher->parts.backings, id, new_request);
}

static void
on_pools(gpointer user_data)
{
    DroverLauncher *launcher = user_data;

    for (guint i = 0; i < launcher->pools->len; i++)
        drover_pool_note_registry(launcher->pools->pdata[i]);
    drover_model_version_note_pools(launcher->model_version);
    drover_launcher_wake(launcher);
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

/* A pool offers the label, and its image is there. */
static gboolean
offers(DroverManager *manager, const char *label)
{
    const char *const labels[] = {label, NULL};
    const DroverProviderConfig *config = drover_manager_config(manager);

    for (guint i = 0; i < config->pools->len; i++) {
        const DroverPoolConfig *pool = config->pools->pdata[i];
        g_autofree char *reason = NULL;

        if (g_strv_contains((const char *const *)pool->labels, label) &&
            drover_facts_label_error(drover_manager_facts(manager), label) == NULL &&
            drover_room_for_images(manager, pool, labels, &reason) == DROVER_ROOM_FITS)
            return TRUE;
    }
    return FALSE;
}

static gboolean
can_make(const char *label, gpointer user_data)
{
    DroverLauncher *launcher = user_data;

    for (guint i = 0; drover_launcher_accepts(launcher) && i < launcher->managers->len; i++) {
        DroverManager *manager = launcher->managers->pdata[i];

        if (drover_manager_is_running(manager) && !drover_manager_has_inventory(manager) &&
            offers(manager, label))
            return TRUE;
    }
    return FALSE;
}

static const DroverStandbyHooks standby_hooks = {.can_make = can_make,
                                                 .wake = drover_launcher_wake};

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

static gboolean
tick(gpointer user_data)
{
    DroverLauncher *launcher = user_data;

    drover_launcher_look_at_files(launcher);
    if (drover_cluster_is_complete(launcher->cluster) && ++launcher->ticks % SWEEP_TICKS == 0)
        drover_deleter_sweep(launcher->deleter);
    drover_launcher_wake(launcher);
    drover_launcher_go_on_stopping(launcher);
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
    drover_launcher_note_end(user_data);
}

static void
begin_work(DroverLauncher *launcher, const char *state_dir)
{
    static const DroverClusterListener listener = {.node_changed = on_node,
                                                   .node_lock_changed = on_node_lock,
                                                   .request_changed = on_request,
                                                   .pools_changed = on_pools,
                                                   .settled = drover_launcher_wake,
                                                   .complete_changed = on_complete};
    g_autoptr(GBytes) record = component_record(launcher);

    launcher->session_listener =
        drover_session_add_listener(launcher->session, on_session, launcher);
    launcher->parts.images = drover_images_new(launcher->session, drover_launcher_wake, launcher);
    launcher->parts.scanner = drover_scanner_new(MOST_SCANS);
    launcher->parts.usage = drover_usage_new(find_cost, launcher);
    launcher->parts.journal = drover_journal_new(state_dir);
    launcher->parts.telemetry = drover_telemetry_new();
    launcher->parts.busy_nodes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    launcher->parts.taken_up = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    launcher->parts.backings = g_ptr_array_new();
    launcher->parts.work = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    launcher->parts.closed = on_request_closed;
    launcher->parts.closed_data = launcher;
    launcher->cluster = drover_cluster_new(launcher->session, &listener, launcher);
    launcher->parts.cluster = launcher->cluster;
    launcher->model_version = drover_model_version_new(launcher->cluster, DROVER_MODEL_API);
    launcher->deleter = drover_deleter_new(launcher->cluster, find_deleting_manager, launcher);
    launcher->cleaner = drover_cleaner_new(launcher->cluster, launcher->config,
                                           launcher->cleanup_interval, find_manager, launcher);
    launcher->standby =
        drover_standby_new(launcher->cluster, launcher->config, &standby_hooks, launcher);
    launcher->component =
        drover_registration_new(launcher->session, DROVER_LAUNCHERS_PATH, drover_host_name(),
                                record, take_over_component, NULL, NULL);
    drover_launcher_apply_config(launcher, g_steal_pointer(&launcher->config), NULL);
    if (launcher->parts.telemetry->statsd != NULL)
        drover_launcher_begin_survey(launcher);
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
    launcher->parts.delete_timeout =
        options->delete_timeout > 0 ? options->delete_timeout : DEFAULT_DELETE_SECONDS;
    launcher->started = g_get_monotonic_time();
    launcher->stop_limit = options->stop_limit;
    launcher->stopped = options->stopped;
    launcher->stopped_data = options->stopped_data;
    launcher->managers = g_ptr_array_new();
    launcher->pools = g_ptr_array_new_with_free_func((GDestroyNotify)drover_pool_free);
    launcher->drivers = drover_driver_host_new((const char *const *)directories);
    launcher->stamp = drover_config_stamp(launcher->config_path, launcher->secure_path);
    launcher->config = drover_launcher_load_config(launcher->config_path, launcher->secure_path,
                                                   launcher->drivers);
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

void
drover_launcher_free(DroverLauncher *launcher)
{
    drover_launcher_end_work(launcher);
    drover_survey_free(launcher->survey);
    g_clear_handle_id(&launcher->stop_timer, g_source_remove);
    g_clear_handle_id(&launcher->stop_source, g_source_remove);
    g_ptr_array_unref(launcher->pools);
    g_ptr_array_unref(launcher->managers);
    drover_deleter_free(launcher->deleter);
    drover_standby_free(launcher->standby);
    drover_images_free(launcher->parts.images);
    drover_scanner_free(launcher->parts.scanner);
    drover_usage_free(launcher->parts.usage);
    g_clear_pointer(&launcher->parts.work, g_hash_table_unref);
    g_clear_pointer(&launcher->parts.busy_nodes, g_hash_table_unref);
    g_clear_pointer(&launcher->parts.taken_up, g_hash_table_unref);
    g_clear_pointer(&launcher->parts.backings, g_ptr_array_unref);
    drover_journal_free(launcher->parts.journal);
    drover_telemetry_free(launcher->parts.telemetry);
    drover_inheritance_free(launcher->inheritance);
    if (launcher->session_listener != 0)
        drover_session_remove(launcher->session, launcher->session_listener);
    launcher->parts.cluster = NULL;
    drover_model_version_free(launcher->model_version);
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
