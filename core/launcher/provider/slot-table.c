#include "launcher/provider/slot-table.h"

#include <string.h>

gboolean
drover_machine_identity_is_of(const DroverMachineIdentity *identity, const DroverNode *node)
{
    return g_strcmp0(identity->name, node->hostname) == 0 &&
           g_strcmp0(identity->username, node->username) == 0 && identity->port == node->port;
}

static guint
hash_identity(gconstpointer key)
{
    const DroverMachineIdentity *identity = key;

    return g_str_hash(identity->name) ^ g_str_hash(identity->username) ^ (guint)identity->port;
}

static gboolean
equal_identity(gconstpointer a, gconstpointer b)
{
    const DroverMachineIdentity *left = a, *right = b;

    return left->port == right->port && strcmp(left->name, right->name) == 0 &&
           strcmp(left->username, right->username) == 0;
}

static gboolean
takes_a_place(const DroverNode *node)
{
    return node->state != DROVER_NODE_BUILDING && node->state != DROVER_NODE_DELETING &&
           node->state != DROVER_NODE_DELETED;
}

static DroverSlotRow *
find_row(DroverSlotTable *table, GHashTable *rows, const DroverNode *node)
{
    DroverMachineIdentity identity = {node->hostname, node->username, node->port};
    gpointer index;

    if (node->hostname == NULL || !g_hash_table_lookup_extended(rows, &identity, NULL, &index))
        return NULL;
    return &table->rows[GPOINTER_TO_UINT(index)];
}

static gboolean
put_into_its_slot(DroverSlotRow *row, const DroverNode *node)
{
    if (node->slot < 0 || (guint)node->slot >= row->places->len ||
        row->places->pdata[node->slot] != NULL)
        return FALSE;
    row->places->pdata[node->slot] = (gpointer)node;
    return TRUE;
}

static void
put_anywhere(DroverSlotRow *row, const DroverNode *node)
{
    for (guint i = 0; i < row->places->len; i++) {
        if (row->places->pdata[i] == NULL) {
            row->places->pdata[i] = (gpointer)node;
            return;
        }
    }
    g_ptr_array_add(row->excess, (gpointer)node);
}

/* Older ids first, so that the same nodes always give the same table. */
static gint
compare_nodes(gconstpointer a, gconstpointer b)
{
    return strcmp((*(DroverNode *const *)a)->id, (*(DroverNode *const *)b)->id);
}

static GHashTable *
make_rows(DroverSlotTable *table, const DroverSlotMachine *machines)
{
    GHashTable *rows = g_hash_table_new(hash_identity, equal_identity);

    for (guint i = 0; i < table->n_rows; i++) {
        table->rows[i].places = g_ptr_array_sized_new(machines[i].slots);
        g_ptr_array_set_size(table->rows[i].places, (gint)machines[i].slots);
        table->rows[i].excess = g_ptr_array_new();
        g_hash_table_insert(rows, (gpointer)&machines[i].identity, GUINT_TO_POINTER(i));
    }
    return rows;
}

DroverSlotTable *
drover_slot_table_new(const DroverSlotMachine *machines, guint n_machines, const GPtrArray *nodes)
{
    DroverSlotTable *table = g_new0(DroverSlotTable, 1);
    g_autoptr(GPtrArray) sorted = g_ptr_array_sized_new(nodes->len);
    g_autoptr(GPtrArray) left_over = g_ptr_array_new();
    g_autoptr(GHashTable) rows = NULL;

    table->n_rows = n_machines;
    table->rows = g_new0(DroverSlotRow, n_machines);
    table->unknown = g_ptr_array_new();
    rows = make_rows(table, machines);
    g_ptr_array_extend(sorted, (GPtrArray *)nodes, NULL, NULL);
    g_ptr_array_sort(sorted, compare_nodes);

    for (guint i = 0; i < sorted->len; i++) {
        const DroverNode *node = g_ptr_array_index(sorted, i);
        DroverSlotRow *row = find_row(table, rows, node);

        if (!takes_a_place(node))
            continue;
        if (row == NULL)
            g_ptr_array_add(table->unknown, (gpointer)node);
        else if (!put_into_its_slot(row, node))
            g_ptr_array_add(left_over, (gpointer)node);
    }
    for (guint i = 0; i < left_over->len; i++) {
        const DroverNode *node = g_ptr_array_index(left_over, i);
        put_anywhere(find_row(table, rows, node), node);
    }
    return table;
}

void
drover_slot_table_free(DroverSlotTable *table)
{
    for (guint i = 0; i < table->n_rows; i++) {
        g_ptr_array_unref(table->rows[i].places);
        g_ptr_array_unref(table->rows[i].excess);
    }
    g_free(table->rows);
    g_ptr_array_unref(table->unknown);
    g_free(table);
}
