#include "launcher/commands.h"

#include "base/error.h"
#include "base/json.h"

/* The state in which a command leaves the launcher. */
static json_t *
state_of(DroverLauncher *launcher)
{
    g_autoptr(json_t) status = drover_launcher_status(launcher);

    return json_pack("{s:O}", "state", json_object_get(status, "state"));
}

static gboolean
is_text_or_absent(const json_t *command, const char *key, GError **error)
{
    const json_t *value = json_object_get(command, key);

    if (value == NULL || json_is_null(value) || json_is_string(value))
        return TRUE;
    g_set_error(error, DROVER_ERROR, DROVER_ERROR_MALFORMED, "the argument \"%s\" must be a text",
                key);
    return FALSE;
}

static json_t *
run_stop(const json_t *command, gpointer launcher, GError **error)
{
    drover_launcher_stop(launcher);
    return state_of(launcher);
}

static json_t *
run_graceful(const json_t *command, gpointer launcher, GError **error)
{
    drover_launcher_stop_gracefully(launcher);
    return state_of(launcher);
}

static json_t *
set_paused(DroverLauncher *launcher, gboolean paused, GError **error)
{
    return drover_launcher_pause(launcher, paused, error) ? state_of(launcher) : NULL;
}

static json_t *
run_pause(const json_t *command, gpointer launcher, GError **error)
{
    return set_paused(launcher, TRUE, error);
}

static json_t *
run_unpause(const json_t *command, gpointer launcher, GError **error)
{
    return set_paused(launcher, FALSE, error);
}

static json_t *
run_status(const json_t *command, gpointer launcher, GError **error)
{
    return drover_launcher_status(launcher);
}

static json_t *
run_reconfigure(const json_t *command, gpointer launcher, GError **error)
{
    if (!is_text_or_absent(command, "provider", error) ||
        !drover_launcher_reload(launcher, drover_json_string(command, "provider"), error))
        return NULL;
    return state_of(launcher);
}

static json_t *
run_explain(const json_t *command, gpointer launcher, GError **error)
{
    const char *request = drover_json_string(command, "request");

    if (request != NULL)
        return drover_launcher_explain(launcher, request);
    g_set_error(error, DROVER_ERROR, DROVER_ERROR_MALFORMED,
                "the argument \"request\" must be a request's id");
    return NULL;
}

static json_t *
run_dump(const json_t *command, gpointer launcher, GError **error)
{
    return drover_launcher_details(launcher);
}

static json_t *
run_profile(const json_t *command, gpointer launcher, GError **error)
{
    g_set_error(error, DROVER_ERROR, DROVER_ERROR_UNSUPPORTED,
                "no profiler is built in; use perf with the pid that \"status\" shows");
    return NULL;
}

static const char *const of_reconfigure[] = {"provider", NULL};
static const char *const of_explain[] = {"request", NULL};

static const DroverCommandEntry table[] = {
    {"stop", NULL, run_stop},
    {"graceful", NULL, run_graceful},
    {"pause", NULL, run_pause},
    {"unpause", NULL, run_unpause},
    {"status", NULL, run_status},
    {"reconfigure", of_reconfigure, run_reconfigure},
    {"explain", of_explain, run_explain},
    {"dump", NULL, run_dump},
    {"profile", NULL, run_profile},
    {NULL, NULL, NULL},
};

DroverCommandServer *
drover_launcher_serve_commands(DroverLauncher *launcher, const char *path, GError **error)
{
    const DroverCommandServerOptions options = {
        .path = path, .table = table, .user_data = launcher};

    return drover_command_server_new(&options, error);
}
