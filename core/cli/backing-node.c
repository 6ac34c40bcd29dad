#include "cli/backing-node.h"

#include <string.h>

#include "base/json.h"
#include "cli/node-table.h"

/* ---- Which ---- */

/* Anybody can write a user data; only who had the lock free could become its holder. */
char *
drover_cli_backing_contender(DroverCli *cli, const DroverNode *node, const char *const *contenders)
{
    g_autofree char *owner = drover_node_backing_owner(node);
    const char *holder = contenders != NULL ? drover_lock_find_holder(contenders) : NULL;
    g_autofree char *directory = drover_node_lock_path(node->id);
    g_autoptr(DroverRecord) contender = NULL;

    if (owner == NULL || holder == NULL)
        return NULL;
    contender = drover_store_read(cli->store, directory, holder, DROVER_READ_PLAIN, NULL);
    return contender != NULL && drover_lock_has_identifier(contender->data, owner)
               ? g_strconcat(directory, "/", holder, NULL)
               : NULL;
}

/* The ids of the nodes on it, joined by blanks; "" for none. NULL with an error. */
static char *
list_nodes_on(DroverCli *cli, const char *id, GError **error)
{
    g_autoptr(GPtrArray) records =
        drover_store_read_all(cli->store, DROVER_NODES_PATH, DROVER_READ_PLAIN, error);
    g_autoptr(GString) ids = g_string_new(NULL);

    if (records == NULL)
        return NULL;
    for (guint i = 0; i < records->len; i++) {
        const DroverRecord *record = records->pdata[i];
        g_autoptr(DroverNode) node =
            drover_node_decode(record->name, record->data, record->version, NULL);

        if (node != NULL && g_strcmp0(node->backing_node, id) == 0)
            g_string_append_printf(ids, "%s%s", ids->len > 0 ? " " : "", node->id);
    }
    return g_string_free(g_steal_pointer(&ids), FALSE);
}

/* ---- Giving it back ---- */

/* What Nodepool's and our launchers read: "failed", and then also the state of what is given back.
 */
static GBytes *
changed_record(const DroverNode *node, gboolean at_once)
{
    g_autoptr(json_t) record = drover_node_record(node);
    g_autoptr(json_t) data =
        drover_json_parse_object(node->user_data, strlen(node->user_data), NULL);
    g_autofree char *text = NULL;

    json_object_set_new(data, "failed", json_true());
    text = drover_json_text(data);
    drover_record_set_string(record, "user_data", text);
    if (at_once)
        drover_node_record_set_state(record, DROVER_NODE_USED);
    return drover_record_bytes(record);
}

static DroverChangeOutcome
write_record(DroverCli *cli, const DroverNode *node, const char *contender, GBytes *data,
             gboolean at_once)
{
    g_autofree char *path = drover_node_path(node->id);
    DroverChange *change = drover_change_new(drover_store_session(cli->store));

    if (at_once)
        drover_change_delete(change, contender, -1);
    else
        drover_change_expect(change, contender, -1);
    drover_change_set(change, path, data, node->version);
    return drover_store_commit(cli->store, change, NULL);
}

static void
print_record(DroverCli *cli, const DroverNode *node, GBytes *data)
{
    g_autoptr(GPtrArray) nodes = g_ptr_array_new_with_free_func((GDestroyNotify)drover_record_free);
    DroverRecord *record = g_new0(DroverRecord, 1);

    record->name = g_strdup(node->id);
    record->data = g_bytes_ref(data);
    g_ptr_array_add(nodes, record);
    drover_node_table_print(cli, nodes, FALSE);
}

static void
explain(const DroverNode *node, const char *nodes, gboolean at_once)
{
    if (at_once && *nodes != '\0')
        g_printerr("The backing node %s is given back with these nodes on it: %s\n", node->id,
                   nodes);
    else if (at_once)
        g_printerr("The backing node %s is given back\n", node->id);
    else if (*nodes != '\0')
        g_printerr("The backing node %s gets no new nodes, and is given back when these have gone: "
                   "%s\n",
                   node->id, nodes);
    else
        g_printerr("The backing node %s gets no new nodes, and is given back\n", node->id);
}

int
drover_cli_give_backing_back(DroverCli *cli, const DroverNode *node, const char *contender,
                             gboolean at_once)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *nodes = list_nodes_on(cli, node->id, &error);
    g_autoptr(GBytes) data = changed_record(node, at_once);
    DroverChangeOutcome outcome;

    if (nodes == NULL)
        return drover_cli_fail(cli, "%s", error->message);
    outcome = write_record(cli, node, contender, data, at_once);
    if (outcome != DROVER_CHANGE_DONE)
        return drover_cli_fail(cli, "node %s was not changed: %s; try again", node->id,
                               drover_change_outcome_name(outcome));
    explain(node, nodes, at_once);
    print_record(cli, node, data);
    return 0;
}
