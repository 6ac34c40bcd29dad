#include "base/json.h"

#include <string.h>

#include "base/error.h"

/* A copy of the text with null for each bare NaN and Infinity; NULL when there are none. */
static char *
replace_non_finite(const char *text, gsize length)
{
    static const char *const tokens[] = {"-Infinity", "Infinity", "NaN"};
    g_autoptr(GString) out = g_string_sized_new(length);
    gboolean quoted = FALSE, found = FALSE;

    for (gsize i = 0; i < length;) {
        gsize skip = 0;

        for (gsize k = 0; !quoted && skip == 0 && k < G_N_ELEMENTS(tokens); k++)
            if (strlen(tokens[k]) <= length - i &&
                memcmp(text + i, tokens[k], strlen(tokens[k])) == 0)
                skip = strlen(tokens[k]);
        if (skip > 0) {
            g_string_append(out, "null");
            found = TRUE;
        } else {
            skip = quoted && text[i] == '\\' && i + 1 < length ? 2 : 1;
            quoted ^= text[i] == '"';
            g_string_append_len(out, text + i, (gssize)skip);
        }
        i += skip;
    }
    return found ? g_string_free(g_steal_pointer(&out), FALSE) : NULL;
}

json_t *
drover_json_parse_object(const char *text, gsize length, GError **error)
{
    const size_t flags = JSON_ALLOW_NUL;
    json_error_t problem;
    json_t *value = json_loadb(text, length, flags, &problem);

    if (value == NULL) {
        g_autofree char *standard = replace_non_finite(text, length);
        if (standard != NULL)
            value = json_loads(standard, flags, &problem);
    }
    if (value == NULL) {
        g_set_error(error, DROVER_ERROR, DROVER_ERROR_MALFORMED, "not JSON: %s at byte %d",
                    problem.text, problem.position);
        return NULL;
    }
    if (!json_is_object(value)) {
        json_decref(value);
        g_set_error(error, DROVER_ERROR, DROVER_ERROR_MALFORMED, "not a JSON object");
        return NULL;
    }
    return value;
}

char *
drover_json_text(const json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    char *copy = g_strdup(text);

    free(text);
    return copy;
}

const char *
drover_json_string(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

double
drover_json_real(const json_t *object, const char *key, double otherwise)
{
    const json_t *value = json_object_get(object, key);

    return json_is_number(value) ? json_number_value(value) : otherwise;
}

gint64
drover_json_integer(const json_t *object, const char *key, gint64 otherwise)
{
    const json_t *value = json_object_get(object, key);

    return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

gboolean
drover_json_boolean(const json_t *object, const char *key, gboolean otherwise)
{
    const json_t *value = json_object_get(object, key);

    return json_is_boolean(value) ? json_is_true(value) : otherwise;
}

char **
drover_json_strings(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key), *item;
    g_autoptr(GPtrArray) strings = g_ptr_array_new();
    size_t i;

    if (json_is_string(value))
        g_ptr_array_add(strings, g_strdup(json_string_value(value)));
    json_array_foreach(value, i, item) if (json_is_string(item))
        g_ptr_array_add(strings, g_strdup(json_string_value(item)));
    g_ptr_array_add(strings, NULL);
    return (char **)g_ptr_array_free(g_steal_pointer(&strings), FALSE);
}

json_t *
drover_json_from_strings(const char *const *strings)
{
    json_t *list = json_array();

    for (; strings != NULL && *strings != NULL; strings++)
        json_array_append_new(list, json_string(*strings));
    return list;
}

json_t *
drover_json_from_string(const char *text)
{
    return text != NULL ? json_string(text) : json_null();
}
