/*
 * Sends numbers to a statsd server over UDP. Lines of one turn of the loop go together in as few
 * datagrams as possible, each shorter than 512 bytes. Nothing waits, and no error ever shows: what
 * cannot be sent is dropped. The server's name is looked up in the background, again after errors
 * and each minute. Core loop only.
 *
 * A NULL sender is one that is switched off: every function takes it and does nothing.
 */
#pragma once

#include <glib.h>

typedef struct _DroverStatsd DroverStatsd;

DroverStatsd *drover_statsd_new(const char *host, guint16 port);
/* By STATSD_HOST and STATSD_PORT, as Nodepool does: NULL when neither is set. */
DroverStatsd *drover_statsd_new_from_environment(void);
/* What is waiting goes out, if the server's address is known. */
void drover_statsd_free(DroverStatsd *statsd);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DroverStatsd, drover_statsd_free)

/* Parts of the key, up to a NULL; see drover_statsd_key(). */
void drover_statsd_count(DroverStatsd *statsd, gint64 amount, ...) G_GNUC_NULL_TERMINATED;
void drover_statsd_gauge(DroverStatsd *statsd, gint64 value, ...) G_GNUC_NULL_TERMINATED;
/* Milliseconds. */
void drover_statsd_time(DroverStatsd *statsd, gint64 value, ...) G_GNUC_NULL_TERMINATED;

/* With a key that is whole. */
void drover_statsd_count_key(DroverStatsd *statsd, const char *key, gint64 amount);
void drover_statsd_gauge_key(DroverStatsd *statsd, const char *key, gint64 value);
void drover_statsd_time_key(DroverStatsd *statsd, const char *key, gint64 value);

/* Sends what is waiting now. */
void drover_statsd_flush(DroverStatsd *statsd);

/*
 * The parts joined by dots. What would break a line is replaced by '_'; a dot in a part makes a
 * further level, as it always did. Free with g_free.
 */
char *drover_statsd_key(const char *first, ...) G_GNUC_NULL_TERMINATED;
/* Names of requestors, tenants and limits are one level: dots and colons become '_'. Free with
 * g_free. */
char *drover_statsd_flat(const char *name);
