#include "programs/program.h"

#include <stdio.h>
#include <stdlib.h>

#include "config/log-config.h"

/* The version of Nodepool whose behaviour this is. */
#define NODEPOOL_VERSION "11.0.0"

void
program_print_version(const char *program)
{
    if (g_str_has_prefix(program, "nodepool"))
        printf("Nodepool version: %s+drover%s\n", NODEPOOL_VERSION, DROVER_VERSION);
    else
        printf("drover %s\n", DROVER_VERSION);
}

int
program_fail(const char *program, const char *message)
{
    fprintf(stderr, "%s: %s\n", program, message);
    return EXIT_FAILURE;
}

gboolean
program_use_log_config(const char *program, const char *path)
{
    g_autoptr(DroverConfigReport) report = drover_config_report_new();
    gboolean used = drover_log_config_use(path, report);
    const GPtrArray *problems = drover_config_report_problems(report);

    for (guint i = 0; i < problems->len; i++) {
        g_autofree char *text = drover_config_problem_text(problems->pdata[i]);

        program_fail(program, text);
    }
    return used;
}
