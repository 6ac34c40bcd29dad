#include "zk/jute.h"

#include <string.h>

/* ---- Writing ---- */

void
drover_jute_put_int(GByteArray *out, gint32 value)
{
    gint32 bytes = GINT32_TO_BE(value);

    g_byte_array_append(out, (const guint8 *)&bytes, sizeof(bytes));
}

void
drover_jute_put_long(GByteArray *out, gint64 value)
{
    gint64 bytes = GINT64_TO_BE(value);

    g_byte_array_append(out, (const guint8 *)&bytes, sizeof(bytes));
}

void
drover_jute_put_boolean(GByteArray *out, gboolean value)
{
    guint8 byte = value ? 1 : 0;

    g_byte_array_append(out, &byte, 1);
}

void
drover_jute_put_data(GByteArray *out, gconstpointer data, gsize length)
{
    drover_jute_put_int(out, (gint32)length);
    g_byte_array_append(out, data, (guint)length);
}

void
drover_jute_put_text(GByteArray *out, const char *text)
{
    drover_jute_put_data(out, text, strlen(text));
}

/* ---- Reading ---- */

/* The next bytes; NULL when there are fewer. */
static const guint8 *
take(DroverJute *in, gsize length)
{
    gsize size;
    const guint8 *bytes = g_bytes_get_data(in->answer, &size);

    in->is_short = in->is_short || length > size - in->at;
    if (in->is_short)
        return NULL;
    in->at += length;
    return bytes + in->at - length;
}

gint32
drover_jute_take_int(DroverJute *in)
{
    const guint8 *bytes = take(in, sizeof(gint32));
    gint32 value = 0;

    if (bytes != NULL)
        memcpy(&value, bytes, sizeof(value));
    return GINT32_FROM_BE(value);
}

gint64
drover_jute_take_long(DroverJute *in)
{
    const guint8 *bytes = take(in, sizeof(gint64));
    gint64 value = 0;

    if (bytes != NULL)
        memcpy(&value, bytes, sizeof(value));
    return GINT64_FROM_BE(value);
}

gboolean
drover_jute_take_boolean(DroverJute *in)
{
    const guint8 *byte = take(in, 1);

    return byte != NULL && *byte != 0;
}

/* A length and so many bytes; NULL for none. */
static const guint8 *
take_counted(DroverJute *in, gsize *length)
{
    gint32 stated = drover_jute_take_int(in);

    *length = (gsize)MAX(stated, 0);
    return take(in, *length);
}

GBytes *
drover_jute_take_data(DroverJute *in)
{
    gsize length;

    if (take_counted(in, &length) == NULL)
        return g_bytes_new(NULL, 0);
    return g_bytes_new_from_bytes(in->answer, in->at - length, length);
}

char *
drover_jute_take_text(DroverJute *in)
{
    gsize length;
    const guint8 *bytes = take_counted(in, &length);

    return bytes != NULL ? g_strndup((const char *)bytes, length) : NULL;
}

char **
drover_jute_take_texts(DroverJute *in, guint *n_texts)
{
    g_autoptr(GPtrArray) texts = g_ptr_array_new();

    for (gint32 n = drover_jute_take_int(in); n > 0 && !in->is_short; n--) {
        char *text = drover_jute_take_text(in);

        if (text != NULL)
            g_ptr_array_add(texts, text);
    }
    *n_texts = texts->len;
    g_ptr_array_add(texts, NULL);
    return (char **)g_ptr_array_free(g_steal_pointer(&texts), FALSE);
}

void
drover_jute_take_stat(DroverJute *in, struct Stat *stat)
{
    stat->czxid = drover_jute_take_long(in);
    stat->mzxid = drover_jute_take_long(in);
    stat->ctime = drover_jute_take_long(in);
    stat->mtime = drover_jute_take_long(in);
    stat->version = drover_jute_take_int(in);
    stat->cversion = drover_jute_take_int(in);
    stat->aversion = drover_jute_take_int(in);
    stat->ephemeralOwner = drover_jute_take_long(in);
    stat->dataLength = drover_jute_take_int(in);
    stat->numChildren = drover_jute_take_int(in);
    stat->pzxid = drover_jute_take_long(in);
}
