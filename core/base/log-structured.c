#include "base/log-structured.h"

#include <stddef.h>
#include <string.h>

#include "base/json.h"

static const char *const form_names[] = {"text", "logfmt", "json"};

const DroverLogPart drover_log_parts[] = {
    {"event_id", offsetof(DroverLogSubject, event_id)},
    {"node_request", offsetof(DroverLogSubject, request_id)},
    {"node", offsetof(DroverLogSubject, node_id)},
    {"provider", offsetof(DroverLogSubject, provider)},
    {"pool", offsetof(DroverLogSubject, pool)},
    {NULL, 0},
};

gboolean
drover_log_form_from_name(const char *name, DroverLogForm *form)
{
    for (guint i = 0; i < G_N_ELEMENTS(form_names); i++) {
        if (strcmp(form_names[i], name) == 0) {
            *form = i;
            return TRUE;
        }
    }
    return FALSE;
}

const char *
drover_log_part(const DroverLogSubject *subject, const DroverLogPart *part)
{
    return G_STRUCT_MEMBER(const char *, subject, part->offset);
}

const char *
drover_log_level_word(DroverLogLevel level)
{
    static const char *const words[] = {"debug", "info", "warning", "error"};

    return words[level];
}

static void
format_time(gint64 time, char *text, gsize size)
{
    time_t seconds = (time_t)(time / G_USEC_PER_SEC);
    struct tm parts;
    char stamp[32];

    gmtime_r(&seconds, &parts);
    strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%S", &parts);
    g_snprintf(text, size, "%s.%03dZ", stamp, (int)(time % G_USEC_PER_SEC / 1000));
}

/* ---- key=value ---- */

static gboolean
is_plain(const char *value)
{
    if (*value == '\0')
        return FALSE;
    for (; *value != '\0'; value++)
        if (!g_ascii_isgraph(*value) || strchr("\"=\\", *value) != NULL)
            return FALSE;
    return TRUE;
}

/* What would end the line, or be seen as something else, is escaped as JSON does it. */
static void
append_quoted(GString *out, const char *value)
{
    g_autofree char *valid = g_utf8_make_valid(value, -1);

    g_string_append_c(out, '"');
    for (const char *at = valid; *at != '\0'; at = g_utf8_next_char(at)) {
        gunichar c = g_utf8_get_char(at);

        if (c == '"' || c == '\\')
            g_string_append_printf(out, "\\%c", (char)c);
        else if (c == '\n')
            g_string_append(out, "\\n");
        else if (g_unichar_iscntrl(c) || c == 0x2028 || c == 0x2029)
            g_string_append_printf(out, "\\u%04x", c);
        else
            g_string_append_unichar(out, c);
    }
    g_string_append_c(out, '"');
}

static void
add_pair(GString *out, const char *key, const char *value)
{
    if (out->len > 0 && out->str[out->len - 1] != '\n')
        g_string_append_c(out, ' ');
    g_string_append_printf(out, "%s=", key);
    if (is_plain(value))
        g_string_append(out, value);
    else
        append_quoted(out, value);
}

/* ---- Both ---- */

typedef struct {
    GString *line;  /* of key=value, or NULL */
    json_t *object; /* of JSON, or NULL */
} Line;

static void
add(const Line *line, const char *key, const char *value)
{
    if (value == NULL)
        return;
    if (line->object != NULL)
        json_object_set_new(line->object, key, drover_json_from_string(value));
    else
        add_pair(line->line, key, value);
}

void
drover_log_structured_append(DroverLogForm form, const DroverLogRecord *record, GString *out)
{
    g_autoptr(json_t) object = form == DROVER_LOG_JSON ? json_object() : NULL;
    const Line line = {.line = out, .object = object};
    g_autofree char *text = NULL;
    char stamp[48];

    format_time(record->time, stamp, sizeof(stamp));
    add(&line, "time", stamp);
    add(&line, "level", drover_log_level_word(record->level));
    add(&line, "logger", record->logger);
    for (const DroverLogPart *part = drover_log_parts; part->key != NULL; part++)
        add(&line, part->key, drover_log_part(record->subject, part));
    add(&line, "message", record->message);
    if (object == NULL)
        return;
    text = drover_json_text(object);
    g_string_append(out, text);
}
