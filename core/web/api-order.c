#include "web/api-order.h"

#include <string.h>

#include "base/error.h"
#include "model/request.h"
#include "web/api-lease.h"

#define MOST_NODES       1000
#define MOST_CHARACTERS  255
#define DEFAULT_PRIORITY 200

/* The fields that a client may set. */
static const struct {
    const char *key;
    json_type type;
} fields[] = {
    {"labels", JSON_ARRAY},  {"priority", JSON_INTEGER}, {"relative_priority", JSON_INTEGER},
    {"tenant", JSON_STRING}, {"provider", JSON_STRING},  {"event_id", JSON_STRING}};

static gboolean
refuse(GError **error, const char *key, const char *why)
{
    g_set_error(error, DROVER_ERROR, DROVER_ERROR_MALFORMED, "\"%s\" %s", key, why);
    return FALSE;
}

static gboolean
check_field(const char *key, const json_t *value, GError **error)
{
    for (guint i = 0; i < G_N_ELEMENTS(fields); i++) {
        if (strcmp(fields[i].key, key) != 0)
            continue;
        if (json_typeof(value) != fields[i].type)
            return refuse(error, key, "has another type");
        if (json_is_string(value) &&
            (json_string_length(value) == 0 || json_string_length(value) > MOST_CHARACTERS))
            return refuse(error, key, "has between 1 and 255 characters");
        return TRUE;
    }
    return refuse(error, key, "is no known field");
}

static gboolean
check_labels(const json_t *labels, GError **error)
{
    const json_t *label;
    size_t k;

    if (json_array_size(labels) == 0 || json_array_size(labels) > MOST_NODES)
        return refuse(error, "labels", "is a list of 1 to 1000 labels");
    json_array_foreach((json_t *)labels, k, label)
    {
        if (!json_is_string(label) || json_string_length(label) == 0 ||
            json_string_length(label) > MOST_CHARACTERS)
            return refuse(error, "labels", "holds names of 1 to 255 characters");
    }
    return TRUE;
}

static gboolean
check(const json_t *object, GError **error)
{
    gint64 priority = drover_json_integer(object, "priority", DEFAULT_PRIORITY);
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)object, key, value)
    {
        if (!check_field(key, value, error))
            return FALSE;
    }
    if (priority != 100 && priority != 200 && priority != 300)
        return refuse(error, "priority", "is 100 (high), 200 (normal) or 300 (low)");
    return check_labels(json_object_get(object, "labels"), error);
}

char *
drover_api_requestor(const DroverTokenConfig *client)
{
    return g_strconcat(DROVER_API_REQUESTOR, client->name, NULL);
}

static json_t *
new_record(const json_t *object, const DroverTokenConfig *client)
{
    g_auto(GStrv) labels = drover_json_strings(object, "labels");
    g_autofree char *requestor = drover_api_requestor(client);
    const char *event = drover_json_string(object, "event_id");
    json_t *record = drover_request_new_record((const char *const *)labels, requestor, TRUE);

    json_object_set(record, "created_time", json_object_get(record, "state_time"));
    json_object_set_new(record, "requestor_data", json_object());
    json_object_set_new(record, "relative_priority",
                        json_integer(drover_json_integer(object, "relative_priority", 0)));
    drover_record_set_string(record, "tenant_name",
                             client->tenant != NULL ? client->tenant
                                                    : drover_json_string(object, "tenant"));
    drover_record_set_string(record, "provider", drover_json_string(object, "provider"));
    if (event != NULL)
        drover_record_set_string(record, "event_id", event);
    drover_api_lease_begin(record, client);
    return record;
}

gboolean
drover_api_order_read(DroverApiOrder *order, const char *text, gsize length,
                      const DroverTokenConfig *client, GError **error)
{
    g_autoptr(json_t) object = drover_json_parse_object(text, length, error);

    if (object == NULL || !check(object, error))
        return FALSE;
    order->record = new_record(object, client);
    order->priority = (int)drover_json_integer(object, "priority", DEFAULT_PRIORITY);
    return TRUE;
}

void
drover_api_order_clear(DroverApiOrder *order)
{
    json_decref(order->record);
}

GPtrArray *
drover_api_nodes_of(DroverCluster *cluster, const DroverRequest *request)
{
    GPtrArray *nodes = g_ptr_array_new();

    for (char **id = request->nodes; *id != NULL; id++) {
        const DroverNode *node = drover_cluster_node(cluster, *id);

        if (node != NULL)
            g_ptr_array_add(nodes, (gpointer)node);
    }
    return nodes;
}
