#include "model/node.h"

#include <string.h>

#include "base/error.h"

#define DEFAULT_PORT     22
#define DEFAULT_USERNAME "zuul"

static const char *const state_names[] = {"init",   "building", "testing", "ready",
                                          "in-use", "used",     "hold",    "deleting",
                                          "failed", "aborted",  "deleted", NULL};

/* In the order in which Nodepool writes them. */
static const DroverField fields[] = {
    {"state", DROVER_FIELD_NULL},
    {"state_time", DROVER_FIELD_NULL},
    {"created_time", DROVER_FIELD_NULL},
    {"cloud", DROVER_FIELD_NULL},
    {"provider", DROVER_FIELD_NULL},
    {"pool", DROVER_FIELD_NULL},
    {"type", DROVER_FIELD_LIST},
    {"allocated_to", DROVER_FIELD_NULL},
    {"az", DROVER_FIELD_NULL},
    {"region", DROVER_FIELD_NULL},
    {"public_ipv4", DROVER_FIELD_NULL},
    {"private_ipv4", DROVER_FIELD_NULL},
    {"public_ipv6", DROVER_FIELD_NULL},
    {"host_id", DROVER_FIELD_NULL},
    {"interface_ip", DROVER_FIELD_NULL},
    {"connection_port", DROVER_FIELD_NULL},
    {"ssh_port", DROVER_FIELD_NULL},
    {"image_id", DROVER_FIELD_NULL},
    {"launcher", DROVER_FIELD_NULL},
    {"external_id", DROVER_FIELD_NULL},
    {"hostname", DROVER_FIELD_NULL},
    {"comment", DROVER_FIELD_NULL},
    {"hold_job", DROVER_FIELD_NULL},
    {"username", DROVER_FIELD_NULL},
    {"connection_type", DROVER_FIELD_NULL},
    {"host_keys", DROVER_FIELD_LIST},
    {"hold_expiration", DROVER_FIELD_NULL},
    {"resources", DROVER_FIELD_NULL},
    {"attributes", DROVER_FIELD_NULL},
    {"python_path", DROVER_FIELD_NULL},
    {"shell_type", DROVER_FIELD_NULL},
    {"user_data", DROVER_FIELD_NULL},
    {"driver_data", DROVER_FIELD_NULL},
    {"slot", DROVER_FIELD_NULL},
    {"tenant_name", DROVER_FIELD_NULL},
    {"requestor", DROVER_FIELD_NULL},
    {NULL, DROVER_FIELD_NULL},
};

const char *
drover_node_state_name(DroverNodeState state)
{
    return state < DROVER_NODE_UNKNOWN ? state_names[state] : "unknown";
}

static GRefString *
shared_string(const json_t *record, const char *field)
{
    const char *text = drover_json_string(record, field);

    return text != NULL ? g_ref_string_new_intern(text) : NULL;
}

static GRefString **
decode_labels(const json_t *record)
{
    g_auto(GStrv) names = drover_json_strings(record, "type");
    GRefString **labels = g_new0(GRefString *, g_strv_length(names) + 1);

    for (guint i = 0; names[i] != NULL; i++)
        labels[i] = g_ref_string_new_intern(names[i]);
    return labels;
}

/* What a reader makes of a field that may be missing; a null that is there is kept. */
static const json_t *
port_field(const json_t *record)
{
    const json_t *port = json_object_get(record, "connection_port");

    return port != NULL ? port : json_object_get(record, "ssh_port");
}

/* Older writers stored the port as text, or under its former name only. */
static int
decode_port(const json_t *record)
{
    const json_t *port = port_field(record);

    if (json_is_integer(port))
        return (int)CLAMP(json_integer_value(port), 0, G_MAXUINT16);
    if (json_is_string(port))
        return (int)CLAMP(g_ascii_strtoll(json_string_value(port), NULL, 10), 0, G_MAXUINT16);
    return json_is_object(port) ? 0 : DEFAULT_PORT;
}

/* A whole number in a string, blanks around it allowed; 0 for any other string. */
static gint64
parse_integer(const char *text)
{
    g_autofree char *stripped = g_strstrip(g_strdup(text));
    gint64 value = 0;

    g_ascii_string_to_signed(stripped, 10, G_MININT64, G_MAXINT64, &value, NULL);
    return value;
}

/* Anything like a number counts, everything else is none. */
static gint64
decode_hold_expiration(const json_t *record)
{
    const json_t *value = json_object_get(record, "hold_expiration");

    if (json_is_string(value))
        return parse_integer(json_string_value(value));
    if (json_is_boolean(value))
        return json_is_true(value);
    if (json_is_real(value))
        return (gint64)CLAMP(json_real_value(value), -1e15, 1e15);
    return json_integer_value(value);
}

static char *
decode_external_id(const json_t *record)
{
    const json_t *id = json_object_get(record, "external_id");

    if (json_is_object(id) || json_is_array(id))
        return drover_json_text(id);
    return g_strdup(json_string_value(id));
}

static DroverResources *
decode_resources(const json_t *record)
{
    const json_t *resources = json_object_get(record, "resources");

    return json_is_object(resources) ? drover_resources_from_json(resources, 0) : NULL;
}

static int
decode_slot(const json_t *record)
{
    gint64 slot = drover_json_integer(record, "slot", DROVER_NO_SLOT);

    return slot >= 0 && slot <= G_MAXINT ? (int)slot : DROVER_NO_SLOT;
}

static void
decode_backing(DroverNode *node, const json_t *record)
{
    const json_t *data = json_object_get(record, "driver_data");
    gint64 slot = drover_json_integer(data, "slot", DROVER_NO_SLOT);

    node->backing_node = g_strdup(drover_json_string(data, "backing_node"));
    node->backing_slot = slot >= 0 && slot <= G_MAXINT ? (int)slot : DROVER_NO_SLOT;
}

DroverNode *
drover_node_decode(const char *id, GBytes *data, gint32 version, GError **error)
{
    gsize length;
    const char *text = g_bytes_get_data(data, &length);
    g_autoptr(json_t) record = drover_json_parse_object(text, length, error);
    DroverNode *node;

    if (record == NULL)
        return NULL;
    if (drover_json_string(record, "state") == NULL) {
        g_set_error(error, DROVER_ERROR, DROVER_ERROR_MALFORMED, "it has no state");
        return NULL;
    }
    node = g_new0(DroverNode, 1);
    g_ref_count_init(&node->references);
    node->id = g_strdup(id);
    node->state = drover_record_find_word(state_names, drover_json_string(record, "state"));
    node->state_time = drover_json_real(record, "state_time", 0);
    node->created_time = drover_json_real(record, "created_time", 0);
    node->provider = shared_string(record, "provider");
    node->pool = shared_string(record, "pool");
    node->launcher = shared_string(record, "launcher");
    node->username = shared_string(record, "username");
    if (node->username == NULL)
        node->username = g_ref_string_new_intern(DEFAULT_USERNAME);
    node->tenant_name = shared_string(record, "tenant_name");
    node->requestor = shared_string(record, "requestor");
    node->az = shared_string(record, "az");
    node->labels = decode_labels(record);
    node->allocated_to = g_strdup(drover_json_string(record, "allocated_to"));
    node->hostname = g_strdup(drover_json_string(record, "hostname"));
    node->external_id = decode_external_id(record);
    node->resources = decode_resources(record);
    node->interface_ip = g_strdup(drover_json_string(record, "interface_ip"));
    node->port = decode_port(record);
    node->slot = decode_slot(record);
    node->hold_expiration = decode_hold_expiration(record);
    node->user_data = g_strdup(drover_json_string(record, "user_data"));
    decode_backing(node, record);
    node->record = g_bytes_ref(data);
    node->version = version;
    return node;
}

DroverNode *
drover_node_ref(DroverNode *node)
{
    g_ref_count_inc(&node->references);
    return node;
}

static void
release_shared(GRefString *text)
{
    if (text != NULL)
        g_ref_string_release(text);
}

void
drover_node_unref(DroverNode *node)
{
    if (!g_ref_count_dec(&node->references))
        return;
    release_shared(node->provider);
    release_shared(node->pool);
    release_shared(node->launcher);
    release_shared(node->username);
    release_shared(node->tenant_name);
    release_shared(node->requestor);
    release_shared(node->az);
    for (guint i = 0; node->labels[i] != NULL; i++)
        g_ref_string_release(node->labels[i]);
    g_free(node->labels);
    g_free(node->id);
    g_free(node->allocated_to);
    g_free(node->hostname);
    g_free(node->external_id);
    drover_resources_unref(node->resources);
    g_free(node->interface_ip);
    g_free(node->user_data);
    g_free(node->backing_node);
    g_bytes_unref(node->record);
    g_free(node);
}

/* Every field present, in the form that is written today. */
static void
normalize(json_t *record)
{
    const json_t *port = port_field(record);
    const json_t *labels = json_object_get(record, "type");

    json_object_set_new(record, "connection_port",
                        port != NULL ? json_incref((json_t *)port) : json_integer(DEFAULT_PORT));
    json_object_set(record, "ssh_port", json_object_get(record, "connection_port"));
    if (json_is_string(labels) || json_is_null(labels)) {
        g_auto(GStrv) names = drover_json_strings(record, "type");
        json_object_set_new(record, "type", drover_json_from_strings((const char *const *)names));
    }
    if (json_object_get(record, "username") == NULL)
        drover_record_set_string(record, "username", DEFAULT_USERNAME);
    if (json_object_get(record, "hold_expiration") != NULL &&
        !json_is_null(json_object_get(record, "hold_expiration")))
        json_object_set_new(record, "hold_expiration",
                            json_integer(decode_hold_expiration(record)));
    drover_record_complete(record, fields);
}

char *
drover_node_backing_owner(const DroverNode *node)
{
    const char *text = node->state == DROVER_NODE_IN_USE ? node->user_data : NULL;
    g_autoptr(json_t) data =
        text != NULL ? drover_json_parse_object(text, strlen(text), NULL) : NULL;

    return g_strdup(drover_json_string(data, "owner"));
}

json_t *
drover_node_record(const DroverNode *node)
{
    gsize length;
    const char *text = g_bytes_get_data(node->record, &length);
    json_t *record = drover_json_parse_object(text, length, NULL);

    normalize(record);
    return record;
}

json_t *
drover_node_new_record(DroverNodeState state)
{
    json_t *record = json_object();

    drover_node_record_set_state(record, state);
    json_object_set(record, "created_time", json_object_get(record, "state_time"));
    normalize(record);
    return record;
}

void
drover_node_record_set_state(json_t *record, DroverNodeState state)
{
    drover_record_set_state(record, drover_node_state_name(state));
}

void
drover_node_record_allocate(json_t *record, const char *request_id, const char *tenant_name,
                            const char *requestor)
{
    drover_record_set_string(record, "allocated_to", request_id);
    drover_record_set_string(record, "tenant_name", tenant_name);
    drover_record_set_string(record, "requestor", requestor);
}

void
drover_node_record_merge(json_t *record, const json_t *changes)
{
    json_object_update(record, (json_t *)changes);
    json_object_set(record, "ssh_port", json_object_get(record, "connection_port"));
}

gboolean
drover_node_has_label(const DroverNode *node, const char *label)
{
    return drover_record_find_word((const char *const *)node->labels, label) <
           g_strv_length((char **)node->labels);
}

gboolean
drover_node_is_free(const DroverNode *node)
{
    return node->state == DROVER_NODE_READY && node->allocated_to == NULL;
}

char *
drover_node_path(const char *id)
{
    return g_strconcat(DROVER_NODES_PATH "/", id, NULL);
}

char *
drover_node_lock_path(const char *id)
{
    return g_strconcat(DROVER_NODES_PATH "/", id, "/lock", NULL);
}
