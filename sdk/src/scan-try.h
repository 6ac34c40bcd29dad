/*
 * One try to reach a machine: a TCP connection, and an SSH key exchange over it when a host key is
 * wanted. Runs on the thread-default main context; used by scan.c only.
 */
#pragma once

#include <gio/gio.h>

typedef enum {
    DROVER_TRY_DONE,           /* connected; `text` is the host key, or NULL if none was wanted */
    DROVER_TRY_NOT_CONNECTED,  /* `text` says why, as for the others */
    DROVER_TRY_NO_COMMON_TYPE, /* the server has no host key of the types asked for */
    DROVER_TRY_FAILED,         /* connected, but no key exchange */
} DroverTryOutcome;

typedef struct {
    GSocketAddress *address;
    const char *key_types; /* SSH names, separated by commas; NULL: connect only */
    guint connect_limit;   /* milliseconds */
    guint handshake_limit; /* until the server's version line, and again until the exchange ends */
} DroverTryPlan;

typedef struct _DroverTry DroverTry;

/* Called once, never before drover_try_start() returns. The try may be freed in it. */
typedef void (*DroverTryFunc)(DroverTryOutcome outcome, const char *text, gpointer user_data);

/* The plan is only read during the call. */
DroverTry *drover_try_start(const DroverTryPlan *plan, DroverTryFunc done, gpointer user_data);
/* Closes the connection at once; `done` is not called any more. */
void drover_try_free(DroverTry *attempt);

/* Takes a source off its context, and the variable's reference with it. */
static inline void
drover_clear_source(GSource **source)
{
    if (*source != NULL) {
        g_source_destroy(*source);
        g_source_unref(*source);
        *source = NULL;
    }
}
