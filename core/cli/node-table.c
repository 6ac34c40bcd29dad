#include "cli/node-table.h"

#include <stdio.h>
#include <string.h>

#include "cli/python-literal.h"
#include "cli/table.h"
#include "model/node.h"

#define SHORT 9 /* columns without --detail */

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
    g_autofree char *age = NULL;

    if (!json_is_number(json_object_get(row->record, field)))
        return json_null();
    age = drover_cli_age(drover_json_real(row->record, field, 0));
    return json_string(age);
}

/* Waiting contenders count like the holder; other names in the directory do not. */
static json_t *
locked_value(const Row *row, const char *field)
{
    const char *const *names = (const char *const *)row->znode->contenders;
    gboolean locked = names != NULL && drover_lock_find_holder(names) != NULL;

    return json_string(locked ? "locked" : "unlocked");
}

static json_t *
username_value(const Row *row, const char *field)
{
    json_t *name = json_object_get(row->record, field);

    return name != NULL ? json_incref(name) : json_string("zuul");
}

static gboolean
is_number(const char *text)
{
    return text != NULL && *text != '\0' && strspn(text, "0123456789") == strlen(text);
}

/* A port may be an object with the credentials of a cluster, which nobody must see. */
static json_t *
port_value(const Row *row, const char *field)
{
    json_t *port = json_object_get(row->record, field);

    if (port == NULL)
        port = json_object_get(row->record, "ssh_port");
    if (port == NULL)
        return json_integer(22);
    return json_is_integer(port) || is_number(json_string_value(port)) ? json_incref(port)
                                                                       : json_string("redacted");
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

json_t *
drover_node_object(const DroverRecord *znode)
{
    g_autoptr(json_t) record = parse(znode);
    Row row = {record, znode};

    return record != NULL ? row_object(&row) : NULL;
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

static DroverTable *
table_new(guint n_columns)
{
    const char *headers[G_N_ELEMENTS(columns) + 1] = {NULL};

    for (guint i = 0; i < n_columns; i++)
        headers[i] = columns[i].header;
    return drover_table_new(headers);
}

static void
print_table(const GPtrArray *records, guint n_columns)
{
    g_autoptr(DroverTable) table = table_new(n_columns);

    for (guint i = 0; i < records->len; i++) {
        g_autoptr(json_t) record = parse(records->pdata[i]);
        Row row = {record, records->pdata[i]};

        if (record != NULL)
            drover_table_add_row(table, row_cells(&row, n_columns));
    }
    drover_table_print(table);
}

/* One by one: the objects of ten thousand nodes at once take longer to make room for than to fill.
 */
static void
print_list(const GPtrArray *records)
{
    const char *separator = "[";

    for (guint i = 0; i < records->len; i++) {
        g_autoptr(json_t) object = drover_node_object(records->pdata[i]);

        if (object == NULL)
            continue;
        fputs(separator, stdout);
        json_dumpf(object, stdout, JSON_ENSURE_ASCII);
        separator = ", ";
    }
    puts(*separator == '[' ? "[]" : "]");
}

void
drover_node_table_print(DroverCli *cli, const GPtrArray *records, gboolean detail)
{
    if (cli->json)
        print_list(records);
    else
        print_table(records, detail ? G_N_ELEMENTS(columns) : SHORT);
}
