/*
 * The header fields of one request. Fields of one name are one field: their values are joined, in
 * their order, as RFC 9110, 5.3 says. Some may be there only once: who stands between the client
 * and us, as a proxy, may have gone by another of them than we would.
 */
#pragma once

#include <glib.h>

/* name -> value; names do not differ by case. Free with g_hash_table_unref. */
GHashTable *drover_http_fields_new(void);
/*
 * `value` NULL: empty. FALSE when the request is ambiguous by this field: one that may be there
 * only once is there again, or the body's length is told in two ways.
 */
gboolean drover_http_add_field(GHashTable *fields, const char *name, const char *value);
/* NULL when there is none. */
const char *drover_http_get_field(GHashTable *fields, const char *name);
