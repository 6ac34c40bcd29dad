/* Machines that are cancelled, or taken up by another process, while they are made. */
#include <string.h>

#include "check/groups.h"
#include "check/operations.h"

#define EACH_STEP  8   /* up to here each step is tried; then twice as many each time */
#define MOST_STEPS 200 /* more are not tried */
#define AT_ONCE    3
#define LIST_TRIES 12
#define LIST_PAUSE 300 /* milliseconds */

static guint
next_number(guint steps)
{
    return steps < EACH_STEP ? steps + 1 : steps * 2;
}

static DroverWork *
begin(DroverSubject *subject, DroverBench *bench, const DroverCheckLabel *label, guint steps)
{
    DroverWork *work = drover_check_create(subject, bench, label, NULL);

    for (guint i = 0; i < steps; i++)
        drover_work_step_when_due(work);
    return work;
}

/* ---- Cancelled ---- */

static void
check_cancel(DroverSubject *subject, DroverBench *bench, const DroverCheckLabel *label)
{
    guint tried = 0;

    for (guint steps = 1; steps <= MOST_STEPS; steps = next_number(steps)) {
        DroverWork *work = begin(subject, bench, label, steps);
        gboolean was_over = drover_work_has_ended(work);

        drover_work_cancel(work);
        drover_work_finish(work);
        drover_check_remove(subject, bench, work);
        if (was_over)
            break;
        tried++;
    }
    if (drover_bench_mistake(bench) != NULL)
        drover_subject_fail(subject, "%s", drover_bench_mistake(bench));
    else if (tried > 0)
        drover_subject_ok(subject, "after %u different numbers of steps", tried);
    else
        drover_subject_ok(subject, "the driver makes a machine in one step");
}

/* ---- Taken up ---- */

/* What was saved is taken up by a provider that knows nothing of the former. */
static void
take_up(DroverSubject *subject, const DroverCheckLabel *label, const char *saved, guint steps)
{
    DroverBench *bench = drover_check_open(subject);
    DroverWork *work;

    if (bench == NULL)
        return;
    work = drover_check_create(subject, bench, label, saved);
    drover_work_finish(work);
    if (!drover_work_is_ok(work))
        drover_subject_fail(subject, "what was saved after step %u: %s", steps,
                            drover_work_message(work));
    else if (drover_work_external_id(work) == NULL)
        drover_subject_fail(subject, "what was saved after step %u: no external_id", steps);
    drover_check_remove(subject, bench, work);
    drover_check_close(subject, bench);
}

/* TRUE when there is nothing to save any more. */
static gboolean
resume_after(DroverSubject *subject, const DroverCheckLabel *label, guint steps, char **saved)
{
    DroverBench *bench = drover_check_open(subject);
    gboolean over;
    DroverWork *work;

    if (bench == NULL)
        return TRUE;
    work = begin(subject, bench, label, steps);
    over = drover_work_has_ended(work);
    g_free(*saved);
    *saved = over ? NULL : g_strdup(drover_work_saved(work));
    if (over)
        drover_check_remove(subject, bench, work);
    else if (*saved != NULL) {
        drover_work_drop(work);
    } else {
        drover_work_cancel(work);
        drover_work_finish(work);
        drover_check_remove(subject, bench, work);
    }
    drover_check_close(subject, bench);
    if (*saved != NULL)
        take_up(subject, label, *saved, steps);
    return over;
}

static void
check_resume(DroverSubject *subject, const DroverCheckLabel *label, char **sample)
{
    guint tried = 0;

    if (subject->driver->operation_save == NULL) {
        drover_subject_skip(subject, "the driver saves nothing");
        return;
    }
    for (guint steps = 1; steps <= MOST_STEPS; steps = next_number(steps)) {
        g_autofree char *saved = NULL;

        if (resume_after(subject, label, steps, &saved))
            break;
        if (saved == NULL)
            continue;
        tried++;
        g_free(*sample);
        *sample = g_steal_pointer(&saved);
    }
    if (tried == 0)
        drover_subject_skip(subject, "it saves nothing of a machine that is made");
    else
        drover_subject_ok(subject, "after %u different numbers of steps", tried);
}

/* What another version, or a broken disk, may have left. To refuse is fine, and to end is. */
static void
check_nonsense(DroverSubject *subject, const DroverCheckLabel *label, const char *sample)
{
    g_autofree char *half =
        g_strndup(sample != NULL ? sample : "", sample != NULL ? strlen(sample) / 2 : 0);
    const char *const texts[] = {"", "nonsense", "{}", "[]", "0", half};
    DroverBench *bench;

    if (subject->driver->operation_resume == NULL) {
        drover_subject_skip(subject, "the driver takes up nothing");
        return;
    }
    bench = drover_check_open(subject);
    if (bench == NULL)
        return;
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
        DroverWork *work = drover_check_create(subject, bench, label, texts[i]);

        drover_work_finish(work);
        if (drover_work_is_ok(work) && drover_work_external_id(work) == NULL)
            drover_subject_fail(subject, "it takes \"%s\" for a machine that is made", texts[i]);
        drover_check_remove(subject, bench, work);
    }
    drover_check_close(subject, bench);
}

/* ---- Stopped ---- */

/* As the launcher's stop: all are cancelled, and when the last has ended the provider is closed. */
static void
check_stop(DroverSubject *subject, const DroverCheckLabel *label)
{
    DroverBench *bench = drover_check_open(subject), *next;
    g_autoptr(GPtrArray) ids = g_ptr_array_new_with_free_func(g_free);
    DroverWork *works[AT_ONCE];

    if (bench == NULL)
        return;
    for (guint i = 0; i < AT_ONCE; i++)
        works[i] = begin(subject, bench, label, 1);
    for (guint i = 0; i < AT_ONCE; i++)
        drover_work_cancel(works[i]);
    drover_bench_finish(bench);
    for (guint i = 0; i < AT_ONCE; i++)
        g_ptr_array_add(ids, g_strdup(drover_work_external_id(works[i])));
    drover_check_close(subject, bench);
    next = drover_check_open(subject);
    if (next == NULL)
        return;
    for (guint i = 0; i < ids->len; i++)
        if (ids->pdata[i] != NULL)
            drover_check_delete(subject, next, ids->pdata[i]);
    drover_check_close(subject, next);
}

/* ---- What is left ---- */

static guint
count_left(DroverSubject *subject, DroverBench *bench)
{
    const struct drover_operation_input input = {.pool = NULL};
    DroverWork *work =
        drover_work_new(bench, "resource_list", subject->driver->resource_list, &input, NULL);
    guint left = 0;

    drover_work_finish(work);
    if (!drover_work_is_ok(work))
        drover_subject_fail(subject, "%s", drover_work_message(work));
    for (guint i = 0; i < drover_work_items(work)->len; i++)
        left += drover_check_is_ours(drover_work_items(work)->pdata[i]);
    return left;
}

/* Clouds take their time. */
static void
check_leftovers(DroverSubject *subject)
{
    DroverBench *bench;
    guint left = 1;

    if (subject->driver->resource_list == NULL) {
        drover_subject_skip(subject, "the driver has no resource_list()");
        return;
    }
    bench = drover_check_open(subject);
    if (bench == NULL)
        return;
    for (guint i = 0; left > 0 && i < LIST_TRIES; i++) {
        if (i > 0)
            drover_bench_watch(bench, LIST_PAUSE);
        left = count_left(subject, bench);
        drover_subject_go_on(subject);
    }
    if (left > 0)
        drover_subject_fail(subject, "%u things of these checks are still in the cloud", left);
    drover_check_close(subject, bench);
}

static void
run(DroverSubject *subject)
{
    g_autofree char *sample = NULL;
    DroverCheckLabel label;
    DroverBench *bench;
    gboolean usable;

    drover_subject_begin(subject, "cancel");
    bench = drover_check_open(subject);
    if (bench == NULL)
        return;
    usable = subject->driver->machine_create != NULL && drover_check_find_label(subject, &label);
    if (subject->driver->machine_create == NULL)
        drover_subject_skip(subject, "the driver makes no machines");
    if (usable)
        check_cancel(subject, bench, &label);
    drover_check_close(subject, bench);
    if (!usable)
        return;
    drover_subject_begin(subject, "resume");
    check_resume(subject, &label, &sample);
    drover_subject_begin(subject, "resume-nonsense");
    check_nonsense(subject, &label, sample);
    drover_subject_begin(subject, "stop");
    check_stop(subject, &label);
    drover_subject_begin(subject, "leftovers");
    check_leftovers(subject);
}

static const char *const checks[] = {"cancel", "resume",    "resume-nonsense",
                                     "stop",   "leftovers", NULL};
const DroverCheckGroup drover_interruption_checks = {checks, run};
