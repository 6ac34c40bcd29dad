/*
 * The commands of `drover`: one table of them all, and what every command may use. A command
 * parses its own options, prints its result on standard output, and returns the exit status:
 * 0 done, also for "not found" notices; 1 failed; 2 used wrongly.
 */
#pragma once

#include "base/json.h"
#include "cli/store.h"
#include "driver/host.h"

typedef struct {
    const char *program; /* as it was called: "drover", "nodepool" */
    const char *config_path, *secure_path;
    gboolean json;
    guint connect_timeout; /* seconds, 0: for ever */

    /* Made when asked for. */
    DroverDriverHost *drivers;
    DroverConfig *config;
    DroverStore *store;
} DroverCli;

typedef struct {
    const char *name;                                  /* one word, or two: "request submit" */
    const char *summary;                               /* one line of the help */
    int (*run)(DroverCli *cli, int argc, char **argv); /* argv[0] is the command */
} DroverCommand;

/* Ends with a NULL name. */
extern const DroverCommand drover_commands[];

/* Runs the command that argv begins with. */
int drover_cli_run(DroverCli *cli, int argc, char **argv);
void drover_cli_clear(DroverCli *cli);
/* All commands, for the help. Free with g_free. */
char *drover_cli_describe_commands(void);

/* ---- For commands ---- */

/*
 * Parses a command's options. `arguments` says what else it takes, for the usage line, and
 * `n_arguments` how many words of it there must be. FALSE: `status` is to be returned.
 */
gboolean drover_cli_parse(DroverCli *cli, int *argc, char ***argv, const GOptionEntry *entries,
                          const char *arguments, int n_arguments, int *status);

/* Prints one line, "<program>: <message>", on standard error and returns 1. */
int drover_cli_fail(const DroverCli *cli, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* Loads the configuration, or connects; NULL after a message: return 1. */
DroverConfig *drover_cli_config(DroverCli *cli);
DroverStore *drover_cli_store(DroverCli *cli);
DroverDriverHost *drover_cli_drivers(DroverCli *cli);
/* For drover_config_load(); `user_data` is the DroverCli. */
const struct drover_driver *drover_cli_find_driver(const char *name, gpointer user_data,
                                                   GError **error);

/* Prints a JSON value and a newline. Takes the value over. */
void drover_cli_print_json(json_t *value);

/* "DD:HH:MM:SS" since that time, seconds since the epoch. Free with g_free. */
char *drover_cli_age(double since);

/* ---- The commands, by topic ---- */

int drover_command_list(DroverCli *cli, int argc, char **argv);
int drover_command_hold(DroverCli *cli, int argc, char **argv);
int drover_command_delete(DroverCli *cli, int argc, char **argv);
int drover_command_info(DroverCli *cli, int argc, char **argv);
int drover_command_request_list(DroverCli *cli, int argc, char **argv);
int drover_command_request_submit(DroverCli *cli, int argc, char **argv);
int drover_command_request_show(DroverCli *cli, int argc, char **argv);
int drover_command_request_release(DroverCli *cli, int argc, char **argv);
int drover_command_config_validate(DroverCli *cli, int argc, char **argv);
int drover_command_driver_list(DroverCli *cli, int argc, char **argv);
int drover_command_driver_info(DroverCli *cli, int argc, char **argv);
