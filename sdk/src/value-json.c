/* Values of the configuration as JSON text, for drivers that pass them on to a cloud. */
#include <drover/driver.h>

#include <glib.h>
#include <math.h>
#include <string.h>

static void append_value(GString *text, const struct drover_value *value);

static void
append_string(GString *text, const char *string)
{
    g_string_append_c(text, '"');
    for (const char *p = string; *p != '\0'; p++) {
        if (*p == '"' || *p == '\\')
            g_string_append_printf(text, "\\%c", *p);
        else if ((unsigned char)*p < 0x20)
            g_string_append_printf(text, "\\u%04x", (unsigned)*p);
        else
            g_string_append_c(text, *p);
    }
    g_string_append_c(text, '"');
}

/* JSON has neither infinity nor NaN; a whole number keeps looking like a real one. */
static void
append_number(GString *text, double number)
{
    char digits[G_ASCII_DTOSTR_BUF_SIZE];

    if (!isfinite(number)) {
        g_string_append(text, "null");
        return;
    }
    g_string_append(text, g_ascii_dtostr(digits, sizeof digits, number));
    if (strpbrk(digits, ".e") == NULL)
        g_string_append(text, ".0");
}

static void
append_container(GString *text, const struct drover_value *value, const char *brackets)
{
    g_string_append_c(text, brackets[0]);
    for (size_t i = 0; i < drover_value_length(value); i++) {
        if (i > 0)
            g_string_append_c(text, ',');
        if (drover_value_key(value, i) != NULL) {
            append_string(text, drover_value_key(value, i));
            g_string_append_c(text, ':');
        }
        append_value(text, drover_value_item(value, i));
    }
    g_string_append_c(text, brackets[1]);
}

static void
append_value(GString *text, const struct drover_value *value)
{
    switch (drover_value_type(value)) {
    case DROVER_VALUE_NULL:
        g_string_append(text, "null");
        break;
    case DROVER_VALUE_BOOLEAN:
        g_string_append(text, drover_value_boolean(value, 0) ? "true" : "false");
        break;
    case DROVER_VALUE_INTEGER:
        g_string_append_printf(text, "%" G_GINT64_FORMAT, drover_value_integer(value, 0));
        break;
    case DROVER_VALUE_NUMBER:
        append_number(text, drover_value_number(value, 0));
        break;
    case DROVER_VALUE_STRING:
        append_string(text, drover_value_string(value));
        break;
    case DROVER_VALUE_LIST:
        append_container(text, value, "[]");
        break;
    case DROVER_VALUE_MAP:
        append_container(text, value, "{}");
        break;
    }
}

char *
drover_value_json(const struct drover_value *value)
{
    GString *text = g_string_new(NULL);

    append_value(text, value);
    /* GLib allocates with malloc, so the driver can use free(). */
    return g_string_free(text, FALSE);
}
