/* How many standby nodes to ask for. */
#include "launcher/upkeep/standby-plan.h"
#include "records.h"

static void
set_up(DroverStandbyPlan **plan, gconstpointer data)
{
    *plan = drover_standby_plan_new();
}

static void
tear_down(DroverStandbyPlan **plan, gconstpointer data)
{
    drover_standby_plan_free(*plan);
}

static DroverNode *
node_new(const char *state, const char *labels)
{
    g_autofree char *json = g_strdup_printf("{'state':'%s','type':%s}", state, labels);

    return test_node_new("1", json);
}

static DroverRequest *
request_new(const char *state, const char *requestor, const char *label)
{
    g_autofree char *json = g_strdup_printf("{'state':'%s','requestor':'%s','node_types':['%s']}",
                                            state, requestor, label);

    return test_request_new("900-0000000001", json);
}

static void
check_need(DroverStandbyPlan *plan, const char *label, int min_ready, guint expected)
{
    g_assert_cmpuint(drover_standby_plan_need(plan, label, min_ready, 0), ==, expected);
}

static void
test_counts_free_nodes(DroverStandbyPlan **plan, gconstpointer data)
{
    g_autoptr(DroverNode) ready = node_new("ready", "['a','b']");
    g_autoptr(DroverNode) used = node_new("in-use", "['a']");
    g_autoptr(DroverNode) taken =
        test_node_new("1", "{'state':'ready','type':['a'],'allocated_to':'200-0000000001'}");

    check_need(*plan, "a", 2, 2);
    drover_standby_plan_note_node(*plan, NULL, ready);
    drover_standby_plan_note_node(*plan, NULL, used);
    check_need(*plan, "a", 2, 1);
    check_need(*plan, "b", 2, 1);
    check_need(*plan, "c", 2, 2);
    drover_standby_plan_note_node(*plan, ready, taken);
    check_need(*plan, "a", 2, 2);
    drover_standby_plan_note_node(*plan, taken, ready);
    drover_standby_plan_note_node(*plan, NULL, ready);
    drover_standby_plan_note_node(*plan, NULL, ready);
    check_need(*plan, "a", 2, 0);
    drover_standby_plan_note_node(*plan, ready, NULL);
    drover_standby_plan_note_node(*plan, ready, NULL);
    drover_standby_plan_note_node(*plan, used, NULL);
    check_need(*plan, "a", 2, 1);
}

static void
test_none_wanted(DroverStandbyPlan **plan, gconstpointer data)
{
    check_need(*plan, "a", 0, 0);
    check_need(*plan, "a", -1, 0);
}

static void
test_counts_requests_of_all(DroverStandbyPlan **plan, gconstpointer data)
{
    g_autoptr(DroverRequest) requested = request_new("requested", DROVER_STANDBY_REQUESTOR, "a");
    g_autoptr(DroverRequest) fulfilled = request_new("fulfilled", DROVER_STANDBY_REQUESTOR, "a");
    g_autoptr(DroverRequest) of_zuul = request_new("requested", "zuul", "a");

    drover_standby_plan_note_request(*plan, NULL, of_zuul);
    check_need(*plan, "a", 2, 2);
    drover_standby_plan_note_request(*plan, NULL, requested);
    drover_standby_plan_note_request(*plan, NULL, requested);
    check_need(*plan, "a", 2, 0);
    check_need(*plan, "a", 3, 1);
    drover_standby_plan_note_request(*plan, requested, fulfilled);
    check_need(*plan, "a", 2, 0);
    drover_standby_plan_note_request(*plan, fulfilled, NULL);
    check_need(*plan, "a", 2, 1);
}

static void
test_waits_longer_after_each_failure(DroverStandbyPlan **plan, gconstpointer data)
{
    const double delays[] = {1, 2, 4, 8, 16, 32, 60, 60};
    double now = 1000;

    for (guint i = 0; i < G_N_ELEMENTS(delays); i++) {
        drover_standby_plan_note_made(*plan, "a");
        g_assert_cmpfloat(drover_standby_plan_note_failed(*plan, "a", now), ==, delays[i]);
        /* Others that were made at the same time. */
        g_assert_cmpfloat(drover_standby_plan_note_failed(*plan, "a", now), ==, delays[i]);
        g_assert_cmpuint(drover_standby_plan_need(*plan, "a", 1, now + delays[i] - 0.1), ==, 0);
        g_assert_cmpuint(drover_standby_plan_need(*plan, "b", 1, now), ==, 1);
        now += delays[i];
        g_assert_cmpuint(drover_standby_plan_need(*plan, "a", 1, now), ==, 1);
    }
    drover_standby_plan_note_made(*plan, "a");
    drover_standby_plan_note_fulfilled(*plan, "a");
    g_assert_cmpfloat(drover_standby_plan_note_failed(*plan, "a", now), ==, 1);
}

/* What it costs when nothing can be had for an hour, with every request failing at once. */
static void
test_hour_without_success(DroverStandbyPlan **plan, gconstpointer data)
{
    guint requests = 0;
    double last = -1000, gap = 0;

    for (double now = 0; now < 3600; now += 0.5) {
        guint need = drover_standby_plan_need(*plan, "a", 5, now);

        if (need == 0)
            continue;
        /* All of them, then one at a time to find out. */
        g_assert_cmpuint(need, ==, requests == 0 ? 5 : 1);
        g_assert_true(requests <= 5 || now - last >= gap);
        gap = now - last;
        last = now;
        requests += need;
        drover_standby_plan_note_made(*plan, "a");
        for (guint i = 0; i < need; i++)
            g_assert_cmpfloat(drover_standby_plan_note_failed(*plan, "a", now), <=, 60);
    }
    g_assert_cmpuint(requests, >, 60);
    g_assert_cmpuint(requests, <, 75);
    /* The first one that is had brings the others. */
    drover_standby_plan_note_made(*plan, "a");
    drover_standby_plan_note_fulfilled(*plan, "a");
    g_assert_cmpuint(drover_standby_plan_need(*plan, "a", 5, 3700), ==, 5);
}

int
main(int argc, char **argv)
{
    const struct {
        const char *name;
        void (*run)(DroverStandbyPlan **, gconstpointer);
    } tests[] = {
        {"/launcher/standby/L-64-L-65-counts-free-nodes", test_counts_free_nodes},
        {"/launcher/standby/L-66-none-wanted", test_none_wanted},
        {"/launcher/standby/L-69-counts-requests-of-all", test_counts_requests_of_all},
        {"/launcher/standby/L-70-waits-longer-after-each-failure",
         test_waits_longer_after_each_failure},
        {"/launcher/standby/F-23-hour-without-success", test_hour_without_success},
    };

    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(tests); i++)
        g_test_add(tests[i].name, DroverStandbyPlan *, NULL, set_up, tests[i].run, tear_down);
    return g_test_run();
}
