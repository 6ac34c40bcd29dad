/* Addresses and forms, decoded. */
#pragma once

#include <glib.h>

/* NULL when the encoding is broken, or there is a NUL in it. Free with g_free. */
char *drover_http_decode(const char *text, gsize length, gboolean plus_is_blank);
/*
 * Adds "a=b&c=d" to a table of strings, a later one of the same name replacing an earlier one.
 * FALSE when the encoding is broken.
 */
gboolean drover_http_read_parameters(GHashTable *parameters, const char *text, gsize length);
