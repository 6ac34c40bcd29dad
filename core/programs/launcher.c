/* drover-launcher: options, signals, and the core loop. */
#include <glib-unix.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "launcher/launcher.h"

#define DEFAULT_CONFIG    "/etc/nodepool/nodepool.yaml"
#define DEFAULT_STATE_DIR "/var/lib/drover/launcher"
#define DEFAULT_STOP      30

typedef struct {
    GMainLoop *loop;
    DroverLauncher *launcher;
    guint stop_limit;
    gboolean stopping;
} Program;

static gboolean
on_stop_signal(gpointer user_data)
{
    Program *program = user_data;

    /* The second one does not wait. */
    if (program->stopping)
        _exit(EXIT_SUCCESS);
    program->stopping = TRUE;
    drover_launcher_stop(program->launcher, program->stop_limit,
                         (DroverLauncherFunc)g_main_loop_quit, program->loop);
    return G_SOURCE_CONTINUE;
}

static gboolean
on_reload_signal(gpointer user_data)
{
    drover_launcher_reload(((Program *)user_data)->launcher);
    return G_SOURCE_CONTINUE;
}

static gboolean
on_dump_signal(gpointer user_data)
{
    g_autofree char *text = drover_launcher_dump(((Program *)user_data)->launcher);

    drover_log_for(DROVER_LOG_INFO, "stack_dump", "%s", text);
    return G_SOURCE_CONTINUE;
}

static void
run(Program *program)
{
    program->loop = g_main_loop_new(NULL, FALSE);
    g_unix_signal_add(SIGINT, on_stop_signal, program);
    g_unix_signal_add(SIGTERM, on_stop_signal, program);
    g_unix_signal_add(SIGUSR1, on_stop_signal, program);
    g_unix_signal_add(SIGHUP, on_reload_signal, program);
    g_unix_signal_add(SIGUSR2, on_dump_signal, program);
    g_main_loop_run(program->loop);
    g_main_loop_unref(program->loop);
}

int
main(int argc, char **argv)
{
    g_autofree char *config = NULL, *secure = NULL, *log_file = NULL, *state_dir = NULL;
    gboolean debug = FALSE, foreground = FALSE, version = FALSE, no_state = FALSE;
    gint sync_interval = 0, cleanup_interval = 0, stop_limit = DEFAULT_STOP;
    const GOptionEntry entries[] = {
        {"config", 'c', 0, G_OPTION_ARG_FILENAME, &config,
         "Configuration (default " DEFAULT_CONFIG ")", "FILE"},
        {"secure", 's', 0, G_OPTION_ARG_FILENAME, &secure, "Secure configuration", "FILE"},
        {"debug", 'd', 0, G_OPTION_ARG_NONE, &debug, "Log debug messages", NULL},
        {"foreground", 'f', 0, G_OPTION_ARG_NONE, &foreground,
         "Stay in the foreground (always; for Nodepool's sake)", NULL},
        {"log-file", 0, 0, G_OPTION_ARG_FILENAME, &log_file,
         "Append the log to FILE instead of standard output", "FILE"},
        {"state-dir", 0, 0, G_OPTION_ARG_FILENAME, &state_dir,
         "Folder for what survives a restart (default " DEFAULT_STATE_DIR ")", "DIR"},
        {"no-state", 0, 0, G_OPTION_ARG_NONE, &no_state,
         "Keep nothing: a restart begins a new ZooKeeper session", NULL},
        {"sync-interval", 0, 0, G_OPTION_ARG_INT, &sync_interval,
         "Seconds between comparisons of inventories (default 60)", "SECONDS"},
        {"cleanup-interval", 0, 0, G_OPTION_ARG_INT, &cleanup_interval,
         "Seconds between cleanups (default 60)", "SECONDS"},
        {"stop-timeout", 0, 0, G_OPTION_ARG_INT, &stop_limit, "Longest orderly stop (default 30)",
         "SECONDS"},
        {"version", 0, 0, G_OPTION_ARG_NONE, &version, "Print the version", NULL},
        G_OPTION_ENTRY_NULL,
    };
    g_autoptr(GOptionContext) context = g_option_context_new(NULL);
    g_autoptr(GError) error = NULL;
    DroverLauncherOptions options = {0};
    Program program = {0};

    setlocale(LC_ALL, "");
    setlocale(LC_NUMERIC, "C");
    g_option_context_set_summary(context, "Serves node requests from ready machines.");
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, &argc, &argv, &error)) {
        fprintf(stderr, "drover-launcher: %s\nTry drover-launcher --help.\n", error->message);
        return 2;
    }
    if (version) {
        printf("drover %s\n", DROVER_VERSION);
        return EXIT_SUCCESS;
    }
    if (debug)
        drover_log_set_level(DROVER_LOG_DEBUG);
    drover_log_set_fd(STDOUT_FILENO);
    if (log_file != NULL && !drover_log_set_file(log_file, &error)) {
        fprintf(stderr, "drover-launcher: %s\n", error->message);
        return EXIT_FAILURE;
    }

    drover_log_for(DROVER_LOG_INFO, "NodePool", "Starting drover-launcher %s", DROVER_VERSION);
    options.config_path = config != NULL ? config : DEFAULT_CONFIG;
    options.secure_path = secure;
    options.state_dir = no_state ? NULL : state_dir != NULL ? state_dir : DEFAULT_STATE_DIR;
    options.sync_interval = (guint)MAX(sync_interval, 0);
    options.cleanup_interval = (guint)MAX(cleanup_interval, 0);
    program.stop_limit = (guint)MAX(stop_limit, 1);
    program.launcher = drover_launcher_new(&options, &error);
    if (program.launcher == NULL) {
        fprintf(stderr, "drover-launcher: %s\n", error->message);
        return EXIT_FAILURE;
    }
    run(&program);
    drover_launcher_free(program.launcher);
    drover_log_for(DROVER_LOG_INFO, "NodePool", "Stopped");
    return EXIT_SUCCESS;
}
