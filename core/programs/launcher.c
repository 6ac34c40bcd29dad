/* drover-launcher: signals, and the core loop. */
#include <glib-unix.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "base/process.h"
#include "launcher/commands.h"
#include "programs/daemon.h"
#include "programs/launcher-options.h"
#include "programs/program.h"
#include "programs/service.h"
#include "programs/threads.h"
#include "web/web.h"

typedef struct {
    GMainLoop *loop;
    DroverLauncher *launcher;
    DroverWeb *web;
    DroverCommandServer *commands; /* NULL without a socket */
    gboolean stopping;             /* a signal said so */
} Program;

static gboolean
on_stop_signal(gpointer user_data)
{
    Program *program = user_data;

    /* The second one does not wait. */
    if (program->stopping) {
        drover_daemon_end();
        _exit(EXIT_SUCCESS);
    }
    program->stopping = TRUE;
    drover_service_stopping();
    drover_launcher_stop(program->launcher);
    return G_SOURCE_CONTINUE;
}

static gboolean
on_reload_signal(gpointer user_data)
{
    drover_launcher_reload(((Program *)user_data)->launcher, NULL, NULL);
    return G_SOURCE_CONTINUE;
}

static void
log_dump(const char *line)
{
    drover_log_for(DROVER_LOG_INFO, "stack_dump", "%s", line);
}

static gboolean
on_dump_signal(gpointer user_data)
{
    g_autofree char *numbers = drover_launcher_dump(((Program *)user_data)->launcher);
    g_auto(GStrv) threads = threads_describe();

    log_dump("Beginning debug handler");
    log_dump(numbers);
    for (guint i = 0; threads[i] != NULL; i++)
        log_dump(threads[i]);
    log_dump("End debug handler");
    return G_SOURCE_CONTINUE;
}

/* A signal that comes before the launcher is there waits until the loop runs. */
static void
watch_signals(Program *program)
{
    g_unix_signal_add(SIGINT, on_stop_signal, program);
    g_unix_signal_add(SIGTERM, on_stop_signal, program);
    g_unix_signal_add(SIGUSR1, on_stop_signal, program);
    g_unix_signal_add(SIGHUP, on_reload_signal, program);
    g_unix_signal_add(SIGUSR2, on_dump_signal, program);
}

static void
clear(Program *program)
{
    g_clear_pointer(&program->commands, drover_command_server_free);
    g_clear_pointer(&program->web, drover_web_free);
    g_clear_pointer(&program->launcher, drover_launcher_free);
    g_clear_pointer(&program->loop, g_main_loop_unref);
}

static void
run(Program *program)
{
    drover_daemon_ready();
    drover_service_ready();
    g_main_loop_run(program->loop);
    drover_service_stopping();
    clear(program);
    drover_log_for(DROVER_LOG_INFO, "NodePool", "Stopped");
}

/* One that nobody asked for is not worth a launcher that does not start. */
static gboolean
serve_commands(Program *program, const LauncherOptions *options, GError **error)
{
    g_autoptr(GError) problem = NULL;

    if (options->command_socket == NULL)
        return TRUE;
    program->commands =
        drover_launcher_serve_commands(program->launcher, options->command_socket, &problem);
    if (program->commands != NULL)
        return TRUE;
    if (!options->socket_is_default) {
        g_propagate_error(error, g_steal_pointer(&problem));
        return FALSE;
    }
    drover_log_for(DROVER_LOG_WARNING, "NodePool", "No commands are taken: %s", problem->message);
    return TRUE;
}

static gboolean
serve_web(Program *program, const LauncherOptions *options, GError **error)
{
    const DroverWebOptions web = {.no_status = options->no_webapp};

    program->web = drover_web_new(program->launcher, &web, error);
    return program->web != NULL;
}

/* Nothing has been started yet. In the background this returns in the daemon. */
static gboolean
set_up_process(const LauncherOptions *options, GError **error)
{
    if (options->background && !drover_daemon_begin(options->pid_file, error))
        return FALSE;
    if (options->debug)
        drover_log_set_level(DROVER_LOG_DEBUG);
    drover_log_set_form(options->log_form);
    if (options->log_form_given || !drover_log_set_journal(STDOUT_FILENO))
        drover_log_set_fd(STDOUT_FILENO);
    return options->log_file == NULL || drover_log_set_file(options->log_file, error);
}

static gboolean
begin(Program *program, const LauncherOptions *options, GError **error)
{
    GMainLoop *loop = g_main_loop_new(NULL, FALSE);
    const DroverLauncherOptions launcher = {.config_path = options->config,
                                            .secure_path = options->secure,
                                            .state_dir = options->state_dir,
                                            .sync_interval = (guint)options->sync_interval,
                                            .cleanup_interval = (guint)options->cleanup_interval,
                                            .delete_timeout = (guint)options->delete_timeout,
                                            .stop_limit = (guint)options->stop_timeout,
                                            .stopped = (DroverLauncherFunc)g_main_loop_quit,
                                            .stopped_data = loop};

    program->loop = loop;
    watch_signals(program);
    drover_log_for(DROVER_LOG_INFO, "NodePool", "Starting drover-launcher %s", DROVER_VERSION);
    if (options->repl)
        drover_log_for(DROVER_LOG_WARNING, "NodePool", "There is no console for --repl");
    program->launcher = drover_launcher_new(&launcher, error);
    return program->launcher != NULL && serve_web(program, options, error) &&
           serve_commands(program, options, error);
}

static int
work(const LauncherOptions *options)
{
    g_autoptr(GError) error = NULL;
    Program program = {0};
    int status = EXIT_SUCCESS;

    drover_process_allow_files();
    if (!set_up_process(options, &error))
        status = program_fail(options->program, error->message);
    else if (options->log_config != NULL &&
             !program_use_log_config(options->program, options->log_config))
        status = EXIT_FAILURE;
    else if (!begin(&program, options, &error))
        status = program_fail(options->program, error->message);
    else
        run(&program);
    clear(&program);
    drover_daemon_end();
    return status;
}

int
main(int argc, char **argv)
{
    g_auto(LauncherOptions) options = {0};
    g_autoptr(GError) error = NULL;

    setlocale(LC_ALL, "");
    setlocale(LC_NUMERIC, "C");
    if (!launcher_options_parse(&options, argc, argv, &error)) {
        fprintf(stderr, "%s: error: %s\nTry %s --help.\n", options.program, error->message,
                options.program);
        return 2;
    }
    if (options.version) {
        program_print_version(options.program);
        return EXIT_SUCCESS;
    }
    return work(&options);
}
