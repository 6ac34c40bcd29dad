#include "metrics/registry.h"

#include <math.h>
#include <string.h>

#define MOST_VALUES 200
#define OTHER       "other"

/* A series: one number, or the counts of a histogram. */
typedef struct {
    char *values[DROVER_METRIC_LABELS];
    double value;     /* of a histogram: the sum */
    guint64 observed; /* of a histogram: how often */
    guint64 counts[]; /* of each bucket alone; the last one has no limit */
} Series;

typedef struct {
    const DroverMetricSpec *spec;
    guint n_labels;
    GHashTable *series; /* text of all values -> Series */
    GHashTable *known;  /* of a bounded family: the values of that label, a set */
} Family;

struct _DroverMetrics {
    Family *families;
    guint n_families;
};

/* ---- Life ---- */

static void
free_series(gpointer data)
{
    Series *series = data;

    for (guint i = 0; i < DROVER_METRIC_LABELS; i++)
        g_free(series->values[i]);
    g_free(series);
}

DroverMetrics *
drover_metrics_new(const DroverMetricSpec *specs, guint n_specs)
{
    DroverMetrics *metrics = g_new0(DroverMetrics, 1);

    metrics->families = g_new0(Family, n_specs);
    metrics->n_families = n_specs;
    for (guint i = 0; i < n_specs; i++) {
        Family *family = &metrics->families[i];

        family->spec = &specs[i];
        while (family->n_labels < DROVER_METRIC_LABELS && specs[i].labels[family->n_labels] != NULL)
            family->n_labels++;
        family->series = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_series);
        family->known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    }
    return metrics;
}

void
drover_metrics_free(DroverMetrics *metrics)
{
    if (metrics == NULL)
        return;
    for (guint i = 0; i < metrics->n_families; i++) {
        g_hash_table_unref(metrics->families[i].series);
        g_hash_table_unref(metrics->families[i].known);
    }
    g_free(metrics->families);
    g_free(metrics);
}

/* ---- Series ---- */

static const char *
bound(const Family *family, const char *value)
{
    return g_hash_table_contains(family->known, value) ||
                   g_hash_table_size(family->known) < MOST_VALUES
               ? value
               : OTHER;
}

const char *
drover_metrics_bound(const DroverMetrics *metrics, guint family, const char *value)
{
    return bound(&metrics->families[family], value);
}

static const char *
value_of(const Family *family, const char *const *labels, guint index)
{
    const char *value = labels[index] != NULL ? labels[index] : "";

    return index + 1 == family->spec->bounded ? bound(family, value) : value;
}

/* No value has a unit separator that would make two series one: names come from people. */
static char *
key_of(const Family *family, const char *const *labels)
{
    GString *key = g_string_new(NULL);

    for (guint i = 0; i < family->n_labels; i++) {
        g_string_append(key, value_of(family, labels, i));
        g_string_append_c(key, '\x1f');
    }
    return g_string_free(key, FALSE);
}

static Series *
series_new(Family *family, const char *const *labels)
{
    const DroverMetricSpec *spec = family->spec;
    gsize n_counts = spec->type == DROVER_METRIC_HISTOGRAM ? spec->n_buckets + 1 : 0;
    Series *series = g_malloc0(sizeof *series + n_counts * sizeof series->counts[0]);

    for (guint i = 0; i < family->n_labels; i++)
        series->values[i] = g_utf8_make_valid(value_of(family, labels, i), -1);
    if (spec->bounded != 0)
        g_hash_table_add(family->known, g_strdup(value_of(family, labels, spec->bounded - 1)));
    return series;
}

static Series *
need_series(DroverMetrics *metrics, guint index, const char *const *labels)
{
    Family *family = &metrics->families[index];
    g_autofree char *key = key_of(family, labels);
    Series *series = g_hash_table_lookup(family->series, key);

    if (series == NULL) {
        series = series_new(family, labels);
        g_hash_table_insert(family->series, g_steal_pointer(&key), series);
    }
    return series;
}

void
drover_metrics_add(DroverMetrics *metrics, guint family, const char *const *labels, double amount)
{
    need_series(metrics, family, labels)->value += amount;
}

void
drover_metrics_set(DroverMetrics *metrics, guint family, const char *const *labels, double value)
{
    need_series(metrics, family, labels)->value = value;
}

void
drover_metrics_observe(DroverMetrics *metrics, guint family, const char *const *labels,
                       double value)
{
    const DroverMetricSpec *spec = metrics->families[family].spec;
    Series *series = need_series(metrics, family, labels);
    guint bucket = 0;

    while (bucket < spec->n_buckets && value > spec->buckets[bucket])
        bucket++;
    series->counts[bucket]++;
    series->observed++;
    series->value += value;
}

void
drover_metrics_clear(DroverMetrics *metrics, guint family)
{
    g_hash_table_remove_all(metrics->families[family].series);
    g_hash_table_remove_all(metrics->families[family].known);
}

double
drover_metrics_get(const DroverMetrics *metrics, guint index, const char *const *labels)
{
    const Family *family = &metrics->families[index];
    g_autofree char *key = key_of(family, labels);
    const Series *series = g_hash_table_lookup(family->series, key);

    if (series == NULL)
        return 0;
    return family->spec->type == DROVER_METRIC_HISTOGRAM ? (double)series->observed : series->value;
}

/* ---- Text ---- */

static void
append_number(GString *text, double value)
{
    char buffer[G_ASCII_DTOSTR_BUF_SIZE];

    if (isnan(value))
        g_string_append(text, "NaN");
    else if (isinf(value))
        g_string_append(text, value > 0 ? "+Inf" : "-Inf");
    else if (value == floor(value) && fabs(value) < 1e15)
        g_string_append_printf(text, "%.0f", value);
    else
        g_string_append(text, g_ascii_formatd(buffer, sizeof buffer, "%.12g", value));
}

static void
append_escaped(GString *text, const char *value)
{
    for (const char *at = value; *at != '\0'; at++) {
        if (*at == '\n')
            g_string_append(text, "\\n");
        else if (*at == '"' || *at == '\\')
            g_string_append_printf(text, "\\%c", *at);
        else
            g_string_append_c(text, *at);
    }
}

/* `limit` is that of a bucket, or NULL. */
static void
append_sample(GString *text, const Family *family, const Series *series, const char *suffix,
              const double *limit, double value)
{
    const char *separator = "{";

    g_string_append(text, family->spec->name);
    g_string_append(text, suffix);
    for (guint i = 0; i < family->n_labels; i++) {
        g_string_append_printf(text, "%s%s=\"", separator, family->spec->labels[i]);
        append_escaped(text, series->values[i]);
        g_string_append_c(text, '"');
        separator = ",";
    }
    if (limit != NULL) {
        g_string_append_printf(text, "%sle=\"", separator);
        append_number(text, *limit);
        g_string_append_c(text, '"');
    }
    if (family->n_labels > 0 || limit != NULL)
        g_string_append_c(text, '}');
    g_string_append_c(text, ' ');
    append_number(text, value);
    g_string_append_c(text, '\n');
}

static void
append_histogram(GString *text, const Family *family, const Series *series)
{
    const DroverMetricSpec *spec = family->spec;
    double infinity = INFINITY;
    guint64 below = 0;

    for (guint i = 0; i < spec->n_buckets; i++) {
        below += series->counts[i];
        append_sample(text, family, series, "_bucket", &spec->buckets[i], (double)below);
    }
    append_sample(text, family, series, "_bucket", &infinity, (double)series->observed);
    append_sample(text, family, series, "_sum", NULL, series->value);
    append_sample(text, family, series, "_count", NULL, (double)series->observed);
}

static gint
compare_keys(gconstpointer a, gconstpointer b)
{
    return strcmp(a, b);
}

static void
append_series(GString *text, const Family *family)
{
    g_autoptr(GList) keys = g_list_sort(g_hash_table_get_keys(family->series), compare_keys);

    for (const GList *at = keys; at != NULL; at = at->next) {
        const Series *series = g_hash_table_lookup(family->series, at->data);

        if (family->spec->type == DROVER_METRIC_HISTOGRAM)
            append_histogram(text, family, series);
        else
            append_sample(text, family, series, "", NULL, series->value);
    }
}

/* OpenMetrics calls a counter by its name without the _total of its samples. */
static int
name_length(const DroverMetricSpec *spec, DroverExposition form)
{
    gsize length = strlen(spec->name);

    if (form == DROVER_EXPOSITION_OPENMETRICS && spec->type == DROVER_METRIC_COUNTER &&
        g_str_has_suffix(spec->name, "_total"))
        length -= strlen("_total");
    return (int)length;
}

void
drover_metrics_write(const DroverMetrics *metrics, DroverExposition form, GString *text)
{
    static const char *const types[] = {[DROVER_METRIC_COUNTER] = "counter",
                                        [DROVER_METRIC_GAUGE] = "gauge",
                                        [DROVER_METRIC_HISTOGRAM] = "histogram"};

    for (guint i = 0; i < metrics->n_families; i++) {
        const Family *family = &metrics->families[i];
        const DroverMetricSpec *spec = family->spec;
        int length = name_length(spec, form);

        if (g_hash_table_size(family->series) == 0)
            continue;
        g_string_append_printf(text, "# HELP %.*s ", length, spec->name);
        append_escaped(text, spec->help);
        g_string_append_printf(text, "\n# TYPE %.*s %s\n", length, spec->name, types[spec->type]);
        append_series(text, family);
    }
}
