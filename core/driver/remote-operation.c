/*
 * Operations of a driver that is elsewhere. A step of ours tells the driver's process to step, and
 * when it has answered we are stepped again and answer the same. What the driver says of results is
 * kept until the end, since a process that crashes may say it twice; external ids, status and
 * progress are passed on at once.
 */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "driver/remote-private.h"

/* When the driver runs on and did not say when to step it again. */
#define USUAL_PAUSE_MILLISECONDS 1000
/* How often an operation may lose its process. */
#define MOST_LOSSES 3
/* What is kept of one operation's results, in bytes. The runner takes less. */
#define MOST_KEPT  (96 * 1024 * 1024)
#define FRAME_COST 512

typedef struct {
    DroverRemote *remote;
    struct drover_operation *handle;
    gint64 number;
    guint kind;
    guint losses;
    gboolean begun;    /* the process knows it */
    gboolean stepping; /* it was told to step and has not answered */
    gboolean tried;    /* it was stepped without anything saved, in any process */
    gboolean again;    /* a further step is wanted */
    gboolean reported; /* the last step's outcome is to be looked at by our own */
    int outcome;       /* 0: none yet */
    gint64 after;
    char *saved;
    GPtrArray *said; /* frames, kept until the end */
    guint items;
    gsize kept; /* bytes in `said` */
} RemoteOperation;

void
drover_remote_operation_free(gpointer data)
{
    RemoteOperation *operation = data;
    DroverRemote *remote = operation->remote;

    g_hash_table_remove(remote->operations, &operation->number);
    if (operation->begun && remote->state == DROVER_REMOTE_UP)
        drover_remote_order(remote, "end", "operation_end", operation->number, json_object());
    g_ptr_array_unref(operation->said);
    g_free(operation->saved);
    g_free(operation);
}

static RemoteOperation *
operation_new(DroverRemote *remote, struct drover_operation *handle, guint kind)
{
    RemoteOperation *operation = g_new0(RemoteOperation, 1);

    operation->remote = remote;
    operation->handle = handle;
    operation->number = ++remote->last_operation;
    operation->kind = kind;
    operation->said = g_ptr_array_new_with_free_func((GDestroyNotify)json_decref);
    g_hash_table_insert(remote->operations, &operation->number, operation);
    drover_operation_set_state(handle, operation, drover_remote_operation_free);
    return operation;
}

/* ---- What the driver says ---- */

/* What was said, with the two things it was said with. */
typedef struct {
    struct drover_operation *handle;
    const json_t *a, *b;
} Said;

static const char *
text(const json_t *json)
{
    return json_string_value(json);
}

static void
say_string(const Said *said)
{
    drover_operation_set_string(said->handle, text(said->a), text(said->b));
}

static void
say_integer(const Said *said)
{
    drover_operation_set_integer(said->handle, text(said->a), json_integer_value(said->b));
}

static void
say_json(const Said *said)
{
    drover_operation_set_json(said->handle, text(said->a), text(said->b));
}

static void
say_host_key(const Said *said)
{
    drover_operation_add_host_key(said->handle, text(said->a));
}

static void
say_resource(const Said *said)
{
    drover_operation_set_resource(said->handle, text(said->a),
                                  json_is_number(said->b) ? json_number_value(said->b) : INFINITY);
}

static void
say_item(const Said *said)
{
    drover_operation_add_item(said->handle, text(said->a), text(said->b));
}

static void
say_text(const Said *said)
{
    gsize length = 0;
    g_autofree guchar *bytes =
        text(said->a) != NULL ? g_base64_decode(text(said->a), &length) : NULL;

    drover_operation_append_text(said->handle, (const char *)bytes, length);
}

static void
say_failure(const Said *said)
{
    drover_operation_fail(said->handle, (enum drover_failure)json_integer_value(said->a), "%s",
                          text(said->b) != NULL ? text(said->b) : "");
}

static void
say_retry_after(const Said *said)
{
    drover_operation_retry_after(said->handle, (uint32_t)json_integer_value(said->a));
}

static void
say_status(const Said *said)
{
    drover_operation_set_status(said->handle, text(said->a));
}

static void
say_progress(const Said *said)
{
    drover_operation_set_progress(said->handle, (uint64_t)json_integer_value(said->a),
                                  (uint64_t)json_integer_value(said->b));
}

static void
say_log(const Said *said)
{
    drover_operation_log(said->handle, (enum drover_log_level)json_integer_value(said->a), "%s",
                         text(said->b) != NULL ? text(said->b) : "");
}

static void
say_wake(const Said *said)
{
    RemoteOperation *operation = drover_operation_state(said->handle);

    operation->again = TRUE;
    drover_operation_wake(said->handle);
}

static const struct {
    const char *what;
    void (*say)(const Said *said);
    gboolean kept; /* until the end */
} sayings[] = {
    {"set_string", say_string, TRUE},
    {"set_integer", say_integer, TRUE},
    {"set_json", say_json, TRUE},
    {"add_host_key", say_host_key, TRUE},
    {"set_resource", say_resource, TRUE},
    {"add_item", say_item, TRUE},
    {"append_text", say_text, TRUE},
    {"fail", say_failure, TRUE},
    {"retry_after", say_retry_after, TRUE},
    {"set_status", say_status, FALSE},
    {"set_progress", say_progress, FALSE},
    {"log", say_log, FALSE},
    {"wake", say_wake, FALSE},
};

static gint
find_saying(const json_t *frame)
{
    const char *what = drover_json_string(frame, "what");

    for (gint i = 0; what != NULL && i < (gint)G_N_ELEMENTS(sayings); i++)
        if (strcmp(sayings[i].what, what) == 0)
            return i;
    return -1;
}

static void
pass_on(const RemoteOperation *operation, gint saying, const json_t *frame)
{
    const Said said = {.handle = operation->handle,
                       .a = json_object_get(frame, "a"),
                       .b = json_object_get(frame, "b")};

    sayings[saying].say(&said);
}

/* An operation's own external id is known to others at once. */
static gboolean
is_external_id(const RemoteOperation *operation, gint saying, const json_t *frame)
{
    return operation->items == 0 &&
           (sayings[saying].say == say_string || sayings[saying].say == say_json) &&
           g_strcmp0(drover_json_string(frame, "a"), "external_id") == 0;
}

/* It fails, and our own step will say so. */
static void
fail(RemoteOperation *operation, const char *why)
{
    operation->outcome = DROVER_FAILED;
    operation->reported = TRUE;
    g_ptr_array_set_size(operation->said, 0);
    drover_operation_fail(operation->handle, DROVER_FAILURE_OTHER, "%s", why);
    drover_operation_wake(operation->handle);
}

static void
keep(RemoteOperation *operation, gint saying, const json_t *frame)
{
    operation->kept += json_string_length(json_object_get(frame, "a")) +
                       json_string_length(json_object_get(frame, "b")) + FRAME_COST;
    if (operation->kept > MOST_KEPT) {
        fail(operation, "the driver answered too much");
        return;
    }
    operation->items += sayings[saying].say == say_item;
    g_ptr_array_add(operation->said, json_incref((json_t *)frame));
}

gboolean
drover_remote_operation_said(DroverRemote *remote, const json_t *frame)
{
    gint64 number = drover_json_integer(frame, "op", 0);
    RemoteOperation *operation = g_hash_table_lookup(remote->operations, &number);
    gint saying = find_saying(frame);

    if (saying < 0)
        return FALSE;
    /* It has ended, or was lost: a late word. */
    if (operation == NULL || !operation->begun || operation->outcome != 0)
        return TRUE;
    if (!sayings[saying].kept || is_external_id(operation, saying, frame))
        pass_on(operation, saying, frame);
    else
        keep(operation, saying, frame);
    return TRUE;
}

/* ---- Orders ---- */

static void
add_input(void *inputs, const char *name, const char *value)
{
    json_object_set_new(inputs, name, drover_json_from_string(value));
}

static void
begin(RemoteOperation *operation)
{
    struct drover_operation *handle = operation->handle;
    json_t *inputs = json_object();

    drover_host_operation_inputs(handle, add_input, inputs);
    operation->begun = TRUE;
    drover_remote_order(
        operation->remote, "begin", "operation_resume", operation->number,
        json_pack("{s:i, s:s?, s:s?, s:s?, s:s?, s:o, s:o, s:o, s:s?}", "kind",
                  (int)operation->kind, "node_id", drover_operation_node_id(handle), "external_id",
                  drover_operation_external_id(handle), "pool", drover_operation_pool(handle),
                  "label", drover_operation_label(handle), "pool_config",
                  drover_transport_pack(drover_operation_pool_config(handle)), "label_config",
                  drover_transport_pack(drover_operation_label_config(handle)), "inputs", inputs,
                  "saved", operation->saved));
    if (drover_operation_cancelled(handle))
        drover_remote_order(operation->remote, "cancel", "operation_cancel", operation->number,
                            json_object());
}

void
drover_remote_operation_began(DroverRemote *remote, gint64 number, const json_t *answer)
{
    RemoteOperation *operation = g_hash_table_lookup(remote->operations, &number);

    if (operation != NULL && operation->outcome == 0 && !drover_json_boolean(answer, "ok", FALSE))
        fail(operation, "the driver cannot take up what was saved");
}

void
drover_remote_operation_stepped(DroverRemote *remote, gint64 number, const json_t *answer)
{
    RemoteOperation *operation = g_hash_table_lookup(remote->operations, &number);
    const char *saved = drover_json_string(answer, "saved");

    if (operation == NULL || operation->outcome != 0)
        return;
    operation->stepping = FALSE;
    operation->reported = TRUE;
    operation->after = drover_json_integer(answer, "after", -1);
    g_free(operation->saved);
    operation->saved = g_strdup(saved);
    if (drover_json_integer(answer, "outcome", 0) != DROVER_RUNNING) {
        operation->outcome = (int)drover_json_integer(answer, "outcome", -1);
        if (operation->outcome == 0)
            operation->outcome = -1;
    }
    drover_operation_wake(operation->handle);
}

static void
order_step(RemoteOperation *operation)
{
    if (!operation->begun)
        begin(operation);
    operation->again = FALSE;
    operation->stepping = TRUE;
    operation->tried = TRUE;
    drover_remote_order(operation->remote, "step", drover_operation_kinds[operation->kind].name,
                        operation->number, json_object());
}

/* ---- Losing the process ---- */

static void
lose(RemoteOperation *operation, const char *why)
{
    gboolean once = drover_operation_kinds[operation->kind].makes;

    if (operation->outcome != 0)
        return;
    operation->begun = operation->stepping = operation->reported = FALSE;
    operation->items = 0;
    operation->kept = 0;
    g_ptr_array_set_size(operation->said, 0);
    operation->losses++;
    if (operation->losses > MOST_LOSSES || (once && operation->tried && operation->saved == NULL) ||
        (operation->saved == NULL && drover_operation_cancelled(operation->handle)))
        fail(operation, why);
}

static void
each_operation(DroverRemote *remote, void (*func)(RemoteOperation *operation, const char *text),
               const char *argument)
{
    g_autoptr(GList) all = g_hash_table_get_values(remote->operations);

    for (GList *one = all; one != NULL; one = one->next)
        func(one->data, argument);
}

void
drover_remote_operations_lost(DroverRemote *remote, const char *why)
{
    each_operation(remote, lose, why);
}

static void
go_on(RemoteOperation *operation, const char *unused)
{
    operation->again = TRUE;
    drover_operation_wake(operation->handle);
}

void
drover_remote_operations_resumed(DroverRemote *remote)
{
    each_operation(remote, go_on, NULL);
}

/* ---- The functions of the table ---- */

/* Everything that the driver said, and then what it answered. */
static enum drover_step
end(RemoteOperation *operation)
{
    for (guint i = 0; i < operation->said->len; i++) {
        const json_t *frame = operation->said->pdata[i];

        pass_on(operation, find_saying(frame), frame);
    }
    return (enum drover_step)operation->outcome;
}

static enum drover_step
step(void *self, struct drover_operation *handle, guint kind)
{
    DroverRemote *remote = self;
    RemoteOperation *operation = drover_operation_state(handle);

    if (operation == NULL)
        operation = operation_new(remote, handle, kind);
    operation->kind = kind;
    if (operation->outcome != 0)
        return end(operation);
    drover_operation_call_after(handle, DROVER_WHEN_WOKEN);
    operation->again |= !operation->reported;
    if (operation->reported) {
        operation->reported = FALSE;
        if (!operation->again)
            drover_operation_call_after(handle, operation->after >= 0 ? (uint32_t)operation->after
                                                                      : USUAL_PAUSE_MILLISECONDS);
    }
    if (operation->again && !operation->stepping && remote->state == DROVER_REMOTE_UP)
        order_step(operation);
    return DROVER_RUNNING;
}

static char *
operation_save(void *self, struct drover_operation *handle)
{
    const RemoteOperation *operation = drover_operation_state(handle);

    return operation != NULL && operation->saved != NULL ? strdup(operation->saved) : NULL;
}

/* The kind is known when it is stepped. */
static int
operation_resume(void *self, struct drover_operation *handle, const char *saved)
{
    RemoteOperation *operation = operation_new(self, handle, G_MAXUINT);

    operation->saved = g_strdup(saved);
    return 0;
}

static void
operation_cancel(void *self, struct drover_operation *handle)
{
    DroverRemote *remote = self;
    RemoteOperation *operation = drover_operation_state(handle);

    if (operation == NULL || operation->outcome != 0)
        return;
    operation->again = TRUE;
    if (operation->begun && remote->state == DROVER_REMOTE_UP)
        drover_remote_order(remote, "cancel", "operation_cancel", operation->number, json_object());
    else if (operation->saved == NULL)
        fail(operation, "it was cancelled while the driver's process was not there");
}

#define STEP(kind, function)                                                                       \
    static enum drover_step function(void *self, struct drover_operation *op)                      \
    {                                                                                              \
        return step(self, op, kind);                                                               \
    }

/* In the order of drover_operation_kinds. */
STEP(0, machine_create)
STEP(1, machine_delete)
STEP(2, machine_console)
STEP(3, label_ready)
STEP(4, zone_list)
STEP(5, slot_register)
STEP(6, slot_check)
STEP(7, quota_limits)
STEP(8, quota_label)
STEP(9, quota_usage)
STEP(10, resource_list)
STEP(11, resource_delete)
STEP(12, image_upload)
STEP(13, image_delete)
STEP(14, image_list)

static const DroverStepFunc functions[] = {
    machine_create, machine_delete,  machine_console, label_ready,  zone_list,
    slot_register,  slot_check,      quota_limits,    quota_label,  quota_usage,
    resource_list,  resource_delete, image_upload,    image_delete, image_list};

void
drover_remote_fill_operations(struct drover_driver *table, const struct drover_driver *driver)
{
    for (guint i = 0; i < G_N_ELEMENTS(functions); i++)
        if (drover_operation_function(driver, i) != NULL)
            memcpy((char *)table + drover_operation_kinds[i].offset, &functions[i],
                   sizeof(functions[i]));
    table->operation_cancel = operation_cancel;
    table->operation_save = driver->operation_save != NULL ? operation_save : NULL;
    table->operation_resume = driver->operation_resume != NULL ? operation_resume : NULL;
}
