/*
 * A task is one operation of a driver, seen from the host: it is made on the core loop, stepped on
 * the provider's thread, and its result is delivered on the core loop.
 */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "driver/runner-private.h"

typedef enum drover_step (*StepFunc)(void *self, struct drover_operation *op);

struct _DroverTask {
    gatomicrefcount references;
    DroverRunner *runner;
    DroverTaskKind kind;
    DroverTaskFunc done;
    DroverTaskIdFunc id_known;
    gpointer user_data;
    char *node_id;

    /* The provider's thread only. */
    struct drover_operation *op;
    gboolean begun, ended;
    GSource *timer;
    json_t *fields, *resources;
    GPtrArray *items;
    GString *text;
    enum drover_failure failure; /* 0: none was set */
    char *message;
    gint64 retry_after;

    gint woken; /* atomic: a step is on its way */
};

/* ---- The driver's functions ---- */

static const struct {
    size_t offset;
    const char *name;
} functions[] = {
#define FUNCTION(kind, function)                                                                   \
    [DROVER_TASK_##kind] = {offsetof(struct drover_driver, function), #function}
    FUNCTION(MACHINE_CREATE, machine_create),   FUNCTION(MACHINE_DELETE, machine_delete),
    FUNCTION(MACHINE_CONSOLE, machine_console), FUNCTION(SLOT_REGISTER, slot_register),
    FUNCTION(SLOT_CHECK, slot_check),           FUNCTION(QUOTA_LIMITS, quota_limits),
    FUNCTION(QUOTA_LABEL, quota_label),         FUNCTION(QUOTA_USAGE, quota_usage),
    FUNCTION(RESOURCE_LIST, resource_list),     FUNCTION(RESOURCE_DELETE, resource_delete),
    FUNCTION(IMAGE_UPLOAD, image_upload),       FUNCTION(IMAGE_DELETE, image_delete),
    FUNCTION(IMAGE_LIST, image_list),
#undef FUNCTION
};

static StepFunc
step_function(const DroverTask *task)
{
    const char *driver = (const char *)drover_runner_driver(task->runner);
    StepFunc function;

    memcpy(&function, driver + functions[task->kind].offset, sizeof(function));
    return function;
}

/* ---- Life ---- */

DroverTask *
drover_task_ref(DroverTask *task)
{
    g_atomic_ref_count_inc(&task->references);
    return task;
}

void
drover_task_unref(gpointer data)
{
    DroverTask *task = data;

    if (!g_atomic_ref_count_dec(&task->references))
        return;
    json_decref(task->fields);
    json_decref(task->resources);
    g_ptr_array_unref(task->items);
    g_string_free(task->text, TRUE);
    g_free(task->message);
    g_free(task->node_id);
    g_free(task);
}

DroverRunner *
drover_task_runner(const DroverTask *task)
{
    return task->runner;
}

/* ---- Delivering ---- */

static gboolean
deliver(gpointer user_data)
{
    DroverTask *task = user_data;
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
    return G_SOURCE_REMOVE;
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
    task->ended = TRUE;
    clear_timer(task);
    drover_runner_enter(task->runner);
    g_clear_pointer(&task->op, drover_host_operation_free);
    drover_runner_leave(task->runner);
    drover_runner_post(NULL, deliver, drover_task_ref(task), drover_task_unref);
    drover_runner_task_ended(task->runner, task);
}

static void
end_failed(DroverTask *task, enum drover_failure failure, const char *text)
{
    if (task->failure == 0) {
        task->failure = failure;
        task->message = g_strdup(text);
    }
    end(task);
}

/* ---- Stepping ---- */

static void
step(DroverTask *task)
{
    enum drover_step outcome;

    if (task->ended || !task->begun)
        return;
    clear_timer(task);
    drover_runner_enter(task->runner);
    outcome = step_function(task)(drover_runner_self(task->runner), task->op);
    drover_runner_leave(task->runner);
    switch ((int)outcome) {
    case DROVER_RUNNING:
        break;
    case DROVER_DONE:
        task->failure = 0;
        g_clear_pointer(&task->message, g_free);
        end(task);
        break;
    case DROVER_FAILED:
        end_failed(task, DROVER_FAILURE_OTHER, "the driver gave no reason");
        break;
    default: {
        g_autofree char *text = g_strdup_printf(
            "driver %s answered %d to %s(), which means nothing",
            drover_runner_driver(task->runner)->name, (int)outcome, functions[task->kind].name);
        end_failed(task, DROVER_FAILURE_OTHER, text);
    }
    }
}

static gboolean
on_timer(gpointer user_data)
{
    DroverTask *task = user_data;

    step(task);
    return G_SOURCE_REMOVE;
}

static gboolean
on_woken(gpointer user_data)
{
    DroverTask *task = user_data;

    g_atomic_int_set(&task->woken, 0);
    step(task);
    return G_SOURCE_REMOVE;
}

/* ---- What the driver says during a step ---- */

static void
on_log(void *data, enum drover_log_level level, const char *text)
{
    DroverTask *task = data;

    drover_runner_log(task->runner, level, task->node_id, text);
}

/* Any thread; the SDK keeps the operation alive meanwhile. Several wakes cost one step. */
static void
on_wake(void *data)
{
    DroverTask *task = data;

    if (g_atomic_int_compare_and_exchange(&task->woken, 0, 1))
        drover_runner_post(drover_runner_context(task->runner), on_woken, drover_task_ref(task),
                           drover_task_unref);
}

static void
on_call_after(void *data, uint32_t milliseconds)
{
    DroverTask *task = data;

    clear_timer(task);
    task->timer = g_timeout_source_new(milliseconds);
    g_source_set_callback(task->timer, on_timer, drover_task_ref(task), drover_task_unref);
    g_source_attach(task->timer, drover_runner_context(task->runner));
}

/* Results go to the item that was begun last, if any. */
static json_t *
current_fields(DroverTask *task)
{
    return task->items->len > 0 ? task->items->pdata[task->items->len - 1] : task->fields;
}

static const char *const string_fields[] = {
    "external_id", "hostname",   "interface_ip",    "public_ipv4", "public_ipv6", "private_ipv4",
    "az",          "region",     "host_id",         "cloud",       "image_id",    "username",
    "python_path", "shell_type", "connection_type", "tags",        "name",        NULL};
static const char *const integer_fields[] = {"connection_port", "slot", "size", NULL};

static gboolean
is_known(DroverTask *task, const char *const *fields, const char *name)
{
    g_autofree char *text = NULL;

    if (name != NULL && g_strv_contains(fields, name))
        return TRUE;
    text = g_strdup_printf("the driver sets %s, which is no such field of a node",
                           name != NULL ? name : "nothing");
    drover_runner_log(task->runner, DROVER_WARNING, task->node_id, text);
    return FALSE;
}

typedef struct {
    DroverTask *task;
    char *external_id;
} KnownId;

static void
known_id_free(gpointer data)
{
    KnownId *known = data;

    drover_task_unref(known->task);
    g_free(known->external_id);
    g_free(known);
}

static gboolean
deliver_id(gpointer user_data)
{
    KnownId *known = user_data;

    known->task->id_known(known->external_id, known->task->user_data);
    return G_SOURCE_REMOVE;
}

static void
on_set_string(void *data, const char *name, const char *value)
{
    DroverTask *task = data;
    json_t *text = value != NULL ? json_string(value) : json_null();

    if (!is_known(task, string_fields, name) || text == NULL) {
        json_decref(text);
        return;
    }
    json_object_set_new(current_fields(task), name, text);
    if (task->id_known != NULL && value != NULL && strcmp(name, "external_id") == 0) {
        KnownId *known = g_new0(KnownId, 1);

        known->task = drover_task_ref(task);
        known->external_id = g_strdup(value);
        drover_runner_post(NULL, deliver_id, known, known_id_free);
    }
}

static void
on_set_integer(void *data, const char *name, int64_t value)
{
    DroverTask *task = data;

    if (is_known(task, integer_fields, name))
        json_object_set_new(current_fields(task), name, json_integer(value));
}

static void
on_add_host_key(void *data, const char *key)
{
    json_t *fields = current_fields(data);
    json_t *keys = json_object_get(fields, "host_keys");

    if (keys == NULL) {
        keys = json_array();
        json_object_set_new(fields, "host_keys", keys);
    }
    if (key != NULL)
        json_array_append_new(keys, json_string(key));
}

static void
on_set_resource(void *data, const char *name, double amount)
{
    DroverTask *task = data;
    json_t *resources = task->resources;

    if (task->items->len > 0)
        resources = json_object_get(current_fields(task), "resources");
    /* No limit is no entry: JSON has no infinity. */
    if (name == NULL || isnan(amount) || isinf(amount))
        return;
    json_object_set_new(resources, name,
                        amount == floor(amount) && fabs(amount) < 1e15
                            ? json_integer((json_int_t)amount)
                            : json_real(amount));
}

static void
on_add_item(void *data, const char *kind, const char *id)
{
    DroverTask *task = data;
    json_t *item = json_object();

    json_object_set_new(item, "kind", drover_json_from_string(kind));
    json_object_set_new(item, "id", drover_json_from_string(id));
    json_object_set_new(item, "resources", json_object());
    g_ptr_array_add(task->items, item);
}

static void
on_append_text(void *data, const char *text, size_t length)
{
    g_string_append_len(((DroverTask *)data)->text, text, (gssize)length);
}

static void
on_fail(void *data, enum drover_failure failure, const char *text)
{
    DroverTask *task = data;
    gboolean known = failure >= DROVER_FAILURE_OTHER && failure <= DROVER_FAILURE_UNREACHABLE;

    task->failure = known ? failure : DROVER_FAILURE_OTHER;
    g_free(task->message);
    task->message = g_utf8_make_valid(text, -1);
}

static void
on_retry_after(void *data, uint32_t milliseconds)
{
    ((DroverTask *)data)->retry_after = milliseconds;
}

static const struct drover_operation_host operation_host = {
    .log = on_log,
    .wake = on_wake,
    .call_after = on_call_after,
    .set_string = on_set_string,
    .set_integer = on_set_integer,
    .add_host_key = on_add_host_key,
    .set_resource = on_set_resource,
    .add_item = on_add_item,
    .append_text = on_append_text,
    .fail = on_fail,
    .retry_after = on_retry_after,
};

/* ---- Beginning and cancelling ---- */

DroverTask *
drover_task_new(DroverRunner *runner, DroverTaskKind kind, const DroverTaskInput *input,
                DroverTaskFunc done, DroverTaskIdFunc id_known, gpointer user_data)
{
    DroverTask *task = g_new0(DroverTask, 1);
    struct drover_operation_input copied = {.node_id = input->node_id,
                                            .external_id = input->external_id,
                                            .pool = input->pool,
                                            .label = input->label,
                                            .pool_config = input->pool_config,
                                            .label_config = input->label_config,
                                            .inputs = input->inputs};

    g_atomic_ref_count_init(&task->references);
    task->runner = runner;
    task->kind = kind;
    task->done = done;
    task->id_known = id_known;
    task->user_data = user_data;
    task->node_id = g_strdup(input->node_id);
    task->fields = json_object();
    task->resources = json_object();
    task->items = g_ptr_array_new_with_free_func((GDestroyNotify)json_decref);
    task->text = g_string_new(NULL);
    task->op = drover_host_operation_new(&copied, &operation_host, task);
    return task;
}

void
drover_task_begin(DroverTask *task)
{
    task->begun = TRUE;
    if (step_function(task) == NULL) {
        g_autofree char *text =
            g_strdup_printf("driver %s has no %s()", drover_runner_driver(task->runner)->name,
                            functions[task->kind].name);
        end_failed(task, DROVER_FAILURE_PERMANENT, text);
    } else if (drover_runner_self(task->runner) == NULL) {
        end_failed(task, DROVER_FAILURE_OTHER, "the provider is not open");
    } else {
        step(task);
    }
}

void
drover_task_cancel_here(DroverTask *task)
{
    const struct drover_driver *driver = drover_runner_driver(task->runner);

    if (task->ended)
        return;
    drover_host_operation_cancel(task->op);
    if (driver->operation_cancel != NULL) {
        drover_runner_enter(task->runner);
        driver->operation_cancel(drover_runner_self(task->runner), task->op);
        drover_runner_leave(task->runner);
    }
    step(task);
}

static gboolean
on_cancel(gpointer user_data)
{
    drover_task_cancel_here(user_data);
    return G_SOURCE_REMOVE;
}

void
drover_task_cancel(DroverTask *task)
{
    drover_runner_post(drover_runner_context(task->runner), on_cancel, drover_task_ref(task),
                       drover_task_unref);
}
