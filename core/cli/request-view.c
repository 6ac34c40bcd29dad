#include "cli/request-view.h"

#include <stdio.h>
#include <string.h>

/* ---- Reading ---- */

static DroverRequest *
from_record(const DroverRecord *record, GError **error)
{
    DroverRequest *request =
        drover_request_decode(record->name, record->data, record->version, error);

    if (request == NULL)
        g_prefix_error(error, "%s/%s is unusable: ", DROVER_REQUESTS_PATH, record->name);
    return request;
}

GPtrArray *
drover_requests_read_all(DroverStore *store, GError **error)
{
    g_autoptr(GPtrArray) records =
        drover_store_read_all(store, DROVER_REQUESTS_PATH, DROVER_READ_PLAIN, error);
    GPtrArray *requests;

    if (records == NULL)
        return NULL;
    requests = g_ptr_array_new_with_free_func((GDestroyNotify)drover_request_unref);
    for (guint i = 0; i < records->len; i++) {
        g_autoptr(GError) problem = NULL;
        DroverRequest *request = from_record(records->pdata[i], &problem);

        if (request != NULL)
            g_ptr_array_add(requests, request);
        else
            fprintf(stderr, "%s\n", problem->message);
    }
    return requests;
}

DroverRequest *
drover_request_read(DroverStore *store, const char *id, DroverReadFlags flags, GError **error)
{
    g_autoptr(DroverRecord) record =
        drover_store_read(store, DROVER_REQUESTS_PATH, id, flags, error);

    return record != NULL ? from_record(record, error) : NULL;
}

GPtrArray *
drover_request_read_nodes(DroverStore *store, const DroverRequest *request, GError **error)
{
    g_autoptr(GPtrArray) records = drover_store_read_each(
        store, DROVER_NODES_PATH, (const char *const *)request->nodes, DROVER_READ_PLAIN, error);
    GPtrArray *nodes;

    if (records == NULL)
        return NULL;
    nodes = g_ptr_array_new_with_free_func((GDestroyNotify)drover_node_unref);
    for (guint i = 0; i < records->len; i++) {
        const DroverRecord *record = records->pdata[i];
        DroverNode *node = drover_node_decode(record->name, record->data, record->version, NULL);

        if (node != NULL)
            g_ptr_array_add(nodes, node);
    }
    return nodes;
}

guint
drover_request_position(DroverStore *store, const DroverRequest *request)
{
    g_autoptr(GPtrArray) requests = NULL;
    guint position = 1;

    if (request->state != DROVER_REQUEST_REQUESTED)
        return 0;
    requests = drover_requests_read_all(store, NULL);
    for (guint i = 0; requests != NULL && i < requests->len; i++) {
        const DroverRequest *other = requests->pdata[i];

        position +=
            other->state == DROVER_REQUEST_REQUESTED && drover_request_compare(other, request) < 0;
    }
    return requests != NULL ? position : 0;
}

/* ---- As JSON ---- */

/* "ssh -p 22022 zuul@host"; NULL when it is not reached by ssh or has no address. */
static char *
ssh_command(const DroverNode *node, const char *connection_type)
{
    g_autofree char *port = NULL;

    if (node->interface_ip == NULL || node->port == 0 ||
        (connection_type != NULL && strcmp(connection_type, "ssh") != 0))
        return NULL;
    port = node->port != 22 ? g_strdup_printf("-p %d ", node->port) : g_strdup("");
    return g_strdup_printf("ssh %s%s@%s", port, node->username, node->interface_ip);
}

static json_t *
node_object(const DroverNode *node)
{
    g_autoptr(json_t) record = drover_node_record(node);
    g_autofree char *ssh = ssh_command(node, drover_json_string(record, "connection_type"));

    return json_pack("{s:s, s:O, s:s?, s:s?, s:s?, s:O, s:O, s:O, s:s, s:O, s:s?}", "id", node->id,
                     "state", json_object_get(record, "state"), "label", node->labels[0],
                     "hostname", node->hostname, "interface_ip", node->interface_ip, "public_ipv4",
                     json_object_get(record, "public_ipv4"), "private_ipv4",
                     json_object_get(record, "private_ipv4"), "connection_type",
                     json_object_get(record, "connection_type"), "username", node->username,
                     "host_keys", json_object_get(record, "host_keys"), "connect", ssh);
}

static const DroverNode *
find_node(const GPtrArray *nodes, const char *id)
{
    for (guint i = 0; i < nodes->len; i++)
        if (strcmp(((const DroverNode *)nodes->pdata[i])->id, id) == 0)
            return nodes->pdata[i];
    return NULL;
}

/* In the request's order; one that is gone has no state. A port of access data is not shown. */
static json_t *
node_objects(const DroverRequest *request, const GPtrArray *nodes)
{
    json_t *objects = json_array();

    for (char **id = request->nodes; *id != NULL; id++) {
        const DroverNode *node = find_node(nodes, *id);
        json_t *object =
            node != NULL ? node_object(node) : json_pack("{s:s, s:n}", "id", *id, "state");

        if (node != NULL)
            json_object_set_new(object, "port",
                                node->port != 0 ? json_integer(node->port) : json_null());
        json_array_append_new(objects, object);
    }
    return objects;
}

json_t *
drover_request_details(const DroverRequest *request, const GPtrArray *nodes)
{
    g_autofree char *age = drover_cli_age(request->state_time);

    return json_pack("{s:s, s:s, s:s, s:s?, s:s?, s:s?, s:s?, s:I, s:o, s:o, s:o}", "id",
                     request->id, "state", drover_request_state_name(request->state), "age", age,
                     "requestor", request->requestor, "event_id", request->event_id, "provider",
                     request->provider, "tenant_name", request->tenant_name, "relative_priority",
                     (json_int_t)request->relative_priority, "labels",
                     drover_json_from_strings((const char *const *)request->labels), "nodes",
                     node_objects(request, nodes), "declined_by",
                     drover_json_from_strings((const char *const *)request->declined_by));
}

/* ---- Giving back ---- */

/* What the requestor may still use. Everything else is in other hands already, or held. */
static gboolean
is_in_use(const DroverNode *node, const char *request_id)
{
    return g_strcmp0(node->allocated_to, request_id) == 0 &&
           (node->state == DROVER_NODE_READY || node->state == DROVER_NODE_IN_USE);
}

static void
mark_used(DroverChange *change, const DroverNode *node)
{
    g_autofree char *path = drover_node_path(node->id), *lock = drover_node_lock_path(node->id);
    g_autoptr(json_t) record = drover_node_record(node);
    g_autoptr(GBytes) data = NULL;

    drover_node_record_set_state(record, DROVER_NODE_USED);
    data = drover_record_bytes(record);
    drover_change_claim(change, lock, TRUE);
    drover_change_set(change, path, data, node->version);
}

void
drover_request_give_back(DroverChange *change, const DroverRequest *request, const GPtrArray *nodes)
{
    g_autofree char *path = drover_request_path(request->id);

    for (guint i = 0; i < nodes->len; i++)
        if (is_in_use(nodes->pdata[i], request->id))
            mark_used(change, nodes->pdata[i]);
    drover_change_delete(change, path, request->version);
}

/* ---- As text ---- */

static void
print_node(const json_t *node)
{
    const char *id = drover_json_string(node, "id"), *state = drover_json_string(node, "state");
    const char *label = drover_json_string(node, "label");
    const char *address = drover_json_string(node, "interface_ip");
    const char *connect = drover_json_string(node, "connect");

    if (state == NULL)
        drover_cli_print("  node %s is gone\n", id);
    else
        drover_cli_print("  node %s (%s), %s: %s\n", id, label != NULL ? label : "", state,
                         connect != NULL   ? connect
                         : address != NULL ? address
                                           : "no address");
}

static void
print_text(const DroverCli *cli, const DroverRequest *request, const json_t *object)
{
    g_autofree char *labels = g_strjoinv(", ", request->labels);
    const json_t *node;
    size_t i;

    drover_cli_print("request %s: %s for %s, wants %s\n", request->id,
                     drover_request_state_name(request->state), drover_json_string(object, "age"),
                     labels);
    if (request->requestor != NULL)
        drover_cli_print("  requested by %s\n", request->requestor);
    json_array_foreach(json_object_get(object, "nodes"), i, node)
    {
        print_node(node);
    }
    for (char **launcher = request->declined_by; *launcher != NULL; launcher++)
        drover_cli_print("  declined by %s\n", *launcher);
    if (request->state == DROVER_REQUEST_REQUESTED || request->state == DROVER_REQUEST_PENDING)
        printf("Why it waits: %s explain %s\n", cli->program, request->id);
    if (request->state == DROVER_REQUEST_FULFILLED)
        printf("Give it back with: %s request release %s\n", cli->program, request->id);
}

int
drover_request_print(DroverCli *cli, const DroverRequest *request)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) nodes = drover_request_read_nodes(cli->store, request, &error);
    g_autoptr(json_t) object = NULL;

    if (nodes == NULL)
        return drover_cli_fail(cli, "%s", error->message);
    object = drover_request_details(request, nodes);
    if (cli->json)
        drover_cli_print_json(g_steal_pointer(&object));
    else
        print_text(cli, request, object);
    return 0;
}
