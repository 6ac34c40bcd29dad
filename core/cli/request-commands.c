/* drover request-list, request show, request release */
#include <string.h>

#include "base/error.h"
#include "cli/command.h"
#include "cli/python-literal.h"
#include "cli/request-view.h"
#include "cli/table.h"

/* ---- request-list ---- */

static json_t *
id_value(const DroverRequest *request, const json_t *record, const char *key)
{
    return json_string(request->id);
}

static json_t *
plain_value(const DroverRequest *request, const json_t *record, const char *key)
{
    return json_incref(json_object_get(record, key));
}

static json_t *
list_value(const DroverRequest *request, const json_t *record, const char *key)
{
    g_auto(GStrv) strings = drover_json_strings(record, key);

    return drover_json_from_strings((const char *const *)strings);
}

typedef json_t *(*ValueFunc)(const DroverRequest *request, const json_t *record, const char *key);

const DroverColumn drover_request_columns[] = {
    {"id", "Request ID", FALSE},
    {"relative_priority", "Priority", FALSE},
    {"state", "State", FALSE},
    {"requestor", "Requestor", FALSE},
    {"node_types", "Node Types", FALSE},
    {"nodes", "Nodes", FALSE},
    {"declined_by", "Declined By", FALSE},
    {"event_id", "Event ID", FALSE},
    {NULL, NULL, FALSE},
};

/* In the order of the columns. */
static const ValueFunc values[] = {id_value,   plain_value, plain_value, plain_value,
                                   list_value, list_value,  list_value,  plain_value};

json_t *
drover_request_object(const DroverRequest *request)
{
    g_autoptr(json_t) record = drover_request_record(request);
    json_t *row = json_object();

    for (guint i = 0; i < G_N_ELEMENTS(values); i++) {
        const char *key = drover_request_columns[i].key;

        json_object_set_new(row, key, values[i](request, record, key));
    }
    return row;
}

static int
request_list(DroverCli *cli, const char *argument)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) requests = drover_requests_read_all(cli->store, &error);
    json_t *rows;

    if (requests == NULL)
        return drover_cli_fail(cli, "%s", error->message);
    rows = json_array();
    for (guint i = 0; i < requests->len; i++)
        json_array_append_new(rows, drover_request_object(requests->pdata[i]));
    drover_cli_print_rows(cli, drover_request_columns, rows);
    return 0;
}

const DroverCommand drover_request_list_command = {
    .name = "request-list",
    .summary = "List node requests",
    .needs_store = TRUE,
    .run = request_list,
};

/* ---- request show ---- */

static int
unreadable(DroverCli *cli, const char *id, const GError *error)
{
    if (g_error_matches(error, DROVER_ERROR, DROVER_ERROR_NOT_FOUND))
        return drover_cli_fail(cli, "request %s not found", id);
    return drover_cli_fail(cli, "%s", error->message);
}

static int
request_show(DroverCli *cli, const char *id)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(DroverRequest) request =
        drover_request_read(cli->store, id, DROVER_READ_PLAIN, &error);

    return request != NULL ? drover_request_print(cli, request) : unreadable(cli, id, error);
}

const DroverCommand drover_request_show_command = {
    .name = "request show",
    .summary = "Show a request and its machines",
    .argument = "ID",
    .needs_store = TRUE,
    .run = request_show,
};

/* ---- request release ---- */

static gboolean
release(DroverStore *store, const DroverRequest *request, DroverChangeOutcome *outcome,
        GError **error)
{
    g_autoptr(GPtrArray) nodes = drover_request_read_nodes(store, request, error);
    DroverChange *change;

    if (nodes == NULL)
        return FALSE;
    change = drover_change_new(drover_store_session(store));
    drover_request_give_back(change, request, nodes);
    *outcome = drover_store_commit(store, change, NULL);
    return TRUE;
}

static gboolean
may_be_tried_again(DroverChangeOutcome outcome)
{
    return outcome == DROVER_CHANGE_CONFLICT || outcome == DROVER_CHANGE_GONE ||
           outcome == DROVER_CHANGE_UNKNOWN;
}

static int
released(DroverCli *cli, const char *id, const char *state)
{
    if (cli->json)
        drover_cli_print_json(json_pack("{s:s, s:s}", "id", id, "was", state));
    else
        drover_cli_print("Released request %s (it was %s)\n", id, state);
    return 0;
}

/* A request that is just being served, and its nodes, change under our hands. */
static int
request_release(DroverCli *cli, const char *id)
{
    g_autofree char *state = NULL;
    DroverChangeOutcome outcome = DROVER_CHANGE_CONFLICT;

    do {
        g_autoptr(GError) error = NULL;
        g_autoptr(DroverRequest) request =
            drover_request_read(cli->store, id, DROVER_READ_PLAIN, &error);

        /* Gone after an answer was lost: it did happen. */
        if (request == NULL && outcome == DROVER_CHANGE_UNKNOWN &&
            g_error_matches(error, DROVER_ERROR, DROVER_ERROR_NOT_FOUND))
            return released(cli, id, state);
        if (request == NULL)
            return unreadable(cli, id, error);
        g_free(state);
        state = g_strdup(drover_request_state_name(request->state));
        if (!release(cli->store, request, &outcome, &error))
            return drover_cli_fail(cli, "%s", error->message);
    } while (may_be_tried_again(outcome));
    if (outcome == DROVER_CHANGE_BUSY)
        return drover_cli_fail(cli, "a node of request %s is locked: somebody uses it", id);
    if (outcome != DROVER_CHANGE_DONE)
        return drover_cli_fail(cli, "request %s was not released: %s", id,
                               drover_change_outcome_name(outcome));
    return released(cli, id, state);
}

const DroverCommand drover_request_release_command = {
    .name = "request release",
    .summary = "Give a request and its machines back",
    .argument = "ID",
    .needs_store = TRUE,
    .run = request_release,
};
