#include "cli/command.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"

const DroverCommand drover_commands[] = {
    {"list", "list nodes", drover_command_list},
    {"request-list", "list node requests", drover_command_request_list},
    {"request submit", "ask for machines", drover_command_request_submit},
    {"request show", "show a request and its machines", drover_command_request_show},
    {"request release", "give a request and its machines back", drover_command_request_release},
    {"hold", "keep a node from being used", drover_command_hold},
    {"delete", "delete a node", drover_command_delete},
    {"info", "show what ZooKeeper knows of a provider", drover_command_info},
    {"config-validate", "check the configuration", drover_command_config_validate},
    {"driver list", "list the drivers that are installed", drover_command_driver_list},
    {"driver info", "describe a driver and its options", drover_command_driver_info},
    {NULL, NULL, NULL},
};

char *
drover_cli_describe_commands(void)
{
    GString *out = g_string_new("Commands:\n");

    for (const DroverCommand *command = drover_commands; command->name != NULL; command++)
        g_string_append_printf(out, "  %-18s %s\n", command->name, command->summary);
    return g_string_free(out, FALSE);
}

/* ---- Finding and running ---- */

/* How many words of argv the command's name takes; 0 when it is another one. */
static int
match(const DroverCommand *command, int argc, char **argv)
{
    g_auto(GStrv) words = g_strsplit(command->name, " ", -1);
    int n = (int)g_strv_length(words);

    for (int i = 0; i < n; i++)
        if (i >= argc || strcmp(argv[i], words[i]) != 0)
            return 0;
    return n;
}

int
drover_cli_run(DroverCli *cli, int argc, char **argv)
{
    for (const DroverCommand *command = drover_commands; command->name != NULL; command++) {
        int words = match(command, argc, argv);

        if (words > 0) {
            argv[words - 1] = (char *)command->name;
            return command->run(cli, argc - words + 1, argv + words - 1);
        }
    }
    fprintf(stderr, "usage: %s [options] COMMAND ...\n%s: error: unknown command: %s\n",
            cli->program, cli->program, argv[0]);
    return 2;
}

void
drover_cli_clear(DroverCli *cli)
{
    g_clear_pointer(&cli->store, drover_store_close);
    g_clear_pointer(&cli->config, drover_config_unref);
    g_clear_pointer(&cli->drivers, drover_driver_host_free);
}

/* ---- Options ---- */

static int
misused(const DroverCli *cli, const char *command, const char *arguments, const char *message)
{
    fprintf(stderr, "usage: %s %s [options]%s%s\n%s %s: error: %s\n", cli->program, command,
            arguments[0] != '\0' ? " " : "", arguments, cli->program, command, message);
    return 2;
}

static const char *
summary_of(const char *name)
{
    for (const DroverCommand *command = drover_commands; command->name != NULL; command++)
        if (strcmp(command->name, name) == 0)
            return command->summary;
    return NULL;
}

gboolean
drover_cli_parse(DroverCli *cli, int *argc, char ***argv, const GOptionEntry *entries,
                 const char *arguments, int n_arguments, int *status)
{
    GOptionEntry common[] = {
        {"json", 0, 0, G_OPTION_ARG_NONE, &cli->json, "Print JSON", NULL},
        G_OPTION_ENTRY_NULL,
    };
    gboolean help = FALSE;
    const GOptionEntry helps[] = {
        {"help", 'h', 0, G_OPTION_ARG_NONE, &help, "Show this help", NULL},
        G_OPTION_ENTRY_NULL,
    };
    const char *command = (*argv)[0];
    g_autoptr(GOptionContext) context = g_option_context_new(arguments);
    g_autofree char *name = g_strdup_printf("%s %s", cli->program, command);
    g_autoptr(GError) error = NULL;

    g_set_prgname(name);
    g_option_context_set_help_enabled(context, FALSE);
    g_option_context_set_summary(context, summary_of(command));
    if (entries != NULL)
        g_option_context_add_main_entries(context, entries, NULL);
    g_option_context_add_main_entries(context, common, NULL);
    g_option_context_add_main_entries(context, helps, NULL);
    if (!g_option_context_parse(context, argc, argv, &error)) {
        *status = misused(cli, command, arguments, error->message);
        return FALSE;
    }
    if (help) {
        g_autofree char *text = g_option_context_get_help(context, TRUE, NULL);

        fputs(text, stdout);
        *status = 0;
        return FALSE;
    }
    if (*argc - 1 != n_arguments) {
        g_autofree char *message =
            *argc - 1 < n_arguments
                ? g_strdup_printf("the following arguments are required: %s", arguments)
                : g_strdup_printf("unrecognized arguments: %s", (*argv)[n_arguments + 1]);

        *status = misused(cli, command, arguments, message);
        return FALSE;
    }
    return TRUE;
}

int
drover_cli_fail(const DroverCli *cli, const char *format, ...)
{
    g_autofree char *message = NULL;
    va_list arguments;

    va_start(arguments, format);
    message = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s: %s\n", cli->program, message);
    return 1;
}

/* ---- What commands stand on ---- */

const struct drover_driver *
drover_cli_find_driver(const char *name, gpointer user_data, GError **error)
{
    return drover_driver_host_find(drover_cli_drivers(user_data), name, error);
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

static DroverConfig *
load(DroverCli *cli, gboolean strict)
{
    g_autoptr(DroverConfigReport) report = drover_config_report_new();
    DroverConfig *config = drover_config_load(cli->config_path, cli->secure_path, strict,
                                              drover_cli_find_driver, cli, report);
    const GPtrArray *problems = drover_config_report_problems(report);

    /* What loads all the same is the business of config-validate and the launcher. */
    for (guint i = 0; i < problems->len; i++) {
        const DroverConfigProblem *problem = problems->pdata[i];
        g_autofree char *text = drover_config_problem_text(problem);

        if (problem->severity == DROVER_CONFIG_ERROR || strict)
            fprintf(stderr, "%s\n", text);
    }
    return config;
}

DroverConfig *
drover_cli_config(DroverCli *cli)
{
    if (cli->config == NULL) {
        cli->config = load(cli, FALSE);
        if (cli->config == NULL)
            drover_cli_fail(cli, "the configuration %s cannot be used", cli->config_path);
    }
    return cli->config;
}

DroverStore *
drover_cli_store(DroverCli *cli)
{
    g_autoptr(GError) error = NULL;

    if (cli->store == NULL && drover_cli_config(cli) != NULL) {
        cli->store = drover_store_open(cli->config, cli->connect_timeout, &error);
        if (cli->store == NULL)
            drover_cli_fail(cli, "%s", error->message);
    }
    return cli->store;
}

int
drover_command_config_validate(DroverCli *cli, int argc, char **argv)
{
    g_autoptr(DroverConfig) config = NULL;
    int status;

    if (!drover_cli_parse(cli, &argc, &argv, NULL, "", 0, &status))
        return status;
    drover_log_for(DROVER_LOG_INFO, "config_validator", "validating %s", cli->config_path);
    config = load(cli, TRUE);
    if (cli->json)
        drover_cli_print_json(
            json_pack("{s:s, s:b}", "file", cli->config_path, "valid", config != NULL));
    return config == NULL;
}

void
drover_cli_print_json(json_t *value)
{
    g_autofree char *text = NULL;
    char *dumped = json_dumps(value, JSON_INDENT(2) | JSON_ENCODE_ANY);

    printf("%s\n", dumped);
    free(dumped);
    json_decref(value);
}

char *
drover_cli_age(double since)
{
    double age = floor((double)g_get_real_time() / G_USEC_PER_SEC - since);
    double days = floor(age / 86400);
    int rest = (int)(age - days * 86400);

    return g_strdup_printf("%02.0f:%02d:%02d:%02d", days, rest / 3600, rest / 60 % 60, rest % 60);
}
