/*
 * A task is one operation of a driver, seen from the host: it is made on the core loop, stepped on
 * the provider's thread, and its answer is delivered on the core loop.
 */
#include <stdlib.h>
#include <string.h>

#include "driver/task-private.h"

/* When an operation runs on and did not say when to step it again. */
#define USUAL_PAUSE_MILLISECONDS 1000
#define MOST_SAVED               (64 * 1024)

typedef enum drover_step (*StepFunc)(void *self, struct drover_operation *op);

/* ---- The driver's functions ---- */

static const struct {
    size_t offset;
    const char *name;
} functions[] = {
#define FUNCTION(kind, function)                                                                   \
    [DROVER_TASK_##kind] = {offsetof(struct drover_driver, function), #function}
    FUNCTION(MACHINE_CREATE, machine_create),
    FUNCTION(MACHINE_DELETE, machine_delete),
    FUNCTION(MACHINE_CONSOLE, machine_console),
    FUNCTION(LABEL_READY, label_ready),
    FUNCTION(ZONE_LIST, zone_list),
    FUNCTION(SLOT_REGISTER, slot_register),
    FUNCTION(SLOT_CHECK, slot_check),
    FUNCTION(QUOTA_LIMITS, quota_limits),
    FUNCTION(QUOTA_LABEL, quota_label),
    FUNCTION(QUOTA_USAGE, quota_usage),
    FUNCTION(RESOURCE_LIST, resource_list),
    FUNCTION(RESOURCE_DELETE, resource_delete),
    FUNCTION(IMAGE_UPLOAD, image_upload),
    FUNCTION(IMAGE_DELETE, image_delete),
    FUNCTION(IMAGE_LIST, image_list),
#undef FUNCTION
};

static const struct drover_driver *
driver_of(const DroverTask *task)
{
    return drover_runner_driver(task->runner);
}

static StepFunc
step_function(const DroverTask *task)
{
    StepFunc function;

    memcpy(&function, (const char *)driver_of(task) + functions[task->kind].offset,
           sizeof(function));
    return function;
}

/* ---- Life ---- */

DroverTask *
drover_task_new(DroverRunner *runner, DroverTaskKind kind, const DroverTaskInput *input,
                DroverTaskFunc done, DroverTaskIdFunc id_known, gpointer user_data)
{
    DroverTask *task = g_new0(DroverTask, 1);
    struct drover_operation_input told = {.node_id = input->node_id,
                                          .external_id = input->external_id,
                                          .pool = input->pool,
                                          .label = input->label,
                                          .pool_config = input->pool_config,
                                          .label_config = input->label_config,
                                          .inputs = input->inputs};

    task->references = 1;
    task->runner = drover_runner_ref(runner);
    task->kind = kind;
    task->done = done;
    task->id_known = id_known;
    task->saved_changed = input->saved_changed;
    task->user_data = user_data;
    task->node_id = g_strdup(input->node_id);
    task->resumed_from = g_strdup(input->saved);
    task->saved = g_strdup(input->saved);
    task->external_id = g_strdup(input->external_id);
    task->fields = json_object();
    task->resources = json_object();
    task->items = g_ptr_array_new_with_free_func((GDestroyNotify)json_decref);
    task->text = g_string_new(NULL);
    task->op = drover_host_operation_new(&told, &drover_task_answers, drover_task_ref(task));
    return task;
}

DroverTask *
drover_task_ref(DroverTask *task)
{
    g_atomic_int_inc(&task->references);
    return task;
}

void
drover_task_unref(gpointer data)
{
    DroverTask *task = data;

    if (!g_atomic_int_dec_and_test(&task->references))
        return;
    json_decref(task->fields);
    json_decref(task->resources);
    g_ptr_array_unref(task->items);
    g_string_free(task->text, TRUE);
    g_free(task->message);
    g_free(task->external_id);
    g_free(task->last_status);
    g_free(task->status);
    g_free(task->saved);
    g_free(task->resumed_from);
    g_free(task->node_id);
    drover_runner_unref(task->runner);
    g_free(task);
}

DroverRunner *
drover_task_runner(const DroverTask *task)
{
    return task->runner;
}

/* ---- Messages to the core loop ---- */

typedef struct {
    DroverTask *task;
    DroverTaskNoteFunc func;
    char *text;
} Note;

static void
note_free(gpointer data)
{
    Note *note = data;

    drover_task_unref(note->task);
    g_free(note->text);
    g_free(note);
}

static void
on_note(gpointer data)
{
    Note *note = data;

    note->func(note->task, note->text);
}

void
drover_task_tell_core(DroverTask *task, DroverTaskNoteFunc func, const char *text)
{
    Note *note = g_new0(Note, 1);

    note->task = drover_task_ref(task);
    note->func = func;
    note->text = g_strdup(text);
    drover_runner_tell_core(task->runner, on_note, note, note_free);
}

/* ---- Ending ---- */

static void
deliver(DroverTask *task, const char *unused)
{
    DroverTaskResult result = {.ok = task->failure == 0,
                               .failure = task->failure,
                               .message = task->message,
                               .retry_after = task->retry_after,
                               .fields = task->fields,
                               .resources = task->resources,
                               .items = task->items,
                               .text = task->text->str};

    task->done(&result, task->user_data);
    drover_runner_task_delivered(task->runner, task);
}

static void
clear_timer(DroverTask *task)
{
    if (task->timer == NULL)
        return;
    g_source_destroy(task->timer);
    g_clear_pointer(&task->timer, g_source_unref);
}

static void
end(DroverTask *task)
{
    clear_timer(task);
    drover_runner_enter(task->runner, functions[task->kind].name);
    g_clear_pointer(&task->op, drover_host_operation_free);
    drover_runner_leave(task->runner);
    drover_task_tell_core(task, deliver, NULL);
    drover_runner_task_ended(task->runner, task);
}

static void set_failure(DroverTask *task, enum drover_failure failure, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

static void
set_failure(DroverTask *task, enum drover_failure failure, const char *format, ...)
{
    va_list arguments;

    g_free(task->message);
    task->failure = failure;
    va_start(arguments, format);
    task->message = g_strdup_vprintf(format, arguments);
    va_end(arguments);
}

void
drover_task_refuse(DroverTask *task)
{
    set_failure(task, DROVER_FAILURE_OTHER, "provider %s is closing",
                drover_runner_name(task->runner));
    g_clear_pointer(&task->op, drover_host_operation_free);
    drover_task_tell_core(task, deliver, NULL);
}

/* ---- Saving ---- */

static void
deliver_saved(DroverTask *task, const char *text)
{
    task->saved_changed(text, task->user_data);
}

static gboolean
can_be_kept(DroverTask *task, const char *text)
{
    if (strlen(text) <= MOST_SAVED && g_utf8_validate(text, -1, NULL))
        return TRUE;
    drover_runner_log(task->runner, DROVER_WARNING, task->node_id,
                      "what the driver saves of the operation is too long, or no UTF-8");
    return FALSE;
}

static void
save(DroverTask *task)
{
    char *text;

    if (task->saved_changed == NULL || driver_of(task)->operation_save == NULL)
        return;
    drover_runner_enter(task->runner, "operation_save");
    text = driver_of(task)->operation_save(drover_runner_self(task->runner), task->op);
    drover_runner_leave(task->runner);
    if (text != NULL && !can_be_kept(task, text))
        g_clear_pointer(&text, free);
    if (g_strcmp0(text, task->saved) != 0) {
        g_free(task->saved);
        task->saved = g_strdup(text);
        drover_task_tell_core(task, deliver_saved, text);
    }
    free(text);
}

/* FALSE when the driver refuses. */
static gboolean
resume(DroverTask *task)
{
    const struct drover_driver *driver = driver_of(task);
    int outcome;

    if (driver->operation_resume == NULL)
        return FALSE;
    drover_runner_enter(task->runner, "operation_resume");
    outcome =
        driver->operation_resume(drover_runner_self(task->runner), task->op, task->resumed_from);
    drover_runner_leave(task->runner);
    return outcome == 0;
}

/* ---- Stepping ---- */

static enum drover_step
call_driver(DroverTask *task)
{
    enum drover_step outcome;

    clear_timer(task);
    task->stepping = TRUE;
    task->step_again = task->said_when = FALSE;
    drover_runner_enter(task->runner, functions[task->kind].name);
    outcome = step_function(task)(drover_runner_self(task->runner), task->op);
    drover_runner_leave(task->runner);
    task->stepping = FALSE;
    return outcome;
}

static void
run_on(DroverTask *task)
{
    save(task);
    if (task->step_again)
        drover_task_wake(task);
    else if (!task->said_when && g_atomic_int_get(&task->woken) == 0)
        drover_task_call_after(task, USUAL_PAUSE_MILLISECONDS);
}

static void
step(DroverTask *task)
{
    enum drover_step outcome;

    if (task->op == NULL)
        return;
    /* The driver is in a step of this very task and runs the thread's main context. */
    if (task->stepping) {
        task->step_again = TRUE;
        return;
    }
    outcome = call_driver(task);
    if (outcome == DROVER_RUNNING) {
        run_on(task);
        return;
    }
    if (task->too_much)
        set_failure(task, DROVER_FAILURE_OTHER, "driver %s answered too much to %s()",
                    driver_of(task)->name, functions[task->kind].name);
    else if (outcome == DROVER_DONE)
        task->failure = 0;
    else if (outcome != DROVER_FAILED)
        set_failure(task, DROVER_FAILURE_OTHER,
                    "driver %s answered %d to %s(), which means nothing", driver_of(task)->name,
                    (int)outcome, functions[task->kind].name);
    else if (task->failure == 0)
        set_failure(task, DROVER_FAILURE_OTHER, "driver %s gave no reason", driver_of(task)->name);
    if (task->failure == 0)
        g_clear_pointer(&task->message, g_free);
    end(task);
}

static gboolean
on_timer(gpointer data)
{
    step(data);
    return G_SOURCE_REMOVE;
}

void
drover_task_call_after(DroverTask *task, guint milliseconds)
{
    clear_timer(task);
    if (milliseconds == DROVER_WHEN_WOKEN)
        return;
    task->timer = g_timeout_source_new(milliseconds);
    g_source_set_callback(task->timer, on_timer, drover_task_ref(task), drover_task_unref);
    g_source_attach(task->timer, drover_runner_context(task->runner));
}

static void
on_woken(gpointer data)
{
    DroverTask *task = data;

    g_atomic_int_set(&task->woken, 0);
    step(task);
}

void
drover_task_wake(DroverTask *task)
{
    /* Several wakes cost one step. */
    if (g_atomic_int_compare_and_exchange(&task->woken, 0, 1))
        drover_runner_tell_thread(task->runner, on_woken, drover_task_ref(task), drover_task_unref);
}

/* ---- Beginning and cancelling ---- */

void
drover_task_begin(DroverTask *task)
{
    const char *driver = driver_of(task)->name;

    if (step_function(task) == NULL)
        set_failure(task, DROVER_FAILURE_PERMANENT, "driver %s has no %s()", driver,
                    functions[task->kind].name);
    else if (!drover_runner_is_open(task->runner))
        set_failure(task, DROVER_FAILURE_OTHER, "provider %s is not open",
                    drover_runner_name(task->runner));
    else if (task->resumed_from != NULL && !resume(task))
        set_failure(task, DROVER_FAILURE_OTHER, "driver %s cannot take up what was saved", driver);
    if (task->failure != 0)
        end(task);
    else
        step(task);
}

void
drover_task_cancel_here(DroverTask *task)
{
    const struct drover_driver *driver = driver_of(task);

    if (task->op == NULL)
        return;
    drover_host_operation_cancel(task->op);
    if (driver->operation_cancel != NULL) {
        drover_runner_enter(task->runner, "operation_cancel");
        driver->operation_cancel(drover_runner_self(task->runner), task->op);
        drover_runner_leave(task->runner);
    }
    step(task);
}

static void
on_cancel(gpointer data)
{
    drover_task_cancel_here(data);
}

void
drover_task_cancel(DroverTask *task)
{
    drover_runner_tell_thread(task->runner, on_cancel, drover_task_ref(task), drover_task_unref);
}

/* ---- What operators see ---- */

const char *
drover_task_status(const DroverTask *task)
{
    return task->status;
}

void
drover_task_progress(const DroverTask *task, guint64 *done, guint64 *total)
{
    *done = task->progress_done;
    *total = task->progress_total;
}
