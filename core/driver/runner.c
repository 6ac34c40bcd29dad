#include "driver/runner-private.h"

#include "base/error.h"
#include "base/log.h"

/*
 * The thread owns itself: it ends when its loop does, and the last it does is to tell the core
 * loop, which then frees the runner. Both sides see the fields of their own part only, save
 * `entered`.
 */
struct _DroverRunner {
    char *name;
    char *logger;
    const struct drover_driver *driver;
    struct drover_value *config;
    GMainContext *context;
    GMainLoop *loop;
    GThread *thread;
    gint64 entered; /* atomic: when the driver was called, in microseconds; 0: it is not */
    GMutex entered_lock;

    /* The core loop's part. */
    GHashTable *tasks; /* submitted and not delivered */
    DroverRunnerOpenFunc opened;
    gpointer opened_data;
    DroverRunnerClosedFunc closed;
    gpointer closed_data;
    gboolean closing;

    /* The provider thread's part. */
    struct drover_provider *provider;
    void *self;
    gboolean open;
    GHashTable *running; /* tasks begun and not ended */
    GPtrArray *machines; /* handed to the core loop once opened */
    GError *problem;
    gboolean ending;
};

/* ---- Small things ---- */

void
drover_runner_enter(DroverRunner *runner)
{
    g_mutex_lock(&runner->entered_lock);
    runner->entered = g_get_monotonic_time();
    g_mutex_unlock(&runner->entered_lock);
}

void
drover_runner_leave(DroverRunner *runner)
{
    g_mutex_lock(&runner->entered_lock);
    runner->entered = 0;
    g_mutex_unlock(&runner->entered_lock);
}

gint64
drover_runner_blocked_for(const DroverRunner *runner)
{
    DroverRunner *mutable_runner = (DroverRunner *)runner;
    gint64 entered;

    g_mutex_lock(&mutable_runner->entered_lock);
    entered = runner->entered;
    g_mutex_unlock(&mutable_runner->entered_lock);
    return entered != 0 ? (g_get_monotonic_time() - entered) / 1000 : 0;
}

const struct drover_driver *
drover_runner_driver(const DroverRunner *runner)
{
    return runner->driver;
}

void *
drover_runner_self(const DroverRunner *runner)
{
    return runner->open ? runner->self : NULL;
}

GMainContext *
drover_runner_context(const DroverRunner *runner)
{
    return runner->context;
}

const char *
drover_runner_name(const DroverRunner *runner)
{
    return runner->name;
}

gboolean
drover_runner_can(const DroverRunner *runner, enum drover_capability capability)
{
    return (runner->driver->capabilities & capability) != 0;
}

guint
drover_runner_tasks(const DroverRunner *runner)
{
    return g_hash_table_size(runner->tasks);
}

void
drover_runner_post(GMainContext *context, GSourceFunc func, gpointer data, GDestroyNotify destroy)
{
    g_autoptr(GSource) source = g_idle_source_new();

    g_source_set_priority(source, G_PRIORITY_DEFAULT);
    g_source_set_callback(source, func, data, destroy);
    g_source_attach(source, context);
}

void
drover_runner_log(const DroverRunner *runner, enum drover_log_level level, const char *node_id,
                  const char *text)
{
    static const DroverLogLevel levels[] = {[DROVER_DEBUG] = DROVER_LOG_DEBUG,
                                            [DROVER_INFO] = DROVER_LOG_INFO,
                                            [DROVER_WARNING] = DROVER_LOG_WARNING,
                                            [DROVER_ERR] = DROVER_LOG_ERROR};
    DroverLogLevel known =
        level >= DROVER_DEBUG && level <= DROVER_ERR ? levels[level] : DROVER_LOG_WARNING;

    drover_log(known, &(DroverLogSubject){.logger = runner->logger, .node_id = node_id}, "%s",
               text);
}

/* ---- The provider's thread ---- */

static void
on_provider_log(void *data, enum drover_log_level level, const char *text)
{
    drover_runner_log(data, level, NULL, text);
}

static void
on_provider_fail(void *data, enum drover_failure failure, const char *text)
{
    DroverRunner *runner = data;

    g_clear_error(&runner->problem);
    g_set_error(&runner->problem, DROVER_ERROR, DROVER_ERROR_FAILED, "%s", text);
}

static const struct drover_provider_host provider_host = {.log = on_provider_log,
                                                          .fail = on_provider_fail};

static void
machine_free(gpointer data)
{
    DroverMachine *machine = data;

    g_free(machine->pool);
    g_free(machine);
}

static void
on_add_machine(void *data, const char *pool, const struct drover_value *config, uint32_t slots)
{
    DroverRunner *runner = data;
    DroverMachine *machine = g_new0(DroverMachine, 1);

    machine->pool = g_strdup(pool);
    machine->config = config;
    machine->slots = slots;
    g_ptr_array_add(runner->machines, machine);
}

static gboolean
open_provider(DroverRunner *runner)
{
    runner->provider =
        drover_host_provider_new(runner->name, runner->config, &provider_host, runner);
    return runner->driver->provider_open(runner->provider, &runner->self) == 0;
}

static gboolean
list_inventory(DroverRunner *runner)
{
    struct drover_inventory *inventory;
    int rc;

    if (!drover_runner_can(runner, DROVER_CAN_INVENTORY))
        return TRUE;
    inventory = drover_host_inventory_new(on_add_machine, runner);
    rc = runner->driver->inventory_list(runner->self, inventory);
    drover_host_inventory_free(inventory);
    return rc == 0;
}

static void
close_provider(DroverRunner *runner)
{
    drover_runner_enter(runner);
    if (runner->open && runner->driver->provider_stop != NULL)
        runner->driver->provider_stop(runner->self);
    if (runner->open && runner->driver->provider_close != NULL)
        runner->driver->provider_close(runner->self);
    runner->open = FALSE;
    runner->self = NULL;
    g_clear_pointer(&runner->provider, drover_host_provider_free);
    drover_runner_leave(runner);
}

static gboolean
deliver_opened(gpointer user_data)
{
    DroverRunner *runner = user_data;

    /* Whoever closed it meanwhile does not want to know any more. */
    if (!runner->closing)
        runner->opened(runner, runner->problem == NULL ? runner->machines : NULL, runner->problem,
                       runner->opened_data);
    return G_SOURCE_REMOVE;
}

static gboolean
on_open(gpointer user_data)
{
    DroverRunner *runner = user_data;

    drover_runner_enter(runner);
    runner->open = open_provider(runner);
    if (runner->open && !list_inventory(runner))
        close_provider(runner);
    if (runner->open && runner->driver->provider_start != NULL)
        runner->driver->provider_start(runner->self);
    drover_runner_leave(runner);
    if (!runner->open && runner->problem == NULL)
        on_provider_fail(runner, DROVER_FAILURE_OTHER, "the driver gave no reason");
    /* What the driver did before it failed may have said why, but it works. */
    if (runner->open)
        g_clear_error(&runner->problem);
    drover_runner_post(NULL, deliver_opened, runner, NULL);
    return G_SOURCE_REMOVE;
}

static gboolean
on_idle(gpointer user_data)
{
    DroverRunner *runner = user_data;

    if (runner->open && runner->driver->provider_idle != NULL) {
        drover_runner_enter(runner);
        runner->driver->provider_idle(runner->self);
        drover_runner_leave(runner);
    }
    return G_SOURCE_REMOVE;
}

static void
end_when_nothing_runs(DroverRunner *runner)
{
    if (!runner->ending || g_hash_table_size(runner->running) > 0)
        return;
    close_provider(runner);
    g_main_loop_quit(runner->loop);
}

static gboolean
on_close(gpointer user_data)
{
    DroverRunner *runner = user_data;

    runner->ending = TRUE;
    end_when_nothing_runs(runner);
    return G_SOURCE_REMOVE;
}

static gboolean
on_cancel_all(gpointer user_data)
{
    DroverRunner *runner = user_data;
    g_autoptr(GPtrArray) tasks = g_ptr_array_new_with_free_func(drover_task_unref);
    GHashTableIter iter;
    gpointer task;

    g_hash_table_iter_init(&iter, runner->running);
    while (g_hash_table_iter_next(&iter, &task, NULL))
        g_ptr_array_add(tasks, drover_task_ref(task));
    for (guint i = 0; i < tasks->len; i++)
        drover_task_cancel_here(tasks->pdata[i]);
    return G_SOURCE_REMOVE;
}

void
drover_runner_task_ended(DroverRunner *runner, DroverTask *task)
{
    g_hash_table_remove(runner->running, task);
    end_when_nothing_runs(runner);
}

static gboolean
on_submit(gpointer user_data)
{
    DroverTask *task = user_data;

    g_hash_table_add(drover_task_runner(task)->running, drover_task_ref(task));
    drover_task_begin(task);
    return G_SOURCE_REMOVE;
}

static gboolean free_runner(gpointer user_data);

static gpointer
run(gpointer user_data)
{
    DroverRunner *runner = user_data;

    g_main_context_push_thread_default(runner->context);
    g_main_loop_run(runner->loop);
    g_main_context_pop_thread_default(runner->context);
    drover_runner_post(NULL, free_runner, runner, NULL);
    return NULL;
}

/* ---- The core loop ---- */

DroverRunner *
drover_runner_new(const struct drover_driver *driver, const char *name,
                  const struct drover_value *config)
{
    DroverRunner *runner = g_new0(DroverRunner, 1);

    runner->name = g_strdup(name);
    runner->logger = g_strdup_printf("driver.%s.%s", driver->name, name);
    runner->driver = driver;
    runner->config = drover_value_copy(config);
    runner->context = g_main_context_new();
    runner->loop = g_main_loop_new(runner->context, FALSE);
    g_mutex_init(&runner->entered_lock);
    runner->tasks = g_hash_table_new_full(NULL, NULL, drover_task_unref, NULL);
    runner->running = g_hash_table_new_full(NULL, NULL, drover_task_unref, NULL);
    runner->machines = g_ptr_array_new_with_free_func(machine_free);
    return runner;
}

static gboolean
free_runner(gpointer user_data)
{
    DroverRunner *runner = user_data;
    DroverRunnerClosedFunc closed = runner->closed;
    gpointer closed_data = runner->closed_data;

    g_thread_join(runner->thread);
    g_hash_table_unref(runner->tasks);
    g_hash_table_unref(runner->running);
    g_ptr_array_unref(runner->machines);
    g_clear_error(&runner->problem);
    g_main_loop_unref(runner->loop);
    g_main_context_unref(runner->context);
    g_mutex_clear(&runner->entered_lock);
    drover_value_free(runner->config);
    g_free(runner->logger);
    g_free(runner->name);
    g_free(runner);
    if (closed != NULL)
        closed(closed_data);
    return G_SOURCE_REMOVE;
}

void
drover_runner_open(DroverRunner *runner, DroverRunnerOpenFunc opened, gpointer user_data)
{
    runner->opened = opened;
    runner->opened_data = user_data;
    runner->thread = g_thread_new("provider", run, runner);
    drover_runner_post(runner->context, on_open, runner, NULL);
}

void
drover_runner_idle(DroverRunner *runner)
{
    drover_runner_post(runner->context, on_idle, runner, NULL);
}

void
drover_runner_close(DroverRunner *runner, gboolean cancel, DroverRunnerClosedFunc closed,
                    gpointer user_data)
{
    runner->closing = TRUE;
    runner->closed = closed;
    runner->closed_data = user_data;
    /* One that was never opened has no thread yet; it gets one to end on. */
    if (runner->thread == NULL)
        runner->thread = g_thread_new("provider", run, runner);
    if (cancel)
        drover_runner_post(runner->context, on_cancel_all, runner, NULL);
    drover_runner_post(runner->context, on_close, runner, NULL);
}

DroverTask *
drover_runner_submit(DroverRunner *runner, DroverTaskKind kind, const DroverTaskInput *input,
                     DroverTaskFunc done, DroverTaskIdFunc id_known, gpointer user_data)
{
    DroverTask *task = drover_task_new(runner, kind, input, done, id_known, user_data);

    g_hash_table_add(runner->tasks, task);
    drover_runner_post(runner->context, on_submit, drover_task_ref(task), drover_task_unref);
    return task;
}

void
drover_runner_task_delivered(DroverRunner *runner, DroverTask *task)
{
    g_hash_table_remove(runner->tasks, task);
}
