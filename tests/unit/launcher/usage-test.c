/* What is used, as nodes come and go. */
#include "launcher/cluster/usage.h"

#include "records.h"

static DroverResources *label_cost; /* NULL: not known yet */

static const DroverResources *
find_cost(const char *provider, const char *pool, const char *label, gpointer user_data)
{
    return label_cost;
}

static double
cores_of_provider(DroverUsage *usage)
{
    return drover_resources_get(drover_usage_of_provider(usage, "p"), "cores");
}

static void
note(DroverUsage *usage, const char *id, const char *json)
{
    g_autoptr(DroverNode) node = json != NULL ? test_node_new(id, json) : NULL;

    drover_usage_note(usage, id, node);
}

static void
test_nodes(void)
{
    DroverUsage *usage = drover_usage_new(find_cost, NULL);

    note(usage, "1",
         "{'state': 'building', 'provider': 'p', 'pool': 'a', 'type': ['l'],"
         " 'tenant_name': 't', 'resources': {'cores': 4}}");
    note(usage, "2",
         "{'state': 'ready', 'provider': 'p', 'pool': 'b', 'type': ['l'],"
         " 'resources': {'cores': 2}}");
    note(usage, "3",
         "{'state': 'ready', 'provider': 'q', 'pool': 'a', 'type': ['l'],"
         " 'tenant_name': 't', 'resources': {'cores': 1}}");
    g_assert_cmpfloat(cores_of_provider(usage), ==, 6);
    g_assert_cmpfloat(drover_resources_get(drover_usage_of_pool(usage, "p", "a"), "cores"), ==, 4);
    g_assert_cmpfloat(drover_resources_get(drover_usage_of_tenant(usage, "t"), "cores"), ==, 5);
    note(usage, "1",
         "{'state': 'deleting', 'provider': 'p', 'pool': 'a', 'type': ['l'],"
         " 'resources': {'cores': 3}}");
    g_assert_cmpfloat(cores_of_provider(usage), ==, 5);
    g_assert_cmpfloat(drover_resources_get(drover_usage_of_tenant(usage, "t"), "cores"), ==, 1);
    note(usage, "1", NULL);
    g_assert_cmpfloat(cores_of_provider(usage), ==, 2);
    drover_usage_free(usage);
}

static void
test_broken_records(void)
{
    DroverUsage *usage = drover_usage_new(find_cost, NULL);

    note(usage, "1", "{'state': 'ready'}");
    note(usage, "2", "{'state': 'ready', 'provider': 'p', 'type': ['l']}");
    note(usage, "3", "{'state': 'ready', 'provider': 'p', 'pool': 'a'}");
    note(usage, "4", "{'state': 'ready', 'provider': 'p', 'resources': {'cores': 1}}");
    g_assert_cmpfloat(cores_of_provider(usage), ==, 1);
    drover_usage_free(usage);
}

static void
test_cost_known_later(void)
{
    DroverUsage *usage = drover_usage_new(find_cost, NULL);

    note(usage, "1", "{'state': 'building', 'provider': 'p', 'pool': 'a', 'type': ['l']}");
    g_assert_cmpfloat(cores_of_provider(usage), ==, 0);
    label_cost = drover_resources_new(0);
    drover_resources_set(label_cost, "cores", 2);
    drover_usage_note_costs(usage, "other");
    g_assert_cmpfloat(cores_of_provider(usage), ==, 0);
    drover_usage_note_costs(usage, "p");
    g_assert_cmpfloat(cores_of_provider(usage), ==, 2);
    g_clear_pointer(&label_cost, drover_resources_unref);
    note(usage, "1", NULL);
    g_assert_cmpfloat(cores_of_provider(usage), ==, 0);
    drover_usage_free(usage);
}

static void
test_promises(void)
{
    DroverUsage *usage = drover_usage_new(find_cost, NULL);
    g_autoptr(DroverResources) cost = drover_resources_new(0);
    DroverUsagePromise *promise, *tenants;

    drover_resources_set(cost, "cores", 2);
    promise = drover_usage_promise(usage, "p", "a", "t", cost);
    tenants = drover_usage_promise(usage, NULL, NULL, "t", cost);
    g_assert_cmpfloat(cores_of_provider(usage), ==, 2);
    g_assert_cmpfloat(drover_resources_get(drover_usage_of_tenant(usage, "t"), "cores"), ==, 4);
    drover_usage_give_back(promise);
    drover_usage_give_back(tenants);
    g_assert_cmpfloat(cores_of_provider(usage), ==, 0);
    g_assert_cmpfloat(drover_resources_get(drover_usage_of_tenant(usage, "t"), "cores"), ==, 0);
    drover_usage_free(usage);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/usage/L-33-nodes", test_nodes);
    g_test_add_func("/usage/SM-46-broken-records", test_broken_records);
    g_test_add_func("/usage/cost-known-later", test_cost_known_later);
    g_test_add_func("/usage/R-23-promises", test_promises);
    return g_test_run();
}
