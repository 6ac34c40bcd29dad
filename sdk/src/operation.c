/* Operations as drivers see them; what they say is passed on to the host. */
#include <glib.h>

#include <drover/host.h>

#include "format.h"
#include "handle.h"

typedef struct {
    DroverHandled handled;
    const struct drover_operation_host *host;
    void *data;
    char *node_id, *external_id, *pool, *label;
    const struct drover_value *pool_config, *label_config;
    GHashTable *inputs;
    gint cancelled;
    void *state;
    void (*release)(void *state);
} Operation;

static void
operation_release(gpointer object)
{
    Operation *op = object;

    op->host->released(op->data);
    g_hash_table_unref(op->inputs);
    g_free(op->node_id);
    g_free(op->external_id);
    g_free(op->pool);
    g_free(op->label);
    g_free(op);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Operation, drover_handled_unref)

/* A new reference; NULL when it has ended. */
static Operation *
find(const struct drover_operation *handle)
{
    return drover_handle_find(handle, operation_release);
}

/* Passes one call on to the host, unless the operation has ended. */
#define TELL(handle, call)                                                                         \
    do {                                                                                           \
        g_autoptr(Operation) op = find(handle);                                                    \
                                                                                                   \
        if (op != NULL)                                                                            \
            op->host->call;                                                                        \
    } while (0)

/* ---- The host's side ---- */

static GHashTable *
copy_inputs(const char *const *inputs)
{
    GHashTable *table = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);

    for (; inputs != NULL && inputs[0] != NULL; inputs += 2)
        g_hash_table_insert(table, g_strdup(inputs[0]), g_strdup(inputs[1]));
    return table;
}

struct drover_operation *
drover_host_operation_new(const struct drover_operation_input *input,
                          const struct drover_operation_host *host, void *data)
{
    Operation *op = g_new0(Operation, 1);

    op->host = host;
    op->data = data;
    op->node_id = g_strdup(input->node_id);
    op->external_id = g_strdup(input->external_id);
    op->pool = g_strdup(input->pool);
    op->label = g_strdup(input->label);
    op->pool_config = input->pool_config;
    op->label_config = input->label_config;
    op->inputs = copy_inputs(input->inputs);
    return drover_handle_new(op, operation_release);
}

void
drover_host_operation_free(struct drover_operation *handle)
{
    g_autoptr(Operation) op = drover_handle_end(handle);

    if (op->release != NULL)
        op->release(op->state);
}

void
drover_host_operation_cancel(struct drover_operation *handle)
{
    g_autoptr(Operation) op = find(handle);

    if (op != NULL)
        g_atomic_int_set(&op->cancelled, 1);
}

void
drover_host_operation_inputs(const struct drover_operation *handle, drover_host_input each,
                             void *data)
{
    g_autoptr(Operation) op = find(handle);
    GHashTableIter iter;
    gpointer name, value;

    if (op == NULL)
        return;
    g_hash_table_iter_init(&iter, op->inputs);
    while (g_hash_table_iter_next(&iter, &name, &value))
        each(data, name, value);
}

/* ---- What it is about. The strings outlive the call as long as the operation lives. ---- */

const char *
drover_operation_node_id(const struct drover_operation *handle)
{
    g_autoptr(Operation) op = find(handle);

    return op != NULL ? op->node_id : NULL;
}

const char *
drover_operation_external_id(const struct drover_operation *handle)
{
    g_autoptr(Operation) op = find(handle);

    return op != NULL ? op->external_id : NULL;
}

const char *
drover_operation_pool(const struct drover_operation *handle)
{
    g_autoptr(Operation) op = find(handle);

    return op != NULL ? op->pool : NULL;
}

const char *
drover_operation_label(const struct drover_operation *handle)
{
    g_autoptr(Operation) op = find(handle);

    return op != NULL ? op->label : NULL;
}

const struct drover_value *
drover_operation_pool_config(const struct drover_operation *handle)
{
    g_autoptr(Operation) op = find(handle);

    return op != NULL ? op->pool_config : NULL;
}

const struct drover_value *
drover_operation_label_config(const struct drover_operation *handle)
{
    g_autoptr(Operation) op = find(handle);

    return op != NULL ? op->label_config : NULL;
}

const char *
drover_operation_input(const struct drover_operation *handle, const char *name)
{
    g_autoptr(Operation) op = find(handle);

    return op != NULL && name != NULL ? g_hash_table_lookup(op->inputs, name) : NULL;
}

int
drover_operation_cancelled(const struct drover_operation *handle)
{
    g_autoptr(Operation) op = find(handle);

    return op != NULL && g_atomic_int_get(&op->cancelled);
}

/* ---- The driver's state ---- */

void
drover_operation_set_state(struct drover_operation *handle, void *state,
                           void (*release)(void *state))
{
    g_autoptr(Operation) op = find(handle);

    if (op == NULL) {
        if (release != NULL)
            release(state);
        return;
    }
    if (op->release != NULL && op->state != state)
        op->release(op->state);
    op->state = state;
    op->release = release;
}

void *
drover_operation_state(const struct drover_operation *handle)
{
    g_autoptr(Operation) op = find(handle);

    return op != NULL ? op->state : NULL;
}

/* ---- When to step, and how far it is ---- */

void
drover_operation_call_after(struct drover_operation *handle, uint32_t milliseconds)
{
    TELL(handle, call_after(op->data, milliseconds));
}

void
drover_operation_wake(struct drover_operation *handle)
{
    TELL(handle, wake(op->data));
}

void
drover_operation_set_status(struct drover_operation *handle, const char *status)
{
    TELL(handle, set_status(op->data, status));
}

void
drover_operation_set_progress(struct drover_operation *handle, uint64_t done, uint64_t total)
{
    TELL(handle, set_progress(op->data, done, total));
}

/* ---- Results ---- */

void
drover_operation_set_string(struct drover_operation *handle, const char *name, const char *value)
{
    TELL(handle, set_string(op->data, name, value));
}

void
drover_operation_set_integer(struct drover_operation *handle, const char *name, int64_t value)
{
    TELL(handle, set_integer(op->data, name, value));
}

void
drover_operation_set_json(struct drover_operation *handle, const char *name, const char *text)
{
    TELL(handle, set_json(op->data, name, text));
}

void
drover_operation_add_host_key(struct drover_operation *handle, const char *key)
{
    TELL(handle, add_host_key(op->data, key));
}

void
drover_operation_set_resource(struct drover_operation *handle, const char *name, double amount)
{
    TELL(handle, set_resource(op->data, name, amount));
}

void
drover_operation_add_item(struct drover_operation *handle, const char *kind, const char *id)
{
    TELL(handle, add_item(op->data, kind, id));
}

void
drover_operation_append_text(struct drover_operation *handle, const char *text, size_t length)
{
    if (text != NULL)
        TELL(handle, append_text(op->data, text, length));
}

void
drover_operation_retry_after(struct drover_operation *handle, uint32_t milliseconds)
{
    TELL(handle, retry_after(op->data, milliseconds));
}

enum drover_step
drover_operation_fail(struct drover_operation *handle, enum drover_failure failure,
                      const char *format, ...)
{
    g_autofree char *text = NULL;

    FORMAT_TEXT(text, format);
    TELL(handle, fail(op->data, failure, text));
    return DROVER_FAILED;
}

void
drover_operation_log(const struct drover_operation *handle, enum drover_log_level level,
                     const char *format, ...)
{
    g_autofree char *text = NULL;

    FORMAT_TEXT(text, format);
    TELL(handle, log(op->data, level, text));
}
