#include "model/request.h"

#include <string.h>

#include "base/error.h"
#include "base/uuid.h"

static const char *const state_names[] = {"requested", "pending", "fulfilled", "failed", NULL};

static const DroverField fields[] = {
    {"state", DROVER_FIELD_NULL},       {"state_time", DROVER_FIELD_NULL},
    {"node_types", DROVER_FIELD_LIST},  {"nodes", DROVER_FIELD_LIST},
    {"declined_by", DROVER_FIELD_LIST}, {"reuse", DROVER_FIELD_TRUE},
    {"requestor", DROVER_FIELD_NULL},   {"requestor_data", DROVER_FIELD_NULL},
    {"provider", DROVER_FIELD_NULL},    {"relative_priority", DROVER_FIELD_ZERO},
    {"event_id", DROVER_FIELD_NULL},    {"created_time", DROVER_FIELD_NULL},
    {NULL, DROVER_FIELD_NULL},
};

const char *
drover_request_state_name(DroverRequestState state)
{
    return state < DROVER_REQUEST_UNKNOWN ? state_names[state] : "unknown";
}

/* <priority>-<sequence>, where the sequence may have wrapped below zero. */
static gboolean
parse_id(const char *id, char **priority, gint64 *sequence)
{
    const char *dash = strchr(id, '-');

    if (dash == NULL || dash == id ||
        !g_ascii_string_to_signed(dash + 1, 10, G_MININT32, G_MAXINT32, sequence, NULL))
        return FALSE;
    *priority = g_strndup(id, (gsize)(dash - id));
    return TRUE;
}

DroverRequest *
drover_request_decode(const char *id, GBytes *data, gint32 version, GError **error)
{
    gsize length;
    const char *text = g_bytes_get_data(data, &length);
    g_autoptr(json_t) record = NULL;
    g_autofree char *priority = NULL;
    DroverRequest *request;
    gint64 sequence;

    if (!parse_id(id, &priority, &sequence)) {
        g_set_error(error, DROVER_ERROR, DROVER_ERROR_MALFORMED,
                    "its name is not a priority, '-' and a sequence number");
        return NULL;
    }
    record = drover_json_parse_object(text, length, error);
    if (record == NULL)
        return NULL;
    if (drover_json_string(record, "state") == NULL) {
        g_set_error(error, DROVER_ERROR, DROVER_ERROR_MALFORMED, "it has no state");
        return NULL;
    }
    request = g_new0(DroverRequest, 1);
    g_ref_count_init(&request->references);
    request->id = g_strdup(id);
    request->priority = g_steal_pointer(&priority);
    request->sequence = sequence;
    request->state = drover_record_find_word(state_names, drover_json_string(record, "state"));
    request->state_time = drover_json_real(record, "state_time", 0);
    request->created_time = drover_json_real(record, "created_time", 0);
    request->labels = drover_json_strings(record, "node_types");
    request->nodes = drover_json_strings(record, "nodes");
    request->declined_by = drover_json_strings(record, "declined_by");
    request->reuse = drover_json_boolean(record, "reuse", TRUE);
    request->requestor = g_strdup(drover_json_string(record, "requestor"));
    request->provider = g_strdup(drover_json_string(record, "provider"));
    request->event_id = g_strdup(drover_json_string(record, "event_id"));
    request->tenant_name = g_strdup(drover_json_string(record, "tenant_name"));
    request->relative_priority = drover_json_integer(record, "relative_priority", 0);
    request->record = g_bytes_ref(data);
    request->version = version;
    return request;
}

DroverRequest *
drover_request_ref(DroverRequest *request)
{
    g_ref_count_inc(&request->references);
    return request;
}

void
drover_request_unref(DroverRequest *request)
{
    if (!g_ref_count_dec(&request->references))
        return;
    g_free(request->id);
    g_free(request->priority);
    g_strfreev(request->labels);
    g_strfreev(request->nodes);
    g_strfreev(request->declined_by);
    g_free(request->requestor);
    g_free(request->provider);
    g_free(request->event_id);
    g_free(request->tenant_name);
    g_bytes_unref(request->record);
    g_free(request);
}

/*
 * `tenant_name` is not completed: Zuul would overwrite its own value with a null that it finds, so
 * what was absent stays absent.
 */
json_t *
drover_request_record(const DroverRequest *request)
{
    gsize length;
    const char *text = g_bytes_get_data(request->record, &length);
    json_t *record = drover_json_parse_object(text, length, NULL);

    drover_record_complete(record, fields);
    return record;
}

json_t *
drover_request_new_record(const char *const *labels, const char *requestor, gboolean reuse)
{
    g_autofree char *event_id = drover_uuid_digits();
    json_t *record = json_object();

    drover_request_record_set_state(record, DROVER_REQUEST_REQUESTED);
    json_object_set_new(record, "node_types", drover_json_from_strings(labels));
    json_object_set_new(record, "reuse", json_boolean(reuse));
    drover_record_set_string(record, "requestor", requestor);
    drover_record_set_string(record, "event_id", event_id);
    drover_record_set_string(record, "tenant_name", NULL);
    drover_record_complete(record, fields);
    return record;
}

void
drover_request_record_set_state(json_t *record, DroverRequestState state)
{
    drover_record_set_state(record, drover_request_state_name(state));
}

gboolean
drover_request_is_declined_by(const DroverRequest *request, const char *launcher_id)
{
    return g_strv_contains((const char *const *)request->declined_by, launcher_id);
}

int
drover_request_compare(const DroverRequest *a, const DroverRequest *b)
{
    int order = strcmp(a->priority, b->priority);

    if (order == 0)
        order = (a->relative_priority > b->relative_priority) -
                (a->relative_priority < b->relative_priority);
    if (order == 0)
        order = (a->sequence > b->sequence) - (a->sequence < b->sequence);
    return order;
}

char *
drover_request_path(const char *id)
{
    return g_strconcat(DROVER_REQUESTS_PATH "/", id, NULL);
}

char *
drover_request_lock_path(const char *id)
{
    return g_strconcat(DROVER_REQUEST_LOCKS_PATH "/", id, NULL);
}
