/*
 * The encoding of ZooKeeper's requests and answers, as far as drover_bulk_read() needs it. Numbers
 * are big-endian; texts and data have their length in front, which is -1 for none.
 */
#pragma once

#include <glib.h>
#include <zookeeper/zookeeper.h>

/* ---- Writing: appends to a request ---- */

void drover_jute_put_int(GByteArray *out, gint32 value);
void drover_jute_put_long(GByteArray *out, gint64 value);
void drover_jute_put_boolean(GByteArray *out, gboolean value);
void drover_jute_put_data(GByteArray *out, gconstpointer data, gsize length);
void drover_jute_put_text(GByteArray *out, const char *text);

/* ---- Reading: an answer from front to back ---- */

/* Of an answer that is shorter than it says everything is 0, FALSE or NULL from there on. */
typedef struct {
    GBytes *answer; /* of the caller, who keeps it */
    gsize at;
    gboolean is_short;
} DroverJute;

gint32 drover_jute_take_int(DroverJute *in);
gint64 drover_jute_take_long(DroverJute *in);
gboolean drover_jute_take_boolean(DroverJute *in);
/* A part of the answer, which it keeps alive; free with g_bytes_unref. Never NULL. */
GBytes *drover_jute_take_data(DroverJute *in);
char *drover_jute_take_text(DroverJute *in);
/* NULL-terminated; free with g_strfreev. Never NULL. */
char **drover_jute_take_texts(DroverJute *in, guint *n_texts);
void drover_jute_take_stat(DroverJute *in, struct Stat *stat);
