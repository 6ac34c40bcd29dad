#include "launcher/provider/template.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

#define LABEL_PATH "pools[].labels[]"

/* ---- Values as Python prints them ---- */

static void
append_character(GString *out, gunichar character, char quote)
{
    if (character == (gunichar)quote || character == '\\')
        g_string_append_printf(out, "\\%c", (char)character);
    else if (character == '\n')
        g_string_append(out, "\\n");
    else if (character == '\r')
        g_string_append(out, "\\r");
    else if (character == '\t')
        g_string_append(out, "\\t");
    else if (character < 0x20 || character == 0x7f)
        g_string_append_printf(out, "\\x%02x", character);
    else
        g_string_append_unichar(out, character);
}

static void
append_quoted(GString *out, const char *text)
{
    char quote = strchr(text, '\'') != NULL && strchr(text, '"') == NULL ? '"' : '\'';

    g_string_append_c(out, quote);
    for (const char *p = text; *p != '\0'; p = g_utf8_next_char(p))
        append_character(out, g_utf8_get_char(p), quote);
    g_string_append_c(out, quote);
}

/* The shortest text that reads as the same number, always with a point or an exponent. */
static void
append_real(GString *out, double number)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE], format[8];
    int digits = 0;

    do {
        g_snprintf(format, sizeof format, "%%.%dg", ++digits);
        g_ascii_formatd(text, sizeof text, format, number);
    } while (digits < 17 && g_ascii_strtod(text, NULL) != number);
    if (fabs(number) < 1e16 && strchr(text, 'e') != NULL && fabs(number) >= 1)
        g_ascii_formatd(text, sizeof text, "%.1f", number);
    g_string_append(out, text);
    if (strpbrk(text, ".e") == NULL)
        g_string_append(out, ".0");
}

static void append_repr(GString *out, const json_t *value);

static void
append_list(GString *out, const json_t *list)
{
    g_string_append_c(out, '[');
    for (size_t i = 0; i < json_array_size(list); i++) {
        g_string_append(out, i > 0 ? ", " : "");
        append_repr(out, json_array_get(list, i));
    }
    g_string_append_c(out, ']');
}

static void
append_map(GString *out, const json_t *map)
{
    const char *key, *separator = "";
    json_t *value;

    g_string_append_c(out, '{');
    json_object_foreach((json_t *)map, key, value)
    {
        g_string_append(out, separator);
        append_quoted(out, key);
        g_string_append(out, ": ");
        append_repr(out, value);
        separator = ", ";
    }
    g_string_append_c(out, '}');
}

static void
append_repr(GString *out, const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        append_map(out, value);
        break;
    case JSON_ARRAY:
        append_list(out, value);
        break;
    case JSON_STRING:
        append_quoted(out, json_string_value(value));
        break;
    case JSON_INTEGER:
        g_string_append_printf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        break;
    case JSON_REAL:
        append_real(out, json_real_value(value));
        break;
    case JSON_TRUE:
        g_string_append(out, "True");
        break;
    case JSON_FALSE:
        g_string_append(out, "False");
        break;
    case JSON_NULL:
        g_string_append(out, "None");
        break;
    }
}

static void
append_text(GString *out, const json_t *value)
{
    if (json_is_string(value))
        g_string_append(out, json_string_value(value));
    else
        append_repr(out, value);
}

/* ---- Fields: name[!conversion][:specification] ---- */

static gboolean
refuse(GError **error, const char *before, const char *what, const char *after)
{
    g_set_error(error, DROVER_ERROR, DROVER_ERROR_MALFORMED, "%s%s%s", before, what, after);
    return FALSE;
}

/* One ".name" or "[key]". Moves past it; NULL when there is nothing of that name. */
static const json_t *
follow(const json_t *value, gboolean top, const char **rest)
{
    gboolean bracket = **rest == '[';
    const char *begin = *rest + 1;
    gsize length = bracket ? strcspn(begin, "]") : strcspn(begin, ".[");
    g_autofree char *key = g_strndup(begin, length);

    if ((bracket && begin[length] != ']') || length == 0 || bracket == top)
        return NULL;
    *rest = begin + length + bracket;
    if (json_is_array(value)) {
        guint64 index;
        return g_ascii_string_to_unsigned(key, 10, 0, G_MAXUINT32, &index, NULL)
                   ? json_array_get(value, index)
                   : NULL;
    }
    return json_object_get(value, key);
}

static const json_t *
find(const char *name, const json_t *request, GError **error)
{
    const json_t *value = request;
    const char *rest = name + strlen("request");

    if (!g_str_has_prefix(name, "request") || (*rest != '.' && *rest != '[')) {
        refuse(error, "{", name, "} is not about the request");
        return NULL;
    }
    for (gboolean top = TRUE; *rest != '\0' && value != NULL; top = FALSE) {
        /* Only the request has attributes; maps and lists have elements. */
        if (*rest != '[' && !(top && *rest == '.'))
            value = NULL;
        else
            value = follow(value, top, &rest);
    }
    if (value == NULL)
        refuse(error, "the request has no {", name, "}");
    return value;
}

typedef struct {
    gunichar fill;
    char align; /* '<', '>' or '^' */
    guint width;
    glong precision; /* -1: all of it */
} Layout;

static gboolean
parse_layout(const char *text, Layout *layout, GError **error)
{
    const char *rest = text, *second = *text != '\0' ? g_utf8_next_char(text) : text;
    char *end;

    *layout = (Layout){.fill = ' ', .align = '<', .precision = -1};
    if (*text != '\0' && *second != '\0' && strchr("<>^", *second) != NULL) {
        layout->fill = g_utf8_get_char(text);
        layout->align = *second;
        rest = second + 1;
    } else if (*text != '\0' && strchr("<>^", *text) != NULL) {
        layout->align = *text;
        rest = text + 1;
    }
    layout->width = (guint)MIN(g_ascii_strtoull(rest, &end, 10), 1000);
    rest = end;
    if (*rest == '.' && g_ascii_isdigit(rest[1])) {
        layout->precision = (glong)MIN(g_ascii_strtoull(rest + 1, &end, 10), 100000);
        rest = end;
    }
    if (*rest == 's')
        rest++;
    if (*rest != '\0')
        return refuse(error, "\"", text, "\" is no layout of a text");
    return TRUE;
}

static void
append_fill(GString *out, gunichar fill, glong times)
{
    for (; times > 0; times--)
        g_string_append_unichar(out, fill);
}

static void
append_laid_out(GString *out, const char *text, const Layout *layout)
{
    glong length = g_utf8_strlen(text, -1);
    glong shown = layout->precision >= 0 ? MIN(length, layout->precision) : length;
    glong space = MAX((glong)layout->width - shown, 0);
    glong before = layout->align == '>' ? space : layout->align == '^' ? space / 2 : 0;

    append_fill(out, layout->fill, before);
    g_string_append_len(out, text, g_utf8_offset_to_pointer(text, shown) - text);
    append_fill(out, layout->fill, space - before);
}

static gboolean
append_field(GString *out, const char *field, const json_t *request, GError **error)
{
    gsize name_length = strcspn(field, "!:");
    g_autofree char *name = g_strndup(field, name_length);
    const char *rest = field + name_length;
    const json_t *value = find(name, request, error);
    g_autoptr(GString) text = g_string_new(NULL);
    gboolean is_text = json_is_string(value);
    Layout layout;

    if (value == NULL)
        return FALSE;
    if (*rest == '!') {
        if ((rest[1] != 's' && rest[1] != 'r') || (rest[2] != '\0' && rest[2] != ':'))
            return refuse(error, "\"", rest, "\" is no conversion: !s and !r are");
        if (rest[1] == 'r')
            append_repr(text, value);
        else
            append_text(text, value);
        is_text = TRUE;
        rest += 2;
    } else {
        append_text(text, value);
    }
    if (*rest == ':' && rest[1] != '\0' && !is_text)
        return refuse(error, "{", name, "} is no text and cannot be laid out");
    if (!parse_layout(*rest == ':' ? rest + 1 : "", &layout, error))
        return FALSE;
    append_laid_out(out, text->str, &layout);
    return TRUE;
}

char *
drover_template_format(const char *text, const json_t *request, GError **error)
{
    g_autoptr(GString) out = g_string_new(NULL);

    while (*text != '\0') {
        gsize plain = strcspn(text, "{}");

        g_string_append_len(out, text, (gssize)plain);
        text += plain;
        if (*text != '\0' && text[1] == *text) {
            g_string_append_c(out, *text);
            text += 2;
        } else if (*text == '{') {
            gsize length = strcspn(text + 1, "{}");
            g_autofree char *field = g_strndup(text + 1, length);

            if (text[1 + length] != '}') {
                refuse(error, "\"", text, "\" has no closing brace");
                return NULL;
            }
            if (!append_field(out, field, request, error))
                return NULL;
            text += length + 2;
        } else if (*text == '}') {
            refuse(error, "\"", text, "\" begins with a single brace");
            return NULL;
        }
    }
    return g_strdup(out->str);
}

json_t *
drover_template_request(const DroverRequest *request)
{
    static const char *const names[] = {"requestor", "requestor_data", "relative_priority",
                                        "event_id",  "created_time",   "tenant_name"};
    g_autoptr(json_t) record = drover_request_record(request);
    json_t *object = json_object();

    json_object_set_new(object, "id", json_string(request->id));
    json_object_set_new(object, "labels",
                        drover_json_from_strings((const char *const *)request->labels));
    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        json_t *value = json_object_get(record, names[i]);
        json_object_set_new(object, names[i], value != NULL ? json_incref(value) : json_null());
    }
    return object;
}

/* ---- A label's section ---- */

typedef struct {
    const struct drover_option *options;
    json_t *request;
    const DroverLogSubject *subject;
} Filling;

/* The option's path, where '*' stands for any name, is the path or leads to it. */
static gboolean
covers(const char *option, const char *path)
{
    while (*option != '\0') {
        if (*option == '*') {
            path += strcspn(path, ".");
            option++;
        } else if (*option++ != *path++) {
            return FALSE;
        }
    }
    return *path == '\0' || *path == '.' || *path == '[';
}

static gboolean
is_template(const Filling *filling, const char *path)
{
    for (const struct drover_option *option = filling->options; option->path != NULL; option++)
        if ((option->flags & DROVER_OPTION_TEMPLATE) != 0 && covers(option->path, path))
            return TRUE;
    return FALSE;
}

static struct drover_value *
fill_text(const Filling *filling, const char *text, const char *path)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *filled = drover_template_format(text, filling->request, &error);

    if (filled != NULL)
        return drover_value_new_string(filled);
    drover_log(DROVER_LOG_ERROR, filling->subject, "%s is left out: %s", path, error->message);
    return NULL;
}

static struct drover_value *fill(const Filling *filling, const struct drover_value *value,
                                 const char *path);

static struct drover_value *
fill_map(const Filling *filling, const struct drover_value *map, const char *path)
{
    struct drover_value *filled = drover_value_new_map();

    for (size_t i = 0; i < drover_value_length(map); i++) {
        const char *key = drover_value_key(map, i);
        g_autofree char *member_path = g_strconcat(path, ".", key, NULL);
        struct drover_value *member = fill(filling, drover_value_item(map, i), member_path);

        if (member != NULL)
            drover_value_set(filled, key, member);
    }
    return filled;
}

static struct drover_value *
fill_list(const Filling *filling, const struct drover_value *list, const char *path)
{
    struct drover_value *filled = drover_value_new_list();
    g_autofree char *item_path = g_strconcat(path, "[]", NULL);

    for (size_t i = 0; i < drover_value_length(list); i++) {
        struct drover_value *item = fill(filling, drover_value_item(list, i), item_path);

        if (item != NULL)
            drover_value_append(filled, item);
    }
    return filled;
}

/* NULL: it is left out. */
static struct drover_value *
fill(const Filling *filling, const struct drover_value *value, const char *path)
{
    switch (drover_value_type(value)) {
    case DROVER_VALUE_MAP:
        return fill_map(filling, value, path);
    case DROVER_VALUE_LIST:
        return fill_list(filling, value, path);
    case DROVER_VALUE_STRING:
        if (is_template(filling, path))
            return fill_text(filling, drover_value_string(value), path);
        return drover_value_copy(value);
    default:
        return drover_value_copy(value);
    }
}

static gboolean
has_templates(const struct drover_option *options)
{
    for (; options != NULL && options->path != NULL; options++)
        if ((options->flags & DROVER_OPTION_TEMPLATE) != 0)
            return TRUE;
    return FALSE;
}

struct drover_value *
drover_template_fill(const struct drover_driver *driver, const struct drover_value *label,
                     const DroverRequest *request, const DroverLogSubject *subject)
{
    g_autoptr(json_t) about = NULL;
    Filling filling = {.options = driver->options, .subject = subject};

    if (label == NULL || !has_templates(driver->options))
        return NULL;
    about = filling.request = drover_template_request(request);
    return fill(&filling, label, LABEL_PATH);
}
