/*
 * What a driver says of an operation while it steps: results of the allowed names, failures,
 * status. Nothing here trusts it to make sense.
 */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "driver/fields.h"
#include "driver/task-private.h"

/* What one operation may say in all, and one text of it. */
#define MOST_ANSWER  (32 * 1024 * 1024)
#define MOST_TEXT    (64 * 1024)
#define MOST_MESSAGE (16 * 1024)
/* Whatever it is about, it costs something to keep. */
#define LEAST_COST 256
/* How long a cloud can ask to be left alone. */
#define LONGEST_PAUSE_MILLISECONDS 600000

static void complain(DroverTask *task, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void
complain(DroverTask *task, const char *format, ...)
{
    g_autofree char *text = NULL;
    va_list arguments;

    va_start(arguments, format);
    text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    drover_runner_log(task->runner, DROVER_WARNING, task->node_id, text);
}

/* ---- How much ---- */

/* FALSE when there is no room for so many bytes more: the operation will have failed. */
static gboolean
has_room(DroverTask *task, gsize bytes)
{
    if (!task->too_much && bytes <= MOST_ANSWER && task->said + bytes + LEAST_COST <= MOST_ANSWER) {
        task->said += bytes + LEAST_COST;
        return TRUE;
    }
    if (!task->too_much)
        complain(task, "the driver says more than %d MiB of one operation", MOST_ANSWER >> 20);
    task->too_much = TRUE;
    return FALSE;
}

/* NULL is short. FALSE, and logged, when the text is too long. */
static gboolean
is_short(DroverTask *task, const char *what, const char *text)
{
    gsize length = text != NULL ? strnlen(text, MOST_TEXT + 1) : 0;

    if (length > MOST_TEXT) {
        complain(task, "the driver says a %s of more than %d KiB, which is left out", what,
                 MOST_TEXT >> 10);
        return FALSE;
    }
    return has_room(task, length);
}

/* What can be shown of a text: valid, and not too long. */
static char *
shown(const char *text)
{
    g_autofree char *beginning = g_strndup(text, MOST_MESSAGE);

    return g_utf8_make_valid(beginning, -1);
}

/* ---- Fields ---- */

/* Results are about the item that was begun last, if any. */
static json_t *
current_fields(DroverTask *task)
{
    return task->items->len > 0 ? task->items->pdata[task->items->len - 1] : task->fields;
}

static void
deliver_id(DroverTask *task, const char *external_id)
{
    task->id_known(external_id, task->user_data);
}

static void
tell_id(DroverTask *task, const json_t *value)
{
    g_autofree char *text =
        json_is_string(value) ? g_strdup(json_string_value(value)) : drover_json_text(value);

    if (task->id_known == NULL || task->items->len > 0 || json_is_null(value) ||
        g_strcmp0(text, task->external_id) == 0)
        return;
    drover_task_tell_core(task, deliver_id, text);
    g_free(task->external_id);
    task->external_id = g_steal_pointer(&text);
}

/* Takes the value over. */
static void
set_field(DroverTask *task, const char *name, DroverFieldForm form, json_t *value)
{
    if (value == NULL) {
        complain(task, "the driver sets %s to something that is not UTF-8, or not JSON", name);
    } else if (!drover_field_is_known(name, form, task->items->len > 0)) {
        complain(task, "the driver sets %s, which is no such field here",
                 name != NULL ? name : "nothing");
        json_decref(value);
    } else {
        json_object_set_new(current_fields(task), name, value);
        if (strcmp(name, "external_id") == 0)
            tell_id(task, value);
    }
}

static void
on_set_string(void *data, const char *name, const char *value)
{
    if (is_short(data, "text", value))
        set_field(data, name, DROVER_FIELD_TEXT, value != NULL ? json_string(value) : json_null());
}

static void
on_set_integer(void *data, const char *name, int64_t value)
{
    if (has_room(data, 0))
        set_field(data, name, DROVER_FIELD_INTEGER, json_integer(value));
}

static void
on_set_json(void *data, const char *name, const char *text)
{
    if (is_short(data, "JSON text", text))
        set_field(data, name, DROVER_FIELD_JSON,
                  text != NULL ? json_loads(text, JSON_DECODE_ANY, NULL) : json_null());
}

static void
on_add_host_key(void *data, const char *key)
{
    json_t *fields = current_fields(data);
    json_t *keys = json_object_get(fields, "host_keys");

    if (!is_short(data, "host key", key))
        return;
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
    if (name == NULL || isnan(amount) || isinf(amount) || !is_short(task, "resource's name", name))
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
    json_t *item;

    if (!is_short(task, "kind", kind) || !is_short(task, "id", id))
        return;
    item = json_object();
    json_object_set_new(item, "kind", drover_json_from_string(kind));
    json_object_set_new(item, "id", drover_json_from_string(id));
    json_object_set_new(item, "resources", json_object());
    g_ptr_array_add(task->items, item);
}

static void
on_append_text(void *data, const char *text, size_t length)
{
    DroverTask *task = data;

    if (has_room(task, length))
        g_string_append_len(task->text, text, (gssize)length);
}

/* ---- Failures ---- */

static void
on_fail(void *data, enum drover_failure failure, const char *text)
{
    DroverTask *task = data;
    gboolean known = failure >= DROVER_FAILURE_OTHER && failure <= DROVER_FAILURE_NO_ADDRESS;

    task->failure = known ? failure : DROVER_FAILURE_OTHER;
    g_free(task->message);
    task->message = shown(text);
}

static void
on_retry_after(void *data, uint32_t milliseconds)
{
    ((DroverTask *)data)->retry_after = MIN(milliseconds, LONGEST_PAUSE_MILLISECONDS);
}

/* ---- When, and how far ---- */

static void
on_call_after(void *data, uint32_t milliseconds)
{
    DroverTask *task = data;

    task->said_when = TRUE;
    drover_task_call_after(task, milliseconds);
}

static void
on_wake(void *data)
{
    drover_task_wake(data);
}

static void
deliver_status(DroverTask *task, const char *status)
{
    g_free(task->status);
    task->status = g_strdup(status);
}

static void
on_set_status(void *data, const char *status)
{
    DroverTask *task = data;
    g_autofree char *valid = status != NULL ? shown(status) : NULL;

    if (g_strcmp0(valid, task->last_status) == 0 ||
        !has_room(task, valid != NULL ? strlen(valid) : 0))
        return;
    if (valid != NULL)
        drover_runner_log(task->runner, DROVER_DEBUG, task->node_id, valid);
    drover_task_tell_core(task, deliver_status, valid);
    g_free(task->last_status);
    task->last_status = g_steal_pointer(&valid);
}

static void
on_set_progress(void *data, uint64_t done, uint64_t total)
{
    DroverTask *task = data;

    task->progress_done = done;
    task->progress_total = total;
}

static void
on_log(void *data, enum drover_log_level level, const char *text)
{
    DroverTask *task = data;

    drover_runner_log(task->runner, level, task->node_id, text);
}

const struct drover_operation_host drover_task_answers = {
    .released = drover_task_unref,
    .log = on_log,
    .wake = on_wake,
    .set_status = on_set_status,
    .set_progress = on_set_progress,
    .call_after = on_call_after,
    .set_string = on_set_string,
    .set_integer = on_set_integer,
    .set_json = on_set_json,
    .add_host_key = on_add_host_key,
    .set_resource = on_set_resource,
    .add_item = on_add_item,
    .append_text = on_append_text,
    .fail = on_fail,
    .retry_after = on_retry_after,
};
