/* What a pool has to give. */
#include "launcher/cluster/stock.h"
#include "records.h"

static DroverNode *
node_new(const char *id, const char *state, const char *labels, const char *others)
{
    g_autofree char *json = g_strdup_printf(
        "{'state':'%s','type':%s,'provider':'p','pool':'main'%s}", state, labels, others);

    return test_node_new(id, json);
}

static void
note(DroverStock *stock, const char *id, const char *state, const char *labels, const char *others)
{
    g_autoptr(DroverNode) node = node_new(id, state, labels, others);

    drover_stock_note(stock, id, node);
}

static void
check_count(const DroverStock *stock, const char *label, gint expected)
{
    g_autoptr(GHashTable) counts = drover_stock_count(stock);

    g_assert_cmpint(GPOINTER_TO_INT(g_hash_table_lookup(counts, label)), ==, expected);
}

static void
check_reserve(DroverStock *stock, const char *label, const char *expected)
{
    DroverNode *node = drover_stock_reserve(stock, label, NULL);

    g_assert_cmpstr(node != NULL ? node->id : NULL, ==, expected);
    g_clear_pointer(&node, drover_node_unref);
}

typedef struct {
    DroverStock *stock;
} Scene;

static void
set_up(Scene *scene, gconstpointer data)
{
    scene->stock = drover_stock_new("p", "main");
}

static void
tear_down(Scene *scene, gconstpointer data)
{
    drover_stock_unref(scene->stock);
}

static void
test_counts_each_label(Scene *scene, gconstpointer data)
{
    note(scene->stock, "1", "ready", "['a','b']", "");
    note(scene->stock, "2", "ready", "['a']", "");
    check_count(scene->stock, "a", 2);
    check_count(scene->stock, "b", 1);
    check_count(scene->stock, "c", 0);
}

static void
test_only_free_nodes_of_the_pool(Scene *scene, gconstpointer data)
{
    g_autoptr(DroverNode) other_pool =
        test_node_new("5", "{'state':'ready','type':['a'],'provider':'p','pool':'other'}");
    g_autoptr(DroverNode) other_provider =
        test_node_new("6", "{'state':'ready','type':['a'],'provider':'q','pool':'main'}");
    g_autoptr(DroverNode) nobody = test_node_new("7", "{'state':'ready','type':['a']}");

    note(scene->stock, "1", "ready", "['a']", ",'allocated_to':'200-0000000001'");
    note(scene->stock, "2", "in-use", "['a']", "");
    note(scene->stock, "3", "hold", "['a']", "");
    note(scene->stock, "4", "frobnicated", "['a']", "");
    drover_stock_note(scene->stock, "5", other_pool);
    drover_stock_note(scene->stock, "6", other_provider);
    drover_stock_note(scene->stock, "7", nobody);
    check_count(scene->stock, "a", 0);
    check_reserve(scene->stock, "a", NULL);
}

static void
test_the_oldest_goes_first(Scene *scene, gconstpointer data)
{
    note(scene->stock, "0000000003", "ready", "['a']", "");
    note(scene->stock, "0000000001", "ready", "['b']", "");
    note(scene->stock, "0000000002", "ready", "['a']", "");
    check_reserve(scene->stock, "a", "0000000002");
    check_reserve(scene->stock, "a", "0000000003");
    check_reserve(scene->stock, "a", NULL);
}

static void
test_a_promised_node_counts_for_none_of_its_labels(Scene *scene, gconstpointer data)
{
    note(scene->stock, "1", "ready", "['a','b']", "");
    check_reserve(scene->stock, "a", "1");
    check_count(scene->stock, "a", 0);
    check_count(scene->stock, "b", 0);
    drover_stock_release(scene->stock, "1");
    check_count(scene->stock, "b", 1);
    check_reserve(scene->stock, "b", "1");
}

static void
test_a_promise_survives_news(Scene *scene, gconstpointer data)
{
    note(scene->stock, "1", "ready", "['a']", "");
    check_reserve(scene->stock, "a", "1");
    note(scene->stock, "1", "ready", "['a','b']", "");
    check_count(scene->stock, "b", 0);
    /* It was taken, and is a new one when it comes back. */
    note(scene->stock, "1", "in-use", "['a']", "");
    note(scene->stock, "1", "ready", "['a']", "");
    check_count(scene->stock, "a", 1);
}

static void
test_unusable_nodes_are_not_offered(Scene *scene, gconstpointer data)
{
    note(scene->stock, "1", "ready", "['a']", "");
    drover_stock_set_usable(scene->stock, "1", FALSE);
    check_count(scene->stock, "a", 0);
    check_reserve(scene->stock, "a", NULL);
    drover_stock_set_usable(scene->stock, "1", TRUE);
    check_count(scene->stock, "a", 1);
    drover_stock_set_usable(scene->stock, "1", FALSE);
    drover_stock_set_all_usable(scene->stock);
    check_reserve(scene->stock, "a", "1");
}

static void
test_leaving_nodes_are_room(Scene *scene, gconstpointer data)
{
    static const char *const leaving[] = {"used", "failed", "aborted", "deleting", "deleted"};
    static const char *const staying[] = {"ready", "in-use", "hold", "building", "init"};
    g_autofree char *now = g_strdup_printf(", 'state_time': %.3f", drover_record_now());
    g_autofree char *before = g_strdup_printf(", 'state_time': %.3f", drover_record_now() - 301);

    for (guint i = 0; i < G_N_ELEMENTS(leaving); i++) {
        note(scene->stock, "1", leaving[i], "['a']", now);
        g_assert_true(drover_stock_is_shrinking(scene->stock, 300));
        note(scene->stock, "1", leaving[i], "['a']", before);
        g_assert_false(drover_stock_is_shrinking(scene->stock, 300));
        note(scene->stock, "1", staying[i], "['a']", now);
        g_assert_false(drover_stock_is_shrinking(scene->stock, 300));
    }
    drover_stock_set_shrinking(scene->stock, TRUE);
    g_assert_true(drover_stock_is_shrinking(scene->stock, 300));
}

static void
test_nodes_vanish(Scene *scene, gconstpointer data)
{
    note(scene->stock, "1", "ready", "['a']", "");
    drover_stock_note(scene->stock, "1", NULL);
    check_count(scene->stock, "a", 0);
    /* News of what is not there does no harm. */
    drover_stock_note(scene->stock, "1", NULL);
    drover_stock_release(scene->stock, "1");
    drover_stock_set_usable(scene->stock, "1", FALSE);
}

#define ADD(path, function) g_test_add(path, Scene, NULL, set_up, function, tear_down)

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("/launcher/stock/counts-each-label", test_counts_each_label);
    ADD("/launcher/stock/L-15-only-free-nodes-of-the-pool", test_only_free_nodes_of_the_pool);
    ADD("/launcher/stock/the-oldest-goes-first", test_the_oldest_goes_first);
    ADD("/launcher/stock/ST-29-a-promised-node-counts-for-none-of-its-labels",
        test_a_promised_node_counts_for_none_of_its_labels);
    ADD("/launcher/stock/a-promise-survives-news", test_a_promise_survives_news);
    ADD("/launcher/stock/L-12-unusable-nodes-are-not-offered", test_unusable_nodes_are_not_offered);
    ADD("/launcher/stock/L-49-leaving-nodes-are-room", test_leaving_nodes_are_room);
    ADD("/launcher/stock/nodes-vanish", test_nodes_vanish);
    return g_test_run();
}
