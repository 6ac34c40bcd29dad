/* drover: global options, then a command. */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "programs/program.h"

#define DEFAULT_CONFIG "/etc/nodepool/nodepool.yaml"

/* The global options, before the command. What is left of the words is the command. */
static gboolean
parse(GOptionContext *context, const GOptionEntry *entries, char **argv, char ***words,
      GError **error)
{
    const GOptionEntry *const all[] = {entries, NULL};

    *words = drover_arguments_expand((const char *const *)argv, all, TRUE);
    g_option_context_set_help_enabled(context, FALSE);
    g_option_context_set_strict_posix(context, TRUE);
    g_option_context_add_main_entries(context, entries, NULL);
    return g_option_context_parse_strv(context, words, error);
}

static void
print_help(GOptionContext *context)
{
    g_autofree char *commands = drover_cli_describe_commands();
    g_autofree char *text = NULL;

    g_option_context_set_description(context, commands);
    text = g_option_context_get_help(context, TRUE, NULL);
    fputs(text, stdout);
}

int
main(int argc, char **argv)
{
    g_autofree char *config = NULL, *secure = NULL, *log_config = NULL;
    g_autofree char *program = g_path_get_basename(argc > 0 ? argv[0] : "drover");
    gboolean debug = FALSE, version = FALSE, help = FALSE, json = FALSE;
    gint connect_timeout = 0;
    const GOptionEntry entries[] = {
        {"help", 'h', 0, G_OPTION_ARG_NONE, &help, "Show this help", NULL},
        {"config", 'c', 0, G_OPTION_ARG_FILENAME, &config, "Configuration (" DEFAULT_CONFIG ")",
         "FILE"},
        {"secure", 's', 0, G_OPTION_ARG_FILENAME, &secure, "Secure configuration", "FILE"},
        {"log-config", 'l', 0, G_OPTION_ARG_FILENAME, &log_config,
         "Logging configuration of Python, unless --debug is given", "FILE"},
        {"debug", 0, 0, G_OPTION_ARG_NONE, &debug, "Debug messages on standard error", NULL},
        {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print JSON", NULL},
        {"connect-timeout", 0, 0, G_OPTION_ARG_INT, &connect_timeout,
         "Give up when ZooKeeper does not answer (waits for ever)", "SECONDS"},
        {"version", 0, 0, G_OPTION_ARG_NONE, &version, "Print the version", NULL},
        G_OPTION_ENTRY_NULL,
    };
    g_autoptr(GOptionContext) context = g_option_context_new("COMMAND ...");
    g_auto(GStrv) words = NULL;
    g_autoptr(GError) error = NULL;
    DroverCli cli = {.program = program};
    int status;

    setlocale(LC_ALL, "");
    setlocale(LC_NUMERIC, "C");
    g_set_prgname(program);
    if (!parse(context, entries, argv, &words, &error))
        return drover_cli_misused(&cli, NULL, "%s", error->message);
    if (version) {
        program_print_version(program);
        return 0;
    }
    if (help || words[0] == NULL || words[1] == NULL) {
        print_help(context);
        return help ? 0 : 1;
    }
    drover_log_set_level(debug ? DROVER_LOG_DEBUG : DROVER_LOG_WARNING);
    if (log_config != NULL && !debug && !program_use_log_config(program, log_config))
        return 1;
    cli.config_path = config != NULL ? config : DEFAULT_CONFIG;
    cli.secure_path = secure;
    cli.json = json;
    cli.connect_timeout = (guint)MAX(connect_timeout, 0);
    status = drover_cli_run(&cli, (const char *const *)words + 1);
    drover_cli_clear(&cli);
    return status;
}
