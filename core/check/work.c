#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "check/bench-private.h"

/* As the launcher does. */
#define USUAL_PAUSE_MILLISECONDS 1000
#define MOST_SAVED               (64 * 1024)
/* How long an operation that has ended is listened to: what is on its way arrives. */
#define LATE_MILLISECONDS 20

static void
unref_json(gpointer value)
{
    json_decref(value);
}

static const struct drover_driver *
driver_of(const DroverWork *work)
{
    return work->bench->subject->driver;
}

/* ---- Life ---- */

/*
 * The driver's state is released while the handle still lives, so that what the driver goes on to
 * say of the operation is heard, and noted as a mistake. A launcher would not hear it.
 */
static void
end(DroverWork *work)
{
    gint64 entered;

    if (work->op == NULL)
        return;
    entered = drover_bench_enter();
    drover_operation_set_state(work->op, NULL, NULL);
    drover_bench_leave(work->bench, entered, work->function);
    work->over = TRUE;
    drover_bench_watch(work->bench, LATE_MILLISECONDS);
    g_clear_pointer(&work->op, drover_host_operation_free);
}

void
drover_work_drop(DroverWork *work)
{
    work->failed = TRUE;
    end(work);
}

void
drover_work_free(gpointer data)
{
    DroverWork *work = data;

    g_clear_pointer(&work->op, drover_host_operation_free);
    g_free(work->message);
    g_free(work->external_id);
    g_free(work->saved);
    json_decref(work->fields);
    json_decref(work->resources);
    g_ptr_array_unref(work->items);
    g_string_free(work->text, TRUE);
    g_free(work);
}

static gboolean
resume(DroverWork *work, const char *saved)
{
    gint64 entered = drover_bench_enter();
    int outcome = driver_of(work)->operation_resume(work->bench->self, work->op, saved);

    drover_bench_leave(work->bench, entered, "operation_resume");
    return outcome == 0;
}

DroverWork *
drover_work_new(DroverBench *bench, const char *function, DroverWorkFunc step,
                const struct drover_operation_input *input, const char *saved)
{
    DroverWork *work = g_new0(DroverWork, 1);

    work->bench = bench;
    work->function = function;
    work->step = step;
    work->fields = json_object();
    work->resources = json_object();
    work->items = g_ptr_array_new_with_free_func(unref_json);
    work->text = g_string_new(NULL);
    work->op = drover_host_operation_new(input, &drover_work_answers, work);
    g_ptr_array_add(bench->works, work);
    if (saved != NULL && !resume(work, saved)) {
        work->message = g_strdup("operation_resume() refuses");
        work->failure = DROVER_FAILURE_OTHER;
        drover_work_drop(work);
    }
    return work;
}

void
drover_work_set_manner(DroverWork *work, guint manner)
{
    work->manner = manner;
}

/* ---- Stepping ---- */

static void
save(DroverWork *work)
{
    const struct drover_driver *driver = driver_of(work);
    gint64 entered = drover_bench_enter();
    char *text;

    if (driver->operation_save == NULL)
        return;
    text = driver->operation_save(work->bench->self, work->op);
    drover_bench_leave(work->bench, entered, "operation_save");
    if (text != NULL && (strlen(text) > MOST_SAVED || !g_utf8_validate(text, -1, NULL)))
        drover_bench_complain(work->bench, "what operation_save() gives is too long, or no UTF-8");
    drover_bench_hear(work->bench, "operation_save", "what is kept", text);
    g_free(work->saved);
    work->saved = g_strdup(text);
    free(text);
}

static void
take(DroverWork *work, enum drover_step outcome)
{
    if (outcome == DROVER_RUNNING) {
        save(work);
        if (!work->said_when)
            work->due = g_get_monotonic_time() + USUAL_PAUSE_MILLISECONDS * 1000;
        return;
    }
    work->ok = outcome == DROVER_DONE;
    work->failed = !work->ok;
    if (work->failed && outcome != DROVER_FAILED)
        drover_bench_complain(work->bench, "%s() answers %d, which is no step", work->function,
                              (int)outcome);
    else if (work->failed && work->failure == 0)
        drover_bench_complain(work->bench, "%s() fails without drover_operation_fail()",
                              work->function);
    end(work);
}

static void
step_once(DroverWork *work)
{
    gint64 entered = drover_bench_enter();
    enum drover_step outcome;

    work->steps++;
    work->said_when = FALSE;
    g_atomic_int_set(&work->woken, 0);
    outcome = work->step(work->bench->self, work->op);
    drover_bench_leave(work->bench, entered, work->function);
    take(work, outcome);
}

void
drover_work_step(DroverWork *work)
{
    if (work->op != NULL)
        step_once(work);
    if (work->op != NULL && (work->manner & DROVER_WORK_NEEDLESS) != 0) {
        gint64 due = work->due;
        gint woken = g_atomic_int_get(&work->woken);

        /* When it is really due was said before; only an earlier time counts. */
        step_once(work);
        if (due >= 0 && (work->due < 0 || due < work->due))
            work->due = due;
        if (woken)
            g_atomic_int_set(&work->woken, 1);
    }
}

static gboolean
is_due(const DroverWork *work)
{
    return g_atomic_int_get(&work->woken) ||
           (work->due >= 0 && g_get_monotonic_time() >= work->due);
}

static gboolean
on_timer(gpointer data)
{
    return G_SOURCE_REMOVE;
}

/* What does not wake the loop at the right time is looked at ten times a second. */
static void
wait_a_little(DroverWork *work)
{
    gint64 left = work->due >= 0 ? (work->due - g_get_monotonic_time()) / 1000 + 1 : 100;
    GSource *timer = g_timeout_source_new((guint)CLAMP(left, 0, 100));

    g_source_set_callback(timer, on_timer, NULL, NULL);
    g_source_attach(timer, work->bench->context);
    g_main_context_iteration(work->bench->context, TRUE);
    g_source_destroy(timer);
    g_source_unref(timer);
}

void
drover_work_step_when_due(DroverWork *work)
{
    while (work->op != NULL && work->steps > 0 && !is_due(work))
        wait_a_little(work);
    drover_work_step(work);
}

void
drover_work_finish(DroverWork *work)
{
    while (work->op != NULL)
        drover_work_step_when_due(work);
}

void
drover_work_cancel(DroverWork *work)
{
    gint64 entered = drover_bench_enter();

    if (work->op == NULL)
        return;
    drover_host_operation_cancel(work->op);
    if (driver_of(work)->operation_cancel != NULL)
        driver_of(work)->operation_cancel(work->bench->self, work->op);
    drover_bench_leave(work->bench, entered, "operation_cancel");
    drover_work_step(work);
}

void
drover_bench_finish(DroverBench *bench)
{
    gboolean ended = FALSE;

    while (!ended) {
        ended = TRUE;
        for (guint i = 0; i < bench->works->len; i++) {
            DroverWork *work = bench->works->pdata[i];

            if (work->op != NULL && (work->steps == 0 || is_due(work)))
                drover_work_step(work);
            else if (work->op != NULL)
                wait_a_little(work);
            ended &= work->op == NULL;
        }
    }
}

/* ---- What came of it ---- */

gboolean
drover_work_has_ended(const DroverWork *work)
{
    return work->op == NULL;
}

gboolean
drover_work_is_ok(const DroverWork *work)
{
    return work->ok;
}

enum drover_failure
drover_work_failure(const DroverWork *work)
{
    return work->failure != 0 ? work->failure : DROVER_FAILURE_OTHER;
}

const char *
drover_work_message(const DroverWork *work)
{
    return work->message != NULL ? work->message : "no reason was given";
}

const char *
drover_work_external_id(const DroverWork *work)
{
    return work->external_id;
}

const char *
drover_work_text(const DroverWork *work)
{
    return work->text->str;
}

const GPtrArray *
drover_work_items(const DroverWork *work)
{
    return work->items;
}

const json_t *
drover_work_resources(const DroverWork *work)
{
    return work->resources;
}

const char *
drover_work_saved(const DroverWork *work)
{
    return work->saved;
}

guint
drover_work_steps(const DroverWork *work)
{
    return work->steps;
}
