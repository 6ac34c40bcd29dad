#include "launcher/telemetry/telemetry.h"

#include "launcher/telemetry/api-name.h"

#define MICROSECONDS_PER_MILLISECOND 1000
#define SLOW_MILLISECONDS            1000

static double
seconds_since(gint64 began)
{
    return began != 0 ? (double)(g_get_monotonic_time() - began) / G_USEC_PER_SEC : 0;
}

static void
send_launch(DroverStatsd *statsd, const char *key, gint64 milliseconds)
{
    drover_statsd_time_key(statsd, key, milliseconds);
    drover_statsd_count_key(statsd, key, 1);
}

static void
send_launch_keys(DroverStatsd *statsd, const char *provider, const char *zone,
                 const char *requestor, const char *result, gint64 milliseconds)
{
    g_autofree char *of_provider =
        drover_statsd_key("nodepool.launch.provider", provider, result, NULL);
    g_autofree char *of_all = drover_statsd_key("nodepool.launch", result, NULL);

    send_launch(statsd, of_provider, milliseconds);
    send_launch(statsd, of_all, milliseconds);
    if (zone != NULL) {
        g_autofree char *key =
            drover_statsd_key("nodepool.launch.provider", provider, zone, result, NULL);
        send_launch(statsd, key, milliseconds);
    }
    if (requestor != NULL) {
        g_autofree char *flat = drover_statsd_flat(requestor);
        g_autofree char *key = drover_statsd_key("nodepool.launch.requestor", flat, result, NULL);
        send_launch(statsd, key, milliseconds);
    }
}

void
drover_telemetry_note_launch(DroverTelemetry *telemetry, const char *provider, const char *zone,
                             const char *requestor, const char *result, gint64 began)
{
    gint64 milliseconds =
        began != 0 ? (g_get_monotonic_time() - began) / MICROSECONDS_PER_MILLISECOND : 0;

    drover_metrics_add(telemetry->metrics, DROVER_FAMILY_LAUNCHES,
                       DROVER_LABELS(provider, zone, result), 1);
    drover_metrics_observe(telemetry->metrics, DROVER_FAMILY_LAUNCH_DURATION,
                           DROVER_LABELS(provider, result), seconds_since(began));
    if (requestor != NULL)
        drover_metrics_add(telemetry->metrics, DROVER_FAMILY_REQUESTOR_LAUNCHES,
                           DROVER_LABELS(requestor, result), 1);
    if (telemetry->statsd != NULL)
        send_launch_keys(telemetry->statsd, provider, zone, requestor, result, milliseconds);
}

void
drover_telemetry_note_request(DroverTelemetry *telemetry, const char *provider, const char *pool,
                              gboolean fulfilled, double created)
{
    double now = (double)g_get_real_time() / G_USEC_PER_SEC;

    if (created > 0)
        drover_metrics_observe(telemetry->metrics, DROVER_FAMILY_REQUEST_DURATION,
                               DROVER_LABELS(provider, pool, fulfilled ? "fulfilled" : "failed"),
                               MAX(now - created, 0));
}

void
drover_telemetry_note_decline(DroverTelemetry *telemetry, const char *provider, const char *pool,
                              const char *reason)
{
    drover_metrics_add(telemetry->metrics, DROVER_FAMILY_DECLINES,
                       DROVER_LABELS(provider, pool, reason), 1);
}

void
drover_telemetry_note_leak(DroverTelemetry *telemetry, const char *provider, const char *kind)
{
    g_autofree char *resource = g_strconcat(kind, "s", NULL);

    drover_telemetry_note_cleaned(telemetry, provider, resource, 1);
}

/* The words are drivers', who may have many. */
void
drover_telemetry_note_cleaned(DroverTelemetry *telemetry, const char *provider,
                              const char *resource, guint count)
{
    const char *known = drover_metrics_bound(telemetry->metrics, DROVER_FAMILY_LEAKS, resource);

    drover_metrics_add(telemetry->metrics, DROVER_FAMILY_LEAKS, DROVER_LABELS(provider, known),
                       count);
    drover_statsd_count(telemetry->statsd, count, "nodepool.provider", provider, "leaked", known,
                        NULL);
}

void
drover_telemetry_note_scan(DroverTelemetry *telemetry, const char *provider, const char *failure,
                           gint64 began)
{
    drover_metrics_observe(telemetry->metrics, DROVER_FAMILY_SCAN_DURATION, DROVER_LABELS(provider),
                           seconds_since(began));
    if (failure != NULL)
        drover_metrics_add(telemetry->metrics, DROVER_FAMILY_SCAN_FAILURES,
                           DROVER_LABELS(provider, failure), 1);
}

/* The keys of Nodepool's OpenStack library. */
static void
send_call(DroverStatsd *statsd, const DroverApiName *name, const char *method, const char *code,
          gint64 milliseconds)
{
    const char *prefix = g_getenv("STATSD_PREFIX");
    g_autofree char *key =
        drover_statsd_key(prefix != NULL && *prefix != '\0' ? prefix : "openstack.api",
                          name->service, method, name->operation, NULL);

    if (code != NULL) {
        g_autofree char *answered = drover_statsd_key(key, code, NULL);

        drover_statsd_time_key(statsd, answered, milliseconds);
        drover_statsd_count_key(statsd, answered, 1);
    } else {
        drover_statsd_count(statsd, 1, key, "failed", NULL);
    }
    if (milliseconds > SLOW_MILLISECONDS)
        drover_statsd_count(statsd, 1, key, "over_1000", NULL);
    drover_statsd_count(statsd, 1, key, "attempted", NULL);
}

void
drover_telemetry_note_call(DroverTelemetry *telemetry, const char *provider, const char *method,
                           const char *url, int status, gint64 milliseconds)
{
    g_auto(DroverApiName) name = drover_api_name(url);
    g_autofree char *code = status != 0 ? g_strdup_printf("%d", status) : NULL;

    drover_metrics_add(telemetry->metrics, DROVER_FAMILY_API_REQUESTS,
                       DROVER_LABELS(provider, name.service, method, name.operation,
                                     code != NULL ? code : "error"),
                       1);
    drover_metrics_observe(telemetry->metrics, DROVER_FAMILY_API_DURATION,
                           DROVER_LABELS(provider, name.service, method),
                           (double)milliseconds / 1000);
    if (telemetry->statsd != NULL && *name.service != '\0')
        send_call(telemetry->statsd, &name, method, code, milliseconds);
}

/* ---- Life ---- */

DroverTelemetry *
drover_telemetry_new(void)
{
    DroverTelemetry *telemetry = g_new0(DroverTelemetry, 1);

    telemetry->metrics = drover_metrics_new(drover_families, DROVER_N_FAMILIES);
    telemetry->statsd = drover_statsd_new_from_environment();
    return telemetry;
}

void
drover_telemetry_free(DroverTelemetry *telemetry)
{
    if (telemetry == NULL)
        return;
    drover_metrics_free(telemetry->metrics);
    drover_statsd_free(telemetry->statsd);
    g_free(telemetry);
}
