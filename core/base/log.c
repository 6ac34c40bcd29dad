#include "base/log.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log-setup.h"

#define PREFIX "nodepool."

static struct {
    GMutex lock;
    GHashTable *loggers;           /* name -> DroverLogLogger; made with the first use */
    DroverLogHandler *last_resort; /* for messages that nobody handles */
    int lowest;                    /* no message below it is written by anybody */
    DroverLogForm form;            /* of the next handler */
    GHashTable *declared;          /* names of loggers that come and go; NULL: none yet */
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
drover_log_set_form(DroverLogForm form)
{
    log_state.form = form;
}

/* Takes it over. */
static void
use_handler(DroverLogHandler *handler)
{
    if (log_state.form != DROVER_LOG_TEXT)
        drover_log_handler_set_format(handler, drover_log_format_new_structured(log_state.form));
    set_only_handler(handler);
}

void
drover_log_set_fd(int fd)
{
    use_handler(drover_log_handler_new_stream(fd));
}

/* JOURNAL_STREAM is "<device>:<inode>" of the stream that the service manager has opened. */
static gboolean
is_journal(int fd)
{
    const char *stream = g_getenv("JOURNAL_STREAM");
    g_autofree char *own = NULL;
    struct stat status;

    if (stream == NULL || fstat(fd, &status) != 0)
        return FALSE;
    own = g_strdup_printf("%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT, (guint64)status.st_dev,
                          (guint64)status.st_ino);
    return strcmp(own, stream) == 0;
}

gboolean
drover_log_set_journal(int fd)
{
    DroverLogHandler *handler =
        is_journal(fd) ? drover_log_handler_new_journal(DROVER_LOG_JOURNAL_SOCKET, fd, NULL) : NULL;

    if (handler != NULL)
        set_only_handler(handler);
    return handler != NULL;
}

gboolean
drover_log_set_file(const char *path, GError **error)
{
    DroverLogHandler *handler = drover_log_handler_new_file(path, FALSE, NULL, error);

    if (handler == NULL)
        return FALSE;
    use_handler(handler);
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
    gsize prefix;
    va_list arguments;

    if (!drover_log_enabled(level))
        return;
    if (subject == NULL)
        subject = &nothing;

    text = g_string_new(NULL);
    append_part(text, "e", subject->event_id);
    append_part(text, "node_request", subject->request_id);
    append_part(text, "node", subject->node_id);
    prefix = text->len;
    va_start(arguments, format);
    g_string_append_vprintf(text, format, arguments);
    va_end(arguments);

    name = g_strconcat(PREFIX, subject->logger != NULL ? subject->logger : "NodePool", NULL);
    record = (DroverLogRecord){.level = level,
                               .logger = name,
                               .text = text->str,
                               .message = text->str + prefix,
                               .subject = subject,
                               .time = g_get_real_time()};
    g_mutex_lock(&log_state.lock);
    ensure_loggers();
    if (is_wanted(&record))
        hand_on(&record);
    g_mutex_unlock(&log_state.lock);
}

/* ---- Levels of domains ---- */

/* Loggers that are always there; those of pools and providers are declared. */
static const char *const known_loggers[] = {
    "Backing",
    "CleanupWorker",
    "ComponentRegistry",
    "DeletedNodeWorker",
    "NodeDeleter",
    "NodeLauncher",
    "NodePool",
    "NodeRequestHandler",
    "PoolWorker",
    "ProviderManager",
    "WebApp",
    "command",
    "config",
    "config_validator",
    "driver.facts",
    "driver.inventory",
    "driver.leaks",
    "journal",
    "stack_dump",
    "zk.HeldNode",
    "zk.ImageCache",
    "zk.ZooKeeper",
    "zk.cache",
    "zk.client",
};

static const struct {
    const char *name;
    int number;
} level_words[] = {
    {"default", DROVER_LOG_LEVEL_UNSET},
    {"debug", 10},
    {"info", 20},
    {"warning", 30},
    {"error", 40},
    {"critical", DROVER_LOG_LEVEL_HIGHEST},
};

/* The name and those above it. */
static void
note_domain(GHashTable *names, const char *logger)
{
    char *name = g_strdup(logger);

    do {
        if (!g_hash_table_add(names, g_strdup(*name != '\0' ? name : "root")))
            break;
    } while (go_up(name));
    g_free(name);
}

/* Call it with the lock. All names there are. */
static GHashTable *
collect_domains(void)
{
    GHashTable *names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    GHashTableIter iter;
    gpointer name;

    ensure_loggers();
    for (guint i = 0; i < G_N_ELEMENTS(known_loggers); i++) {
        g_autofree char *full = g_strconcat(PREFIX, known_loggers[i], NULL);

        note_domain(names, full);
    }
    if (log_state.declared != NULL)
        g_hash_table_iter_init(&iter, log_state.declared);
    while (log_state.declared != NULL && g_hash_table_iter_next(&iter, &name, NULL))
        note_domain(names, name);
    g_hash_table_iter_init(&iter, log_state.loggers);
    while (g_hash_table_iter_next(&iter, &name, NULL))
        note_domain(names, name);
    return names;
}

void
drover_log_declare(const char *logger)
{
    g_mutex_lock(&log_state.lock);
    if (log_state.declared == NULL)
        log_state.declared = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_hash_table_add(log_state.declared, g_strconcat(PREFIX, logger, NULL));
    g_mutex_unlock(&log_state.lock);
}

/* The word of the level that is not above it: levels of configurations may be any number. */
static const char *
level_word(int number)
{
    const char *word = "debug";

    for (guint i = 1; i < G_N_ELEMENTS(level_words); i++)
        if (number >= level_words[i].number)
            word = level_words[i].name;
    return word;
}

static const DroverLogLogger *
find_logger(const char *domain)
{
    return g_hash_table_lookup(log_state.loggers, strcmp(domain, "root") == 0 ? "" : domain);
}

static DroverLogDomain *
describe_domain(const char *domain)
{
    DroverLogDomain *described = g_new0(DroverLogDomain, 1);
    g_autofree char *name = g_strdup(strcmp(domain, "root") == 0 ? "" : domain);
    const DroverLogLogger *logger = find_logger(domain);

    described->name = g_strdup(domain);
    if (logger != NULL && logger->level != DROVER_LOG_LEVEL_UNSET)
        described->level = level_word(logger->level);
    do {
        logger = g_hash_table_lookup(log_state.loggers, name);
    } while ((logger == NULL || logger->level == DROVER_LOG_LEVEL_UNSET) && go_up(name));
    described->effective = level_word(logger != NULL ? logger->level : 0);
    return described;
}

static void
free_domain(gpointer domain)
{
    g_free(((DroverLogDomain *)domain)->name);
    g_free(domain);
}

static gint
compare_domains(gconstpointer a, gconstpointer b)
{
    return strcmp((*(DroverLogDomain *const *)a)->name, (*(DroverLogDomain *const *)b)->name);
}

GPtrArray *
drover_log_domains(void)
{
    GPtrArray *domains = g_ptr_array_new_with_free_func(free_domain);
    g_autoptr(GHashTable) names = NULL;
    GHashTableIter iter;
    gpointer name;

    g_mutex_lock(&log_state.lock);
    names = collect_domains();
    g_hash_table_iter_init(&iter, names);
    while (g_hash_table_iter_next(&iter, &name, NULL))
        g_ptr_array_add(domains, describe_domain(name));
    g_mutex_unlock(&log_state.lock);
    g_ptr_array_sort(domains, compare_domains);
    return domains;
}

static gboolean
parse_level(const char *text, int *level, GError **error)
{
    for (guint i = 0; i < G_N_ELEMENTS(level_words); i++) {
        if (g_ascii_strcasecmp(level_words[i].name, text) == 0) {
            *level = level_words[i].number;
            return TRUE;
        }
    }
    g_set_error(error, DROVER_ERROR, DROVER_ERROR_MALFORMED,
                "There is no log level %s, only debug, info, warning, error, critical and default",
                text);
    return FALSE;
}

/* The full name; NULL with an error that names all of them. */
static char *
find_domain(const char *domain, GError **error)
{
    g_autoptr(GHashTable) names = collect_domains();
    g_autofree char *full = g_strconcat(PREFIX, domain, NULL);
    g_autoptr(GList) all = NULL;
    g_autoptr(GString) choices = g_string_new(NULL);

    if (g_hash_table_contains(names, domain))
        return g_strdup(domain);
    if (g_hash_table_contains(names, full))
        return g_steal_pointer(&full);
    all = g_list_sort(g_hash_table_get_keys(names), (GCompareFunc)strcmp);
    for (const GList *one = all; one != NULL; one = one->next)
        g_string_append_printf(choices, "%s%s", choices->len > 0 ? ", " : "",
                               (const char *)one->data);
    g_set_error(error, DROVER_ERROR, DROVER_ERROR_NOT_FOUND, "There is no log domain %s, only %s",
                domain, choices->str);
    return NULL;
}

char *
drover_log_find_domain(const char *domain, GError **error)
{
    char *full;

    g_mutex_lock(&log_state.lock);
    full = find_domain(domain, error);
    g_mutex_unlock(&log_state.lock);
    return full;
}

static gboolean
set_level(const char *domain, int level, GError **error)
{
    g_autofree char *full = find_domain(domain, error);
    DroverLogLogger *logger;

    if (full == NULL)
        return FALSE;
    if (strcmp(full, "root") == 0)
        *full = '\0';
    if (*full == '\0' && level == DROVER_LOG_LEVEL_UNSET)
        level = drover_log_level_number(DROVER_LOG_INFO);
    logger = g_hash_table_lookup(log_state.loggers, full);
    if (logger == NULL) {
        logger = drover_log_logger_new(full);
        add_logger(logger);
    }
    logger->level = level;
    note_lowest();
    return TRUE;
}

gboolean
drover_log_set_domain_level(const char *domain, const char *level, GError **error)
{
    gboolean done;
    int number;

    if (!parse_level(level, &number, error))
        return FALSE;
    g_mutex_lock(&log_state.lock);
    done = set_level(domain, number, error);
    g_mutex_unlock(&log_state.lock);
    return done;
}
