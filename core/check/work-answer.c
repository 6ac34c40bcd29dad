/* What a driver says of an operation, noted, and what of it makes no sense. */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "check/bench-private.h"
#include "driver/fields.h"

static void
on_released(void *data)
{
    /* The bench frees it. */
}

/* Results come while it is stepped, or between steps, but not when all is over. */
static DroverWork *
heard(void *data, const char *function)
{
    DroverWork *work = data;

    if (work->over)
        drover_bench_complain(work->bench, "it calls %s() of %s() after that has ended", function,
                              work->function);
    return work;
}

/* A text that others will read. */
static void
hear(DroverWork *work, const char *place, const char *text)
{
    drover_bench_hear(work->bench, work->function, place, text);
}

/* ---- Results ---- */

static json_t *
current(DroverWork *work)
{
    return work->items->len > 0 ? work->items->pdata[work->items->len - 1] : work->fields;
}

/* Takes the value over. */
static void
set(DroverWork *work, const char *name, DroverFieldForm form, json_t *value)
{
    if (value == NULL) {
        drover_bench_complain(work->bench, "%s() sets %s to what is not UTF-8, or not JSON",
                              work->function, name);
        return;
    }
    if (!drover_field_is_known(name, form, work->items->len > 0))
        drover_bench_complain(work->bench, "%s() sets %s, which is no such field here",
                              work->function, name != NULL ? name : "nothing");
    else if (work->items->len == 0 && g_str_equal(name, "external_id") && !json_is_null(value)) {
        g_free(work->external_id);
        work->external_id =
            json_is_string(value) ? g_strdup(json_string_value(value)) : drover_json_text(value);
    }
    if (name != NULL)
        json_object_set_new(current(work), name, value);
    else
        json_decref(value);
}

static void
on_set_string(void *data, const char *name, const char *value)
{
    DroverWork *work = heard(data, "drover_operation_set_string");

    hear(work, "a field", value);
    set(work, name, DROVER_FIELD_TEXT, value != NULL ? json_string(value) : json_null());
}

static void
on_set_integer(void *data, const char *name, int64_t value)
{
    set(heard(data, "drover_operation_set_integer"), name, DROVER_FIELD_INTEGER,
        json_integer(value));
}

static void
on_set_json(void *data, const char *name, const char *text)
{
    DroverWork *work = heard(data, "drover_operation_set_json");

    hear(work, "a field", text);
    set(work, name, DROVER_FIELD_JSON,
        text != NULL ? json_loads(text, JSON_DECODE_ANY, NULL) : json_null());
}

static void
on_add_host_key(void *data, const char *key)
{
    DroverWork *work = heard(data, "drover_operation_add_host_key");

    if (key == NULL || strchr(key, ' ') == NULL)
        drover_bench_complain(work->bench, "%s() adds a host key that is not \"<type> <base64>\"",
                              work->function);
}

static void
on_set_resource(void *data, const char *name, double amount)
{
    DroverWork *work = heard(data, "drover_operation_set_resource");
    json_t *resources =
        work->items->len > 0 ? json_object_get(current(work), "resources") : work->resources;

    if (name == NULL || isnan(amount) || amount < 0)
        drover_bench_complain(work->bench, "%s() sets the resource %s to %g", work->function,
                              name != NULL ? name : "of no name", amount);
    else if (!isinf(amount))
        json_object_set_new(resources, name, json_real(amount));
}

static void
on_add_item(void *data, const char *kind, const char *id)
{
    DroverWork *work = heard(data, "drover_operation_add_item");
    json_t *item = json_object();

    if (kind == NULL || id == NULL || *id == '\0' || !g_utf8_validate(id, -1, NULL))
        drover_bench_complain(work->bench, "%s() adds an item without a kind or an id",
                              work->function);
    json_object_set_new(item, "kind", drover_json_from_string(kind));
    json_object_set_new(item, "id", drover_json_from_string(id));
    json_object_set_new(item, "resources", json_object());
    g_ptr_array_add(work->items, item);
}

static void
on_append_text(void *data, const char *text, size_t length)
{
    g_string_append_len(heard(data, "drover_operation_append_text")->text, text, (gssize)length);
}

/* ---- Failures ---- */

static void
on_fail(void *data, enum drover_failure failure, const char *text)
{
    DroverWork *work = heard(data, "drover_operation_fail");

    if (failure < DROVER_FAILURE_OTHER || failure > DROVER_FAILURE_NO_ADDRESS)
        drover_bench_complain(work->bench, "%s() fails with class %d, which there is not",
                              work->function, (int)failure);
    if (text == NULL || *text == '\0' || !g_utf8_validate(text, -1, NULL))
        drover_bench_complain(work->bench, "%s() fails with no text, or none in UTF-8",
                              work->function);
    hear(work, "the text of its failure", text);
    work->failure = failure;
    g_free(work->message);
    work->message = g_utf8_make_valid(text != NULL ? text : "", -1);
}

static void
on_retry_after(void *data, uint32_t milliseconds)
{
    heard(data, "drover_operation_retry_after");
}

/* ---- When, and how far. A late wake is allowed. ---- */

static void
on_call_after(void *data, uint32_t milliseconds)
{
    DroverWork *work = data;

    work->said_when = TRUE;
    work->due = milliseconds == DROVER_WHEN_WOKEN
                    ? -1
                    : g_get_monotonic_time() + (gint64)milliseconds * 1000;
}

static void
on_wake(void *data)
{
    DroverWork *work = data;

    g_atomic_int_set(&work->woken, 1);
    g_main_context_wakeup(work->bench->context);
}

static void
on_set_status(void *data, const char *status)
{
    DroverWork *work = heard(data, "drover_operation_set_status");

    if (status != NULL && !g_utf8_validate(status, -1, NULL))
        drover_bench_complain(work->bench, "the status of %s() is not UTF-8", work->function);
    hear(work, "its status", status);
}

static void
on_set_progress(void *data, uint64_t done, uint64_t total)
{
    DroverWork *work = heard(data, "drover_operation_set_progress");

    if (total > 0 && done > total)
        drover_bench_complain(work->bench, "the progress of %s() is more than all of it",
                              work->function);
}

static void
on_log(void *data, enum drover_log_level level, const char *text)
{
    DroverWork *work = data;

    drover_bench_hear_log(work->bench, work->function, level, text);
}

const struct drover_operation_host drover_work_answers = {
    .released = on_released,
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
