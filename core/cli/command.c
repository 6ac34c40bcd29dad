#include "cli/command.h"

#include <stdio.h>
#include <string.h>

#include "cli/arguments.h"
#include "config/nearest.h"
#include "driver/trial.h"

#define COMMAND_LINE "  %-21s %s\n"

static const DroverCommand *const commands[] = {
    &drover_list_command,
    &drover_request_list_command,
    &drover_request_submit_command,
    &drover_request_show_command,
    &drover_request_release_command,
    &drover_explain_command,
    &drover_watch_command,
    &drover_top_command,
    &drover_hold_command,
    &drover_delete_command,
    &drover_info_command,
    &drover_image_list_command,
    &drover_dib_image_list_command,
    &drover_image_status_command,
    &drover_dib_request_list_command,
    &drover_image_build_command,
    &drover_image_pause_command,
    &drover_image_unpause_command,
    &drover_image_delete_command,
    &drover_dib_image_delete_command,
    &drover_alien_image_list_command,
    &drover_erase_command,
    &drover_export_image_data_command,
    &drover_import_image_data_command,
    &drover_config_validate_command,
    &drover_driver_list_command,
    &drover_driver_info_command,
    &drover_launcher_status_command,
    &drover_launcher_pause_command,
    &drover_launcher_unpause_command,
    &drover_launcher_graceful_command,
    &drover_launcher_stop_command,
    &drover_launcher_reconfigure_command,
    &drover_launcher_explain_command,
    &drover_launcher_log_level_command,
    &drover_launcher_dump_command,
    &drover_launcher_profile_command,
};

char *
drover_cli_describe_commands(void)
{
    GString *out = g_string_new("Commands:\n");

    for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
        g_string_append_printf(out, COMMAND_LINE, commands[i]->name, commands[i]->summary);
    return g_string_free(out, FALSE);
}

/* ---- Messages ---- */

int
drover_cli_fail(const DroverCli *cli, const char *format, ...)
{
    g_autofree char *message = NULL;
    va_list arguments;

    va_start(arguments, format);
    message = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s: %s\n", cli->program, message);
    if (cli->json)
        drover_cli_print_json(json_pack("{s:s}", "error", message));
    return 1;
}

int
drover_cli_misused(const DroverCli *cli, const DroverCommand *command, const char *format, ...)
{
    g_autofree char *message = NULL, *name = NULL, *usage = NULL;
    va_list arguments;

    va_start(arguments, format);
    message = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    if (command == NULL) {
        name = g_strdup(cli->program);
        usage = g_strconcat(name, " [options] COMMAND ...", NULL);
    } else {
        name = g_strdup_printf("%s %s", cli->program, command->name);
        usage =
            g_strjoin(" ", name, "[options]", command->argument, command->second_argument, NULL);
    }
    fprintf(stderr, "usage: %s\n%s: error: %s\n", usage, name, message);
    return 2;
}

void
drover_cli_notice(const DroverCli *cli, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vfprintf(cli->json ? stderr : stdout, format, arguments);
    va_end(arguments);
    fputc('\n', cli->json ? stderr : stdout);
}

void
drover_cli_print_rows(const DroverCli *cli, const DroverColumn *columns, json_t *rows)
{
    if (cli->json) {
        drover_cli_print_json(rows);
        return;
    }
    drover_row_table_print(columns, rows);
    json_decref(rows);
}

/* ---- What commands stand on ---- */

void
drover_cli_clear(DroverCli *cli)
{
    g_clear_pointer(&cli->store, drover_store_close);
    g_clear_pointer(&cli->config, drover_config_unref);
    g_clear_pointer(&cli->drivers, drover_driver_host_free);
}

DroverDriverHost *
drover_cli_drivers(DroverCli *cli)
{
    if (cli->drivers == NULL) {
        g_auto(GStrv) directories = drover_config_peek_driver_directories(cli->config_path);

        cli->drivers = drover_driver_host_new((const char *const *)directories);
    }
    return cli->drivers;
}

static const struct drover_driver *
find_driver(const char *name, gpointer user_data, GError **error)
{
    return drover_driver_host_find(drover_cli_drivers(user_data), name, error);
}

DroverConfig *
drover_cli_load_config(DroverCli *cli, gboolean strict, DroverConfigReport *report)
{
    const DroverConfigDrivers drivers = {find_driver, drover_trial_run, cli};

    return drover_config_load(cli->config_path, cli->secure_path, strict, &drivers, report);
}

/* What loads all the same is the business of config-validate and the launcher. */
static void
print_errors(const DroverConfigReport *report)
{
    const GPtrArray *problems = drover_config_report_problems(report);

    for (guint i = 0; i < problems->len; i++) {
        const DroverConfigProblem *problem = problems->pdata[i];
        g_autofree char *text = drover_config_problem_text(problem);

        if (problem->severity == DROVER_CONFIG_ERROR)
            fprintf(stderr, "%s\n", text);
    }
}

/* Configuration and connection; the exit status when there is none. */
static int
connect_to_store(DroverCli *cli)
{
    g_autoptr(DroverConfigReport) report = drover_config_report_new();
    g_autoptr(GError) error = NULL;

    cli->config = drover_cli_load_config(cli, FALSE, report);
    if (cli->config == NULL) {
        print_errors(report);
        return drover_cli_fail(cli, "the configuration %s cannot be used", cli->config_path);
    }
    cli->store = drover_store_open(cli->config, cli->connect_timeout, &error);
    return cli->store != NULL ? 0 : drover_cli_fail(cli, "%s", error->message);
}

/* ---- One command ---- */

static void
print_help(const DroverCli *cli, const DroverCommand *command, GOptionContext *context)
{
    g_autofree char *name = g_strdup_printf("%s %s", cli->program, command->name);
    g_autofree char *text = NULL;

    g_set_prgname(name);
    text = g_option_context_get_help(context, TRUE, NULL);
    fputs(text, stdout);
}

static int
run_parsed(DroverCli *cli, const DroverCommand *command, const char *const *arguments)
{
    guint given = g_strv_length((char **)arguments);
    guint most = (command->argument != NULL) + (command->second_argument != NULL);
    guint wanted = most > 0 && command->argument[0] != '[';
    const char *mistake =
        command->find_mistake != NULL ? command->find_mistake(arguments[0]) : NULL;
    int status = 0;

    if (given < wanted)
        return drover_cli_misused(cli, command, "the following arguments are required: %s",
                                  command->argument);
    if (given > most)
        return drover_cli_misused(cli, command, "unrecognized arguments: %s", arguments[most]);
    if (mistake != NULL)
        return drover_cli_misused(cli, command, "%s", mistake);
    cli->command = command;
    cli->second_argument = given > 1 ? arguments[1] : NULL;
    if (command->needs_store)
        status = connect_to_store(cli);
    return status != 0 ? status : command->run(cli, arguments[0]);
}

/* `words` begins with the command's name, as one word. */
static int
run_command(DroverCli *cli, const DroverCommand *command, const char *const *words)
{
    static const GOptionEntry none[] = {G_OPTION_ENTRY_NULL};
    g_auto(GStrv) rest = NULL;
    g_autofree char *takes = g_strjoin(" ", command->argument, command->second_argument, NULL);
    gboolean help = FALSE;
    const GOptionEntry common[] = {
        {"json", 0, 0, G_OPTION_ARG_NONE, &cli->json, "Print JSON", NULL},
        {"help", 'h', 0, G_OPTION_ARG_NONE, &help, "Show this help", NULL},
        {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_STRING_ARRAY, &rest, NULL,
         command->argument != NULL ? takes : NULL},
        G_OPTION_ENTRY_NULL,
    };
    const GOptionEntry *own = command->options != NULL ? command->options : none;
    const GOptionEntry *const all[] = {own, common, NULL};
    g_autoptr(GOptionContext) context = g_option_context_new(NULL);
    g_auto(GStrv) arguments = drover_arguments_expand(words, all, FALSE);
    g_autoptr(GError) error = NULL;
    const char *const nothing[] = {NULL};

    g_option_context_set_help_enabled(context, FALSE);
    g_option_context_set_summary(context, command->summary);
    g_option_context_add_main_entries(context, own, NULL);
    g_option_context_add_main_entries(context, common, NULL);
    if (!g_option_context_parse_strv(context, &arguments, &error))
        return drover_cli_misused(cli, command, "%s", error->message);
    if (help) {
        print_help(cli, command, context);
        return 0;
    }
    return run_parsed(cli, command, rest != NULL ? (const char *const *)rest : nothing);
}

/* ---- Finding the command ---- */

/* How many of the words are the command's name; 0 when it is another one. */
static guint
match(const DroverCommand *command, const char *const *words)
{
    g_auto(GStrv) name = g_strsplit(command->name, " ", -1);
    guint i = 0;

    while (name[i] != NULL && g_strcmp0(name[i], words[i]) == 0)
        i++;
    return name[i] == NULL ? i : 0;
}

static gboolean
is_in_group(const DroverCommand *command, const char *group)
{
    gsize length = strlen(group);

    return strncmp(command->name, group, length) == 0 && command->name[length] == ' ';
}

/* The second words of the group's commands; NULL when there is no such group. */
static char *
list_group(const char *group)
{
    g_autoptr(GString) out = g_string_new(NULL);

    for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
        if (is_in_group(commands[i], group))
            g_string_append_printf(out, "%s%s", out->len > 0 ? ", " : "",
                                   commands[i]->name + strlen(group) + 1);
    return out->len > 0 ? g_string_free(g_steal_pointer(&out), FALSE) : NULL;
}

static int
print_group_help(const DroverCli *cli, const char *group)
{
    printf("Usage:\n  %s %s COMMAND ...\n\nCommands:\n", cli->program, group);
    for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
        if (is_in_group(commands[i], group))
            printf(COMMAND_LINE, commands[i]->name, commands[i]->summary);
    return 0;
}

static gboolean
asks_for_help(const char *word)
{
    return g_strcmp0(word, "-h") == 0 || g_strcmp0(word, "--help") == 0;
}

static int
fail_unknown(const DroverCli *cli, const char *word)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    const char *nearest;

    for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
        g_ptr_array_add(names, (gpointer)commands[i]->name);
    nearest = drover_nearest(word, names);
    if (nearest != NULL)
        return drover_cli_misused(cli, NULL, "unknown command: %s; did you mean %s?", word,
                                  nearest);
    return drover_cli_misused(cli, NULL, "unknown command: %s; --help lists them", word);
}

int
drover_cli_run(DroverCli *cli, const char *const *words)
{
    g_autofree char *group = list_group(words[0]);

    for (guint i = 0; i < G_N_ELEMENTS(commands); i++) {
        guint n = match(commands[i], words);

        if (n > 0)
            return run_command(cli, commands[i], words + n - 1);
    }
    if (group != NULL && asks_for_help(words[1]))
        return print_group_help(cli, words[0]);
    if (group != NULL)
        return drover_cli_misused(cli, NULL, "%s is followed by one of: %s", words[0], group);
    return fail_unknown(cli, words[0]);
}
