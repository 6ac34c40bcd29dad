#include "record.h"

#include <string.h>

#include "options.h"

/* ---- Life ---- */

static int64_t
wall_clock(void)
{
    return g_get_real_time() / G_USEC_PER_SEC;
}

static struct record *
record_new(const char *label, guint slots)
{
    struct record *record = g_new0(struct record, 1);

    record->label = g_strdup(label);
    record->slots = slots;
    record->occupants = g_new0(char *, slots);
    record->last_used = drover_now();
    return record;
}

void
record_free(gpointer data)
{
    struct record *record = data;

    for (guint i = 0; i < record->slots; i++)
        g_free(record->occupants[i]);
    g_free(record->occupants);
    g_free(record->label);
    g_free(record->node);
    json_decref(record->fields);
    g_free(record);
}

void
record_remove(struct metastatic *self, struct record *record)
{
    g_ptr_array_remove(self->records, record);
}

/* The host adds whose it is. */
static char *
user_data_of(const struct record *record)
{
    json_t *data =
        json_pack("{s:s, s:i, s:b, s:I}", "label", record->label, "slots", (int)record->slots,
                  "failed", record->failed, "launched", (json_int_t)record->launched);
    char *text = json_dumps(data, JSON_COMPACT);

    json_decref(data);
    return text;
}

struct record *
record_request(struct metastatic *self, const struct drover_value *label)
{
    struct record *record =
        record_new(drover_value_get_string(label, "name", ""),
                   (guint)drover_value_get_integer(label, "max-parallel-jobs", 1));
    char *text;

    record->launched = wall_clock();
    record->ticket = ++self->last_ticket;
    g_ptr_array_add(self->records, record);
    text = user_data_of(record);
    drover_backing_request(self->provider, record->ticket,
                           drover_value_get_string(label, "backing-label", ""), text);
    free(text);
    return record;
}

static gint
compare_ages(gconstpointer a, gconstpointer b)
{
    const struct record *const *one = a, *const *other = b;

    return ((*one)->launched > (*other)->launched) - ((*one)->launched < (*other)->launched);
}

struct record *
record_take(struct metastatic *self, const char *node, const char *user_data)
{
    json_t *data = json_loads(user_data, 0, NULL);
    const char *label = json_string_value(json_object_get(data, "label"));
    json_int_t slots = json_integer_value(json_object_get(data, "slots"));
    struct record *record = NULL;

    if (label != NULL && slots > 0 && slots <= 65536) {
        record = record_new(label, (guint)slots);
        record->node = g_strdup(node);
        record->launched = (int64_t)json_number_value(json_object_get(data, "launched"));
        record->failed = json_is_true(json_object_get(data, "failed"));
        g_ptr_array_add(self->records, record);
        g_ptr_array_sort(self->records, compare_ages);
    }
    json_decref(data);
    return record;
}

void
record_update(struct record *record, const char *user_data, const struct drover_value *fields)
{
    json_t *data = user_data != NULL ? json_loads(user_data, 0, NULL) : NULL;

    if (json_is_true(json_object_get(data, "failed")))
        record->failed = TRUE;
    json_decref(data);
    if (fields != NULL) {
        char *text = drover_value_json(fields);

        json_decref(record->fields);
        record->fields = json_loads(text, 0, NULL);
        free(text);
    }
}

/* ---- Which ---- */

struct record *
record_of_node(const struct metastatic *self, const char *node)
{
    for (guint i = 0; i < self->records->len; i++) {
        struct record *record = self->records->pdata[i];

        if (record->node != NULL && g_strcmp0(record->node, node) == 0)
            return record;
    }
    return NULL;
}

struct record *
record_of_ticket(const struct metastatic *self, uint64_t ticket)
{
    for (guint i = 0; i < self->records->len; i++) {
        struct record *record = self->records->pdata[i];

        if (record->node == NULL && record->ticket == ticket)
            return record;
    }
    return NULL;
}

static gboolean
is_over_age(const struct metastatic *self, const struct record *record)
{
    const struct drover_value *label = find_label(self->config, record->label);
    int64_t max_age = drover_value_get_integer(label, "max-age", -1);

    return max_age >= 0 && wall_clock() - record->launched > max_age;
}

static guint
count_occupants(const struct record *record)
{
    guint count = 0;

    for (guint i = 0; i < record->slots; i++)
        count += record->occupants[i] != NULL;
    return count;
}

struct record *
record_with_room(struct metastatic *self, const char *label)
{
    for (guint i = 0; i < self->records->len; i++) {
        struct record *record = self->records->pdata[i];

        if (strcmp(record->label, label) != 0 || record->failed || record->releasing ||
            record->gone || count_occupants(record) == record->slots)
            continue;
        if (!is_over_age(self, record))
            return record;
        record_fail(self, record, "it is over its max-age");
    }
    return NULL;
}

struct record *
record_of_occupant(const struct metastatic *self, const char *node_id)
{
    for (guint i = 0; i < self->records->len; i++) {
        struct record *record = self->records->pdata[i];

        for (guint j = 0; j < record->slots; j++)
            if (g_strcmp0(record->occupants[j], node_id) == 0)
                return record;
    }
    return NULL;
}

/* ---- Slots ---- */

static const char *
name_of(const struct record *record)
{
    return record->node != NULL ? record->node : "that is asked for";
}

guint
record_occupy(struct metastatic *self, struct record *record, const char *node_id)
{
    guint slot = 0;

    while (record->occupants[slot] != NULL)
        slot++;
    record->occupants[slot] = g_strdup(node_id);
    drover_provider_log(self->provider, DROVER_INFO, "node %s gets slot %u of the backing node %s",
                        node_id, slot, name_of(record));
    return slot;
}

void
record_note_occupant(struct metastatic *self, struct record *record, guint slot,
                     const char *node_id)
{
    if (slot >= record->slots) {
        drover_provider_log(self->provider, DROVER_WARNING,
                            "node %s has slot %u of the backing node %s, which has %u", node_id,
                            slot, name_of(record), record->slots);
        return;
    }
    g_free(record->occupants[slot]);
    record->occupants[slot] = g_strdup(node_id);
}

void
record_vacate(struct metastatic *self, const char *node_id, const struct record *kept, guint slot)
{
    for (guint i = 0; i < self->records->len; i++) {
        struct record *record = self->records->pdata[i];

        for (guint j = 0; j < record->slots; j++) {
            if (g_strcmp0(record->occupants[j], node_id) != 0 || (record == kept && j == slot))
                continue;
            g_clear_pointer(&record->occupants[j], g_free);
            record->last_used = drover_now();
            drover_provider_log(self->provider, DROVER_INFO,
                                "node %s has slot %u of the backing node %s no more", node_id, j,
                                name_of(record));
        }
    }
}

/* ---- Its end ---- */

void
record_fail(struct metastatic *self, struct record *record, const char *reason)
{
    if (record->failed)
        return;
    record->failed = TRUE;
    drover_provider_log(self->provider, DROVER_WARNING, "the backing node %s gets no new nodes: %s",
                        name_of(record), reason);
    if (record->node != NULL && !record->gone) {
        char *text = user_data_of(record);

        drover_backing_annotate(self->provider, record->node, text);
        free(text);
    }
}

void
record_note_gone(struct metastatic *self, struct record *record)
{
    g_autoptr(GString) nodes = g_string_new(NULL);

    record->gone = record->failed = TRUE;
    for (guint i = 0; i < record->slots; i++)
        if (record->occupants[i] != NULL)
            g_string_append_printf(nodes, " %s", record->occupants[i]);
    if (nodes->len > 0)
        drover_provider_log(self->provider, DROVER_WARNING,
                            "the backing node %s is gone, with these nodes on it:%s",
                            name_of(record), nodes->str);
    else
        record_remove(self, record);
}

static gboolean
is_time(const struct metastatic *self, const struct record *record)
{
    const struct drover_value *label = find_label(self->config, record->label);
    int64_t grace = drover_value_get_integer(label, "grace-time", 60);
    int64_t retention = drover_value_get_integer(label, "min-retention-time", 0);

    if (label == NULL || record->failed)
        return TRUE;
    return drover_now() - record->last_used > grace * 1000 &&
           wall_clock() - record->launched >= retention;
}

void
record_look(struct metastatic *self, struct record *record)
{
    if (is_over_age(self, record))
        record_fail(self, record, "it is over its max-age");
    if (record->releasing || count_occupants(record) > 0 || !is_time(self, record))
        return;
    if (record->node != NULL && !record->gone) {
        record->releasing = TRUE;
        drover_backing_release(self->provider, record->node);
        return;
    }
    if (record->node == NULL)
        drover_backing_withdraw(self->provider, record->ticket);
    record_remove(self, record);
}

void
record_look_at_all(struct metastatic *self)
{
    for (guint i = self->records->len; i > 0; i--)
        record_look(self, self->records->pdata[i - 1]);
}
