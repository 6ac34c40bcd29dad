#include "launcher/provider/manager.h"

#include <string.h>

#include "base/log.h"
#include "launcher/provider/leaks.h"

#define LOGGER              "ProviderManager"
#define FIRST_RETRY_SECONDS 2
#define LAST_RETRY_SECONDS  60

struct _DroverManager {
    DroverParts *parts;
    DroverDriverHost *drivers;
    DroverConfig *config; /* holds `own` */
    const DroverProviderConfig *own;
    DroverConfig *runner_config; /* that the runner and the registrar were made from ... */
    const DroverProviderConfig *runner_own; /* ... and the provider in it */
    guint sync_interval;
    const DroverManagerHooks *hooks;
    gpointer user_data;
    const struct drover_driver *driver;
    DroverRunner *runner;
    DroverRegistrar *registrar;
    DroverFacts *facts;
    DroverLeaks *leaks;
    DroverBacking *backing;
    gboolean running, has_inventory, retired;
    char *problem;
    guint retry_timer, retry_seconds;
    guint active, work; /* what counts for max-concurrency, and all */
};

static void start(DroverManager *manager);

static gboolean
retry(gpointer user_data)
{
    DroverManager *manager = user_data;

    manager->retry_timer = 0;
    start(manager);
    return G_SOURCE_REMOVE;
}

/* What a runner needs until it has ended. */
typedef struct {
    DroverConfig *config;
    const DroverManagerHooks *hooks;
    gpointer user_data;
} Ending;

static void
on_runner_closed(gpointer user_data)
{
    g_autofree Ending *ending = user_data;

    drover_config_unref(ending->config);
    ending->hooks->runner_ended(ending->user_data);
}

static void
drop_runner(DroverManager *manager, gboolean cancel)
{
    Ending *ending;

    g_clear_pointer(&manager->registrar, drover_registrar_free);
    g_clear_pointer(&manager->facts, drover_facts_free);
    g_clear_pointer(&manager->leaks, drover_leaks_free);
    g_clear_pointer(&manager->backing, drover_backing_free);
    manager->running = FALSE;
    if (manager->runner == NULL)
        return;
    ending = g_new0(Ending, 1);
    ending->config = g_steal_pointer(&manager->runner_config);
    ending->hooks = manager->hooks;
    ending->user_data = manager->user_data;
    drover_runner_close(g_steal_pointer(&manager->runner), cancel, on_runner_closed, ending);
}

static void
fail(DroverManager *manager, const char *reason)
{
    drover_log_for(DROVER_LOG_ERROR, LOGGER, "Provider %s cannot start: %s; next try in %u s",
                   manager->own->name, reason, manager->retry_seconds);
    g_free(manager->problem);
    manager->problem = g_strdup(reason);
    drop_runner(manager, TRUE);
    manager->retry_timer = g_timeout_add_seconds(manager->retry_seconds, retry, manager);
    manager->retry_seconds = MIN(manager->retry_seconds * 2, LAST_RETRY_SECONDS);
    manager->hooks->changed(manager, manager->user_data);
}

static void
on_facts(gpointer user_data)
{
    DroverManager *manager = user_data;

    manager->hooks->woken(manager->user_data);
}

static void
on_opened(DroverRunner *runner, const GPtrArray *machines, const GError *error, gpointer user_data)
{
    DroverManager *manager = user_data;

    if (error != NULL) {
        fail(manager, error->message);
        return;
    }
    g_clear_pointer(&manager->problem, g_free);
    manager->retry_seconds = FIRST_RETRY_SECONDS;
    manager->running = TRUE;
    if (manager->has_inventory)
        manager->registrar = drover_registrar_new(
            manager->parts->cluster, runner, manager->runner_own, machines, manager->sync_interval);
    else
        manager->facts = drover_facts_new(manager->parts->cluster, runner, manager->driver,
                                          manager->runner_own, on_facts, manager);
    manager->leaks = drover_leaks_new(manager->parts->cluster, runner, manager->parts->telemetry);
    if (drover_runner_can(runner, DROVER_CAN_BACKING))
        manager->backing = drover_backing_new(manager->parts, manager->own->driver, runner,
                                              manager->hooks->woken, manager->user_data);
    drover_log_for(DROVER_LOG_INFO, LOGGER, "Provider %s started (driver %s)", manager->own->name,
                   manager->own->driver);
    manager->hooks->changed(manager, manager->user_data);
}

static void
on_health(const DroverRunner *runner, const char *problem, gpointer user_data)
{
    DroverManager *manager = user_data;

    manager->hooks->changed(manager, manager->user_data);
}

static void
on_called(const DroverRunner *runner, const char *method, const char *url, int status,
          gint64 milliseconds, gpointer telemetry)
{
    drover_telemetry_note_call(telemetry, drover_runner_name(runner), method, url, status,
                               milliseconds);
}

static void
on_cleaned(const DroverRunner *runner, const char *what, guint32 count, gpointer telemetry)
{
    drover_telemetry_note_cleaned(telemetry, drover_runner_name(runner), what, count);
}

static void
start(DroverManager *manager)
{
    g_autoptr(GError) error = NULL;
    const char *isolation = drover_value_get_string(manager->own->values, "isolation", "none");
    const struct drover_driver *driver =
        strcmp(isolation, "process") == 0
            ? drover_driver_host_find_isolated(manager->drivers, manager->own->driver, &error)
            : drover_driver_host_find(manager->drivers, manager->own->driver, &error);

    if (driver == NULL || manager->own->problem != NULL) {
        fail(manager, driver == NULL ? error->message : manager->own->problem);
        return;
    }
    manager->driver = driver;
    manager->has_inventory = (driver->capabilities & DROVER_CAN_INVENTORY) != 0;
    manager->runner_config = drover_config_ref(manager->config);
    manager->runner_own = manager->own;
    manager->runner = drover_runner_new(driver, manager->own->name, manager->own->values);
    drover_runner_set_called(manager->runner, on_called, manager->parts->telemetry);
    drover_runner_set_cleaned(manager->runner, on_cleaned, manager->parts->telemetry);
    drover_runner_set_health(manager->runner, on_health, manager);
    manager->hooks->runner_began(manager->user_data);
    drover_runner_open(manager->runner, on_opened, manager);
}

static gboolean
start_soon(gpointer user_data)
{
    return retry(user_data);
}

DroverManager *
drover_manager_new(DroverParts *parts, DroverDriverHost *drivers, DroverConfig *config,
                   const DroverProviderConfig *own, guint sync_interval,
                   const DroverManagerHooks *hooks, gpointer user_data)
{
    DroverManager *manager = g_new0(DroverManager, 1);

    manager->parts = parts;
    manager->drivers = drivers;
    manager->config = drover_config_ref(config);
    manager->own = own;
    manager->sync_interval = sync_interval;
    manager->hooks = hooks;
    manager->user_data = user_data;
    manager->retry_seconds = FIRST_RETRY_SECONDS;
    manager->retry_timer = g_idle_add(start_soon, manager);
    return manager;
}

void
drover_manager_set_config(DroverManager *manager, DroverConfig *config,
                          const DroverProviderConfig *own)
{
    drover_config_ref(config);
    drover_config_unref(manager->config);
    manager->config = config;
    manager->own = own;
}

static void
free_when_idle(DroverManager *manager)
{
    if (!manager->retired || manager->work > 0)
        return;
    drop_runner(manager, FALSE);
    drover_config_unref(manager->config);
    g_free(manager->problem);
    g_free(manager);
}

void
drover_manager_retire(DroverManager *manager)
{
    if (manager == NULL)
        return;
    g_clear_handle_id(&manager->retry_timer, g_source_remove);
    g_clear_pointer(&manager->registrar, drover_registrar_free);
    g_clear_pointer(&manager->leaks, drover_leaks_free);
    if (manager->runner != NULL) {
        drover_runner_set_health(manager->runner, NULL, NULL);
        drover_runner_idle(manager->runner);
    }
    manager->retired = TRUE;
    free_when_idle(manager);
}

const char *
drover_manager_name(const DroverManager *manager)
{
    return manager->own->name;
}

const DroverProviderConfig *
drover_manager_config(const DroverManager *manager)
{
    return manager->own;
}

gboolean
drover_manager_is_running(const DroverManager *manager)
{
    return manager->running;
}

const char *
drover_manager_problem(const DroverManager *manager)
{
    return manager->problem;
}

const char *
drover_manager_illness(const DroverManager *manager)
{
    return manager->runner != NULL ? drover_runner_problem(manager->runner) : NULL;
}

gboolean
drover_manager_has_inventory(const DroverManager *manager)
{
    return manager->has_inventory;
}

DroverParts *
drover_manager_parts(const DroverManager *manager)
{
    return manager->parts;
}

const struct drover_driver *
drover_manager_driver(const DroverManager *manager)
{
    return manager->driver;
}

DroverRunner *
drover_manager_runner(const DroverManager *manager)
{
    return manager->runner;
}

const DroverProviderConfig *
drover_manager_runner_config(const DroverManager *manager)
{
    return manager->runner_own;
}

DroverFacts *
drover_manager_facts(const DroverManager *manager)
{
    return manager->facts;
}

DroverBacking *
drover_manager_backing(const DroverManager *manager)
{
    return manager->backing;
}

/* ---- Work ---- */

typedef struct {
    DroverManager *manager;
    DroverWorkKind kind;
    GDestroyNotify drop;
} Work;

void
drover_manager_add_work(DroverManager *manager, DroverWorkKind kind, GDestroyNotify drop,
                        gpointer work)
{
    Work *entry = g_new0(Work, 1);

    entry->manager = manager;
    entry->kind = kind;
    entry->drop = drop;
    manager->work++;
    manager->active += kind != DROVER_WORK_DELETION;
    g_hash_table_insert(manager->parts->work, work, entry);
}

void
drover_manager_remove_work(DroverManager *manager, gpointer work)
{
    const Work *entry = g_hash_table_lookup(manager->parts->work, work);

    manager->work--;
    manager->active -= entry->kind != DROVER_WORK_DELETION;
    g_hash_table_remove(manager->parts->work, work);
    free_when_idle(manager);
}

void
drover_parts_drop_work(DroverParts *parts)
{
    g_autoptr(GList) all = g_hash_table_get_keys(parts->work);

    for (GList *one = all; one != NULL; one = one->next) {
        const Work *entry = g_hash_table_lookup(parts->work, one->data);

        if (entry != NULL && entry->drop != NULL)
            entry->drop(one->data);
    }
}

guint
drover_manager_active(const DroverManager *manager)
{
    return manager->active;
}

void
drover_manager_step(DroverManager *manager)
{
    if (manager->registrar != NULL)
        drover_registrar_step(manager->registrar);
}

void
drover_manager_clean_leaks(DroverManager *manager)
{
    if (manager->leaks != NULL)
        drover_leaks_run(manager->leaks);
}

void
drover_manager_note_node(DroverManager *manager, const char *id, const DroverNode *node)
{
    if (manager->registrar != NULL)
        drover_registrar_note_node(manager->registrar, id, node);
}

void
drover_manager_node_deleted(DroverManager *manager, const DroverNode *node)
{
    /* One that never had a machine makes no room. */
    if (manager->facts != NULL && node->external_id != NULL)
        drover_facts_note_deleted(manager->facts);
    if (manager->running)
        drover_runner_node_deleted(manager->runner, node->id);
}

void
drover_manager_deregister(DroverManager *manager, const DroverNode *node)
{
    if (manager->registrar != NULL)
        drover_registrar_deregister(manager->registrar, node);
}

DroverTask *
drover_manager_check_node(DroverManager *manager, const DroverNode *node, DroverTaskFunc done,
                          gpointer user_data)
{
    const struct drover_value *machine =
        manager->registrar != NULL ? drover_registrar_machine(manager->registrar, node) : NULL;
    DroverTaskInput input = {.node_id = node->id, .pool = node->pool, .label_config = machine};

    if (machine == NULL)
        return NULL;
    return drover_runner_submit(manager->runner, DROVER_TASK_SLOT_CHECK, &input, done, NULL,
                                user_data);
}
