/* The command line of the launcher. */
#pragma once

#include "base/log.h"

typedef struct {
    const char *program; /* as it was called: "drover-launcher", "nodepool-launcher" */
    gboolean compatible; /* called by Nodepool's name: behaves as that program does */

    /* Paths are absolute, since the working directory changes. NULL: not given. */
    char *config, *secure, *log_config, *log_file, *pid_file, *state_dir, *command_socket;
    gboolean socket_is_default; /* command_socket was not given */
    gboolean debug, background, version, repl, no_webapp;
    DroverLogForm log_form;
    gboolean log_form_given;
    gint sync_interval, cleanup_interval, delete_timeout; /* seconds; 0: not given */
    gint stop_timeout;                                    /* seconds */
} LauncherOptions;

/* FALSE with an error when the words make no sense. `argv` stays. */
gboolean launcher_options_parse(LauncherOptions *options, int argc, char **argv, GError **error);
void launcher_options_clear(LauncherOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LauncherOptions, launcher_options_clear)
