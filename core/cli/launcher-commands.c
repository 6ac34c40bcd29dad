/* drover launcher status, pause, unpause, graceful, stop, reconfigure, explain, log-level, dump,
 * profile */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "cli/command.h"
#include "cli/explain.h"
#include "cli/table.h"
#include "command/client.h"

/* That of the service, and that of a launcher that was started by hand. */
#define SERVICE_SOCKET "/run/drover/launcher.sock"
#define DEFAULT_SOCKET "/var/lib/drover/launcher/command.sock"
#define ANSWER_TIME    30000 /* milliseconds */
#define GROUP          "launcher "

static char *socket_path;

static const GOptionEntry options[] = {
    {"socket", 0, 0, G_OPTION_ARG_FILENAME, &socket_path,
     "The launcher's socket (the service's, or else " DEFAULT_SOCKET ")", "FILE"},
    G_OPTION_ENTRY_NULL,
};

/* ---- Answers as text ---- */

typedef struct {
    const char *header, *key;
} Column;

/* A negative number is a limit that there is not. */
static char *
cell(const json_t *value)
{
    if (json_is_boolean(value))
        return g_strdup(json_is_true(value) ? "yes" : "no");
    if (json_is_integer(value) && json_integer_value(value) < 0)
        return g_strdup("none");
    if (json_is_integer(value))
        return g_strdup_printf("%" JSON_INTEGER_FORMAT, json_integer_value(value));
    return g_strdup(json_string_value(value));
}

static void
print_objects(const json_t *objects, const Column *columns, guint n_columns)
{
    g_autofree const char **headers = g_new0(const char *, n_columns + 1);
    g_autoptr(DroverTable) table = NULL;
    const json_t *object;
    size_t i;

    for (guint k = 0; k < n_columns; k++)
        headers[k] = columns[k].header;
    table = drover_table_new(headers);
    json_array_foreach(objects, i, object)
    {
        char **cells = g_new0(char *, n_columns + 1);

        for (guint k = 0; k < n_columns; k++)
            cells[k] = cell(json_object_get(object, columns[k].key));
        drover_table_add_row(table, cells);
    }
    drover_table_print(table);
}

static void
print_status(const json_t *status)
{
    static const Column of_provider[] = {
        {"Provider", "name"},         {"Driver", "driver"},      {"Version", "driver_version"},
        {"State", "state"},           {"Tasks", "tasks"},        {"Launching", "launching"},
        {"Limit", "max_concurrency"}, {"Blocked ms", "blocked"}, {"Problem", "problem"}};
    static const Column of_pool[] = {{"Provider", "provider"},     {"Pool", "pool"},
                                     {"Registered", "registered"}, {"Paused", "paused"},
                                     {"Handlers", "handlers"},     {"Waiting", "waiting"},
                                     {"Declining", "declining"}};
    const json_t *session = json_object_get(status, "session");
    double now = (double)g_get_real_time() / G_USEC_PER_SEC;
    g_autofree char *age = drover_cli_age(now - drover_json_real(status, "uptime", 0));

    drover_cli_print("%s %s, pid %" G_GINT64_FORMAT ": %s, started %s ago\n",
                     drover_json_string(status, "program"), drover_json_string(status, "version"),
                     drover_json_integer(status, "pid", 0), drover_json_string(status, "state"),
                     age);
    drover_cli_print("ZooKeeper session %s: %s, caches %s\n\n", drover_json_string(session, "id"),
                     drover_json_string(session, "state"),
                     drover_json_boolean(status, "caches_complete", FALSE) ? "complete"
                                                                           : "not complete");
    print_objects(json_object_get(status, "providers"), of_provider, G_N_ELEMENTS(of_provider));
    drover_cli_print("\n");
    print_objects(json_object_get(status, "pools"), of_pool, G_N_ELEMENTS(of_pool));
}

static void
print_state(const json_t *result)
{
    drover_cli_print("The launcher is %s\n", drover_json_string(result, "state"));
}

static void
print_verdicts(const json_t *verdicts)
{
    drover_verdict_table_print(verdicts);
}

static void
print_domains(const json_t *result)
{
    static const Column columns[] = {
        {"Domain", "domain"}, {"Level", "level"}, {"Effective", "effective"}};

    print_objects(json_object_get(result, "domains"), columns, G_N_ELEMENTS(columns));
}

static void
print_all(const json_t *result)
{
    char *text = json_dumps(result, JSON_INDENT(2) | JSON_ENSURE_ASCII | JSON_ENCODE_ANY);

    drover_cli_print("%s\n", text);
    free(text);
}

/* ---- The commands ---- */

static const struct {
    const char *name;
    const char *argument; /* how the launcher calls the word */
    void (*print)(const json_t *result);
} forms[] = {
    {"status", NULL, print_status},
    {"pause", NULL, print_state},
    {"unpause", NULL, print_state},
    {"graceful", NULL, print_state},
    {"stop", NULL, print_state},
    {"reconfigure", "provider", print_state},
    {"explain", "request", print_verdicts},
    {"log-level", "domain", print_domains},
    {"dump", NULL, print_all},
    {"profile", NULL, print_all},
};

static guint
find_form(const DroverCommand *command)
{
    const char *name = command->name + strlen(GROUP);
    guint i = 0;

    while (strcmp(forms[i].name, name) != 0)
        i++;
    return i;
}

static const char *
find_socket(void)
{
    if (socket_path != NULL)
        return socket_path;
    return g_file_test(SERVICE_SOCKET, G_FILE_TEST_EXISTS) ? SERVICE_SOCKET : DEFAULT_SOCKET;
}

static int
fail(DroverCli *cli, const char *path, const GError *error)
{
    if (g_error_matches(error, DROVER_ERROR, DROVER_ERROR_NOT_FOUND))
        return drover_cli_fail(cli, "no launcher takes commands at %s", path);
    return drover_cli_fail(cli, "%s", error->message);
}

static int
run(DroverCli *cli, const char *argument)
{
    guint form = find_form(cli->command);
    const char *path = find_socket();
    g_autoptr(json_t) command = json_pack("{s:s}", "command", forms[form].name);
    g_autoptr(json_t) result = NULL;
    g_autoptr(GError) error = NULL;

    if (argument != NULL)
        json_object_set_new(command, forms[form].argument, drover_json_from_string(argument));
    if (cli->second_argument != NULL)
        json_object_set_new(command, "level", drover_json_from_string(cli->second_argument));
    result = drover_command_call(path, command, ANSWER_TIME, &error);
    if (result == NULL)
        return fail(cli, path, error);
    if (cli->json)
        drover_cli_print_json(g_steal_pointer(&result));
    else
        forms[form].print(result);
    return 0;
}

#define LAUNCHER_COMMAND(word, what, takes)                                                        \
    {                                                                                              \
        .name = GROUP word, .summary = what, .argument = takes, .options = options, .run = run     \
    }

const DroverCommand drover_launcher_status_command =
    LAUNCHER_COMMAND("status", "Show a launcher's providers and pools", NULL);
const DroverCommand drover_launcher_pause_command =
    LAUNCHER_COMMAND("pause", "Let a launcher accept nothing new", NULL);
const DroverCommand drover_launcher_unpause_command =
    LAUNCHER_COMMAND("unpause", "Let it accept requests again", NULL);
const DroverCommand drover_launcher_graceful_command =
    LAUNCHER_COMMAND("graceful", "Stop a launcher when its work has ended", NULL);
const DroverCommand drover_launcher_stop_command =
    LAUNCHER_COMMAND("stop", "Stop a launcher", NULL);
const DroverCommand drover_launcher_reconfigure_command = LAUNCHER_COMMAND(
    "reconfigure", "Read the configuration now, and start the provider anew", "[PROVIDER]");
const DroverCommand drover_launcher_explain_command =
    LAUNCHER_COMMAND("explain", "Show what its pools decided about a request", "ID");
const DroverCommand drover_launcher_log_level_command = {
    .name = GROUP "log-level",
    .summary = "Show the levels of its log, or set one",
    .argument = "[DOMAIN]",
    .second_argument = "[LEVEL]",
    .options = options,
    .run = run,
};
const DroverCommand drover_launcher_dump_command =
    LAUNCHER_COMMAND("dump", "Show all that it tells of itself", NULL);
const DroverCommand drover_launcher_profile_command =
    LAUNCHER_COMMAND("profile", "Begin or end profiling (not built in)", NULL);
