/* Families of series, and the text that a scraper gets. */
#include "metrics/process.h"
#include "metrics/registry.h"

#include <math.h>
#include <string.h>

enum { NODES, LAUNCHES, DURATION, REQUESTORS, LEAKS, LEADER };

static const double limits[] = {0.5, 1, 10};
static const DroverMetricSpec specs[] = {
    [NODES] = {.name = "t_nodes",
               .type = DROVER_METRIC_GAUGE,
               .help = "Nodes.",
               .labels = {"provider", "state"}},
    [LAUNCHES] = {.name = "t_launches_total",
                  .type = DROVER_METRIC_COUNTER,
                  .help = "Launches.",
                  .labels = {"result"}},
    [DURATION] = {.name = "t_duration_seconds",
                  .type = DROVER_METRIC_HISTOGRAM,
                  .help = "Time.",
                  .labels = {"provider"},
                  .buckets = limits,
                  .n_buckets = G_N_ELEMENTS(limits)},
    [REQUESTORS] = {.name = "t_requestors_total",
                    .type = DROVER_METRIC_COUNTER,
                    .help = "By requestor.",
                    .labels = {"requestor", "result"},
                    .bounded = 1},
    [LEAKS] = {.name = "t_leaks_total",
               .type = DROVER_METRIC_COUNTER,
               .help = "By resource.",
               .labels = {"provider", "resource"},
               .bounded = 2},
    [LEADER] = {.name = "t_leader", .type = DROVER_METRIC_GAUGE, .help = "Line\nbreak \\."},
};

static DroverMetrics *
metrics_new(void)
{
    return drover_metrics_new(specs, G_N_ELEMENTS(specs));
}

static char *
text_of(const DroverMetrics *metrics, DroverExposition form)
{
    GString *text = g_string_new(NULL);

    drover_metrics_write(metrics, form, text);
    return g_string_free(text, FALSE);
}

static void
assert_text(const DroverMetrics *metrics, const char *expected)
{
    g_autofree char *text = text_of(metrics, DROVER_EXPOSITION_PROMETHEUS);

    g_assert_cmpstr(text, ==, expected);
}

static void
test_nothing(void)
{
    g_autoptr(DroverMetrics) metrics = metrics_new();

    assert_text(metrics, "");
}

static void
test_gauges(void)
{
    g_autoptr(DroverMetrics) metrics = metrics_new();

    drover_metrics_set(metrics, NODES, DROVER_LABELS("p2", "ready"), 3);
    drover_metrics_add(metrics, NODES, DROVER_LABELS("p1", "ready"), 1);
    drover_metrics_add(metrics, NODES, DROVER_LABELS("p1", "ready"), 1);
    drover_metrics_set(metrics, NODES, DROVER_LABELS("p1", "in-use"), 0);
    drover_metrics_set(metrics, LEADER, DROVER_NO_LABELS, 0.25);
    g_assert_cmpfloat(drover_metrics_get(metrics, NODES, DROVER_LABELS("p1", "ready")), ==, 2);
    assert_text(metrics, "# HELP t_nodes Nodes.\n"
                         "# TYPE t_nodes gauge\n"
                         "t_nodes{provider=\"p1\",state=\"in-use\"} 0\n"
                         "t_nodes{provider=\"p1\",state=\"ready\"} 2\n"
                         "t_nodes{provider=\"p2\",state=\"ready\"} 3\n"
                         "# HELP t_leader Line\\nbreak \\\\.\n"
                         "# TYPE t_leader gauge\n"
                         "t_leader 0.25\n");
    drover_metrics_clear(metrics, NODES);
    drover_metrics_clear(metrics, LEADER);
    assert_text(metrics, "");
}

static void
test_values(void)
{
    g_autoptr(DroverMetrics) metrics = metrics_new();
    g_autofree char *text = NULL;

    drover_metrics_set(metrics, NODES, DROVER_LABELS("a\"b\\c\nd", NULL), INFINITY);
    drover_metrics_set(metrics, NODES, DROVER_LABELS("bad \xff", "x"), 16384000000);
    text = text_of(metrics, DROVER_EXPOSITION_PROMETHEUS);
    g_assert_nonnull(strstr(text, "t_nodes{provider=\"a\\\"b\\\\c\\nd\",state=\"\"} +Inf\n"));
    g_assert_nonnull(
        strstr(text, "t_nodes{provider=\"bad \xef\xbf\xbd\",state=\"x\"} 16384000000\n"));
}

static void
test_histogram(void)
{
    g_autoptr(DroverMetrics) metrics = metrics_new();
    const double values[] = {0.5, 0.75, 10, 11};

    for (guint i = 0; i < G_N_ELEMENTS(values); i++)
        drover_metrics_observe(metrics, DURATION, DROVER_LABELS("p"), values[i]);
    assert_text(metrics, "# HELP t_duration_seconds Time.\n"
                         "# TYPE t_duration_seconds histogram\n"
                         "t_duration_seconds_bucket{provider=\"p\",le=\"0.5\"} 1\n"
                         "t_duration_seconds_bucket{provider=\"p\",le=\"1\"} 2\n"
                         "t_duration_seconds_bucket{provider=\"p\",le=\"10\"} 3\n"
                         "t_duration_seconds_bucket{provider=\"p\",le=\"+Inf\"} 4\n"
                         "t_duration_seconds_sum{provider=\"p\"} 22.25\n"
                         "t_duration_seconds_count{provider=\"p\"} 4\n");
    g_assert_cmpfloat(drover_metrics_get(metrics, DURATION, DROVER_LABELS("p")), ==, 4);
}

/* The family of a counter has no _total there, its samples have. */
static void
test_open_metrics(void)
{
    g_autoptr(DroverMetrics) metrics = metrics_new();
    g_autofree char *text = NULL;

    drover_metrics_add(metrics, LAUNCHES, DROVER_LABELS("ready"), 1);
    text = text_of(metrics, DROVER_EXPOSITION_OPENMETRICS);
    g_assert_cmpstr(text, ==,
                    "# HELP t_launches Launches.\n"
                    "# TYPE t_launches counter\n"
                    "t_launches_total{result=\"ready\"} 1\n");
}

static void
test_bounded(void)
{
    g_autoptr(DroverMetrics) metrics = metrics_new();

    for (guint i = 0; i < 300; i++) {
        g_autofree char *name = g_strdup_printf("requestor-%u", i);

        drover_metrics_add(metrics, REQUESTORS, DROVER_LABELS(name, "ready"), 1);
        drover_metrics_add(metrics, REQUESTORS, DROVER_LABELS(name, "failed"), 1);
    }
    g_assert_cmpfloat(
        drover_metrics_get(metrics, REQUESTORS, DROVER_LABELS("requestor-199", "ready")), ==, 1);
    g_assert_cmpfloat(drover_metrics_get(metrics, REQUESTORS, DROVER_LABELS("other", "ready")), ==,
                      100);
    g_assert_cmpfloat(drover_metrics_get(metrics, REQUESTORS, DROVER_LABELS("other", "failed")), ==,
                      100);
    g_assert_cmpstr(drover_metrics_bound(metrics, REQUESTORS, "requestor-7"), ==, "requestor-7");
    g_assert_cmpstr(drover_metrics_bound(metrics, REQUESTORS, "requestor-250"), ==, "other");
}

/* Each of the first ones with any provider. */
static void
test_bounded_second(void)
{
    g_autoptr(DroverMetrics) metrics = metrics_new();

    for (guint i = 0; i < 300; i++) {
        g_autofree char *name = g_strdup_printf("thing-%u", i);

        drover_metrics_add(metrics, LEAKS, DROVER_LABELS(name, name), 1);
        drover_metrics_add(metrics, LEAKS, DROVER_LABELS(name, "thing-0"), 1);
    }
    g_assert_cmpfloat(drover_metrics_get(metrics, LEAKS, DROVER_LABELS("thing-7", "thing-7")), ==,
                      1);
    g_assert_cmpfloat(drover_metrics_get(metrics, LEAKS, DROVER_LABELS("thing-299", "thing-0")), ==,
                      1);
    g_assert_cmpfloat(drover_metrics_get(metrics, LEAKS, DROVER_LABELS("thing-250", "other")), ==,
                      1);
}

static void
test_process(void)
{
    static const char *const names[] = {"process_cpu_seconds_total ",
                                        "process_resident_memory_bytes ",
                                        "process_virtual_memory_bytes ",
                                        "process_open_fds ",
                                        "process_max_fds ",
                                        "process_start_time_seconds "};
    g_autoptr(GString) text = g_string_new(NULL);

    drover_metrics_write_process(DROVER_EXPOSITION_PROMETHEUS, text);
    for (guint i = 0; i < G_N_ELEMENTS(names); i++)
        g_assert_nonnull(strstr(text->str, names[i]));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/metrics/nothing", test_nothing);
    g_test_add_func("/metrics/gauges", test_gauges);
    g_test_add_func("/metrics/values-of-all-kinds", test_values);
    g_test_add_func("/metrics/histogram", test_histogram);
    g_test_add_func("/metrics/open-metrics", test_open_metrics);
    g_test_add_func("/metrics/bounded-labels", test_bounded);
    g_test_add_func("/metrics/bounded-second-label", test_bounded_second);
    g_test_add_func("/metrics/process", test_process);
    return g_test_run();
}
