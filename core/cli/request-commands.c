/* drover request-list, request show, request release */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/python-literal.h"
#include "cli/request-view.h"
#include "cli/table.h"

/* ---- request-list ---- */

static const struct {
    const char *header, *key, *field;
} columns[] = {
    {"Request ID", "id", NULL},
    {"Priority", "priority", "relative_priority"},
    {"State", "state", "state"},
    {"Requestor", "requestor", "requestor"},
    {"Node Types", "node_types", "node_types"},
    {"Nodes", "nodes", "nodes"},
    {"Declined By", "declined_by", "declined_by"},
    {"Event ID", "event_id", "event_id"},
};

static json_t *
row_object(const DroverRequest *request)
{
    g_autoptr(json_t) record = drover_request_record(request);
    json_t *row = json_object();

    for (guint i = 0; i < G_N_ELEMENTS(columns); i++)
        json_object_set_new(row, columns[i].key,
                            columns[i].field != NULL
                                ? json_incref(json_object_get(record, columns[i].field))
                                : json_string(request->id));
    return row;
}

int
drover_command_request_list(DroverCli *cli, int argc, char **argv)
{
    const char *headers[G_N_ELEMENTS(columns) + 1] = {NULL};
    g_autoptr(DroverTable) table = NULL;
    g_autoptr(GPtrArray) records = NULL;
    g_autofree char *text = NULL;
    g_autoptr(json_t) rows = json_array();
    int status;

    if (!drover_cli_parse(cli, &argc, &argv, NULL, "", 0, &status))
        return status;
    if (drover_cli_store(cli) == NULL)
        return 1;
    for (guint i = 0; i < G_N_ELEMENTS(columns); i++)
        headers[i] = columns[i].header;
    table = drover_table_new(headers);
    records = drover_store_read_all(cli->store, DROVER_REQUESTS_PATH, FALSE);
    for (guint i = 0; i < records->len; i++) {
        g_autoptr(DroverRequest) request = drover_request_from_record(records->pdata[i]);
        char **cells = g_new0(char *, G_N_ELEMENTS(columns) + 1);
        json_t *row;

        if (request == NULL) {
            g_free(cells);
            continue;
        }
        row = row_object(request);
        for (guint k = 0; k < G_N_ELEMENTS(columns); k++)
            cells[k] = drover_cell_text(json_object_get(row, columns[k].key));
        drover_table_add_row(table, cells);
        json_array_append_new(rows, row);
    }
    if (cli->json) {
        drover_cli_print_json(g_steal_pointer(&rows));
        return 0;
    }
    text = drover_table_text(table);
    fputs(text, stdout);
    return 0;
}

/* ---- request show ---- */

int
drover_command_request_show(DroverCli *cli, int argc, char **argv)
{
    g_autoptr(DroverRequest) request = NULL;
    int status;

    if (!drover_cli_parse(cli, &argc, &argv, NULL, "ID", 1, &status))
        return status;
    if (drover_cli_store(cli) == NULL)
        return 1;
    request = drover_request_read(cli->store, argv[1]);
    if (request == NULL)
        return drover_cli_fail(cli, "Request %s not found", argv[1]);
    drover_request_print(cli, request);
    return 0;
}

/* ---- request release ---- */

/*
 * Nodes of a fulfilled request are the requestor's. They are marked used and the request is deleted
 * in one transaction; a launcher sees to the rest. Nodes that are not the request's any more, or
 * gone, are left alone.
 */
static DroverChangeOutcome
release(DroverCli *cli, const DroverRequest *request)
{
    g_autofree char *path = drover_request_path(request->id);
    DroverChange *change = drover_change_new(drover_store_session(cli->store));

    for (char **id = request->nodes; *id != NULL; id++) {
        g_autoptr(DroverNode) node = drover_request_read_node(cli->store, *id);
        g_autofree char *node_path = drover_node_path(*id), *lock = drover_node_lock_path(*id);
        g_autoptr(json_t) record = NULL;
        g_autoptr(GBytes) data = NULL;

        if (node == NULL || g_strcmp0(node->allocated_to, request->id) != 0)
            continue;
        record = drover_node_record(node);
        drover_node_record_set_state(record, DROVER_NODE_USED);
        data = drover_record_bytes(record);
        drover_change_claim(change, lock, TRUE);
        drover_change_set(change, node_path, data, node->version);
    }
    drover_change_delete(change, path, request->version);
    return drover_store_commit(cli->store, change, NULL);
}

int
drover_command_request_release(DroverCli *cli, int argc, char **argv)
{
    DroverChangeOutcome outcome = DROVER_CHANGE_CONFLICT;
    g_autofree char *state = NULL;
    int status;

    if (!drover_cli_parse(cli, &argc, &argv, NULL, "ID", 1, &status))
        return status;
    if (drover_cli_store(cli) == NULL)
        return 1;
    /* A request that is just being served changes under our hands. */
    while (outcome == DROVER_CHANGE_CONFLICT) {
        g_autoptr(DroverRequest) request = drover_request_read(cli->store, argv[1]);

        if (request == NULL)
            return drover_cli_fail(cli, "Request %s not found", argv[1]);
        g_free(state);
        state = g_strdup(drover_request_state_name(request->state));
        outcome = release(cli, request);
    }
    if (outcome == DROVER_CHANGE_BUSY)
        return drover_cli_fail(cli, "a node of request %s is locked: somebody uses it", argv[1]);
    if (outcome != DROVER_CHANGE_DONE)
        return drover_cli_fail(cli, "request %s was not released: %s", argv[1],
                               drover_change_outcome_name(outcome));
    if (cli->json)
        drover_cli_print_json(json_pack("{s:s, s:s}", "id", argv[1], "was", state));
    else
        printf("Released request %s (it was %s)\n", argv[1], state);
    return 0;
}
