/* Operations as drivers see them; what they say is passed on to the host. */
#include <glib.h>
#include <stdarg.h>

#include <drover/host.h>

struct drover_operation {
    const struct drover_operation_host *host;
    void *data;
    char *node_id, *external_id, *pool, *label;
    const struct drover_value *pool_config, *label_config;
    GHashTable *inputs;
    gint cancelled;
    void *state;
    void (*release)(void *state);
};

/*
 * Operations that exist. A driver's thread may wake one that has just ended: its handle is looked
 * up here before it is touched.
 */
static GMutex living_lock;
static GHashTable *living;

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
    struct drover_operation *op = g_new0(struct drover_operation, 1);

    op->host = host;
    op->data = data;
    op->node_id = g_strdup(input->node_id);
    op->external_id = g_strdup(input->external_id);
    op->pool = g_strdup(input->pool);
    op->label = g_strdup(input->label);
    op->pool_config = input->pool_config;
    op->label_config = input->label_config;
    op->inputs = copy_inputs(input->inputs);
    g_mutex_lock(&living_lock);
    if (living == NULL)
        living = g_hash_table_new(NULL, NULL);
    g_hash_table_add(living, op);
    g_mutex_unlock(&living_lock);
    return op;
}

void
drover_host_operation_free(struct drover_operation *op)
{
    g_mutex_lock(&living_lock);
    g_hash_table_remove(living, op);
    if (g_hash_table_size(living) == 0)
        g_clear_pointer(&living, g_hash_table_unref);
    g_mutex_unlock(&living_lock);
    if (op->release != NULL)
        op->release(op->state);
    g_hash_table_unref(op->inputs);
    g_free(op->node_id);
    g_free(op->external_id);
    g_free(op->pool);
    g_free(op->label);
    g_free(op);
}

void
drover_host_operation_cancel(struct drover_operation *op)
{
    g_atomic_int_set(&op->cancelled, 1);
}

/* ---- What it is about ---- */

const char *
drover_operation_node_id(const struct drover_operation *op)
{
    return op->node_id;
}

const char *
drover_operation_external_id(const struct drover_operation *op)
{
    return op->external_id;
}

const char *
drover_operation_pool(const struct drover_operation *op)
{
    return op->pool;
}

const char *
drover_operation_label(const struct drover_operation *op)
{
    return op->label;
}

const struct drover_value *
drover_operation_pool_config(const struct drover_operation *op)
{
    return op->pool_config;
}

const struct drover_value *
drover_operation_label_config(const struct drover_operation *op)
{
    return op->label_config;
}

const char *
drover_operation_input(const struct drover_operation *op, const char *name)
{
    return g_hash_table_lookup(op->inputs, name);
}

int
drover_operation_cancelled(const struct drover_operation *op)
{
    return g_atomic_int_get(&op->cancelled);
}

/* ---- The driver's state ---- */

void
drover_operation_set_state(struct drover_operation *op, void *state, void (*release)(void *state))
{
    if (op->release != NULL && op->state != state)
        op->release(op->state);
    op->state = state;
    op->release = release;
}

void *
drover_operation_state(const struct drover_operation *op)
{
    return op->state;
}

/* ---- When to step ---- */

void
drover_operation_call_after(struct drover_operation *op, uint32_t milliseconds)
{
    op->host->call_after(op->data, milliseconds);
}

void
drover_operation_wake(struct drover_operation *op)
{
    g_mutex_lock(&living_lock);
    if (living != NULL && g_hash_table_contains(living, op))
        op->host->wake(op->data);
    g_mutex_unlock(&living_lock);
}

/* ---- Results ---- */

void
drover_operation_set_string(struct drover_operation *op, const char *name, const char *value)
{
    op->host->set_string(op->data, name, value);
}

void
drover_operation_set_integer(struct drover_operation *op, const char *name, int64_t value)
{
    op->host->set_integer(op->data, name, value);
}

void
drover_operation_add_host_key(struct drover_operation *op, const char *key)
{
    op->host->add_host_key(op->data, key);
}

void
drover_operation_set_resource(struct drover_operation *op, const char *name, double amount)
{
    op->host->set_resource(op->data, name, amount);
}

void
drover_operation_add_item(struct drover_operation *op, const char *kind, const char *id)
{
    op->host->add_item(op->data, kind, id);
}

void
drover_operation_append_text(struct drover_operation *op, const char *text, size_t length)
{
    op->host->append_text(op->data, text, length);
}

void
drover_operation_retry_after(struct drover_operation *op, uint32_t milliseconds)
{
    op->host->retry_after(op->data, milliseconds);
}

enum drover_step
drover_operation_fail(struct drover_operation *op, enum drover_failure failure, const char *format,
                      ...)
{
    g_autofree char *text = NULL;
    va_list arguments;

    va_start(arguments, format);
    text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    op->host->fail(op->data, failure, text);
    return DROVER_FAILED;
}

void
drover_operation_log(const struct drover_operation *op, enum drover_log_level level,
                     const char *format, ...)
{
    g_autofree char *text = NULL;
    va_list arguments;

    va_start(arguments, format);
    text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    op->host->log(op->data, level, text);
}
