#include "base/log.h"
#include "check/bench-private.h"
#include "driver/cleaned.h"

/* What a driver may take for one call, unless it says that it blocks; as the launcher sees it. */
#define SLOW_MILLISECONDS 1000

/* ---- Mistakes ---- */

void
drover_bench_complain(DroverBench *bench, const char *format, ...)
{
    va_list arguments;

    g_mutex_lock(&bench->lock);
    if (bench->mistake == NULL) {
        va_start(arguments, format);
        bench->mistake = g_strdup_vprintf(format, arguments);
        va_end(arguments);
    }
    g_mutex_unlock(&bench->lock);
}

const char *
drover_bench_mistake(const DroverBench *bench)
{
    return bench->mistake;
}

gint64
drover_bench_enter(void)
{
    return g_get_monotonic_time();
}

void
drover_bench_leave(DroverBench *bench, gint64 entered, const char *function)
{
    gint64 took = (g_get_monotonic_time() - entered) / 1000;

    if (took >= SLOW_MILLISECONDS && (bench->subject->driver->capabilities & DROVER_MAY_BLOCK) == 0)
        drover_bench_complain(bench,
                              "%s() took %" G_GINT64_FORMAT
                              " ms, and the driver does not say DROVER_MAY_BLOCK",
                              function, took);
}

/* ---- What the driver says ---- */

void
drover_bench_hear(DroverBench *bench, const char *function, const char *place, const char *text)
{
    const char *option = drover_check_secrets_find(bench->subject->secrets, text);

    if (option != NULL)
        drover_bench_complain(bench, "%s() writes the secret of the option %s into %s", function,
                              option, place);
}

void
drover_bench_hear_log(DroverBench *bench, const char *function, enum drover_log_level level,
                      const char *text)
{
    g_autofree char *masked = drover_check_secrets_mask(bench->subject->secrets, text);

    drover_log_for(DROVER_LOG_DEBUG, "driver", "%s", masked);
    drover_bench_hear(bench, function, "the log", text);
    if (level < DROVER_DEBUG || level > DROVER_ERR)
        drover_bench_complain(bench, "it logs at level %d, which there is not", (int)level);
    if (!g_utf8_validate(text, -1, NULL))
        drover_bench_complain(bench, "it logs what is not UTF-8");
}

/* ---- The host's part of a provider ---- */

static void
on_log(void *data, enum drover_log_level level, const char *text)
{
    DroverBench *bench = data;

    if (g_atomic_int_get(&bench->closed))
        drover_bench_complain(bench, "it logs after it was closed: %s", text);
    drover_bench_hear_log(bench, "drover_provider_log", level, text);
}

static void
on_fail(void *data, enum drover_failure failure, const char *text)
{
    DroverBench *bench = data;

    g_free(bench->problem);
    bench->problem = g_utf8_make_valid(text, -1);
    drover_bench_hear(bench, "provider_open", "the text of its failure", bench->problem);
    if (failure < DROVER_FAILURE_OTHER || failure > DROVER_FAILURE_NO_ADDRESS)
        drover_bench_complain(bench, "provider_open() fails with class %d, which there is not",
                              (int)failure);
}

static void
on_called(void *data, const char *method, const char *url, int status, int64_t milliseconds)
{
    DroverBench *bench = data;

    if (g_atomic_int_get(&bench->closed))
        drover_bench_complain(bench, "its call %s %s goes on after it was closed", method, url);
}

static void
on_cleaned(void *data, const char *what, uint32_t count)
{
    DroverBench *bench = data;
    const char *problem = drover_cleaned_problem(what, count);

    if (g_atomic_int_get(&bench->closed))
        drover_bench_complain(bench, "it cleans after it was closed");
    if (problem != NULL)
        drover_bench_complain(bench, "drover_provider_cleaned(): it %s", problem);
}

static const struct drover_provider_host host = {.log = on_log,
                                                 .fail = on_fail,
                                                 .called = on_called,
                                                 .backing = drover_bench_on_backing,
                                                 .cleaned = on_cleaned};

static gboolean
open_provider(DroverBench *bench)
{
    gint64 entered = drover_bench_enter();
    int outcome = bench->subject->driver->provider_open(bench->provider, &bench->self);

    drover_bench_leave(bench, entered, "provider_open");
    return outcome == 0;
}

static void
say(DroverBench *bench, void (*function)(void *self), const char *name)
{
    gint64 entered = drover_bench_enter();

    if (function != NULL)
        function(bench->self);
    drover_bench_leave(bench, entered, name);
}

DroverBench *
drover_bench_open(DroverSubject *subject, const char *provider)
{
    DroverBench *bench = g_new0(DroverBench, 1);

    bench->subject = subject;
    g_mutex_init(&bench->lock);
    bench->works = g_ptr_array_new_with_free_func(drover_work_free);
    bench->answers = g_ptr_array_new_with_free_func(drover_bench_end_answer);
    bench->context = g_main_context_ref_thread_default();
    bench->provider = drover_host_provider_new(provider, subject->provider->values, &host, bench);
    if (!open_provider(bench)) {
        if (bench->mistake != NULL)
            drover_subject_fail(subject, "%s", bench->mistake);
        drover_subject_fail(subject, "provider_open() fails: %s",
                            bench->problem != NULL ? bench->problem
                                                   : "without drover_provider_fail()");
        drover_bench_free(bench);
        return NULL;
    }
    say(bench, subject->driver->provider_start, "provider_start");
    drover_bench_begin_backing(bench);
    return bench;
}

void
drover_bench_close(DroverBench *bench)
{
    const struct drover_driver *driver = bench->subject->driver;

    say(bench, driver->provider_idle, "provider_idle");
    say(bench, driver->provider_stop, "provider_stop");
    say(bench, driver->provider_close, "provider_close");
    g_atomic_int_set(&bench->closed, 1);
}

static gboolean
on_over(gpointer data)
{
    *(gboolean *)data = TRUE;
    return G_SOURCE_REMOVE;
}

void
drover_bench_watch(DroverBench *bench, guint milliseconds)
{
    gboolean over = FALSE;
    GSource *timer = g_timeout_source_new(milliseconds);

    g_source_set_callback(timer, on_over, &over, NULL);
    g_source_attach(timer, bench->context);
    while (!over)
        g_main_context_iteration(bench->context, TRUE);
    g_source_unref(timer);
}

void
drover_bench_free(DroverBench *bench)
{
    g_ptr_array_unref(bench->answers);
    g_ptr_array_unref(bench->works);
    drover_host_provider_free(bench->provider);
    g_main_context_unref(bench->context);
    g_mutex_clear(&bench->lock);
    g_free(bench->problem);
    g_free(bench->mistake);
    g_free(bench);
}

void *
drover_bench_self(const DroverBench *bench)
{
    return bench->self;
}
