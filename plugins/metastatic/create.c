#include "create.h"

#include <string.h>

/* ---- Life ---- */

static void
creation_free(void *data)
{
    struct creation *creation = data;

    /* A slot that is written down is the node's as long as its record is there. */
    if (creation->state == WAIT)
        record_vacate(creation->self, creation->node_id, NULL, 0);
    if (g_hash_table_lookup(creation->self->creations, creation->node_id) == creation)
        g_hash_table_remove(creation->self->creations, creation->node_id);
    g_free(creation->node_id);
    g_free(creation->reason);
    g_free(creation);
}

static struct creation *
creation_of(struct metastatic *self, struct drover_operation *op)
{
    struct creation *creation = drover_operation_state(op);

    if (creation != NULL)
        return creation;
    creation = g_new0(struct creation, 1);
    creation->self = self;
    creation->op = op;
    creation->node_id = g_strdup(drover_operation_node_id(op));
    g_hash_table_insert(self->creations, creation->node_id, creation);
    drover_operation_set_state(op, creation, creation_free);
    return creation;
}

/* ---- A slot ---- */

void
creation_assign(struct creation *creation)
{
    creation->state = ASSIGN;
    drover_operation_set_status(creation->op, "assigning a slot");
    drover_backing_assign(creation->self->provider, creation->node_id, creation->record->node,
                          creation->slot);
}

static void
find(struct creation *creation)
{
    struct metastatic *self = creation->self;
    const struct drover_value *label = drover_operation_label_config(creation->op);
    struct record *record;

    /* That of an earlier attempt. */
    record_vacate(self, creation->node_id, NULL, 0);
    record = record_with_room(self, drover_operation_label(creation->op));
    if (record == NULL)
        record = record_request(self, label);
    creation->record = record;
    creation->slot = record_occupy(self, record, creation->node_id);
    creation->state = WAIT;
    drover_operation_set_string(creation->op, "external_id", creation->node_id);
    if (record->node != NULL)
        creation_assign(creation);
    else
        drover_operation_set_status(creation->op, "waiting for a backing node");
}

/* ---- The node ---- */

static void
set_port(struct drover_operation *op, const json_t *port)
{
    char *text;

    if (json_is_integer(port)) {
        drover_operation_set_integer(op, "connection_port", json_integer_value(port));
    } else if (json_is_object(port)) {
        text = json_dumps(port, JSON_COMPACT);
        drover_operation_set_json(op, "connection_port", text);
        free(text);
    }
}

static void
set_results(struct drover_operation *op, const json_t *fields)
{
    static const char *const names[] = {
        "interface_ip", "public_ipv4", "public_ipv6", "private_ipv4",   "az", "region", "cloud",
        "username",     "python_path", "shell_type",  "connection_type"};
    const json_t *attributes = json_object_get(fields, "attributes");
    size_t i;
    json_t *key;

    for (i = 0; i < G_N_ELEMENTS(names); i++)
        drover_operation_set_string(op, names[i],
                                    json_string_value(json_object_get(fields, names[i])));
    set_port(op, json_object_get(fields, "connection_port"));
    json_array_foreach(json_object_get(fields, "host_keys"), i, key)
    {
        if (json_is_string(key))
            drover_operation_add_host_key(op, json_string_value(key));
    }
    if (json_is_object(attributes)) {
        char *text = json_dumps(attributes, JSON_COMPACT);

        drover_operation_set_json(op, "node_attributes", text);
        free(text);
    }
    drover_operation_set_resource(op, "cores", 0);
    drover_operation_set_resource(op, "instances", 1);
    drover_operation_set_resource(op, "ram", 0);
}

/* ---- Stepping ---- */

enum drover_step
create_step(void *data, struct drover_operation *op)
{
    struct metastatic *self = data;
    struct creation *creation = creation_of(self, op);

    if (drover_operation_cancelled(op))
        return drover_operation_fail(op, DROVER_FAILURE_OTHER, "cancelled");
    if (creation->state == FIND && self->listed)
        find(creation);
    if (creation->state == LOST)
        return drover_operation_fail(op, DROVER_FAILURE_OTHER, "there is no backing node: %s",
                                     creation->reason);
    if (creation->state == ASSIGNED) {
        set_results(op, creation->record->fields);
        return DROVER_DONE;
    }
    drover_operation_call_after(op, DROVER_WHEN_WOKEN);
    return DROVER_RUNNING;
}

/* ---- News of a record ---- */

void
creations_begin(struct metastatic *self, struct record *record)
{
    GHashTableIter iter;
    gpointer value;

    g_hash_table_iter_init(&iter, self->creations);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        struct creation *creation = value;

        if (creation->state == WAIT && creation->record == record)
            creation_assign(creation);
    }
}

void
creations_lose(struct metastatic *self, struct record *record, const char *reason)
{
    GHashTableIter iter;
    gpointer value;

    g_hash_table_iter_init(&iter, self->creations);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        struct creation *creation = value;

        if (creation->state != WAIT || creation->record != record)
            continue;
        creation->state = LOST;
        creation->record = NULL;
        creation->reason = g_strdup(reason);
        drover_operation_wake(creation->op);
    }
}
