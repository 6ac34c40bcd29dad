#include "cli/request-view.h"

#include <stdio.h>
#include <string.h>

DroverRequest *
drover_request_from_record(const DroverRecord *record)
{
    g_autoptr(GError) error = NULL;
    DroverRequest *request =
        drover_request_decode(record->name, record->data, record->version, &error);

    if (request == NULL)
        fprintf(stderr, "%s/%s is unusable: %s\n", DROVER_REQUESTS_PATH, record->name,
                error->message);
    return request;
}

DroverRequest *
drover_request_read(DroverStore *store, const char *id)
{
    g_autoptr(DroverRecord) record = drover_store_read(store, DROVER_REQUESTS_PATH, id, FALSE);

    return record != NULL ? drover_request_from_record(record) : NULL;
}

DroverNode *
drover_request_read_node(DroverStore *store, const char *id)
{
    g_autoptr(DroverRecord) record = drover_store_read(store, DROVER_NODES_PATH, id, FALSE);

    return record != NULL ? drover_node_decode(id, record->data, record->version, NULL) : NULL;
}

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
node_object(DroverStore *store, const char *id)
{
    g_autoptr(DroverNode) node = drover_request_read_node(store, id);
    g_autoptr(json_t) record = node != NULL ? drover_node_record(node) : NULL;
    g_autofree char *ssh = NULL;
    json_t *keys;

    if (node == NULL)
        return json_pack("{s:s, s:n}", "id", id, "state");
    keys = json_object_get(record, "host_keys");
    ssh = ssh_command(node, drover_json_string(record, "connection_type"));
    return json_pack("{s:s, s:s, s:s?, s:s?, s:s?, s:i, s:s, s:O, s:s?}", "id", node->id, "state",
                     drover_node_state_name(node->state), "label", node->labels[0], "hostname",
                     node->hostname, "interface_ip", node->interface_ip, "port", node->port,
                     "username", node->username, "host_keys", keys, "connect", ssh);
}

static json_t *
request_object(DroverStore *store, const DroverRequest *request)
{
    g_autofree char *age = drover_cli_age(request->state_time);
    json_t *nodes = json_array();

    for (char **id = request->nodes; *id != NULL; id++)
        json_array_append_new(nodes, node_object(store, *id));
    return json_pack(
        "{s:s, s:s, s:s, s:s?, s:o, s:o, s:o}", "id", request->id, "state",
        drover_request_state_name(request->state), "age", age, "requestor", request->requestor,
        "labels", drover_json_from_strings((const char *const *)request->labels), "nodes", nodes,
        "declined_by", drover_json_from_strings((const char *const *)request->declined_by));
}

static void
print_node(const json_t *node)
{
    const char *connect = drover_json_string(node, "connect");
    const char *state = drover_json_string(node, "state");

    if (state == NULL)
        printf("  node %s is gone\n", drover_json_string(node, "id"));
    else
        printf("  node %s (%s), %s: %s\n", drover_json_string(node, "id"),
               drover_json_string(node, "label"), state,
               connect != NULL ? connect : "no ssh access");
}

void
drover_request_print(DroverCli *cli, const DroverRequest *request)
{
    g_autoptr(json_t) object = request_object(cli->store, request);
    g_autofree char *labels = g_strjoinv(", ", request->labels);
    g_autofree char *declined = g_strjoinv("\n    ", request->declined_by);
    json_t *node;
    size_t i;

    if (cli->json) {
        drover_cli_print_json(g_steal_pointer(&object));
        return;
    }
    printf("request %s: %s for %s, wants %s\n", request->id,
           drover_request_state_name(request->state), drover_json_string(object, "age"), labels);
    json_array_foreach(json_object_get(object, "nodes"), i, node) print_node(node);
    if (request->declined_by[0] != NULL)
        printf("  declined by\n    %s\n", declined);
    if (request->state == DROVER_REQUEST_FULFILLED)
        printf("Give it back with: %s request release %s\n", cli->program, request->id);
}
