/*
 * The commands of `drover`: one table of them all, and what every command may use. A command
 * prints its result on standard output and returns the exit status: 0 done, also for "not found"
 * notices of Nodepool's commands; 1 failed; 2 used wrongly.
 */
#pragma once

#include "base/json.h"
#include "cli/output.h"
#include "cli/row-table.h"
#include "cli/store.h"
#include "driver/host.h"

typedef struct _DroverCommand DroverCommand;

typedef struct {
    const char *program; /* as it was called: "drover", "nodepool" */
    const char *config_path, *secure_path;
    gboolean json;
    guint connect_timeout; /* seconds, 0: for ever */

    const DroverCommand *command; /* the one that is run */
    const char *second_argument;  /* of it; NULL when it was left out */

    /* Made when asked for. */
    DroverDriverHost *drivers;
    DroverConfig *config;
    DroverStore *store; /* connected before a command runs that needs it */
} DroverCli;

struct _DroverCommand {
    const char *name;    /* one word, or two: "request submit" */
    const char *summary; /* one line of the help */
    /* The word that it takes, as the help calls it; in brackets when it may be left out; NULL:
     * none. */
    const char *argument;
    const char *second_argument; /* likewise; NULL without a first one */
    const GOptionEntry *options; /* beyond --json and --help; set variables of the command's file */
    /* In options and argument, a sentence; may be NULL. */
    const char *(*find_mistake)(const char *argument);
    gboolean needs_store;
    /* `argument` is NULL when it was left out. */
    int (*run)(DroverCli *cli, const char *argument);
};

extern const DroverCommand drover_list_command, drover_image_list_command,
    drover_dib_image_list_command, drover_image_status_command, drover_dib_request_list_command,
    drover_image_build_command, drover_image_pause_command, drover_image_unpause_command,
    drover_image_delete_command, drover_dib_image_delete_command, drover_alien_image_list_command,
    drover_erase_command, drover_export_image_data_command, drover_import_image_data_command,
    drover_hold_command, drover_delete_command, drover_info_command, drover_config_validate_command,
    drover_driver_list_command, drover_driver_info_command, drover_request_list_command,
    drover_request_submit_command, drover_request_show_command, drover_request_release_command,
    drover_explain_command, drover_watch_command, drover_top_command,
    drover_launcher_status_command, drover_launcher_pause_command, drover_launcher_unpause_command,
    drover_launcher_graceful_command, drover_launcher_stop_command,
    drover_launcher_reconfigure_command, drover_launcher_explain_command,
    drover_launcher_log_level_command, drover_launcher_dump_command,
    drover_launcher_profile_command;

/* Runs the command that the words begin with. Returns the exit status. */
int drover_cli_run(DroverCli *cli, const char *const *words);
void drover_cli_clear(DroverCli *cli);
/* All commands, for the help. Free with g_free. */
char *drover_cli_describe_commands(void);

/* ---- For commands ---- */

/*
 * A failure: one line, "<program>: <message>", on standard error; with --json also an object with
 * the member "error" on standard output. Returns 1.
 */
int drover_cli_fail(const DroverCli *cli, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* The command line makes no sense: usage and message on standard error. `command` may be NULL.
 * Returns 2. */
int drover_cli_misused(const DroverCli *cli, const DroverCommand *command, const char *format, ...)
    G_GNUC_PRINTF(3, 4);
/* A line for people that is no failure: on standard error when the output is JSON. */
void drover_cli_notice(const DroverCli *cli, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* The rows as JSON or as a table. Takes them over. */
void drover_cli_print_rows(const DroverCli *cli, const DroverColumn *columns, json_t *rows);

DroverDriverHost *drover_cli_drivers(DroverCli *cli);
/*
 * Loads the configuration; what is wrong with it goes to the report. `strict` as for
 * drover_config_load(). NULL when it cannot be used.
 */
DroverConfig *drover_cli_load_config(DroverCli *cli, gboolean strict, DroverConfigReport *report);
