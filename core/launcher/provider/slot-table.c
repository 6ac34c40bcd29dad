#include "launcher/provider/slot-table.h"

#include <string.h>

/* Nodes by their ids: older ones first. */
typedef GTree Standing;

struct _DroverSlotTable {
    const DroverSlotMachine *machines;
    GHashTable *indexes; /* DroverMachineIdentity -> index */
    GHashTable *nodes;   /* id -> DroverNode */
    guint n_machines;
    Standing **standing; /* at each machine, and behind the last one those of unknown machines */
};

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

    return left->port == right->port && g_strcmp0(left->name, right->name) == 0 &&
           g_strcmp0(left->username, right->username) == 0;
}

/* ---- Life ---- */

DroverSlotTable *
drover_slot_table_new(const DroverSlotMachine *machines, guint n_machines)
{
    DroverSlotTable *table = g_new0(DroverSlotTable, 1);

    table->machines = machines;
    table->n_machines = n_machines;
    table->indexes = g_hash_table_new(hash_identity, equal_identity);
    table->nodes =
        g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify)drover_node_unref);
    table->standing = g_new0(Standing *, n_machines + 1);
    for (guint i = 0; i <= n_machines; i++)
        table->standing[i] = g_tree_new((GCompareFunc)strcmp);
    for (guint i = 0; i < n_machines; i++)
        g_hash_table_insert(table->indexes, (gpointer)&machines[i].identity, GUINT_TO_POINTER(i));
    return table;
}

void
drover_slot_table_free(DroverSlotTable *table)
{
    for (guint i = 0; i <= table->n_machines; i++)
        g_tree_unref(table->standing[i]);
    g_free(table->standing);
    g_hash_table_unref(table->nodes);
    g_hash_table_unref(table->indexes);
    g_free(table);
}

/* ---- Nodes ---- */

int
drover_slot_table_machine_of(const DroverSlotTable *table, const DroverNode *node)
{
    DroverMachineIdentity identity = {node->hostname, node->username, node->port};
    gpointer index;

    if (node->hostname == NULL || node->username == NULL ||
        !g_hash_table_lookup_extended(table->indexes, &identity, NULL, &index))
        return DROVER_NO_MACHINE;
    return GPOINTER_TO_INT(index);
}

int
drover_slot_table_find(const DroverSlotTable *table, const char *id)
{
    const DroverNode *node = g_hash_table_lookup(table->nodes, id);

    return node != NULL ? drover_slot_table_machine_of(table, node) : DROVER_NO_MACHINE;
}

static Standing *
standing_with(const DroverSlotTable *table, const DroverNode *node)
{
    int machine = drover_slot_table_machine_of(table, node);

    return table->standing[machine != DROVER_NO_MACHINE ? (guint)machine : table->n_machines];
}

void
drover_slot_table_note(DroverSlotTable *table, const char *id, const DroverNode *node)
{
    const DroverNode *before = g_hash_table_lookup(table->nodes, id);

    if (before != NULL) {
        g_tree_remove(standing_with(table, before), before->id);
        g_hash_table_remove(table->nodes, id);
    }
    if (node == NULL)
        return;
    drover_node_ref((DroverNode *)node);
    g_hash_table_insert(table->nodes, node->id, (gpointer)node);
    g_tree_insert(standing_with(table, node), node->id, (gpointer)node);
}

static gboolean
takes_a_place(const DroverNode *node)
{
    return node->state != DROVER_NODE_BUILDING && node->state != DROVER_NODE_DELETING &&
           node->state != DROVER_NODE_DELETED;
}

/* Of those that take a place. */
static GPtrArray *
nodes_of(Standing *standing)
{
    GPtrArray *nodes = g_ptr_array_new();

    for (GTreeNode *one = g_tree_node_first(standing); one != NULL; one = g_tree_node_next(one))
        if (takes_a_place(g_tree_node_value(one)))
            g_ptr_array_add(nodes, g_tree_node_value(one));
    return nodes;
}

GPtrArray *
drover_slot_table_unknown(const DroverSlotTable *table)
{
    return nodes_of(table->standing[table->n_machines]);
}

/* ---- Rows ---- */

static gboolean
put_into_its_slot(DroverSlotRow *row, const DroverNode *node)
{
    if (node->slot < 0 || (guint)node->slot >= row->places->len ||
        row->places->pdata[node->slot] != NULL)
        return FALSE;
    row->places->pdata[node->slot] = (gpointer)node;
    return TRUE;
}

/* Looks from `*place` on, where those before it went. */
static void
put_anywhere(DroverSlotRow *row, const DroverNode *node, guint *place)
{
    while (*place < row->places->len && row->places->pdata[*place] != NULL)
        ++*place;
    if (*place < row->places->len)
        row->places->pdata[*place] = (gpointer)node;
    else
        g_ptr_array_add(row->excess, (gpointer)node);
}

DroverSlotRow *
drover_slot_table_row(const DroverSlotTable *table, guint machine)
{
    DroverSlotRow *row = g_new0(DroverSlotRow, 1);
    g_autoptr(GPtrArray) nodes = nodes_of(table->standing[machine]);
    g_autoptr(GPtrArray) left_over = g_ptr_array_new();
    guint place = 0;

    row->places = g_ptr_array_sized_new(table->machines[machine].slots);
    g_ptr_array_set_size(row->places, (gint)table->machines[machine].slots);
    row->excess = g_ptr_array_new();
    for (guint i = 0; i < nodes->len; i++)
        if (!put_into_its_slot(row, nodes->pdata[i]))
            g_ptr_array_add(left_over, nodes->pdata[i]);
    for (guint i = 0; i < left_over->len; i++)
        put_anywhere(row, left_over->pdata[i], &place);
    return row;
}

void
drover_slot_row_free(DroverSlotRow *row)
{
    g_ptr_array_unref(row->places);
    g_ptr_array_unref(row->excess);
    g_free(row);
}
