#include "base/json.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

/* ---- What Python writes and jansson does not read ---- */

/* The length of a word that Python writes for a number that is none, or 0. */
static gsize
non_finite_length(const char *text, gsize length)
{
    static const char *const words[] = {"-Infinity", "Infinity", "NaN"};

    for (guint i = 0; i < G_N_ELEMENTS(words); i++)
        if (strlen(words[i]) <= length && memcmp(text, words[i], strlen(words[i])) == 0)
            return strlen(words[i]);
    return 0;
}

/* Appends a number that fits: larger integers as reals, too large reals as null. */
static gsize
append_number(GString *out, const char *text, gsize length)
{
    g_autofree char *number = NULL;
    gsize end = 0;

    while (end < length && strchr("+-.0123456789eE", text[end]) != NULL)
        end++;
    number = g_strndup(text, end);
    if (!isfinite(g_ascii_strtod(number, NULL))) {
        g_string_append(out, "null");
    } else {
        g_string_append(out, number);
        if (strpbrk(number, ".eE") == NULL &&
            !g_ascii_string_to_signed(number, 10, G_MININT64, G_MAXINT64, NULL, NULL))
            g_string_append(out, "e0");
    }
    return end;
}

/* The UTF-16 unit that an escape of six characters stands for, or -1. */
static gint64
escaped_unit(const char *text, gsize length)
{
    char digits[5] = "";

    if (length < 6 || text[0] != '\\' || text[1] != 'u')
        return -1;
    memcpy(digits, text + 2, 4);
    return strspn(digits, "0123456789abcdefABCDEF") == 4 ? g_ascii_strtoll(digits, NULL, 16) : -1;
}

/* Appends an escape; half a surrogate pair, which is no character, as the replacement character. */
static gsize
append_escape(GString *out, const char *text, gsize length)
{
    gint64 unit = escaped_unit(text, length);
    gsize size = unit >= 0 ? 6 : MIN(2, length);

    if (unit >= 0xd800 && unit < 0xdc00) {
        gint64 low = escaped_unit(text + 6, length - 6);

        if (low >= 0xdc00 && low < 0xe000)
            size = 12;
    }
    if (unit >= 0xd800 && unit < 0xe000 && size == 6)
        g_string_append(out, "\\ufffd");
    else
        g_string_append_len(out, text, (gssize)size);
    return size;
}

/* A copy in the form that jansson reads, if it is JSON at all. */
static GString *
translate(const char *text, gsize length)
{
    GString *out = g_string_sized_new(length);
    gboolean quoted = FALSE;

    for (gsize i = 0; i < length;) {
        gsize word = quoted ? 0 : non_finite_length(text + i, length - i);

        if (word > 0) {
            g_string_append(out, "null");
            i += word;
        } else if (!quoted && (text[i] == '-' || g_ascii_isdigit(text[i]))) {
            i += append_number(out, text + i, length - i);
        } else if (quoted && text[i] == '\\') {
            i += append_escape(out, text + i, length - i);
        } else {
            quoted ^= text[i] == '"';
            g_string_append_c(out, text[i++]);
        }
    }
    return out;
}

json_t *
drover_json_parse_object(const char *text, gsize length, GError **error)
{
    const size_t flags = JSON_ALLOW_NUL;
    json_error_t problem;
    json_t *value = json_loadb(text, length, flags, &problem);

    if (value == NULL) {
        GString *translated = translate(text, length);

        value = json_loadb(translated->str, translated->len, flags, &problem);
        g_string_free(translated, TRUE);
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

/* ---- Values ---- */

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
        json_array_append_new(list, drover_json_from_string(*strings));
    return list;
}

json_t *
drover_json_from_string(const char *text)
{
    g_autofree char *valid = NULL;

    if (text == NULL)
        return json_null();
    valid = g_utf8_make_valid(text, -1);
    return json_string(valid);
}

static gint
compare_names(gconstpointer a, gconstpointer b)
{
    return strcmp(a, b);
}

GList *
drover_json_sorted_keys(const json_t *object)
{
    GList *keys = NULL;
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)object, key, value) keys = g_list_prepend(keys, (gpointer)key);
    return g_list_sort(keys, compare_names);
}
