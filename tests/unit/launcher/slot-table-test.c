/* Which node stands in which slot. */
#include "launcher/provider/slot-table.h"
#include "records.h"

static const DroverSlotMachine two_machines[] = {
    {{"alpha", "zuul", 22}, 2},
    {{"beta", "zuul", 22}, 1},
};

/* Slot below -1: the record has no field for it. */
static DroverNode *
node_new(const char *id, const char *host, const char *user, int port, int slot, const char *state)
{
    g_autofree char *slot_text = slot < -1 ? g_strdup("") : g_strdup_printf(",'slot':%d", slot);
    g_autofree char *json =
        g_strdup_printf("{'state':'%s','hostname':'%s','username':'%s','connection_port':%d%s}",
                        state, host, user, port, slot_text);

    return test_node_new(id, json);
}

static GPtrArray *
nodes_new(void)
{
    return g_ptr_array_new_with_free_func((GDestroyNotify)drover_node_unref);
}

static void
note_all(DroverSlotTable *table, const GPtrArray *nodes)
{
    for (guint i = 0; i < nodes->len; i++) {
        const DroverNode *node = g_ptr_array_index(nodes, i);
        drover_slot_table_note(table, node->id, node);
    }
}

static DroverSlotTable *
table_of_two(const GPtrArray *nodes)
{
    DroverSlotTable *table = drover_slot_table_new(two_machines, G_N_ELEMENTS(two_machines));

    note_all(table, nodes);
    return table;
}

/* The ids of an array, blanks between; '-' for an empty place. */
static void
check_ids(const GPtrArray *nodes, const char *expected)
{
    g_autoptr(GString) text = g_string_new(NULL);

    for (guint i = 0; i < nodes->len; i++) {
        const DroverNode *node = g_ptr_array_index(nodes, i);
        g_string_append_printf(text, "%s%s", i > 0 ? " " : "", node != NULL ? node->id : "-");
    }
    g_assert_cmpstr(text->str, ==, expected);
}

static void
check_table(const DroverSlotTable *table, const char *alpha, const char *alpha_excess,
            const char *beta, const char *beta_excess, const char *unknown)
{
    g_autoptr(DroverSlotRow) first = drover_slot_table_row(table, 0);
    g_autoptr(DroverSlotRow) second = drover_slot_table_row(table, 1);
    g_autoptr(GPtrArray) rest = drover_slot_table_unknown(table);

    check_ids(first->places, alpha);
    check_ids(first->excess, alpha_excess);
    check_ids(second->places, beta);
    check_ids(second->excess, beta_excess);
    check_ids(rest, unknown);
}

static void
test_empty(void)
{
    g_autoptr(GPtrArray) nodes = nodes_new();
    g_autoptr(DroverSlotTable) table = table_of_two(nodes);
    g_autoptr(DroverSlotTable) nothing = drover_slot_table_new(NULL, 0);
    g_autoptr(GPtrArray) unknown = drover_slot_table_unknown(nothing);

    check_table(table, "- -", "", "-", "", "");
    g_assert_cmpuint(unknown->len, ==, 0);
}

static void
test_nodes_stand_in_their_slots(void)
{
    g_autoptr(GPtrArray) nodes = nodes_new();
    g_autoptr(DroverSlotTable) table = NULL;

    g_ptr_array_add(nodes, node_new("3", "beta", "zuul", 22, 0, "in-use"));
    g_ptr_array_add(nodes, node_new("2", "alpha", "zuul", 22, 1, "ready"));
    g_ptr_array_add(nodes, node_new("1", "alpha", "zuul", 22, 0, "hold"));
    table = table_of_two(nodes);
    check_table(table, "1 2", "", "3", "", "");
}

static void
test_other_identities_are_unknown(void)
{
    g_autoptr(GPtrArray) nodes = nodes_new();
    g_autoptr(DroverSlotTable) table = NULL;

    g_ptr_array_add(nodes, node_new("1", "alpha", "root", 22, 0, "ready"));
    g_ptr_array_add(nodes, node_new("2", "alpha", "zuul", 2222, 0, "ready"));
    g_ptr_array_add(nodes, node_new("3", "gamma", "zuul", 22, 0, "used"));
    g_ptr_array_add(nodes, test_node_new("4", "{'state':'ready'}"));
    table = table_of_two(nodes);
    check_table(table, "- -", "", "-", "", "1 2 3 4");
}

static void
test_what_goes_takes_no_place(void)
{
    g_autoptr(GPtrArray) nodes = nodes_new();
    g_autoptr(DroverSlotTable) table = NULL;

    g_ptr_array_add(nodes, node_new("1", "alpha", "zuul", 22, 0, "deleting"));
    g_ptr_array_add(nodes, node_new("2", "alpha", "zuul", 22, 1, "building"));
    g_ptr_array_add(nodes, node_new("3", "gamma", "zuul", 22, 0, "deleting"));
    g_ptr_array_add(nodes, node_new("4", "beta", "zuul", 22, 0, "used"));
    table = table_of_two(nodes);
    check_table(table, "- -", "", "4", "", "");
}

static void
test_fewer_slots_than_nodes(void)
{
    g_autoptr(GPtrArray) nodes = nodes_new();
    g_autoptr(DroverSlotTable) table = NULL;

    g_ptr_array_add(nodes, node_new("1", "beta", "zuul", 22, 0, "ready"));
    g_ptr_array_add(nodes, node_new("2", "beta", "zuul", 22, 1, "ready"));
    table = table_of_two(nodes);
    check_table(table, "- -", "", "1", "2", "");
}

static void
test_nodes_without_slot_fill_empty_places(void)
{
    g_autoptr(GPtrArray) nodes = nodes_new();
    g_autoptr(DroverSlotTable) table = NULL;

    g_ptr_array_add(nodes, node_new("1", "alpha", "zuul", 22, -2, "ready"));
    g_ptr_array_add(nodes, node_new("2", "alpha", "zuul", 22, 0, "ready"));
    g_ptr_array_add(nodes, node_new("3", "beta", "zuul", 22, -1, "ready"));
    g_ptr_array_add(nodes, node_new("4", "beta", "zuul", 22, -2, "ready"));
    table = table_of_two(nodes);
    check_table(table, "2 1", "", "3", "4", "");
}

static void
test_three_nodes_for_two_slots(void)
{
    g_autoptr(GPtrArray) nodes = nodes_new();
    g_autoptr(DroverSlotTable) table = NULL;

    g_ptr_array_add(nodes, node_new("7", "alpha", "zuul", 22, 1, "ready"));
    g_ptr_array_add(nodes, node_new("6", "alpha", "zuul", 22, 0, "ready"));
    g_ptr_array_add(nodes, node_new("5", "alpha", "zuul", 22, 0, "ready"));
    table = table_of_two(nodes);
    check_table(table, "5 7", "6", "-", "", "");
}

/* ---- Any table ---- */

static const char *const states[] = {"init", "building", "testing", "ready",  "in-use",     "used",
                                     "hold", "deleting", "deleted", "failed", "frobnicated"};
static const char *const hosts[] = {"alpha", "beta", "gamma", "delta"};
static const char *const users[] = {"zuul", "root"};

static DroverNode *
random_node(guint number)
{
    g_autofree char *id = g_strdup_printf("%010u", number);

    return node_new(id, hosts[g_test_rand_int_range(0, 4)], users[g_test_rand_int_range(0, 2)],
                    g_test_rand_int_range(22, 24), g_test_rand_int_range(-2, 6),
                    states[g_test_rand_int_range(0, G_N_ELEMENTS(states))]);
}

static gboolean
takes_a_place(const DroverNode *node)
{
    return node->state != DROVER_NODE_BUILDING && node->state != DROVER_NODE_DELETING &&
           node->state != DROVER_NODE_DELETED;
}

static void
count_all(const GPtrArray *nodes, GHashTable *seen)
{
    for (guint i = 0; i < nodes->len; i++)
        if (nodes->pdata[i] != NULL && !g_hash_table_add(seen, nodes->pdata[i]))
            g_error("a node stands in two places");
}

/* A node with a valid number is in that slot, unless an older one of the same number is. */
static void
check_place(const DroverSlotRow *row, const DroverNode *node)
{
    const DroverNode *there;

    if (node->slot < 0 || (guint)node->slot >= row->places->len)
        return;
    there = g_ptr_array_index(row->places, node->slot);
    g_assert_nonnull(there);
    g_assert_true(there == node || (there->slot == node->slot && strcmp(there->id, node->id) < 0));
}

static void
check_row(const DroverSlotTable *table, guint machine, const DroverSlotRow *row, guint slots,
          const GPtrArray *nodes)
{
    guint empty = 0;

    g_assert_cmpuint(row->places->len, ==, slots);
    for (guint i = 0; i < row->places->len; i++)
        empty += row->places->pdata[i] == NULL;
    g_assert_true(row->excess->len == 0 || empty == 0);
    for (guint i = 0; i < nodes->len; i++) {
        const DroverNode *node = g_ptr_array_index(nodes, i);

        if (takes_a_place(node) && drover_slot_table_machine_of(table, node) == (int)machine)
            check_place(row, node);
    }
}

static guint
count_places(const GPtrArray *nodes)
{
    guint count = 0;

    for (guint i = 0; i < nodes->len; i++)
        count += takes_a_place(nodes->pdata[i]);
    return count;
}

/* Some change, and some go; `nodes` are those that stay, in any order. */
static void
change_some(DroverSlotTable *table, GPtrArray *nodes)
{
    for (guint i = nodes->len; i > 0; i--) {
        g_autofree char *id = g_strdup(((DroverNode *)nodes->pdata[i - 1])->id);
        DroverNode *node = NULL;

        if (g_test_rand_bit())
            continue;
        g_ptr_array_remove_index_fast(nodes, i - 1);
        if (g_test_rand_bit()) {
            node = random_node((guint)g_ascii_strtoull(id, NULL, 10));
            g_ptr_array_add(nodes, node);
        }
        drover_slot_table_note(table, id, node);
    }
}

static void
check_any_table(const DroverSlotTable *table, const DroverSlotMachine *machines, guint n_machines,
                const GPtrArray *nodes)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    g_autoptr(GPtrArray) unknown = drover_slot_table_unknown(table);

    count_all(unknown, seen);
    for (guint i = 0; i < n_machines; i++) {
        g_autoptr(DroverSlotRow) row = drover_slot_table_row(table, i);

        count_all(row->places, seen);
        count_all(row->excess, seen);
        check_row(table, i, row, machines[i].slots, nodes);
    }
    g_assert_cmpuint(g_hash_table_size(seen), ==, count_places(nodes));
}

static void
check_random_table(void)
{
    const DroverSlotMachine machines[] = {
        {{"alpha", "zuul", 22}, (guint)g_test_rand_int_range(0, 5)},
        {{"alpha", "root", 22}, (guint)g_test_rand_int_range(0, 5)},
        {{"alpha", "zuul", 23}, (guint)g_test_rand_int_range(0, 5)},
        {{"beta", "zuul", 22}, (guint)g_test_rand_int_range(0, 5)},
    };
    guint n_nodes = (guint)g_test_rand_int_range(0, 40);
    g_autoptr(GPtrArray) nodes = nodes_new();
    g_autoptr(DroverSlotTable) table = drover_slot_table_new(machines, G_N_ELEMENTS(machines));

    for (guint i = 0; i < n_nodes; i++)
        g_ptr_array_insert(nodes, g_test_rand_int_range(0, (gint)i + 1), random_node(i));
    note_all(table, nodes);
    check_any_table(table, machines, G_N_ELEMENTS(machines), nodes);
    change_some(table, nodes);
    check_any_table(table, machines, G_N_ELEMENTS(machines), nodes);
}

static void
test_any_table(void)
{
    for (guint i = 0; i < 2000; i++)
        check_random_table();
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/launcher/slot-table/empty", test_empty);
    g_test_add_func("/launcher/slot-table/ST-12-nodes-stand-in-their-slots",
                    test_nodes_stand_in_their_slots);
    g_test_add_func("/launcher/slot-table/ST-17-other-identities-are-unknown",
                    test_other_identities_are_unknown);
    g_test_add_func("/launcher/slot-table/what-goes-takes-no-place", test_what_goes_takes_no_place);
    g_test_add_func("/launcher/slot-table/ST-13-fewer-slots-than-nodes",
                    test_fewer_slots_than_nodes);
    g_test_add_func("/launcher/slot-table/ST-38-nodes-without-slot-fill-empty-places",
                    test_nodes_without_slot_fill_empty_places);
    g_test_add_func("/launcher/slot-table/ST-39-three-nodes-for-two-slots",
                    test_three_nodes_for_two_slots);
    g_test_add_func("/launcher/slot-table/any-table", test_any_table);
    return g_test_run();
}
