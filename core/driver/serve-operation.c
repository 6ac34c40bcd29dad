/* Operations in the driver's process. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "driver/serve-private.h"

/* Of a long text that is appended. */
#define PIECE (512 * 1024)

typedef struct {
    gint references; /* atomic: the table's, and the handle's */
    Serve *serve;
    gint64 number;
    guint kind;
    struct drover_operation *op;
    struct drover_value *pool_config, *label_config;
    gboolean ended;
    gint64 after; /* when it wants to be stepped again, in milliseconds; -1: it did not say */
} ServeOperation;

static void
operation_unref(void *data)
{
    ServeOperation *operation = data;

    if (!g_atomic_int_dec_and_test(&operation->references))
        return;
    drover_value_free(operation->pool_config);
    drover_value_free(operation->label_config);
    g_free(operation);
}

/* ---- What the driver says of it ---- */

static void
say(const ServeOperation *operation, const char *what, json_t *a, json_t *b)
{
    drover_serve_send(operation->serve,
                      json_pack("{s:s, s:I, s:s, s:o, s:o}", "is", "say", "op",
                                (json_int_t)operation->number, "what", what, "a",
                                a != NULL ? a : json_null(), "b", b != NULL ? b : json_null()));
}

static void
on_log(void *data, enum drover_log_level level, const char *text)
{
    say(data, "log", json_integer(level), drover_serve_text(text));
}

static void
on_wake(void *data)
{
    say(data, "wake", NULL, NULL);
}

static void
on_set_status(void *data, const char *status)
{
    say(data, "set_status", drover_serve_text(status), NULL);
}

static void
on_set_progress(void *data, uint64_t done, uint64_t total)
{
    say(data, "set_progress", json_integer((json_int_t)done), json_integer((json_int_t)total));
}

static void
on_call_after(void *data, uint32_t milliseconds)
{
    ((ServeOperation *)data)->after = milliseconds;
}

/* A value that is not UTF-8 is told as an empty name, which is none. */
static void
on_set_string(void *data, const char *name, const char *value)
{
    gboolean valid = value == NULL || g_utf8_validate(value, -1, NULL);

    say(data, "set_string", drover_serve_text(valid ? name : ""), drover_serve_text(value));
}

static void
on_set_integer(void *data, const char *name, int64_t value)
{
    say(data, "set_integer", drover_serve_text(name), json_integer(value));
}

static void
on_set_json(void *data, const char *name, const char *text)
{
    say(data, "set_json", drover_serve_text(name), drover_serve_text(text));
}

static void
on_add_host_key(void *data, const char *key)
{
    say(data, "add_host_key", drover_serve_text(key), NULL);
}

static void
on_set_resource(void *data, const char *name, double amount)
{
    say(data, "set_resource", drover_serve_text(name), json_real(amount));
}

static void
on_add_item(void *data, const char *kind, const char *id)
{
    say(data, "add_item", drover_serve_text(kind), drover_serve_text(id));
}

static void
on_append_text(void *data, const char *text, size_t length)
{
    while (length > 0) {
        gsize piece = MIN(length, PIECE);
        g_autofree char *coded = g_base64_encode((const guchar *)text, piece);

        say(data, "append_text", json_string(coded), NULL);
        text += piece;
        length -= piece;
    }
}

static void
on_fail(void *data, enum drover_failure failure, const char *text)
{
    say(data, "fail", json_integer(failure), drover_serve_text(text));
}

static void
on_retry_after(void *data, uint32_t milliseconds)
{
    say(data, "retry_after", json_integer(milliseconds), NULL);
}

static const struct drover_operation_host operation_host = {
    .released = operation_unref,
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

/* ---- Orders ---- */

static const char **
input_words(const json_t *inputs)
{
    const char **words = g_new0(const char *, 2 * json_object_size(inputs) + 1);
    guint n = 0;
    const char *name;
    json_t *value;

    json_object_foreach((json_t *)inputs, name, value)
    {
        words[n++] = name;
        words[n++] = json_string_value(value) != NULL ? json_string_value(value) : "";
    }
    return words;
}

static struct drover_value *
config_of(const json_t *frame, const char *key)
{
    const json_t *json = json_object_get(frame, key);

    return json == NULL || json_is_null(json) ? NULL : drover_transport_unpack(json);
}

static struct drover_operation *
new_handle(ServeOperation *operation, const json_t *frame)
{
    g_autofree const char **words = input_words(json_object_get(frame, "inputs"));
    const struct drover_operation_input input = {
        .node_id = drover_json_string(frame, "node_id"),
        .external_id = drover_json_string(frame, "external_id"),
        .pool = drover_json_string(frame, "pool"),
        .label = drover_json_string(frame, "label"),
        .pool_config = operation->pool_config,
        .label_config = operation->label_config,
        .inputs = words,
    };

    return drover_host_operation_new(&input, &operation_host, operation);
}

/* Begins it, or takes it up. */
json_t *
drover_serve_begin(Serve *serve, const json_t *frame)
{
    const struct drover_driver *driver = &serve->table->driver;
    const char *saved = drover_json_string(frame, "saved");
    ServeOperation *operation = g_new0(ServeOperation, 1);

    operation->references = 2;
    operation->serve = serve;
    operation->number = drover_json_integer(frame, "op", 0);
    operation->kind = (guint)drover_json_integer(frame, "kind", 0);
    operation->pool_config = config_of(frame, "pool_config");
    operation->label_config = config_of(frame, "label_config");
    operation->op = new_handle(operation, frame);
    g_hash_table_replace(serve->operations, g_memdup2(&operation->number, sizeof(gint64)),
                         operation);
    return json_pack("{s:b}", "ok",
                     saved == NULL ||
                         (driver->operation_resume != NULL &&
                          driver->operation_resume(serve->self, operation->op, saved) == 0));
}

static ServeOperation *
find(const Serve *serve, const json_t *frame)
{
    gint64 number = drover_json_integer(frame, "op", 0);

    return g_hash_table_lookup(serve->operations, &number);
}

/* What another process would need, once the step is done. */
static json_t *
saved_text(const Serve *serve, const ServeOperation *operation)
{
    const struct drover_driver *driver = &serve->table->driver;
    json_t *json;
    char *text;

    if (driver->operation_save == NULL)
        return json_null();
    text = driver->operation_save(serve->self, operation->op);
    json = drover_serve_text(text);
    free(text);
    return json;
}

json_t *
drover_serve_step(Serve *serve, const json_t *frame)
{
    ServeOperation *operation = find(serve, frame);
    DroverStepFunc function = NULL;
    enum drover_step outcome;

    if (operation != NULL && operation->kind < drover_n_operation_kinds)
        function = drover_operation_function(&serve->table->driver, operation->kind);
    if (function == NULL || operation->ended)
        return json_object();
    operation->after = -1;
    outcome = function(serve->self, operation->op);
    operation->ended = outcome != DROVER_RUNNING;
    return json_pack("{s:i, s:I, s:o}", "outcome", (int)outcome, "after",
                     (json_int_t)operation->after, "saved",
                     operation->ended ? json_null() : saved_text(serve, operation));
}

json_t *
drover_serve_cancel(Serve *serve, const json_t *frame)
{
    const ServeOperation *operation = find(serve, frame);

    if (operation == NULL || operation->ended)
        return json_object();
    drover_host_operation_cancel(operation->op);
    if (serve->table->driver.operation_cancel != NULL)
        serve->table->driver.operation_cancel(serve->self, operation->op);
    return json_object();
}

json_t *
drover_serve_end(Serve *serve, const json_t *frame)
{
    gint64 number = drover_json_integer(frame, "op", 0);

    g_hash_table_remove(serve->operations, &number);
    return json_object();
}

void
drover_serve_operation_free(gpointer data)
{
    ServeOperation *operation = data;

    drover_host_operation_free(operation->op);
    operation_unref(operation);
}
