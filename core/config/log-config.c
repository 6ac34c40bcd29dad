#include "config/log-config.h"

#include <string.h>

#include "config/log-private.h"

typedef struct {
    const DroverConfigSource *source;
    const DroverLogSpec *spec;
    GHashTable *handlers; /* name -> DroverLogHandler */
    GPtrArray *loggers;   /* of DroverLogLogger */
} Builder;

void
drover_log_option_problem(const DroverConfigSource *source, DroverConfigSeverity severity,
                          const DroverLogOption *option, const char *format, ...)
{
    g_autofree char *message = NULL;
    va_list args;

    va_start(args, format);
    message = g_strdup_vprintf(format, args);
    va_end(args);
    drover_config_report_add(source, severity, option->line, option->column, NULL, "%s: %s",
                             option->name, message);
}

/* ---- Levels ---- */

static const struct {
    const char *name;
    int number;
} levels[] = {
    {"NOTSET", DROVER_LOG_LEVEL_UNSET},
    {"DEBUG", 10},
    {"INFO", 20},
    {"WARNING", 30},
    {"WARN", 30},
    {"ERROR", 40},
    {"CRITICAL", 50},
    {"FATAL", 50},
};

gboolean
drover_log_option_level(const DroverConfigSource *source, const DroverLogOption *option, int *level)
{
    const char *text = option->texts[0] != NULL ? option->texts[0] : "";
    gint64 number;

    for (guint i = 0; i < G_N_ELEMENTS(levels); i++)
        if (strcmp(text, levels[i].name) == 0) {
            *level = levels[i].number;
            return TRUE;
        }
    if (!option->is_list && g_ascii_string_to_signed(text, 10, 0, G_MAXINT32, &number, NULL)) {
        *level = (int)number;
        return TRUE;
    }
    drover_log_option_problem(source, DROVER_CONFIG_ERROR, option,
                              "must be DEBUG, INFO, WARNING, ERROR, CRITICAL, NOTSET or a number");
    return FALSE;
}

/* ---- Formats ---- */

/* The class of the formatter; NULL: Python's own. */
static const DroverLogOption *
formatter_class(const DroverLogSection *section)
{
    const DroverLogOption *class = drover_log_section_get(section, "class");

    return class != NULL ? class : drover_log_section_get(section, "()");
}

/* Classes as they are usually called in Python; which module they are from does not matter. */
static const struct {
    const char *suffix;
    DroverLogForm form;
} structured_classes[] = {
    {"JsonFormatter", DROVER_LOG_JSON},
    {"JSONFormatter", DROVER_LOG_JSON},
    {"LogfmtFormatter", DROVER_LOG_KEY_VALUE},
    {"Logfmter", DROVER_LOG_KEY_VALUE},
};

/* `section` may be NULL. */
static DroverLogForm
form_of(const DroverLogSection *section)
{
    const DroverLogOption *class = section != NULL ? formatter_class(section) : NULL;

    for (guint i = 0; class != NULL && i < G_N_ELEMENTS(structured_classes); i++)
        if (g_str_has_suffix(class->texts[0], structured_classes[i].suffix))
            return structured_classes[i].form;
    return DROVER_LOG_TEXT;
}

/* Whether each line of a message is formatted; as Nodepool's own class does it. */
static gboolean
formats_every_line(const Builder *builder, const DroverLogSection *section)
{
    const DroverLogOption *class = formatter_class(section);

    if (class == NULL || form_of(section) != DROVER_LOG_TEXT)
        return FALSE;
    if (g_str_has_suffix(class->texts[0], "MultiLineFormatter"))
        return TRUE;
    if (!g_str_has_suffix(class->texts[0], "logging.Formatter"))
        drover_log_option_problem(builder->source, DROVER_CONFIG_WARNING, class,
                                  "%s is not supported; format and datefmt count", class->texts[0]);
    return FALSE;
}

static void
check_formatter_options(const Builder *builder, const DroverLogSection *section)
{
    static const char *const known[] = {"format", "datefmt",  "class", "()",
                                        "style",  "validate", NULL};

    for (guint i = 0; i < section->options->len; i++) {
        const DroverLogOption *option = section->options->pdata[i];

        if (!g_strv_contains(known, option->name))
            drover_log_option_problem(builder->source, DROVER_CONFIG_ERROR, option,
                                      "is no option of a formatter");
        else if (option->is_list)
            drover_log_option_problem(builder->source, DROVER_CONFIG_ERROR, option,
                                      "must be one value");
        else if (strcmp(option->name, "style") == 0 && strcmp(option->texts[0], "%") != 0)
            drover_log_option_problem(builder->source, DROVER_CONFIG_ERROR, option,
                                      "only the style %% is supported");
    }
}

static const char *
text_of(const DroverLogOption *option, const char *otherwise)
{
    return option != NULL && !option->is_list ? option->texts[0] : otherwise;
}

/* `section` may be NULL: what Python does without a formatter. */
static DroverLogFormat *
make_format(const Builder *builder, const DroverLogSection *section, gboolean every_line)
{
    const DroverLogOption *format =
        section != NULL ? drover_log_section_get(section, "format") : NULL;
    const DroverLogOption *date =
        section != NULL ? drover_log_section_get(section, "datefmt") : NULL;
    g_autoptr(GError) error = NULL;
    DroverLogFormat *made;

    if (form_of(section) != DROVER_LOG_TEXT)
        return drover_log_format_new_structured(form_of(section));
    made = drover_log_format_new(text_of(format, "%(message)s"), text_of(date, NULL), every_line,
                                 &error);

    if (made == NULL)
        drover_log_option_problem(builder->source, DROVER_CONFIG_ERROR, format, "%s",
                                  error->message);
    return made;
}

/* All of them are looked at once, also those that nobody uses. */
static void
check_formatters(const Builder *builder)
{
    for (guint i = 0; i < builder->spec->formatters->len; i++) {
        const DroverLogSection *section = builder->spec->formatters->pdata[i];

        check_formatter_options(builder, section);
        drover_log_format_free(make_format(builder, section, formats_every_line(builder, section)));
    }
}

/* ---- Handlers ---- */

static void
format_handler(const Builder *builder, const DroverLogSection *section, DroverLogHandler *handler)
{
    const DroverLogOption *option = drover_log_section_get(section, "formatter");
    const DroverLogSection *formatter = NULL;
    DroverConfigSource quiet = *builder->source;
    g_autoptr(DroverConfigReport) said_already = drover_config_report_new();
    Builder again = *builder;
    DroverLogFormat *format;

    if (option != NULL) {
        formatter = drover_log_section_find(builder->spec->formatters, option->texts[0]);
        if (formatter == NULL)
            drover_log_option_problem(builder->source, DROVER_CONFIG_ERROR, option,
                                      "there is no formatter %s", option->texts[0]);
    }
    quiet.report = said_already;
    again.source = &quiet;
    format =
        make_format(&again, formatter, formatter != NULL && formats_every_line(&again, formatter));
    if (format != NULL)
        drover_log_handler_set_format(handler, format);
}

static void
build_handler(const Builder *builder, const DroverLogSection *section)
{
    const DroverLogOption *option = drover_log_section_get(section, "level");
    DroverLogHandler *handler = drover_log_handler_from_section(section, builder->source);
    int level;

    if (handler == NULL)
        return;
    if (option != NULL && drover_log_option_level(builder->source, option, &level))
        drover_log_handler_set_threshold(handler, level);
    format_handler(builder, section, handler);
    g_hash_table_replace(builder->handlers, section->name, handler);
}

/* ---- Loggers ---- */

static void
add_handlers(const Builder *builder, DroverLogLogger *logger, const DroverLogOption *option)
{
    for (guint i = 0; option->texts[i] != NULL; i++) {
        DroverLogHandler *handler = g_hash_table_lookup(builder->handlers, option->texts[i]);

        if (handler != NULL)
            g_ptr_array_add(logger->handlers, drover_log_handler_ref(handler));
        else if (drover_log_section_find(builder->spec->handlers, option->texts[i]) == NULL)
            drover_log_option_problem(builder->source, DROVER_CONFIG_ERROR, option,
                                      "there is no handler %s", option->texts[i]);
    }
}

static gboolean
is_false(const char *text)
{
    static const char *const words[] = {"0", "no", "false", "off", NULL};
    g_autofree char *word = g_ascii_strdown(text, -1);

    return g_strv_contains(words, word);
}

static void
build_logger(const Builder *builder, const DroverLogSection *section)
{
    DroverLogLogger *logger =
        drover_log_logger_new(strcmp(section->name, "root") == 0 ? "" : section->name);

    g_ptr_array_add(builder->loggers, logger);
    for (guint i = 0; i < section->options->len; i++) {
        const DroverLogOption *option = section->options->pdata[i];

        if (strcmp(option->name, "level") == 0)
            drover_log_option_level(builder->source, option, &logger->level);
        else if (strcmp(option->name, "handlers") == 0)
            add_handlers(builder, logger, option);
        else if (strcmp(option->name, "propagate") == 0)
            logger->propagate = option->is_list || !is_false(option->texts[0]);
        else if (strcmp(option->name, "filters") == 0)
            drover_log_option_problem(builder->source, DROVER_CONFIG_WARNING, option,
                                      "is not supported; messages are not filtered");
        else
            drover_log_option_problem(builder->source, DROVER_CONFIG_ERROR, option,
                                      "is no option of a logger");
    }
}

/* ---- All ---- */

static void
build(const Builder *builder)
{
    check_formatters(builder);
    for (guint i = 0; i < builder->spec->handlers->len; i++)
        build_handler(builder, builder->spec->handlers->pdata[i]);
    for (guint i = 0; i < builder->spec->loggers->len; i++)
        build_logger(builder, builder->spec->loggers->pdata[i]);
}

static gboolean
is_dict(const char *path)
{
    return g_str_has_suffix(path, ".yaml") || g_str_has_suffix(path, ".yml") ||
           g_str_has_suffix(path, ".json");
}

gboolean
drover_log_config_use(const char *path, DroverConfigReport *report)
{
    guint errors = drover_config_report_errors(report);
    const DroverConfigSource source = {report, path, FALSE, FALSE};
    g_autoptr(GPtrArray) loggers =
        g_ptr_array_new_with_free_func((GDestroyNotify)drover_log_logger_free);
    g_autoptr(GHashTable) handlers = g_hash_table_new_full(
        g_str_hash, g_str_equal, NULL, (GDestroyNotify)drover_log_handler_unref);
    g_autoptr(DroverLogSpec) spec = NULL;

    if (!g_file_test(path, G_FILE_TEST_EXISTS)) {
        drover_config_report_add(&source, DROVER_CONFIG_ERROR, 0, 0, NULL,
                                 "Unable to read logging config file at %s", path);
        return FALSE;
    }
    spec = is_dict(path) ? drover_log_spec_from_dict(path, &source)
                         : drover_log_spec_from_ini(path, &source);
    if (spec != NULL)
        build(&(Builder){&source, spec, handlers, loggers});
    drover_config_report_sort(report);
    if (drover_config_report_errors(report) > errors)
        return FALSE;
    drover_log_set_up(g_steal_pointer(&loggers));
    return TRUE;
}
