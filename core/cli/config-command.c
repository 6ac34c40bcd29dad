/* drover config-validate */
#include <stdio.h>

#include "base/log.h"
#include "cli/command.h"

static json_t *
problem_object(const DroverConfigProblem *problem)
{
    return json_pack("{s:s, s:s, s:i, s:i, s:s?, s:s}", "severity",
                     problem->severity == DROVER_CONFIG_ERROR ? "error" : "warning", "file",
                     problem->file, "line", (int)problem->line, "column", (int)problem->column,
                     "object", problem->object, "message", problem->message);
}

/* Strict: what the launcher loads for old files' sake is wrong here. */
static int
config_validate(DroverCli *cli, const char *argument)
{
    g_autoptr(DroverConfigReport) report = drover_config_report_new();
    g_autoptr(DroverConfig) config = NULL;
    const GPtrArray *problems = drover_config_report_problems(report);
    json_t *list = json_array();

    if (!drover_log_enabled(DROVER_LOG_INFO))
        drover_log_set_level(DROVER_LOG_INFO);
    drover_log_for(DROVER_LOG_INFO, "config_validator", "validating %s", cli->config_path);
    config = drover_cli_load_config(cli, TRUE, report);
    for (guint i = 0; i < problems->len; i++) {
        g_autofree char *text = drover_config_problem_text(problems->pdata[i]);

        fprintf(stderr, "%s\n", text);
        json_array_append_new(list, problem_object(problems->pdata[i]));
    }
    if (cli->json)
        drover_cli_print_json(json_pack("{s:s, s:b, s:O}", "file", cli->config_path, "valid",
                                        config != NULL, "problems", list));
    json_decref(list);
    return config != NULL ? 0 : 1;
}

static gboolean strict; /* accepted; it is the only way there is */

static const GOptionEntry options[] = {
    {"strict", 0, 0, G_OPTION_ARG_NONE, &strict, "Always on", NULL},
    G_OPTION_ENTRY_NULL,
};

const DroverCommand drover_config_validate_command = {
    .name = "config-validate",
    .summary = "Check the configuration",
    .options = options,
    .run = config_validate,
};
