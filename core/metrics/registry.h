/*
 * What is counted and measured, as Prometheus sees it: families of series, told apart by the values
 * of their labels. A family is declared in a table, and named by its place there. An update is one
 * look-up in a hash table. One thread only.
 */
#pragma once

#include <glib.h>

#define DROVER_METRIC_LABELS 5

typedef enum {
    DROVER_METRIC_COUNTER, /* only grows; its name ends in _total */
    DROVER_METRIC_GAUGE,
    DROVER_METRIC_HISTOGRAM,
} DroverMetricType;

typedef struct {
    const char *name;
    DroverMetricType type;
    const char *help;
    const char *labels[DROVER_METRIC_LABELS]; /* unused ones are NULL */
    const double *buckets;                    /* of a histogram: upper limits, rising */
    guint n_buckets;
    guint bounded; /* this label, 1 the first, has at most 200 values; all others count as "other";
                      0: none */
} DroverMetricSpec;

typedef struct _DroverMetrics DroverMetrics;

/* The table lives longer. */
DroverMetrics *drover_metrics_new(const DroverMetricSpec *specs, guint n_specs);
void drover_metrics_free(DroverMetrics *metrics);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DroverMetrics, drover_metrics_free)

/* The values of all of a family's labels, in their order; a NULL among them reads as "". */
#define DROVER_LABELS(...) ((const char *const[DROVER_METRIC_LABELS]){__VA_ARGS__})
#define DROVER_NO_LABELS   ((const char *const[DROVER_METRIC_LABELS]){NULL})

/* Of counters and gauges; 0 makes the series known. */
void drover_metrics_add(DroverMetrics *metrics, guint family, const char *const *labels,
                        double amount);
/* Of gauges, and of counters that somebody else counts. */
void drover_metrics_set(DroverMetrics *metrics, guint family, const char *const *labels,
                        double value);
void drover_metrics_observe(DroverMetrics *metrics, guint family, const char *const *labels,
                            double value);
/* Drops all series of the family: what is set next is all there is. */
void drover_metrics_clear(DroverMetrics *metrics, guint family);

/* What a value of the family's bounded label counts as: itself, or "other". */
const char *drover_metrics_bound(const DroverMetrics *metrics, guint family, const char *value);

/* 0 for a series that does not exist; of a histogram how much was observed. */
double drover_metrics_get(const DroverMetrics *metrics, guint family, const char *const *labels);

typedef enum {
    DROVER_EXPOSITION_PROMETHEUS,  /* text format 0.0.4 */
    DROVER_EXPOSITION_OPENMETRICS, /* 1.0.0; who writes it ends it with "# EOF" */
} DroverExposition;

/* Appends all families that have series, the series sorted by their labels. */
void drover_metrics_write(const DroverMetrics *metrics, DroverExposition form, GString *text);
