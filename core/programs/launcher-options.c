#include "programs/launcher-options.h"

#include <string.h>

#include "base/error.h"
#include "config/file.h"

#define DEFAULT_CONFIG    "/etc/nodepool/nodepool.yaml"
#define DEFAULT_PID_FILE  "/var/run/nodepool/nodepool.pid"
#define DEFAULT_LOG_FILE  "/var/log/nodepool/nodepool.log"
#define DEFAULT_STATE_DIR "/var/lib/drover/launcher"
#define DEFAULT_STOP      30
#define SOCKET_NAME       "command.sock"

/* What is on the command line and not in the result. */
typedef struct {
    gboolean foreground, no_state, no_webapp;
    char *log_format;
} Raw;

static gboolean
parse(LauncherOptions *options, Raw *raw, char ***words, GError **error)
{
    const GOptionEntry entries[] = {
        {"config", 'c', 0, G_OPTION_ARG_FILENAME, &options->config,
         "Configuration (default " DEFAULT_CONFIG ")", "FILE"},
        {"secure", 's', 0, G_OPTION_ARG_FILENAME, &options->secure, "Secure configuration", "FILE"},
        {"debug", 'd', 0, G_OPTION_ARG_NONE, &options->debug,
         "Stay in the foreground and log debug messages", NULL},
        {"foreground", 'f', 0, G_OPTION_ARG_NONE, &raw->foreground,
         "Stay in the foreground (default)", NULL},
        {"background", 0, 0, G_OPTION_ARG_NONE, &options->background,
         "Go to the background (default under the name nodepool-launcher)", NULL},
        {"pid-file", 'p', 0, G_OPTION_ARG_FILENAME, &options->pid_file,
         "In the background: the pid file (default " DEFAULT_PID_FILE ")", "FILE"},
        {"log-config", 'l', 0, G_OPTION_ARG_FILENAME, &options->log_config,
         "Logging configuration of Python", "FILE"},
        {"log-file", 0, 0, G_OPTION_ARG_FILENAME, &options->log_file,
         "Append the log to FILE instead of standard output (background: "
         "default " DEFAULT_LOG_FILE ")",
         "FILE"},
        {"log-format", 0, 0, G_OPTION_ARG_STRING, &raw->log_format,
         "text, logfmt or json (default text; the journal's own fields where that is read)",
         "FORMAT"},
        {"state-dir", 0, 0, G_OPTION_ARG_FILENAME, &options->state_dir,
         "Folder for what survives a restart (default " DEFAULT_STATE_DIR ")", "DIR"},
        {"no-state", 0, 0, G_OPTION_ARG_NONE, &raw->no_state,
         "Keep nothing: a restart begins a new ZooKeeper session", NULL},
        {"command-socket", 0, 0, G_OPTION_ARG_FILENAME, &options->command_socket,
         "Socket of \"drover launcher ...\" (default " SOCKET_NAME " in the state folder)", "FILE"},
        {"sync-interval", 0, 0, G_OPTION_ARG_INT, &options->sync_interval,
         "Seconds between comparisons of inventories (default 60)", "SECONDS"},
        {"cleanup-interval", 0, 0, G_OPTION_ARG_INT, &options->cleanup_interval,
         "Seconds between cleanups (default 60)", "SECONDS"},
        {"delete-timeout", 0, 0, G_OPTION_ARG_INT, &options->delete_timeout,
         "Seconds in which a machine has to be deleted, before it is tried again (default 600)",
         "SECONDS"},
        {"stop-timeout", 0, 0, G_OPTION_ARG_INT, &options->stop_timeout,
         "Longest orderly stop (default 30)", "SECONDS"},
        {"no-webapp", 0, 0, G_OPTION_ARG_NONE, &raw->no_webapp,
         "No status pages, whatever the configuration says", NULL},
        {"repl", 0, 0, G_OPTION_ARG_NONE, &options->repl,
         "Means nothing here (for Nodepool's sake)", NULL},
        {"version", 0, 0, G_OPTION_ARG_NONE, &options->version, "Print the version", NULL},
        G_OPTION_ENTRY_NULL,
    };
    g_autoptr(GOptionContext) context = g_option_context_new(NULL);

    g_option_context_set_summary(context, "Serves node requests from ready machines.");
    g_option_context_add_main_entries(context, entries, NULL);
    return g_option_context_parse_strv(context, words, error);
}

static gboolean
refuse(GError **error, const char *message)
{
    g_set_error_literal(error, DROVER_ERROR, DROVER_ERROR_FAILED, message);
    return FALSE;
}

static gboolean
check(LauncherOptions *options, const Raw *raw, char **words, GError **error)
{
    if (g_strv_length(words) > 1) {
        g_set_error(error, DROVER_ERROR, DROVER_ERROR_FAILED, "unrecognized argument: %s",
                    words[1]);
        return FALSE;
    }
    if (options->background && (options->debug || raw->foreground))
        return refuse(error, "--background excludes -d and -f");
    if (options->log_config != NULL && options->log_file != NULL)
        return refuse(error, "--log-file excludes -l");
    if (raw->log_format != NULL && options->log_config != NULL)
        return refuse(error, "--log-format excludes -l");
    if (raw->log_format != NULL && !drover_log_form_from_name(raw->log_format, &options->log_form))
        return refuse(error, "--log-format is text, logfmt or json");
    if (options->state_dir != NULL && raw->no_state)
        return refuse(error, "--state-dir excludes --no-state");
    return TRUE;
}

static void
make_absolute(char **path)
{
    char *absolute = *path != NULL ? drover_config_path(*path) : NULL;

    g_free(*path);
    *path = absolute;
}

static void
set_default(char **value, const char *otherwise)
{
    if (*value == NULL)
        *value = g_strdup(otherwise);
}

static void
fill(LauncherOptions *options, const Raw *raw)
{
    char **const paths[] = {&options->config,        &options->secure,   &options->log_config,
                            &options->log_file,      &options->pid_file, &options->state_dir,
                            &options->command_socket};

    for (guint i = 0; i < G_N_ELEMENTS(paths); i++)
        make_absolute(paths[i]);
    if (options->compatible && !options->debug && !raw->foreground)
        options->background = TRUE;
    set_default(&options->config, DEFAULT_CONFIG);
    set_default(&options->pid_file, DEFAULT_PID_FILE);
    if (options->background && options->log_config == NULL)
        set_default(&options->log_file, DEFAULT_LOG_FILE);
    if (!raw->no_state)
        set_default(&options->state_dir, DEFAULT_STATE_DIR);
    options->no_webapp = raw->no_webapp;
    options->log_form_given = raw->log_format != NULL;
    options->socket_is_default = options->command_socket == NULL;
    if (options->socket_is_default && options->state_dir != NULL)
        options->command_socket = g_build_filename(options->state_dir, SOCKET_NAME, NULL);
    if (options->stop_timeout <= 0)
        options->stop_timeout = DEFAULT_STOP;
    options->sync_interval = MAX(options->sync_interval, 0);
    options->cleanup_interval = MAX(options->cleanup_interval, 0);
    options->delete_timeout = MAX(options->delete_timeout, 0);
}

gboolean
launcher_options_parse(LauncherOptions *options, int argc, char **argv, GError **error)
{
    g_auto(GStrv) words = g_strdupv(argv);
    Raw raw = {0};
    gboolean understood;

    *options = (LauncherOptions){.program = "drover-launcher"};
    if (argc > 0) {
        const char *slash = strrchr(argv[0], '/');
        options->program = slash != NULL ? slash + 1 : argv[0];
    }
    options->compatible = g_str_has_prefix(options->program, "nodepool");
    g_set_prgname(options->program);
    understood = parse(options, &raw, &words, error) && check(options, &raw, words, error);
    if (understood)
        fill(options, &raw);
    g_free(raw.log_format);
    return understood;
}

void
launcher_options_clear(LauncherOptions *options)
{
    g_free(options->config);
    g_free(options->secure);
    g_free(options->log_config);
    g_free(options->log_file);
    g_free(options->pid_file);
    g_free(options->state_dir);
    g_free(options->command_socket);
}
