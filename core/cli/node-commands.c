/* drover list, hold, delete, info */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/python-literal.h"
#include "cli/table.h"
#include "model/node.h"

#define LOCK_WAIT (5 * 1000) /* milliseconds */
#define SHORT     9          /* columns without --detail */

/* ---- Columns ---- */

typedef struct {
    json_t *record;
    const DroverRecord *znode;
} Row;

typedef json_t *(*ColumnFunc)(const Row *row, const char *field);

static json_t *
field_value(const Row *row, const char *field)
{
    json_t *value = json_object_get(row->record, field);

    return value != NULL ? json_incref(value) : json_null();
}

static json_t *
id_value(const Row *row, const char *field)
{
    return json_string(row->znode->name);
}

static json_t *
labels_value(const Row *row, const char *field)
{
    g_auto(GStrv) labels = drover_json_strings(row->record, field);

    return drover_json_from_strings((const char *const *)labels);
}

static json_t *
age_value(const Row *row, const char *field)
{
    double since = drover_json_real(row->record, field, -1);
    g_autofree char *age = NULL;

    if (since < 0)
        return json_null();
    age = drover_cli_age(since);
    return json_string(age);
}

static json_t *
locked_value(const Row *row, const char *field)
{
    gboolean locked = row->znode->contenders != NULL && row->znode->contenders[0] != NULL;

    return json_string(locked ? "locked" : "unlocked");
}

static json_t *
username_value(const Row *row, const char *field)
{
    const char *name = drover_json_string(row->record, field);

    return json_string(name != NULL ? name : "zuul");
}

/* A port may be an object with the credentials of a cluster, which nobody must see. */
static json_t *
port_value(const Row *row, const char *field)
{
    json_t *port = json_object_get(row->record, field);
    const char *text = json_string_value(port);

    if (port == NULL)
        port = json_object_get(row->record, "ssh_port");
    if (port == NULL)
        return json_integer(22);
    if (json_is_integer(port) ||
        (text != NULL && *text != '\0' && strspn(text, "0123456789") == strlen(text)))
        return json_incref(port);
    return json_string("redacted");
}

static const struct {
    const char *header, *key, *field;
    ColumnFunc value;
} columns[] = {
    {"ID", "id", NULL, id_value},
    {"Provider", "provider", "provider", field_value},
    {"Label", "label", "type", labels_value},
    {"Server ID", "server_id", "external_id", field_value},
    {"Public IPv4", "public_ipv4", "public_ipv4", field_value},
    {"IPv6", "ipv6", "public_ipv6", field_value},
    {"State", "state", "state", field_value},
    {"Age", "age", "state_time", age_value},
    {"Locked", "locked", NULL, locked_value},
    {"Pool", "pool", "pool", field_value},
    {"Hostname", "hostname", "hostname", field_value},
    {"Private IPv4", "private_ipv4", "private_ipv4", field_value},
    {"AZ", "AZ", "az", field_value},
    {"Username", "username", "username", username_value},
    {"Port", "connection_port", "connection_port", port_value},
    {"Launcher", "launcher", "launcher", field_value},
    {"Allocated To", "allocated_to", "allocated_to", field_value},
    {"Hold Job", "hold_job", "hold_job", field_value},
    {"Comment", "comment", "comment", field_value},
    {"User Data", "user_data", "user_data", field_value},
    {"Driver Data", "driver_data", "driver_data", field_value},
};

/* NULL for a record that is none; it is left out, with a word on standard error. */
static json_t *
parse(const DroverRecord *znode)
{
    g_autoptr(GError) error = NULL;
    gsize length;
    const char *text = g_bytes_get_data(znode->data, &length);
    json_t *record = drover_json_parse_object(text, length, &error);

    if (record == NULL)
        fprintf(stderr, "%s/%s is unusable: %s\n", DROVER_NODES_PATH, znode->name, error->message);
    return record;
}

static json_t *
row_object(const Row *row)
{
    json_t *object = json_object();

    for (guint i = 0; i < G_N_ELEMENTS(columns); i++)
        json_object_set_new(object, columns[i].key, columns[i].value(row, columns[i].field));
    return object;
}

static char **
row_cells(const Row *row, guint n_columns)
{
    char **cells = g_new0(char *, n_columns + 1);

    for (guint i = 0; i < n_columns; i++) {
        g_autoptr(json_t) value = columns[i].value(row, columns[i].field);

        cells[i] = drover_cell_text(value);
    }
    return cells;
}

/* Elements are DroverRecord with their locks. */
static void
print_nodes(DroverCli *cli, const GPtrArray *znodes, gboolean detail)
{
    guint n_columns = detail ? G_N_ELEMENTS(columns) : SHORT;
    g_autofree const char **headers = g_new0(const char *, n_columns + 1);
    g_autoptr(DroverTable) table = NULL;
    g_autofree char *text = NULL;
    json_t *list = json_array();

    for (guint i = 0; i < n_columns; i++)
        headers[i] = columns[i].header;
    table = drover_table_new(headers);
    for (guint i = 0; i < znodes->len; i++) {
        g_autoptr(json_t) record = parse(znodes->pdata[i]);
        Row row = {record, znodes->pdata[i]};

        if (record == NULL)
            continue;
        if (cli->json)
            json_array_append_new(list, row_object(&row));
        else
            drover_table_add_row(table, row_cells(&row, n_columns));
    }
    if (cli->json) {
        drover_cli_print_json(list);
        return;
    }
    json_decref(list);
    text = drover_table_text(table);
    fputs(text, stdout);
}

int
drover_command_list(DroverCli *cli, int argc, char **argv)
{
    gboolean detail = FALSE;
    const GOptionEntry entries[] = {
        {"detail", 0, 0, G_OPTION_ARG_NONE, &detail, "Show all columns", NULL},
        G_OPTION_ENTRY_NULL,
    };
    g_autoptr(GPtrArray) nodes = NULL;
    int status;

    if (!drover_cli_parse(cli, &argc, &argv, entries, "", 0, &status))
        return status;
    if (drover_cli_store(cli) == NULL)
        return 1;
    nodes = drover_store_read_all(cli->store, DROVER_NODES_PATH, TRUE);
    print_nodes(cli, nodes, detail);
    return 0;
}

/* ---- Changing one node ---- */

static void
print_one(DroverCli *cli, const char *id)
{
    g_autoptr(GPtrArray) nodes = g_ptr_array_new_with_free_func((GDestroyNotify)drover_record_free);
    DroverRecord *node = drover_store_read(cli->store, DROVER_NODES_PATH, id, TRUE);

    if (node != NULL)
        g_ptr_array_add(nodes, node);
    print_nodes(cli, nodes, FALSE);
}

/* Sets the state of a node whose lock we hold, and releases it, in one step. */
static int
write_state(DroverCli *cli, DroverLock *lock, const char *id, DroverNodeState state)
{
    g_autoptr(DroverRecord) znode = drover_store_read(cli->store, DROVER_NODES_PATH, id, FALSE);
    g_autoptr(GError) error = NULL;
    g_autoptr(DroverNode) node = NULL;
    g_autoptr(json_t) record = NULL;
    g_autoptr(GBytes) data = NULL;
    g_autofree char *path = drover_node_path(id);
    DroverChange *change;
    DroverChangeOutcome outcome;

    if (znode == NULL)
        return drover_cli_fail(cli, "Node id %s not found", id);
    node = drover_node_decode(id, znode->data, znode->version, &error);
    if (node == NULL)
        return drover_cli_fail(cli, "node %s is unusable: %s", id, error->message);
    record = drover_node_record(node);
    drover_node_record_set_state(record, state);
    data = drover_record_bytes(record);
    change = drover_change_new(drover_store_session(cli->store));
    drover_change_hold(change, lock);
    drover_change_set(change, path, data, node->version);
    drover_change_release(change, lock);
    outcome = drover_store_commit(cli->store, change, NULL);
    if (outcome != DROVER_CHANGE_DONE)
        return drover_cli_fail(cli, "node %s was not changed: %s", id,
                               drover_change_outcome_name(outcome));
    return 0;
}

static int
change_state(DroverCli *cli, const char *id, DroverNodeState state)
{
    g_autoptr(DroverRecord) znode = drover_store_read(cli->store, DROVER_NODES_PATH, id, FALSE);
    g_autofree char *directory = drover_node_lock_path(id);
    DroverLock *lock;
    DroverLockOutcome outcome;
    int status = 0;

    if (znode == NULL) {
        printf("Node id %s not found\n", id);
        return 0;
    }
    lock = drover_lock_new(drover_store_session(cli->store), directory, FALSE, NULL);
    outcome = drover_store_lock(cli->store, lock, LOCK_WAIT);
    if (outcome == DROVER_LOCK_HELD)
        status = write_state(cli, lock, id, state);
    else if (outcome == DROVER_LOCK_GONE)
        printf("Node id %s not found\n", id);
    else if (outcome == DROVER_LOCK_TIMEOUT)
        status = drover_cli_fail(cli, "Timeout trying to acquire lock %s", directory);
    else
        status = drover_cli_fail(cli, "the lock %s cannot be acquired", directory);
    drover_lock_free(lock);
    if (status == 0 && outcome == DROVER_LOCK_HELD)
        print_one(cli, id);
    return status;
}

int
drover_command_hold(DroverCli *cli, int argc, char **argv)
{
    int status;

    if (!drover_cli_parse(cli, &argc, &argv, NULL, "ID", 1, &status))
        return status;
    return drover_cli_store(cli) != NULL ? change_state(cli, argv[1], DROVER_NODE_HOLD) : 1;
}

/* The last resort for a node whose provider is gone for good. */
static int
forget_node(DroverCli *cli, const char *id)
{
    g_autoptr(DroverRecord) znode = drover_store_read(cli->store, DROVER_NODES_PATH, id, TRUE);
    g_autoptr(json_t) record = znode != NULL ? parse(znode) : NULL;
    g_autofree char *path = drover_node_path(id);
    DroverChange *change;
    DroverChangeOutcome outcome;
    const char *provider = drover_json_string(record, "provider");
    json_t *server = json_object_get(record, "external_id");

    if (znode == NULL) {
        printf("Node id %s not found\n", id);
        return 0;
    }
    change = drover_change_new(drover_store_session(cli->store));
    drover_change_delete_claimed(change, path, TRUE, znode->version);
    outcome = drover_store_commit(cli->store, change, NULL);
    if (outcome == DROVER_CHANGE_BUSY)
        return drover_cli_fail(cli, "node %s is locked by somebody who may still use it", id);
    if (outcome != DROVER_CHANGE_DONE)
        return drover_cli_fail(cli, "node %s was not deleted: %s", id,
                               drover_change_outcome_name(outcome));
    fprintf(stderr,
            "The record of node %s is gone. Its machine may still exist: provider %s, "
            "server %s\n",
            id, provider != NULL ? provider : "unknown",
            json_is_string(server) ? json_string_value(server) : "unknown");
    print_one(cli, id);
    return 0;
}

/* In this slice only inventories: their nodes have nothing that a cloud would have to delete. */
static int
delete_now(DroverCli *cli, const char *id)
{
    g_autoptr(DroverRecord) znode = drover_store_read(cli->store, DROVER_NODES_PATH, id, FALSE);
    g_autoptr(json_t) record = znode != NULL ? parse(znode) : NULL;
    const char *name = drover_json_string(record, "provider");
    const DroverProviderConfig *provider =
        name != NULL ? drover_config_find_provider(cli->config, name) : NULL;
    const struct drover_driver *driver;
    g_autoptr(GError) error = NULL;

    if (znode != NULL && provider == NULL) {
        printf("Provider %s for node id %s not defined on this launcher\n",
               name != NULL ? name : "", id);
        return 0;
    }
    driver = provider != NULL
                 ? drover_driver_host_find(drover_cli_drivers(cli), provider->driver, &error)
                 : NULL;
    if (provider != NULL && driver == NULL)
        return drover_cli_fail(cli, "%s", error->message);
    if (driver != NULL && (driver->capabilities & DROVER_CAN_INVENTORY) == 0)
        return drover_cli_fail(cli,
                               "driver %s cannot delete a machine from here; "
                               "without --now a launcher does it",
                               driver->name);
    return change_state(cli, id, DROVER_NODE_DELETING);
}

int
drover_command_delete(DroverCli *cli, int argc, char **argv)
{
    gboolean now = FALSE, force = FALSE;
    const GOptionEntry entries[] = {
        {"now", 0, 0, G_OPTION_ARG_NONE, &now, "Delete it from here, not by a launcher", NULL},
        {"force", 0, 0, G_OPTION_ARG_NONE, &force,
         "Only forget the node; its machine may be left behind", NULL},
        G_OPTION_ENTRY_NULL,
    };
    int status;

    if (!drover_cli_parse(cli, &argc, &argv, entries, "ID", 1, &status))
        return status;
    if (drover_cli_store(cli) == NULL)
        return 1;
    if (force)
        return forget_node(cli, argv[1]);
    return now ? delete_now(cli, argv[1]) : change_state(cli, argv[1], DROVER_NODE_DELETING);
}

/* ---- info ---- */

static void
add_uploads(DroverCli *cli, const char *provider, const char *image, json_t *rows)
{
    g_autofree char *builds_path = g_strdup_printf("/nodepool/images/%s/builds", image);
    g_auto(GStrv) builds = drover_store_list(cli->store, builds_path);

    for (char **build = builds; *build != NULL; build++) {
        g_autofree char *providers = g_strdup_printf("%s/%s/providers", builds_path, *build);
        g_auto(GStrv) names = drover_store_list(cli->store, providers);
        g_autofree char *images = g_strdup_printf("%s/%s/images", providers, provider);
        g_auto(GStrv) uploads = NULL;
        json_t *ids;

        if (!g_strv_contains((const char *const *)names, provider))
            continue;
        uploads = drover_store_list(cli->store, images);
        ids = json_array();
        for (char **upload = uploads; *upload != NULL; upload++)
            if (strcmp(*upload, "lock") != 0)
                json_array_append_new(ids, json_string(*upload));
        json_array_append_new(
            rows, json_pack("{s:s, s:s, s:o}", "image", image, "build", *build, "uploads", ids));
    }
}

static json_t *
provider_nodes(DroverCli *cli, const char *provider)
{
    g_autoptr(GPtrArray) nodes = drover_store_read_all(cli->store, DROVER_NODES_PATH, FALSE);
    json_t *rows = json_array();

    for (guint i = 0; i < nodes->len; i++) {
        const DroverRecord *znode = nodes->pdata[i];
        g_autoptr(json_t) record = parse(znode);
        Row row = {record, znode};

        if (g_strcmp0(drover_json_string(record, "provider"), provider) == 0)
            json_array_append_new(rows, json_pack("{s:s, s:o}", "id", znode->name, "server_id",
                                                  field_value(&row, "external_id")));
    }
    return rows;
}

static void
print_rows(json_t *rows, const char *const *headers, const char *const *keys)
{
    g_autoptr(DroverTable) table = drover_table_new(headers);
    g_autofree char *text = NULL;
    json_t *row;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        char **cells = g_new0(char *, g_strv_length((char **)keys) + 1);

        for (guint k = 0; keys[k] != NULL; k++)
            cells[k] = drover_cell_text(json_object_get(row, keys[k]));
        drover_table_add_row(table, cells);
    }
    text = drover_table_text(table);
    fputs(text, stdout);
}

int
drover_command_info(DroverCli *cli, int argc, char **argv)
{
    static const char *const image_headers[] = {"Image Name", "Build ID", "Upload IDs", NULL};
    static const char *const image_keys[] = {"image", "build", "uploads", NULL};
    static const char *const node_headers[] = {"ID", "Server ID", NULL};
    static const char *const node_keys[] = {"id", "server_id", NULL};
    g_autoptr(json_t) images = json_array(), nodes = NULL;
    g_auto(GStrv) names = NULL;
    int status;

    if (!drover_cli_parse(cli, &argc, &argv, NULL, "PROVIDER", 1, &status))
        return status;
    if (drover_cli_store(cli) == NULL)
        return 1;
    names = drover_store_list(cli->store, "/nodepool/images");
    for (char **image = names; *image != NULL; image++)
        add_uploads(cli, argv[1], *image, images);
    nodes = provider_nodes(cli, argv[1]);
    if (cli->json) {
        drover_cli_print_json(
            json_pack("{s:s, s:O, s:O}", "provider", argv[1], "images", images, "nodes", nodes));
        return 0;
    }
    printf("ZooKeeper data for provider %s\n\nImage data:\n", argv[1]);
    print_rows(images, image_headers, image_keys);
    printf("\nNodes:\n");
    print_rows(nodes, node_headers, node_keys);
    return 0;
}
