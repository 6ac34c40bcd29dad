#include "driver/runner-private.h"

#include "base/error.h"
#include "base/log.h"
#include "driver/watch.h"

/* A driver that does not say that it blocks is expected back sooner. */
#define SLOW_MILLISECONDS 1000
#define MOST_LOG_LINE     (16 * 1024)

/*
 * The thread owns itself: it ends when its loop does, and the last it does is to tell the core
 * loop, which then drops the runner. Each side sees the fields of its own part only; the first
 * ones never change.
 */
struct _DroverRunner {
    gint references; /* atomic: the core loop's, and one for each task and piece of news */
    char *name;
    char *logger;
    const struct drover_driver *driver;
    struct drover_value *config;
    GMainContext *context;
    GMainLoop *loop;
    DroverChannel *to_thread, *to_core;
    DroverWatch *watch;

    /* The core loop's part. */
    GThread *thread;
    GHashTable *tasks; /* submitted and not delivered */
    DroverRunnerOpenFunc opened;
    gpointer opened_data;
    DroverRunnerClosedFunc closed;
    gpointer closed_data;
    gboolean closing;
    DroverRunnerCalledFunc called; /* or NULL; set before the thread begins */
    gpointer called_data;
    DroverRunnerCleanedFunc cleaned; /* likewise */
    gpointer cleaned_data;
    DroverRunnerHealthFunc health; /* or NULL, also when closing */
    gpointer health_data;
    DroverRunnerBackingFunc backing; /* or NULL */
    gpointer backing_data;

    /* The provider thread's part; machines and problem are the core loop's once opened. */
    struct drover_provider *provider;
    void *self;
    gboolean open;
    GHashTable *running; /* tasks begun and not ended */
    GPtrArray *machines;
    GError *problem;
    gboolean ending;
};

/* ---- Messages between the loops ---- */

void
drover_runner_tell_thread(DroverRunner *runner, DroverChannelFunc func, gpointer data,
                          GDestroyNotify destroy)
{
    drover_channel_post(runner->to_thread, func, data, destroy);
}

void
drover_runner_tell_core(DroverRunner *runner, DroverChannelFunc func, gpointer data,
                        GDestroyNotify destroy)
{
    drover_channel_post(runner->to_core, func, data, destroy);
}

/* ---- Calls into the driver ---- */

static void on_close(gpointer data);

void
drover_runner_enter(DroverRunner *runner, const char *function)
{
    drover_watch_enter(runner->watch, function);
}

void
drover_runner_leave(DroverRunner *runner)
{
    gint64 took = drover_watch_leave(runner->watch);
    g_autofree char *text = NULL;

    if (took < 0)
        return;
    if (took >= SLOW_MILLISECONDS && !drover_runner_can(runner, DROVER_MAY_BLOCK)) {
        text = g_strdup_printf("%s() took %" G_GINT64_FORMAT " ms",
                               drover_watch_function(runner->watch), took);
        drover_runner_log(runner, DROVER_INFO, NULL, text);
    }
    /* Asked for while the driver was running the thread's main context. */
    if (runner->ending)
        drover_runner_tell_thread(runner, on_close, runner, NULL);
}

gint64
drover_runner_blocked_for(const DroverRunner *runner)
{
    return drover_watch_blocked_for(runner->watch);
}

/* ---- Small things ---- */

const struct drover_driver *
drover_runner_driver(const DroverRunner *runner)
{
    return runner->driver;
}

gboolean
drover_runner_is_open(const DroverRunner *runner)
{
    return runner->open;
}

void *
drover_runner_self(const DroverRunner *runner)
{
    return runner->self;
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

/* A log may be read in a terminal, which obeys some bytes. */
static char *
printable(const char *text)
{
    g_autofree char *beginning = g_strndup(text, MOST_LOG_LINE);
    char *valid = g_utf8_make_valid(beginning, -1);

    for (char *byte = valid; *byte != '\0'; byte++)
        if (g_ascii_iscntrl(*byte) && *byte != '\n' && *byte != '\t')
            *byte = '?';
    return valid;
}

void
drover_runner_log(const DroverRunner *runner, enum drover_log_level level, const char *node_id,
                  const char *text)
{
    static const DroverLogLevel levels[] = {[DROVER_DEBUG] = DROVER_LOG_DEBUG,
                                            [DROVER_INFO] = DROVER_LOG_INFO,
                                            [DROVER_WARNING] = DROVER_LOG_WARNING,
                                            [DROVER_ERR] = DROVER_LOG_ERROR};
    g_autofree char *line = printable(text);
    DroverLogLevel known =
        level >= DROVER_DEBUG && level <= DROVER_ERR ? levels[level] : DROVER_LOG_WARNING;

    drover_log(
        known,
        &(DroverLogSubject){.logger = runner->logger, .node_id = node_id, .provider = runner->name},
        "%s", line);
}

void
drover_runner_set_called(DroverRunner *runner, DroverRunnerCalledFunc called, gpointer user_data)
{
    runner->called = called;
    runner->called_data = user_data;
}

void
drover_runner_tell_call(const DroverRunner *runner, const char *method, const char *url, int status,
                        gint64 milliseconds)
{
    if (runner->called != NULL)
        runner->called(runner, method, url, status, milliseconds, runner->called_data);
}

void
drover_runner_set_cleaned(DroverRunner *runner, DroverRunnerCleanedFunc cleaned, gpointer user_data)
{
    runner->cleaned = cleaned;
    runner->cleaned_data = user_data;
}

void
drover_runner_tell_cleaned(const DroverRunner *runner, const char *what, guint32 count)
{
    if (runner->cleaned != NULL)
        runner->cleaned(runner, what, count, runner->cleaned_data);
}

void
drover_runner_set_backing(DroverRunner *runner, DroverRunnerBackingFunc backing, gpointer user_data)
{
    runner->backing = backing;
    runner->backing_data = user_data;
}

void
drover_runner_tell_backing(const DroverRunner *runner, const struct drover_backing_call *call)
{
    if (runner->backing != NULL)
        runner->backing(call, runner->backing_data);
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
    g_autofree char *valid = g_utf8_make_valid(text, -1);

    g_clear_error(&runner->problem);
    g_set_error_literal(
        &runner->problem, DROVER_ERROR,
        failure == DROVER_FAILURE_PERMANENT ? DROVER_ERROR_CONFIG : DROVER_ERROR_FAILED, valid);
}

typedef struct {
    DroverRunner *runner;
    char *text;
} Trouble;

static void
trouble_free(gpointer data)
{
    Trouble *trouble = data;

    drover_runner_unref(trouble->runner);
    g_free(trouble->text);
    g_free(trouble);
}

static void
on_trouble(gpointer data)
{
    const Trouble *trouble = data;

    drover_watch_set_trouble(trouble->runner->watch, trouble->text);
}

static void
on_provider_trouble(void *data, const char *text)
{
    Trouble *trouble = g_new0(Trouble, 1);

    trouble->runner = drover_runner_ref(data);
    trouble->text = g_strdup(text);
    drover_runner_tell_core(data, on_trouble, trouble, trouble_free);
}

/* A late call of the driver's may have kept it. */
static void
on_provider_released(void *data)
{
    drover_runner_unref(data);
}

static const struct drover_provider_host provider_host = {
    .log = on_provider_log,
    .fail = on_provider_fail,
    .called = drover_runner_on_called,
    .trouble = on_provider_trouble,
    .backing = drover_runner_on_backing,
    .cleaned = drover_runner_on_cleaned,
    .released = on_provider_released,
};

static gboolean
open_provider(DroverRunner *runner)
{
    int outcome;

    runner->provider = drover_host_provider_new(runner->name, runner->config, &provider_host,
                                                drover_runner_ref(runner));
    drover_runner_enter(runner, "provider_open");
    outcome = runner->driver->provider_open(runner->provider, &runner->self);
    drover_runner_leave(runner);
    return outcome == 0;
}

static gboolean
list_inventory(DroverRunner *runner)
{
    return !drover_runner_can(runner, DROVER_CAN_INVENTORY) ||
           drover_inventory_list(runner, runner->config, runner->machines);
}

static void
say(DroverRunner *runner, void (*function)(void *self), const char *name)
{
    if (function == NULL)
        return;
    drover_runner_enter(runner, name);
    function(runner->self);
    drover_runner_leave(runner);
}

static void
close_provider(DroverRunner *runner)
{
    say(runner, runner->driver->provider_close, "provider_close");
    runner->open = FALSE;
}

static void
deliver_opened(gpointer data)
{
    DroverRunner *runner = data;

    /* Whoever closed it meanwhile does not want to know any more. */
    if (!runner->closing)
        runner->opened(runner, runner->problem == NULL ? runner->machines : NULL, runner->problem,
                       runner->opened_data);
}

static void
on_open(gpointer data)
{
    DroverRunner *runner = data;
    gboolean made = open_provider(runner);

    runner->open = made && list_inventory(runner);
    if (runner->open) {
        /* What the driver said on the way did not keep it from opening. */
        g_clear_error(&runner->problem);
        say(runner, runner->driver->provider_start, "provider_start");
    } else {
        if (runner->problem == NULL)
            on_provider_fail(runner, DROVER_FAILURE_OTHER, "the driver gave no reason");
        if (made)
            close_provider(runner);
    }
    drover_runner_tell_core(runner, deliver_opened, runner, NULL);
}

static void
on_close(gpointer data)
{
    DroverRunner *runner = data;

    runner->ending = TRUE;
    if (drover_watch_is_inside(runner->watch) || g_hash_table_size(runner->running) > 0 ||
        !g_main_loop_is_running(runner->loop))
        return;
    if (runner->open) {
        say(runner, runner->driver->provider_stop, "provider_stop");
        close_provider(runner);
    }
    g_clear_pointer(&runner->provider, drover_host_provider_free);
    g_main_loop_quit(runner->loop);
}

static void
on_cancel_all(gpointer data)
{
    DroverRunner *runner = data;
    g_autoptr(GPtrArray) tasks = g_ptr_array_new_with_free_func(drover_task_unref);
    GHashTableIter iter;
    gpointer task;

    g_hash_table_iter_init(&iter, runner->running);
    while (g_hash_table_iter_next(&iter, &task, NULL))
        g_ptr_array_add(tasks, drover_task_ref(task));
    for (guint i = 0; i < tasks->len; i++)
        drover_task_cancel_here(tasks->pdata[i]);
}

void
drover_runner_task_ended(DroverRunner *runner, DroverTask *task)
{
    g_hash_table_remove(runner->running, task);
    if (runner->ending)
        on_close(runner);
}

static void
on_submit(gpointer data)
{
    DroverTask *task = data;

    g_hash_table_add(drover_task_runner(task)->running, drover_task_ref(task));
    drover_task_begin(task);
}

static void on_ended(gpointer data);

static gpointer
run(gpointer data)
{
    DroverRunner *runner = data;

    g_main_context_push_thread_default(runner->context);
    g_main_loop_run(runner->loop);
    g_main_context_pop_thread_default(runner->context);
    drover_runner_tell_core(runner, on_ended, runner, NULL);
    return NULL;
}

/* ---- The core loop ---- */

DroverRunner *
drover_runner_new(const struct drover_driver *driver, const char *name,
                  const struct drover_value *config)
{
    DroverRunner *runner = g_new0(DroverRunner, 1);

    runner->references = 1;
    runner->name = g_strdup(name);
    runner->logger = g_strdup_printf("driver.%s.%s", driver->name, name);
    drover_log_declare(runner->logger);
    runner->driver = driver;
    runner->config = drover_value_copy(config);
    runner->context = g_main_context_new();
    runner->loop = g_main_loop_new(runner->context, FALSE);
    runner->to_thread = drover_channel_new(runner->context);
    runner->to_core = drover_channel_new(NULL);
    runner->tasks = g_hash_table_new_full(NULL, NULL, drover_task_unref, NULL);
    runner->running = g_hash_table_new_full(NULL, NULL, drover_task_unref, NULL);
    runner->machines = drover_inventory_new();
    runner->watch = drover_watch_new();
    return runner;
}

DroverRunner *
drover_runner_ref(DroverRunner *runner)
{
    g_atomic_int_inc(&runner->references);
    return runner;
}

void
drover_runner_unref(DroverRunner *runner)
{
    if (!g_atomic_int_dec_and_test(&runner->references))
        return;
    g_hash_table_unref(runner->tasks);
    g_hash_table_unref(runner->running);
    g_ptr_array_unref(runner->machines);
    g_clear_error(&runner->problem);
    drover_channel_unref(runner->to_thread);
    drover_channel_unref(runner->to_core);
    g_main_loop_unref(runner->loop);
    g_main_context_unref(runner->context);
    drover_value_free(runner->config);
    drover_watch_free(runner->watch);
    g_free(runner->logger);
    g_free(runner->name);
    g_free(runner);
}

static void
on_ended(gpointer data)
{
    DroverRunner *runner = data;

    /* Tasks that came too late are being answered. */
    if (g_hash_table_size(runner->tasks) > 0) {
        drover_runner_tell_core(runner, on_ended, runner, NULL);
        return;
    }
    g_thread_join(runner->thread);
    drover_watch_end(runner->watch);
    /* Nobody reads them any more. */
    drover_channel_close(runner->to_thread);
    drover_channel_close(runner->to_core);
    if (runner->closed != NULL)
        runner->closed(runner->closed_data);
    drover_runner_unref(runner);
}

static void
on_health(gpointer data)
{
    DroverRunner *runner = data;
    const char *problem = drover_watch_problem(runner->watch);
    g_autofree char *text =
        problem != NULL ? g_strconcat("unhealthy: ", problem, NULL) : g_strdup("healthy again");

    drover_runner_log(runner, problem != NULL ? DROVER_ERR : DROVER_INFO, NULL, text);
    if (runner->health != NULL)
        runner->health(runner, problem, runner->health_data);
}

void
drover_runner_set_health(DroverRunner *runner, DroverRunnerHealthFunc health, gpointer user_data)
{
    runner->health = health;
    runner->health_data = user_data;
}

const char *
drover_runner_problem(const DroverRunner *runner)
{
    return drover_watch_problem(runner->watch);
}

static void
start_thread(DroverRunner *runner)
{
    runner->thread = g_thread_new("provider", run, runner);
    drover_watch_begin(runner->watch, drover_watch_limit(runner->driver, runner->config), on_health,
                       runner);
}

void
drover_runner_open(DroverRunner *runner, DroverRunnerOpenFunc opened, gpointer user_data)
{
    runner->opened = opened;
    runner->opened_data = user_data;
    start_thread(runner);
    drover_runner_tell_thread(runner, on_open, runner, NULL);
}

void
drover_runner_close(DroverRunner *runner, gboolean cancel, DroverRunnerClosedFunc closed,
                    gpointer user_data)
{
    runner->closing = TRUE;
    runner->health = NULL;
    runner->closed = closed;
    runner->closed_data = user_data;
    /* One that was never opened has no thread yet; it gets one to end on. */
    if (runner->thread == NULL)
        start_thread(runner);
    if (cancel)
        drover_runner_tell_thread(runner, on_cancel_all, runner, NULL);
    drover_runner_tell_thread(runner, on_close, runner, NULL);
}

DroverTask *
drover_runner_submit(DroverRunner *runner, DroverTaskKind kind, const DroverTaskInput *input,
                     DroverTaskFunc done, DroverTaskIdFunc id_known, gpointer user_data)
{
    DroverTask *task = drover_task_new(runner, kind, input, done, id_known, user_data);

    g_hash_table_add(runner->tasks, task);
    if (runner->closing)
        drover_task_refuse(task);
    else
        drover_runner_tell_thread(runner, on_submit, drover_task_ref(task), drover_task_unref);
    return task;
}

void
drover_runner_task_delivered(DroverRunner *runner, DroverTask *task)
{
    g_hash_table_remove(runner->tasks, task);
}
