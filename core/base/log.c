#include "base/log.h"

#include <string.h>
#include <unistd.h>

#include "base/log-setup.h"

#define PREFIX "nodepool."

static struct {
    GMutex lock;
    GHashTable *loggers;           /* name -> DroverLogLogger; made with the first use */
    DroverLogHandler *last_resort; /* for messages that nobody handles */
    int lowest;                    /* no message below it is written by anybody */
} log_state = {.lowest = 20};

int
drover_log_level_number(DroverLogLevel level)
{
    return ((int)level + 1) * 10;
}

/* ---- Loggers ---- */

DroverLogLogger *
drover_log_logger_new(const char *name)
{
    DroverLogLogger *logger = g_new0(DroverLogLogger, 1);

    logger->name = g_strdup(name);
    logger->propagate = TRUE;
    logger->handlers = g_ptr_array_new_with_free_func((GDestroyNotify)drover_log_handler_unref);
    return logger;
}

void
drover_log_logger_free(DroverLogLogger *logger)
{
    g_ptr_array_unref(logger->handlers);
    g_free(logger->name);
    g_free(logger);
}

static void
note_lowest(void)
{
    GHashTableIter iter;
    gpointer logger;
    int lowest = DROVER_LOG_LEVEL_HIGHEST;

    g_hash_table_iter_init(&iter, log_state.loggers);
    while (g_hash_table_iter_next(&iter, NULL, &logger))
        if (((DroverLogLogger *)logger)->level != DROVER_LOG_LEVEL_UNSET)
            lowest = MIN(lowest, ((DroverLogLogger *)logger)->level);
    g_atomic_int_set(&log_state.lowest, lowest);
}

static void
add_logger(DroverLogLogger *logger)
{
    g_hash_table_replace(log_state.loggers, logger->name, logger);
}

/* Call it with the lock. What is in force at first: everything from INFO on to standard error. */
static void
ensure_loggers(void)
{
    DroverLogLogger *root;

    if (log_state.loggers != NULL)
        return;
    log_state.loggers = g_hash_table_new_full(g_str_hash, g_str_equal, NULL,
                                              (GDestroyNotify)drover_log_logger_free);
    log_state.last_resort = drover_log_handler_new_stream(STDERR_FILENO);
    drover_log_handler_set_threshold(log_state.last_resort,
                                     drover_log_level_number(DROVER_LOG_WARNING));
    root = drover_log_logger_new("");
    root->level = drover_log_level_number(DROVER_LOG_INFO);
    g_ptr_array_add(root->handlers, drover_log_handler_new_stream(STDERR_FILENO));
    add_logger(root);
}

static DroverLogLogger *
root_logger(void)
{
    ensure_loggers();
    return g_hash_table_lookup(log_state.loggers, "");
}

void
drover_log_set_up(GPtrArray *loggers)
{
    DroverLogLogger *root;

    g_mutex_lock(&log_state.lock);
    ensure_loggers();
    g_hash_table_remove_all(log_state.loggers);
    root = drover_log_logger_new("");
    root->level = drover_log_level_number(DROVER_LOG_WARNING);
    add_logger(root);
    g_ptr_array_set_free_func(loggers, NULL);
    for (guint i = 0; i < loggers->len; i++)
        add_logger(loggers->pdata[i]);
    root = root_logger();
    if (root->level == DROVER_LOG_LEVEL_UNSET)
        root->level = 1; /* Python: everything */
    note_lowest();
    g_mutex_unlock(&log_state.lock);
    g_ptr_array_unref(loggers);
}

void
drover_log_set_level(DroverLogLevel level)
{
    g_mutex_lock(&log_state.lock);
    root_logger()->level = drover_log_level_number(level);
    note_lowest();
    g_mutex_unlock(&log_state.lock);
}

gboolean
drover_log_enabled(DroverLogLevel level)
{
    return drover_log_level_number(level) >= g_atomic_int_get(&log_state.lowest);
}

static void
set_only_handler(DroverLogHandler *handler)
{
    g_mutex_lock(&log_state.lock);
    g_ptr_array_set_size(root_logger()->handlers, 0);
    g_ptr_array_add(root_logger()->handlers, handler);
    g_mutex_unlock(&log_state.lock);
}

void
drover_log_set_fd(int fd)
{
    set_only_handler(drover_log_handler_new_stream(fd));
}

gboolean
drover_log_set_file(const char *path, GError **error)
{
    DroverLogHandler *handler = drover_log_handler_new_file(path, FALSE, NULL, error);

    if (handler == NULL)
        return FALSE;
    set_only_handler(handler);
    return TRUE;
}

/* ---- Messages ---- */

/* Shortens "a.b.c" to "a.b", and "a" to "". FALSE at the root. */
static gboolean
go_up(char *name)
{
    char *dot = strrchr(name, '.');

    if (*name == '\0')
        return FALSE;
    *(dot != NULL ? dot : name) = '\0';
    return TRUE;
}

static gboolean
is_wanted(const DroverLogRecord *record)
{
    g_autofree char *name = g_strdup(record->logger);

    do {
        const DroverLogLogger *logger = g_hash_table_lookup(log_state.loggers, name);

        if (logger != NULL && logger->level != DROVER_LOG_LEVEL_UNSET)
            return drover_log_level_number(record->level) >= logger->level;
    } while (go_up(name));
    return TRUE;
}

static void
hand_on(const DroverLogRecord *record)
{
    g_autofree char *name = g_strdup(record->logger);
    const DroverLogLogger *logger;
    gboolean handled = FALSE;

    do {
        logger = g_hash_table_lookup(log_state.loggers, name);
        for (guint i = 0; logger != NULL && i < logger->handlers->len; i++) {
            drover_log_handler_emit(logger->handlers->pdata[i], record);
            handled = TRUE;
        }
    } while ((logger == NULL || logger->propagate) && go_up(name));
    if (!handled)
        drover_log_handler_emit(log_state.last_resort, record);
}

static void
append_part(GString *line, const char *name, const char *value)
{
    if (value != NULL)
        g_string_append_printf(line, "[%s: %s] ", name, value);
}

void
drover_log(DroverLogLevel level, const DroverLogSubject *subject, const char *format, ...)
{
    static const DroverLogSubject nothing;
    g_autoptr(GString) text = NULL;
    g_autofree char *name = NULL;
    DroverLogRecord record;
    va_list arguments;

    if (!drover_log_enabled(level))
        return;
    if (subject == NULL)
        subject = &nothing;

    text = g_string_new(NULL);
    append_part(text, "e", subject->event_id);
    append_part(text, "node_request", subject->request_id);
    append_part(text, "node", subject->node_id);
    va_start(arguments, format);
    g_string_append_vprintf(text, format, arguments);
    va_end(arguments);

    name = g_strconcat(PREFIX, subject->logger != NULL ? subject->logger : "NodePool", NULL);
    record = (DroverLogRecord){level, name, text->str, g_get_real_time()};
    g_mutex_lock(&log_state.lock);
    ensure_loggers();
    if (is_wanted(&record))
        hand_on(&record);
    g_mutex_unlock(&log_state.lock);
}
