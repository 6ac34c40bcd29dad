#include "cli/python-literal.h"

#include <math.h>
#include <string.h>

static void add_value(GString *out, const json_t *value);

/* As Python's str.isprintable() sees it. */
static gboolean
is_printable(gunichar c)
{
    return g_unichar_isprint(c) && !g_unichar_isspace(c) &&
           g_unichar_type(c) != G_UNICODE_PRIVATE_USE;
}

static void
add_character(GString *out, gunichar c, char quote)
{
    static const char *const escapes[] = {
        ['\\'] = "\\\\", ['\n'] = "\\n", ['\r'] = "\\r", ['\t'] = "\\t"};

    if (c == (gunichar)quote)
        g_string_append_printf(out, "\\%c", quote);
    else if (c < G_N_ELEMENTS(escapes) && escapes[c] != NULL)
        g_string_append(out, escapes[c]);
    else if (c == ' ' || is_printable(c))
        g_string_append_unichar(out, c);
    else if (c < 0x100)
        g_string_append_printf(out, "\\x%02x", c);
    else if (c < 0x10000)
        g_string_append_printf(out, "\\u%04x", c);
    else
        g_string_append_printf(out, "\\U%08x", c);
}

static void
add_string(GString *out, const char *text, gsize length)
{
    const char *end = text + length;
    char quote =
        memchr(text, '\'', length) != NULL && memchr(text, '"', length) == NULL ? '"' : '\'';

    g_string_append_c(out, quote);
    for (const char *at = text; at < end; at = g_utf8_next_char(at))
        add_character(out, g_utf8_get_char(at), quote);
    g_string_append_c(out, quote);
}

static void
add_object(GString *out, json_t *object)
{
    const char *separator = "", *key;
    json_t *member;

    g_string_append_c(out, '{');
    json_object_foreach(object, key, member)
    {
        g_string_append(out, separator);
        add_string(out, key, strlen(key));
        g_string_append(out, ": ");
        add_value(out, member);
        separator = ", ";
    }
    g_string_append_c(out, '}');
}

static void
add_list(GString *out, const json_t *list)
{
    const json_t *item;
    size_t i;

    g_string_append_c(out, '[');
    json_array_foreach(list, i, item)
    {
        if (i > 0)
            g_string_append(out, ", ");
        add_value(out, item);
    }
    g_string_append_c(out, ']');
}

/* The shortest text that reads back as the same number, with a point or an exponent. */
static void
add_real(GString *out, double number)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];

    for (int digits = 1; digits <= 17; digits++) {
        g_autofree char *format = g_strdup_printf("%%.%dg", digits);

        g_ascii_formatd(text, sizeof(text), format, number);
        if (g_ascii_strtod(text, NULL) == number)
            break;
    }
    /* 1796100310.1 has too many digits before the point for %g's short form. */
    if (strchr(text, 'e') != NULL && fabs(number) >= 1e-4 && fabs(number) < 1e16)
        g_ascii_formatd(text, sizeof(text), "%.1f", number);
    g_string_append(out, text);
    if (strpbrk(text, ".en") == NULL)
        g_string_append(out, ".0");
}

static void
add_value(GString *out, const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        add_object(out, (json_t *)value);
        break;
    case JSON_ARRAY:
        add_list(out, value);
        break;
    case JSON_STRING:
        add_string(out, json_string_value(value), json_string_length(value));
        break;
    case JSON_INTEGER:
        g_string_append_printf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        break;
    case JSON_REAL:
        add_real(out, json_real_value(value));
        break;
    case JSON_TRUE:
        g_string_append(out, "True");
        break;
    case JSON_FALSE:
        g_string_append(out, "False");
        break;
    default:
        g_string_append(out, "None");
    }
}

char *
drover_python_literal(const json_t *value)
{
    GString *out = g_string_new(NULL);

    add_value(out, value);
    return g_string_free(out, FALSE);
}

char *
drover_cell_text(const json_t *value)
{
    if (value == NULL || json_is_null(value))
        return g_strdup("");
    if (json_is_string(value))
        return g_strdup(json_string_value(value));
    if (json_is_array(value)) {
        GString *out = g_string_new(NULL);
        const json_t *item;
        size_t i;

        json_array_foreach(value, i, item)
        {
            g_autofree char *text = drover_cell_text(item);
            g_string_append_printf(out, "%s%s", i > 0 ? "," : "", text);
        }
        return g_string_free(out, FALSE);
    }
    return drover_python_literal(value);
}
