/*
 * What happens in a launcher, noted once, where it happens, for statsd and for who scrapes. The
 * statsd keys are Nodepool's. What can be read from the caches at any time is not noted here: that
 * is the survey's. Core loop only.
 */
#pragma once

#include "launcher/telemetry/families.h"
#include "metrics/statsd.h"

typedef struct {
    DroverMetrics *metrics;
    DroverStatsd *statsd; /* NULL: switched off */
} DroverTelemetry;

/* statsd is switched on by the environment. */
DroverTelemetry *drover_telemetry_new(void);
void drover_telemetry_free(DroverTelemetry *telemetry);

/*
 * An attempt has ended. `result` is "ready", or "error.<kind>". `zone` and `requestor` may be NULL.
 * `began` is when the node's first attempt began, monotonic; 0: none did.
 */
void drover_telemetry_note_launch(DroverTelemetry *telemetry, const char *provider,
                                  const char *zone, const char *requestor, const char *result,
                                  gint64 began);

/* A request was fulfilled, or failed by the pool that declined it last. `created`: seconds since
 * the epoch; 0: unknown. */
void drover_telemetry_note_request(DroverTelemetry *telemetry, const char *provider,
                                   const char *pool, gboolean fulfilled, double created);
/* `reason` is one of a few words. */
void drover_telemetry_note_decline(DroverTelemetry *telemetry, const char *provider,
                                   const char *pool, const char *reason);

/* A leaked resource was deleted; `kind` is the driver's word, in the singular. */
void drover_telemetry_note_leak(DroverTelemetry *telemetry, const char *provider, const char *kind);
/* A driver has deleted so many by itself; `resource` is its word, in the plural. */
void drover_telemetry_note_cleaned(DroverTelemetry *telemetry, const char *provider,
                                   const char *resource, guint count);

/* A driver has called its cloud's API. `status` 0: no answer. */
void drover_telemetry_note_call(DroverTelemetry *telemetry, const char *provider,
                                const char *method, const char *url, int status,
                                gint64 milliseconds);

/* A new machine was reached, or not: then `failure` is one of a few words. `began`: monotonic. */
void drover_telemetry_note_scan(DroverTelemetry *telemetry, const char *provider,
                                const char *failure, gint64 began);
