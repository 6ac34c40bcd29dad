/* Handlers as they are configured: which classes there are, and their options. */
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "config/log-private.h"

#define SYSLOG_PORT 514

typedef struct {
    const DroverLogSection *section;
    const DroverConfigSource *source;
    gboolean failed;           /* an option makes no sense; reported */
    DroverLogHandler *handler; /* what was made */
} Builder;

/* ---- Options ---- */

static void G_GNUC_PRINTF(3, 4)
    refuse(Builder *builder, const DroverLogOption *option, const char *format, ...)
{
    g_autofree char *message = NULL;
    va_list args;

    va_start(args, format);
    message = g_strdup_vprintf(format, args);
    va_end(args);
    drover_log_option_problem(builder->source, DROVER_CONFIG_ERROR, option, "%s", message);
    builder->failed = TRUE;
}

static const char *
get_text(Builder *builder, const char *name, const char *otherwise)
{
    const DroverLogOption *option = drover_log_section_get(builder->section, name);

    if (option == NULL)
        return otherwise;
    if (!option->is_list)
        return option->texts[0];
    refuse(builder, option, "must be one value");
    return otherwise;
}

static gint64
get_number(Builder *builder, const char *name, gint64 least, gint64 otherwise)
{
    const char *text = get_text(builder, name, NULL);
    gint64 number = otherwise;

    if (text != NULL && !g_ascii_string_to_signed(text, 10, least, G_MAXINT32, &number, NULL))
        refuse(builder, drover_log_section_get(builder->section, name),
               "must be a number, %" G_GINT64_FORMAT " or more", least);
    return number;
}

static gboolean
get_boolean(Builder *builder, const char *name)
{
    const char *text = get_text(builder, name, "false");

    return g_ascii_strcasecmp(text, "true") == 0 || strcmp(text, "1") == 0;
}

/* `error` may be NULL. */
static void
report_failure(const Builder *builder, const GError *error)
{
    if (error != NULL)
        drover_config_report_add(builder->source, DROVER_CONFIG_ERROR, builder->section->line,
                                 builder->section->column, builder->section->name, "%s",
                                 error->message);
}

/* ---- Classes ---- */

static void
build_stream(Builder *builder)
{
    const char *stream = get_text(builder, "stream", "sys.stderr");
    const char *name = g_str_has_prefix(stream, "ext://") ? stream + strlen("ext://") : stream;

    if (strcmp(name, "sys.stdout") == 0)
        builder->handler = drover_log_handler_new_stream(STDOUT_FILENO);
    else if (strcmp(name, "sys.stderr") == 0)
        builder->handler = drover_log_handler_new_stream(STDERR_FILENO);
    else
        refuse(builder, drover_log_section_get(builder->section, "stream"),
               "must be ext://sys.stdout or ext://sys.stderr");
}

static void
build_null(Builder *builder)
{
    builder->handler = drover_log_handler_new_null();
}

static void
open_file(Builder *builder, const DroverLogRotation *rotation)
{
    const char *path = get_text(builder, "filename", NULL);
    const char *mode = get_text(builder, "mode", "a");
    g_autoptr(GError) error = NULL;

    if (strcmp(mode, "a") != 0 && strcmp(mode, "w") != 0)
        refuse(builder, drover_log_section_get(builder->section, "mode"), "must be a or w");
    if (path == NULL && !builder->failed) {
        drover_config_report_add(builder->source, DROVER_CONFIG_ERROR, builder->section->line,
                                 builder->section->column, builder->section->name,
                                 "filename is missing");
        builder->failed = TRUE;
    }
    if (builder->failed)
        return;
    /* Python, too, never empties a file that is put aside in time. */
    builder->handler =
        drover_log_handler_new_file(path, *mode == 'w' && rotation == NULL, rotation, &error);
    report_failure(builder, error);
}

static void
build_file(Builder *builder)
{
    open_file(builder, NULL);
}

static void
build_rotating(Builder *builder)
{
    const DroverLogRotation rotation = {.turn = DROVER_LOG_BY_SIZE,
                                        .size = get_number(builder, "maxBytes", 0, 0),
                                        .backups = (guint)get_number(builder, "backupCount", 0, 0)};

    open_file(builder, &rotation);
}

static const struct {
    const char *when;
    DroverLogTurn turn;
    gint64 seconds;
    const char *suffix;
} turns[] = {
    {"S", DROVER_LOG_BY_TIME, 1, "%Y-%m-%d_%H-%M-%S"},
    {"M", DROVER_LOG_BY_TIME, 60, "%Y-%m-%d_%H-%M"},
    {"H", DROVER_LOG_BY_TIME, 3600, "%Y-%m-%d_%H"},
    {"D", DROVER_LOG_BY_TIME, 86400, "%Y-%m-%d"},
    {"MIDNIGHT", DROVER_LOG_AT_MIDNIGHT, 0, "%Y-%m-%d"},
    {"W", DROVER_LOG_ON_WEEKDAY, 0, "%Y-%m-%d"},
};

static gboolean
take_turn(const char *when, DroverLogRotation *rotation)
{
    g_autofree char *name = g_ascii_strup(when, -1);

    if (*name == 'W' && name[1] >= '0' && name[1] <= '6' && name[2] == '\0') {
        rotation->weekday = (guint)(name[1] - '0');
        name[1] = '\0';
    } else if (strcmp(name, "W") == 0) {
        return FALSE;
    }
    for (guint i = 0; i < G_N_ELEMENTS(turns); i++)
        if (strcmp(name, turns[i].when) == 0) {
            rotation->turn = turns[i].turn;
            rotation->seconds = turns[i].seconds;
            rotation->suffix = turns[i].suffix;
            return TRUE;
        }
    return FALSE;
}

static void
build_timed(Builder *builder)
{
    DroverLogRotation rotation = {.utc = get_boolean(builder, "utc"),
                                  .backups = (guint)get_number(builder, "backupCount", 0, 0)};

    if (!take_turn(get_text(builder, "when", "H"), &rotation))
        refuse(builder, drover_log_section_get(builder->section, "when"),
               "must be S, M, H, D, midnight, or W0 to W6");
    rotation.seconds *= get_number(builder, "interval", 1, 1);
    open_file(builder, &rotation);
}

static const struct {
    const char *name;
    int facility;
} facilities[] = {
    {"auth", LOG_AUTH},     {"authpriv", LOG_AUTHPRIV}, {"cron", LOG_CRON},
    {"daemon", LOG_DAEMON}, {"ftp", LOG_FTP},           {"kern", LOG_KERN},
    {"local0", LOG_LOCAL0}, {"local1", LOG_LOCAL1},     {"local2", LOG_LOCAL2},
    {"local3", LOG_LOCAL3}, {"local4", LOG_LOCAL4},     {"local5", LOG_LOCAL5},
    {"local6", LOG_LOCAL6}, {"local7", LOG_LOCAL7},     {"lpr", LOG_LPR},
    {"mail", LOG_MAIL},     {"news", LOG_NEWS},         {"syslog", LOG_SYSLOG},
    {"user", LOG_USER},     {"uucp", LOG_UUCP},
};

/* "daemon", its number, or Python's constant: "handlers.SysLogHandler.LOG_DAEMON". */
static int
get_facility(Builder *builder)
{
    const char *text = get_text(builder, "facility", "user");
    const char *constant = strstr(text, "LOG_");
    const char *name = constant != NULL ? constant + strlen("LOG_") : text;
    gint64 number;

    for (guint i = 0; i < G_N_ELEMENTS(facilities); i++)
        if (g_ascii_strcasecmp(name, facilities[i].name) == 0)
            return facilities[i].facility >> 3;
    if (!g_ascii_string_to_signed(text, 10, 0, LOG_NFACILITIES - 1, &number, NULL)) {
        refuse(builder, drover_log_section_get(builder->section, "facility"),
               "is no facility of syslog");
        return 0;
    }
    return (int)number;
}

static void
build_syslog(Builder *builder)
{
    const DroverLogOption *address = drover_log_section_get(builder->section, "address");
    int facility = get_facility(builder);
    const char *path = NULL, *host = "localhost";
    g_autoptr(GError) error = NULL;
    gint64 port = SYSLOG_PORT;

    if (address != NULL && !address->is_list)
        path = address->texts[0];
    else if (address != NULL && g_strv_length(address->texts) == 2 &&
             g_ascii_string_to_signed(address->texts[1], 10, 1, G_MAXUINT16, &port, NULL))
        host = address->texts[0];
    else if (address != NULL)
        refuse(builder, address, "must be the path of a socket, or a host and a port");
    if (builder->failed)
        return;
    builder->handler = drover_log_handler_new_syslog(path, host, (guint16)port, facility, &error);
    report_failure(builder, error);
}

static void
build_journal(Builder *builder)
{
    const char *path = get_text(builder, "address", DROVER_LOG_JOURNAL_SOCKET);
    g_autoptr(GError) error = NULL;

    if (builder->failed)
        return;
    builder->handler = drover_log_handler_new_journal(path, STDERR_FILENO, &error);
    report_failure(builder, error);
}

/* Options that mean nothing here: files are UTF-8, and opened at once. */
#define FILE_OPTIONS "filename", "mode", "encoding", "delay", "errors"

static const struct {
    const char *name;
    void (*build)(Builder *builder);
    const char *const options[12];
} classes[] = {
    {"StreamHandler", build_stream, {"stream"}},
    {"NullHandler", build_null, {NULL}},
    {"FileHandler", build_file, {FILE_OPTIONS}},
    {"WatchedFileHandler", build_file, {FILE_OPTIONS}},
    {"RotatingFileHandler", build_rotating, {FILE_OPTIONS, "maxBytes", "backupCount"}},
    {"TimedRotatingFileHandler",
     build_timed,
     {FILE_OPTIONS, "when", "interval", "backupCount", "utc"}},
    {"SysLogHandler", build_syslog, {"address", "facility"}},
    {"JournalHandler", build_journal, {"address"}},
};

static gboolean
is_class(const char *text, const char *name)
{
    static const char *const modules[] = {"", "logging.", "handlers.", "logging.handlers.",
                                          "systemd.journal."};

    for (guint i = 0; i < G_N_ELEMENTS(modules); i++)
        if (g_str_has_prefix(text, modules[i]) && strcmp(text + strlen(modules[i]), name) == 0)
            return TRUE;
    return FALSE;
}

static void
check_options(Builder *builder, const char *const *known)
{
    static const char *const common[] = {"class", "level", "formatter", NULL};

    for (guint i = 0; i < builder->section->options->len; i++) {
        const DroverLogOption *option = builder->section->options->pdata[i];

        if (strcmp(option->name, "filters") == 0)
            drover_log_option_problem(builder->source, DROVER_CONFIG_WARNING, option,
                                      "is not supported; messages are not filtered");
        else if (!g_strv_contains(common, option->name) && !g_strv_contains(known, option->name))
            refuse(builder, option, "is no option of this class");
    }
}

/* The class of that name, or their number. */
static guint
find_class(const char *name)
{
    guint i = 0;

    while (i < G_N_ELEMENTS(classes) && !is_class(name, classes[i].name))
        i++;
    return i;
}

DroverLogHandler *
drover_log_handler_from_section(const DroverLogSection *section, const DroverConfigSource *source)
{
    const DroverLogOption *option = drover_log_section_get(section, "class");
    Builder builder = {.section = section, .source = source};
    guint class;

    if (option == NULL)
        option = drover_log_section_get(section, "()");
    if (option == NULL) {
        drover_config_report_add(source, DROVER_CONFIG_ERROR, section->line, section->column,
                                 section->name, "class is missing");
        return NULL;
    }
    class = find_class(option->texts[0] != NULL ? option->texts[0] : "");
    if (class == G_N_ELEMENTS(classes)) {
        drover_log_option_problem(source, DROVER_CONFIG_WARNING, option,
                                  "%s is not supported; its messages go to standard error",
                                  option->texts[0]);
        return drover_log_handler_new_stream(STDERR_FILENO);
    }
    check_options(&builder, classes[class].options);
    classes[class].build(&builder);
    if (builder.failed)
        g_clear_pointer(&builder.handler, drover_log_handler_unref);
    return builder.handler;
}
