/* Python's logging configuration, in both of its forms. */
#include <glib/gstdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utime.h>

#include "base/log.h"
#include "config/log-config.h"

typedef struct {
    char *folder;
    char *log; /* a path that configurations may name as %(LOG) */
    DroverConfigReport *report;
} Fixture;

static void
set_up(Fixture *fixture, gconstpointer user_data)
{
    fixture->folder = g_dir_make_tmp("drover-test-XXXXXX", NULL);
    fixture->log = g_build_filename(fixture->folder, "log", NULL);
    fixture->report = drover_config_report_new();
}

static void
tear_down(Fixture *fixture, gconstpointer user_data)
{
    g_autoptr(GDir) dir = g_dir_open(fixture->folder, 0, NULL);
    const char *name;

    drover_log_set_fd(STDERR_FILENO);
    drover_log_set_level(DROVER_LOG_INFO);
    while ((name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *path = g_build_filename(fixture->folder, name, NULL);
        g_unlink(path);
    }
    g_rmdir(fixture->folder);
    g_free(fixture->folder);
    g_free(fixture->log);
    drover_config_report_free(fixture->report);
}

/* Writes the text to a file of that name, with the folder for @, and uses it. */
static gboolean
use(Fixture *fixture, const char *name, const char *text)
{
    g_auto(GStrv) parts = g_strsplit(text, "@", -1);
    g_autofree char *full = g_strjoinv(fixture->folder, parts);
    g_autofree char *path = g_build_filename(fixture->folder, name, NULL);

    g_assert_true(g_file_set_contents(path, full, -1, NULL));
    return drover_log_config_use(path, fixture->report);
}

static char *
problems(Fixture *fixture)
{
    const GPtrArray *list = drover_config_report_problems(fixture->report);
    GString *text = g_string_new(NULL);

    for (guint i = 0; i < list->len; i++) {
        g_autofree char *line = drover_config_problem_text(list->pdata[i]);
        g_string_append_printf(text, "%s\n", line);
    }
    return g_string_free(text, FALSE);
}

static void
assert_clean(Fixture *fixture)
{
    g_autofree char *text = problems(fixture);

    g_assert_cmpstr(text, ==, "");
}

static char *
contents(Fixture *fixture, const char *name)
{
    g_autofree char *path = g_build_filename(fixture->folder, name, NULL);
    char *text = NULL;

    g_file_get_contents(path, &text, NULL, NULL);
    return text;
}

static void
assert_contents(Fixture *fixture, const char *name, const char *expected)
{
    g_autofree char *text = contents(fixture, name);

    g_assert_cmpstr(text, ==, expected);
}

/* ---- What is honoured ---- */

static const char dict[] = "version: 1\n"
                           "formatters:\n"
                           "  short: {format: '%(levelname)-8s|%(name)s|%(message)s'}\n"
                           "handlers:\n"
                           "  file:\n"
                           "    class: logging.FileHandler\n"
                           "    filename: '@/log'\n"
                           "    formatter: short\n"
                           "  alarm:\n"
                           "    class: logging.handlers.WatchedFileHandler\n"
                           "    filename: '@/alarm'\n"
                           "    level: ERROR\n"
                           "loggers:\n"
                           "  nodepool: {level: INFO, handlers: [file, alarm]}\n"
                           "  nodepool.zk: {level: WARNING}\n"
                           "  nodepool.quiet: {level: DEBUG, propagate: false, handlers: [alarm]}\n"
                           "root: {level: ERROR, handlers: []}\n";

static const char ini[] = "# a comment\n"
                          "[formatters]\nkeys = short\n"
                          "[handlers]\nkeys = file, alarm\n"
                          "[loggers]\nkeys = root,nodepool,zk, quiet\n"
                          "[formatter_short]\nformat=%(levelname)-8s|%(name)s|%(message)s\n"
                          "[handler_file]\nclass: FileHandler\nformatter: short\n"
                          "args: ('@/log', 'a')\n"
                          "[handler_alarm]\nclass=handlers.WatchedFileHandler\nlevel=ERROR\n"
                          "args=(\n  '@/alarm',\n  )\n"
                          "[logger_root]\nlevel=ERROR\nhandlers=\n"
                          "[logger_nodepool]\nlevel=INFO\nhandlers=file,alarm\nqualname=nodepool\n"
                          "[logger_zk]\nlevel=WARNING\nhandlers=\nqualname=nodepool.zk\n"
                          "[logger_quiet]\nlevel=DEBUG\nhandlers=alarm\npropagate=0\n"
                          "qualname=nodepool.quiet\n";

static const struct {
    const char *file, *text;
} forms[] = {{"l.yaml", dict}, {"logging.conf", ini}};

static void
test_forms(Fixture *fixture, gconstpointer user_data)
{
    guint form = GPOINTER_TO_UINT(user_data);

    g_assert_true(use(fixture, forms[form].file, forms[form].text));
    assert_clean(fixture);
    drover_log_for(DROVER_LOG_INFO, "NodePool", "one\ntwo");
    drover_log_for(DROVER_LOG_DEBUG, "NodePool", "hidden");
    drover_log_for(DROVER_LOG_INFO, "zk.cache", "hidden");
    drover_log_for(DROVER_LOG_WARNING, "zk.cache", "three");
    drover_log_for(DROVER_LOG_DEBUG, "quiet", "hidden, too low for the handler");
    drover_log_for(DROVER_LOG_ERROR, "quiet", "four");
    assert_contents(fixture, "log",
                    "INFO    |nodepool.NodePool|one\ntwo\n"
                    "WARNING |nodepool.zk.cache|three\n");
    assert_contents(fixture, "alarm", "four\n");
    g_assert_true(drover_log_enabled(DROVER_LOG_DEBUG));
}

static void
test_json(Fixture *fixture, gconstpointer user_data)
{
    g_autofree char *text = NULL;

    g_assert_true(use(fixture, "l.json",
                      "{\"version\": 1, \"disable_existing_loggers\": false,\n"
                      " \"formatters\": {\"f\": {\"datefmt\": \"%H:%M\", \"format\":"
                      " \"%(asctime)s %(process)d %(threadName)s %(msecs)03d 100%% %(message)s\"}},"
                      "\n \"handlers\": {\"h\": {\"class\": \"logging.FileHandler\","
                      " \"mode\": \"w\", \"formatter\": \"f\", \"filename\": \"@/log\"}},\n"
                      " \"root\": {\"level\": \"INFO\", \"handlers\": [\"h\"]}}"));
    assert_clean(fixture);
    drover_log_for(DROVER_LOG_INFO, "a", "x");
    text = contents(fixture, "log");
    g_assert_true(
        g_regex_match_simple("^\\d\\d:\\d\\d \\d+ MainThread \\d{3} 100% x\n$", text, 0, 0));
}

/* Nodepool's own class formats each line. */
static void
test_several_lines(Fixture *fixture, gconstpointer user_data)
{
    g_assert_true(use(fixture, "l.yaml",
                      "version: 1\n"
                      "formatters:\n"
                      "  f: {class: nodepool.logconfig.MultiLineFormatter,\n"
                      "      format: '%(levelname)s: %(message)s'}\n"
                      "handlers:\n"
                      "  h: {class: logging.FileHandler, filename: '@/log', formatter: f}\n"
                      "root: {level: INFO, handlers: [h]}\n"));
    drover_log_for(DROVER_LOG_INFO, "a", "one\ntwo\nthree");
    assert_contents(fixture, "log", "INFO: one\nINFO:   two\nINFO:   three\n");
}

static void
test_by_size(Fixture *fixture, gconstpointer user_data)
{
    g_assert_true(use(fixture, "l.yaml",
                      "version: 1\n"
                      "handlers:\n"
                      "  h: {class: logging.handlers.RotatingFileHandler, filename: '@/log',\n"
                      "      maxBytes: 10, backupCount: 2}\n"
                      "root: {level: INFO, handlers: [h]}\n"));
    for (guint i = 1; i <= 9; i++)
        drover_log_for(DROVER_LOG_INFO, "a", "%u..", i);
    assert_contents(fixture, "log", "9..\n");
    assert_contents(fixture, "log.1", "7..\n8..\n");
    assert_contents(fixture, "log.2", "5..\n6..\n");
    assert_contents(fixture, "log.3", NULL);
}

static void
test_by_time(Fixture *fixture, gconstpointer user_data)
{
    /* The file was begun two days ago; others that were put aside are older. */
    const struct {
        const char *name;
        gboolean stays;
    } old[] = {{"log.2020-01-01", FALSE}, {"log.2020-01-02", TRUE}, {"log.other", TRUE}};
    g_autoptr(GDateTime) now = g_date_time_new_now_local();
    g_autoptr(GDateTime) begun = g_date_time_add_days(now, -2);
    g_autofree char *aside = g_date_time_format(begun, "log.%Y-%m-%d");
    gint64 seconds = g_date_time_to_unix(begun);
    struct utimbuf times = {seconds, seconds};

    for (guint i = 0; i < G_N_ELEMENTS(old); i++) {
        g_autofree char *path = g_build_filename(fixture->folder, old[i].name, NULL);
        g_assert_true(g_file_set_contents(path, "", 0, NULL));
    }
    g_assert_true(g_file_set_contents(fixture->log, "before\n", -1, NULL));
    g_assert_cmpint(g_utime(fixture->log, &times), ==, 0);
    g_assert_true(use(fixture, "logging.conf",
                      "[formatters]\nkeys=\n[loggers]\nkeys=root\n[handlers]\nkeys=h\n"
                      "[logger_root]\nlevel=INFO\nhandlers=h\n"
                      "[handler_h]\nclass=logging.handlers.TimedRotatingFileHandler\n"
                      "args=('@/log', 'midnight')\nkwargs={'backupCount': 2}\n"));
    assert_clean(fixture);
    drover_log_for(DROVER_LOG_INFO, "a", "after");
    drover_log_for(DROVER_LOG_INFO, "a", "after");
    assert_contents(fixture, "log", "after\nafter\n");
    assert_contents(fixture, aside, "before\n");
    for (guint i = 0; i < G_N_ELEMENTS(old); i++) {
        g_autofree char *path = g_build_filename(fixture->folder, old[i].name, NULL);
        g_assert_true(g_file_test(path, G_FILE_TEST_EXISTS) == old[i].stays);
    }
}

static void
test_syslog(Fixture *fixture, gconstpointer user_data)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    char text[64] = "";

    g_snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", fixture->folder);
    g_assert_cmpint(bind(fd, (struct sockaddr *)&address, sizeof(address)), ==, 0);
    g_assert_true(use(fixture, "l.yaml",
                      "version: 1\n"
                      "handlers:\n"
                      "  h: {class: logging.handlers.SysLogHandler, address: '@/socket',\n"
                      "      facility: local3}\n"
                      "root: {level: INFO, handlers: [h]}\n"));
    drover_log_for(DROVER_LOG_WARNING, "a", "hello");
    g_assert_cmpint(recv(fd, text, sizeof(text) - 1, 0), ==, strlen("<156>hello") + 1);
    g_assert_cmpstr(text, ==, "<156>hello");
    close(fd);
    drover_log_for(DROVER_LOG_WARNING, "a", "nobody is there");
}

/* ---- What is not ---- */

/* The file of a form, and the parts of a message. */
static const struct {
    const char *file, *text, *message;
} mistakes[] = {
    {"l.yaml", "version: 1\nhandlers: [\n", "l.yaml:3:"},
    {"l.yaml", "root: {level: INFO}\n", "version: must be there, and be 1"},
    {"l.yaml", "version: 1\nroot: {level: LOUD}\n", "l.yaml:2:15: error: level: must be DEBUG"},
    {"l.yaml", "version: 1\nroot: {handlers: [x]}\n",
     "l.yaml:2:18: error: handlers: there is no handler x"},
    {"l.yaml", "version: 1\nroot: {handler: x}\n", "handler: is no option of a logger"},
    {"l.yaml", "version: 1\nloggers: []\n", "loggers: must be a map"},
    {"l.yaml", "version: 1\nformatters:\n  f:\n    format: '%(module)s'\n",
     "l.yaml:4:13: error: format: %(module)s: is not supported"},
    {"l.yaml", "version: 1\nformatters:\n  f: {format: '%(message)d'}\n", "this conversion"},
    {"l.yaml", "version: 1\nformatters:\n  f: {format: '100%'}\n", "must have the form"},
    {"l.yaml", "version: 1\nformatters:\n  f: {style: '{'}\n", "only the style %"},
    {"l.yaml", "version: 1\nhandlers:\n  h: {level: INFO}\n", "class is missing"},
    {"l.yaml", "version: 1\nhandlers:\n  h: {class: logging.FileHandler}\n", "filename is missing"},
    {"l.yaml", "version: 1\nhandlers:\n  h: {class: logging.FileHandler, filename: /none/x}\n",
     "cannot write the log file /none/x"},
    {"l.yaml", "version: 1\nhandlers:\n  h: {class: logging.StreamHandler, stream: cfg://x}\n",
     "l.yaml:3:45: error: stream: must be"},
    {"l.yaml", "version: 1\nhandlers:\n  h: {class: logging.NullHandler, formatter: f}\n",
     "there is no formatter f"},
    {"l.yaml", "version: 1\nhandlers:\n  h: {class: logging.NullHandler, colour: red}\n",
     "colour: is no option of this class"},
    {"l.yaml",
     "version: 1\nhandlers:\n  h: {class: logging.handlers.TimedRotatingFileHandler,\n"
     "      filename: '@/x', when: W7}\n",
     "error: when: must be S"},
    {"l.yaml",
     "version: 1\nhandlers:\n  h: {class: logging.handlers.RotatingFileHandler,\n"
     "      filename: '@/x', maxBytes: many}\n",
     "maxBytes: must be a number"},
    {"l.yaml", "version: 1\nhandlers:\n  h: {class: logging.handlers.SysLogHandler, facility: x}\n",
     "facility: is no facility"},
    {"l.conf", "what is this\n", "l.conf:1:1: error: must be [section]"},
    {"l.conf", "[loggers]\nkeys=root\n", "there is no section [formatters]"},
    {"l.conf", "[formatters]\nkeys=f\n[handlers]\nkeys=\n[loggers]\nkeys=\n",
     "l.conf:2:1: error: there is no section [formatter_f]"},
    {"l.conf",
     "[formatters]\nkeys=\n[loggers]\nkeys=\n[handlers]\nkeys=h\n"
     "[handler_h]\nclass=FileHandler\nargs=('x\n",
     "l.conf:9:1: error: [handler_h] args: must be values"},
    {"l.conf",
     "[formatters]\nkeys=\n[loggers]\nkeys=\n[handlers]\nkeys=h\n"
     "[handler_h]\nclass=StreamHandler\nargs=(sys.stderr, 1)\n",
     "must be values"},
};

static void
test_mistakes(Fixture *fixture, gconstpointer user_data)
{
    for (guint i = 0; i < G_N_ELEMENTS(mistakes); i++) {
        g_autofree char *found = NULL;

        drover_config_report_free(fixture->report);
        fixture->report = drover_config_report_new();
        g_assert_false(use(fixture, mistakes[i].file, mistakes[i].text));
        found = problems(fixture);
        if (strstr(found, mistakes[i].message) == NULL)
            g_error("no \"%s\" among the problems of\n%s\n%s", mistakes[i].message,
                    mistakes[i].text, found);
    }
}

static void
test_unknown_classes(Fixture *fixture, gconstpointer user_data)
{
    g_autofree char *found = NULL;

    g_assert_true(use(fixture, "l.yaml",
                      "version: 1\n"
                      "filters: {}\n"
                      "handlers:\n"
                      "  h: {class: site.handlers.Pager, number: 7}\n"
                      "loggers:\n"
                      "  other: {handlers: [h]}\n"));
    found = problems(fixture);
    g_assert_nonnull(strstr(found, "l.yaml:2:10: warning: filters: filters are not supported"));
    g_assert_nonnull(strstr(found, "l.yaml:4:14: warning: class: site.handlers.Pager is not "
                                   "supported; its messages go to standard error"));
}

static void
test_missing(Fixture *fixture, gconstpointer user_data)
{
    g_autofree char *found = NULL;

    g_assert_false(drover_log_config_use("/nonexistent.yaml", fixture->report));
    found = problems(fixture);
    g_assert_nonnull(strstr(found, "Unable to read logging config file at /nonexistent.yaml"));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, data, function)                                                                  \
    g_test_add("/config/logging/" path, Fixture, data, set_up, function, tear_down)
    ADD("CLI-57-dictionary", GUINT_TO_POINTER(0), test_forms);
    ADD("CLI-57-ini-file", GUINT_TO_POINTER(1), test_forms);
    ADD("CLI-57-json", NULL, test_json);
    ADD("CLI-59-several-lines", NULL, test_several_lines);
    ADD("by-size", NULL, test_by_size);
    ADD("by-time", NULL, test_by_time);
    ADD("syslog", NULL, test_syslog);
    ADD("CLI-57-mistakes", NULL, test_mistakes);
    ADD("unknown-classes", NULL, test_unknown_classes);
    ADD("CLI-57-missing", NULL, test_missing);
    return g_test_run();
}
