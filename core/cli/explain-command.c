/* drover explain */
#include "cli/explain.h"
#include "cli/table.h"

static gboolean of_node;

static const GOptionEntry options[] = {
    {"node", 0, 0, G_OPTION_ARG_NONE, &of_node, "The id is a node's", NULL},
    G_OPTION_ENTRY_NULL,
};

void
drover_finding_add(json_t *findings, const char *format, ...)
{
    g_autofree char *text = NULL;
    va_list arguments;

    va_start(arguments, format);
    text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    json_array_append_new(findings, drover_json_from_string(text));
}

void
drover_findings_print(const json_t *findings)
{
    const json_t *finding;
    size_t i;

    json_array_foreach(findings, i, finding)
    {
        drover_cli_print("%s\n", json_string_value(finding));
    }
}

void
drover_verdict_table_print(const json_t *verdicts)
{
    static const char *const headers[] = {"Provider", "Pool", "Verdict", "For", "Why", NULL};
    g_autoptr(DroverTable) table = drover_table_new(headers);
    const json_t *verdict;
    size_t i;

    json_array_foreach(verdicts, i, verdict)
    {
        char **cells = g_new0(char *, G_N_ELEMENTS(headers));

        cells[0] = g_strdup(drover_json_string(verdict, "provider"));
        cells[1] = g_strdup(drover_json_string(verdict, "pool"));
        cells[2] = g_strdup(drover_json_string(verdict, "verdict"));
        if (json_is_number(json_object_get(verdict, "since")))
            cells[3] = drover_cli_age(drover_json_real(verdict, "since", 0));
        cells[4] = g_strdup(drover_json_string(verdict, "reason"));
        drover_table_add_row(table, cells);
    }
    drover_table_print(table);
}

static int
run(DroverCli *cli, const char *id)
{
    return of_node ? drover_explain_node(cli, id) : drover_explain_request(cli, id);
}

const DroverCommand drover_explain_command = {
    .name = "explain",
    .summary = "Tell why a request waits, or what a node does",
    .argument = "ID",
    .options = options,
    .needs_store = TRUE,
    .run = run,
};
