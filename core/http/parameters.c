#include "http/parameters.h"

#include <string.h>

/* -1 when it is none. */
static int
hex_pair(const char *text)
{
    int high = g_ascii_xdigit_value(text[0]);
    int low = high >= 0 ? g_ascii_xdigit_value(text[1]) : -1;

    return low >= 0 ? high * 16 + low : -1;
}

char *
drover_http_decode(const char *text, gsize length, gboolean plus_is_blank)
{
    g_autoptr(GString) out = g_string_sized_new(length);

    for (gsize i = 0; i < length; i++) {
        int code;

        if (text[i] != '%') {
            g_string_append_c(out, text[i] == '+' && plus_is_blank ? ' ' : text[i]);
            continue;
        }
        code = length - i > 2 ? hex_pair(text + i + 1) : -1;
        if (code <= 0)
            return NULL;
        g_string_append_c(out, (char)code);
        i += 2;
    }
    return g_string_free(g_steal_pointer(&out), FALSE);
}

gboolean
drover_http_read_parameters(GHashTable *parameters, const char *text, gsize length)
{
    g_autofree char *whole = g_strndup(text, length);
    g_auto(GStrv) items = g_strsplit(whole, "&", -1);

    for (char **item = items; *item != NULL; item++) {
        const char *equals = strchr(*item, '=');
        gsize name_length = equals != NULL ? (gsize)(equals - *item) : strlen(*item);
        const char *value_text = equals != NULL ? equals + 1 : "";
        g_autofree char *name = NULL, *value = NULL;

        if (**item == '\0')
            continue;
        name = drover_http_decode(*item, name_length, TRUE);
        value = drover_http_decode(value_text, strlen(value_text), TRUE);
        if (name == NULL || value == NULL)
            return FALSE;
        g_hash_table_replace(parameters, g_steal_pointer(&name), g_steal_pointer(&value));
    }
    return TRUE;
}
