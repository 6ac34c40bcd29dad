/*
 * The scanner reaches new machines: all scans of the process run on one thread of their own, so
 * that their cryptography delays nobody. Of one provider only so many run at a time; the others
 * wait in their order.
 */
#pragma once

#include <drover/scan.h>
#include <glib.h>

typedef struct _DroverScanner DroverScanner;
typedef struct _DroverScannerJob DroverScannerJob;

typedef struct {
    const char *message; /* what went wrong; NULL: it succeeded */
    const char *failure; /* "timeout", "resolve", "protocol"; NULL: it succeeded */
    gint64 began;        /* monotonic */
    char **keys;         /* "<type> <base64>", never NULL */
} DroverScannerResult;

/* Once, unless the job is cancelled. The result is valid until it returns. */
typedef void (*DroverScannerFunc)(const DroverScannerResult *result, gpointer user_data);

/* Functions and callbacks are the core loop's. `most`: of one provider at a time. */
DroverScanner *drover_scanner_new(guint most);
/* Ends the thread; no callback comes any more. */
void drover_scanner_free(DroverScanner *scanner);

/* `limit` is in seconds, from the first try on. */
DroverScannerJob *drover_scanner_start(DroverScanner *scanner, const char *provider,
                                       enum drover_scan_kind kind, const char *host, guint16 port,
                                       guint limit, DroverScannerFunc done, gpointer user_data);
void drover_scanner_cancel(DroverScannerJob *job);
