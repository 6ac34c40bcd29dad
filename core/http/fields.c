#include "http/fields.h"

GHashTable *
drover_http_fields_new(void)
{
    return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
}

static gboolean
is_singular(const char *key)
{
    static const char *const singular[] = {"authorization", "content-length",    "content-type",
                                           "host",          "transfer-encoding", NULL};

    return g_strv_contains(singular, key);
}

gboolean
drover_http_add_field(GHashTable *fields, const char *name, const char *value)
{
    g_autofree char *key = g_ascii_strdown(name, -1);
    const char *before = g_hash_table_lookup(fields, key);
    char *whole;

    if (before != NULL && is_singular(key))
        return FALSE;
    if (value == NULL)
        value = "";
    whole = before != NULL ? g_strconcat(before, ", ", value, NULL) : g_strdup(value);
    g_hash_table_replace(fields, g_steal_pointer(&key), whole);
    return !(g_hash_table_contains(fields, "content-length") &&
             g_hash_table_contains(fields, "transfer-encoding"));
}

const char *
drover_http_get_field(GHashTable *fields, const char *name)
{
    g_autofree char *key = g_ascii_strdown(name, -1);

    return g_hash_table_lookup(fields, key);
}
