#include "base/log-format.h"

#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log-structured.h"

typedef enum {
    PLAIN, /* text between the attributes */
    ASCTIME,
    CREATED,
    LEVEL_NAME,
    LEVEL_NUMBER,
    MESSAGE,
    MILLISECONDS,
    LOGGER_NAME,
    PROCESS,
    THREAD_NAME,
} Attribute;

static const struct {
    const char *name;
    Attribute attribute;
    const char *conversions; /* that make sense */
} attributes[] = {
    {"asctime", ASCTIME, "s"},       {"created", CREATED, "fds"}, {"levelname", LEVEL_NAME, "s"},
    {"levelno", LEVEL_NUMBER, "ds"}, {"message", MESSAGE, "s"},   {"msecs", MILLISECONDS, "ds"},
    {"name", LOGGER_NAME, "s"},      {"process", PROCESS, "ds"},  {"threadName", THREAD_NAME, "s"},
};

typedef struct {
    Attribute attribute;
    char *text; /* of PLAIN */
    gboolean left, zeros;
    guint width;
} Piece;

struct _DroverLogFormat {
    GArray *pieces; /* of Piece */
    char *date_format;
    gboolean every_line;
    DroverLogForm form; /* not DROVER_LOG_TEXT: there are no pieces */
};

static const char *const level_names[] = {"DEBUG", "INFO", "WARNING", "ERROR"};

static void
piece_clear(gpointer piece)
{
    g_free(((Piece *)piece)->text);
}

/* ---- Parsing ---- */

static gboolean
refuse(GError **error, const char *at, const char *problem)
{
    g_autofree char *part = g_strndup(at, strcspn(at, " "));

    g_set_error(error, DROVER_ERROR, DROVER_ERROR_CONFIG, "%s: %s", part, problem);
    return FALSE;
}

static gboolean
parse_attribute(Piece *piece, const char **at, GError **error)
{
    const char *start = *at, *name = start[1] == '(' ? start + 2 : NULL, *conversion;
    const char *end = name != NULL ? strchr(name, ')') : NULL;

    if (end == NULL)
        return refuse(error, start, "must have the form %(name)s");
    conversion = end + 1;
    for (; *conversion == '-' || *conversion == '0'; conversion++)
        *(*conversion == '-' ? &piece->left : &piece->zeros) = TRUE;
    for (; g_ascii_isdigit(*conversion) && piece->width < 1000; conversion++)
        piece->width = piece->width * 10 + (guint)(*conversion - '0');
    for (guint i = 0; i < G_N_ELEMENTS(attributes); i++) {
        if (strlen(attributes[i].name) != (gsize)(end - name) ||
            strncmp(attributes[i].name, name, (gsize)(end - name)) != 0)
            continue;
        if (*conversion == '\0' || strchr(attributes[i].conversions, *conversion) == NULL)
            return refuse(error, start, "this conversion is not supported here");
        piece->attribute = attributes[i].attribute;
        *at = conversion + 1;
        return TRUE;
    }
    return refuse(error, start,
                  "is not supported; there are asctime, created, levelname, levelno, message, "
                  "msecs, name, process and threadName");
}

static void
add_text(DroverLogFormat *format, const char *text, gsize length)
{
    Piece piece = {.attribute = PLAIN, .text = g_strndup(text, length)};

    g_array_append_val(format->pieces, piece);
}

static gboolean
parse(DroverLogFormat *format, const char *text, GError **error)
{
    const char *at = text;

    while (*at != '\0') {
        gsize length = strcspn(at, "%");
        Piece piece = {0};

        if (length > 0) {
            add_text(format, at, length);
            at += length;
        } else if (at[1] == '%') {
            add_text(format, at, 1);
            at += 2;
        } else if (parse_attribute(&piece, &at, error)) {
            g_array_append_val(format->pieces, piece);
        } else {
            return FALSE;
        }
    }
    return TRUE;
}

DroverLogFormat *
drover_log_format_new(const char *format, const char *date_format, gboolean every_line,
                      GError **error)
{
    DroverLogFormat *self = g_new0(DroverLogFormat, 1);

    self->pieces = g_array_new(FALSE, FALSE, sizeof(Piece));
    g_array_set_clear_func(self->pieces, piece_clear);
    self->date_format = g_strdup(date_format);
    self->every_line = every_line;
    if (!parse(self, format, error))
        g_clear_pointer(&self, drover_log_format_free);
    return self;
}

DroverLogFormat *
drover_log_format_new_structured(DroverLogForm form)
{
    DroverLogFormat *format = drover_log_format_new(DROVER_LOG_DEFAULT_FORMAT, NULL, TRUE, NULL);

    format->form = form;
    return format;
}

void
drover_log_format_free(DroverLogFormat *format)
{
    if (format == NULL)
        return;
    g_array_unref(format->pieces);
    g_free(format->date_format);
    g_free(format);
}

/* ---- Formatting ---- */

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

void
drover_log_format_date(const char *format, const struct tm *date, char *text, gsize size)
{
    /* What does not fit leaves the text undefined. */
    if (strftime(text, size, format, date) == 0)
        *text = '\0';
}

#pragma GCC diagnostic pop

static void
append_time(const DroverLogFormat *format, const DroverLogRecord *record, GString *out)
{
    time_t seconds = (time_t)(record->time / G_USEC_PER_SEC);
    struct tm local;
    char stamp[128];

    /* GDateTime looks at the time zone's file for every line. */
    localtime_r(&seconds, &local);
    if (format->date_format == NULL)
        strftime(stamp, sizeof(stamp), "%Y-%m-%d %H:%M:%S", &local);
    else
        drover_log_format_date(format->date_format, &local, stamp, sizeof(stamp));
    g_string_append(out, stamp);
    if (format->date_format == NULL)
        g_string_append_printf(out, ",%03d", (int)(record->time % G_USEC_PER_SEC / 1000));
}

/* The kernel has the names of threads; that of the first one is the program's. */
static void
append_thread_name(GString *out)
{
    char name[16] = "";

    if (gettid() == getpid())
        g_string_append(out, "MainThread");
    else if (prctl(PR_GET_NAME, name) == 0)
        g_string_append(out, name);
}

static void
append_attribute(const DroverLogFormat *format, const Piece *piece, const DroverLogRecord *record,
                 GString *out)
{
    switch (piece->attribute) {
    case ASCTIME:
        append_time(format, record, out);
        break;
    case CREATED:
        g_string_append_printf(out, "%" G_GINT64_FORMAT ".%06d", record->time / G_USEC_PER_SEC,
                               (int)(record->time % G_USEC_PER_SEC));
        break;
    case LEVEL_NAME:
        g_string_append(out, level_names[record->level]);
        break;
    case LEVEL_NUMBER:
        g_string_append_printf(out, "%d", drover_log_level_number(record->level));
        break;
    case MILLISECONDS:
        g_string_append_printf(out, "%d", (int)(record->time % G_USEC_PER_SEC / 1000));
        break;
    case LOGGER_NAME:
        g_string_append(out, record->logger);
        break;
    case PROCESS:
        g_string_append_printf(out, "%d", (int)getpid());
        break;
    case THREAD_NAME:
        append_thread_name(out);
        break;
    case MESSAGE:
    case PLAIN:
        break;
    }
}

/* Fills what was appended since `start` up to the piece's width. */
static void
pad(const Piece *piece, GString *out, gsize start)
{
    glong length = g_utf8_strlen(out->str + start, (gssize)(out->len - start));

    for (; length < (glong)piece->width; length++)
        if (piece->left)
            g_string_append_c(out, ' ');
        else
            g_string_insert_c(out, (gssize)start, piece->zeros ? '0' : ' ');
}

static void
append_line(const DroverLogFormat *format, const DroverLogRecord *record, const char *indent,
            const char *text, gsize length, GString *out)
{
    for (guint i = 0; i < format->pieces->len; i++) {
        const Piece *piece = &g_array_index(format->pieces, Piece, i);
        gsize start = out->len;

        if (piece->attribute == PLAIN) {
            g_string_append(out, piece->text);
        } else if (piece->attribute == MESSAGE) {
            g_string_append(out, indent);
            g_string_append_len(out, text, (gssize)length);
        } else {
            append_attribute(format, piece, record, out);
        }
        if (piece->width > 0)
            pad(piece, out, start);
    }
}

void
drover_log_format_append(const DroverLogFormat *format, const DroverLogRecord *record, GString *out)
{
    const char *line = record->text, *end;

    if (format->form != DROVER_LOG_TEXT) {
        drover_log_structured_append(format->form, record, out);
        return;
    }
    if (!format->every_line) {
        append_line(format, record, "", line, strlen(line), out);
        return;
    }
    for (; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        append_line(format, record, line > record->text ? "  " : "", line, (gsize)(end - line),
                    out);
        g_string_append_c(out, '\n');
    }
    append_line(format, record, line > record->text ? "  " : "", line, strlen(line), out);
}
