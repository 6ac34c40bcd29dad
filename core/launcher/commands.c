#include "launcher/commands.h"

#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/log.h"

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
domain_object(const DroverLogDomain *domain)
{
    return json_pack("{s:s, s:s?, s:s}", "domain", domain->name, "level", domain->level,
                     "effective", domain->effective);
}

/* All domains, or the one that was named. */
static json_t *
list_domains(const char *wanted, GError **error)
{
    g_autofree char *full = wanted != NULL ? drover_log_find_domain(wanted, error) : NULL;
    g_autoptr(GPtrArray) domains = NULL;
    json_t *list;

    if (wanted != NULL && full == NULL)
        return NULL;
    domains = drover_log_domains();
    list = json_array();
    for (guint i = 0; i < domains->len; i++) {
        const DroverLogDomain *domain = domains->pdata[i];

        if (full == NULL || strcmp(domain->name, full) == 0)
            json_array_append_new(list, domain_object(domain));
    }
    return json_pack("{s:o}", "domains", list);
}

static json_t *
run_log_level(const json_t *command, gpointer launcher, GError **error)
{
    const char *domain = drover_json_string(command, "domain");
    const char *level = drover_json_string(command, "level");

    if (!is_text_or_absent(command, "domain", error) || !is_text_or_absent(command, "level", error))
        return NULL;
    if (level != NULL && domain == NULL) {
        g_set_error(error, DROVER_ERROR, DROVER_ERROR_MALFORMED,
                    "the argument \"level\" needs a \"domain\"");
        return NULL;
    }
    if (level != NULL && !drover_log_set_domain_level(domain, level, error))
        return NULL;
    if (level != NULL)
        drover_log_for(DROVER_LOG_INFO, "command", "The log level of %s is now %s", domain, level);
    return list_domains(domain, error);
}

static json_t *
run_profile(const json_t *command, gpointer launcher, GError **error)
{
    g_set_error(error, DROVER_ERROR, DROVER_ERROR_UNSUPPORTED,
                "no profiler is built in; use perf with the pid that \"status\" shows");
    return NULL;
}

static const char *const of_reconfigure[] = {"provider", NULL};
static const char *const of_log_level[] = {"domain", "level", NULL};
static const char *const of_explain[] = {"request", NULL};

static const DroverCommandEntry table[] = {
    {"stop", NULL, run_stop},
    {"graceful", NULL, run_graceful},
    {"pause", NULL, run_pause},
    {"unpause", NULL, run_unpause},
    {"status", NULL, run_status},
    {"reconfigure", of_reconfigure, run_reconfigure},
    {"explain", of_explain, run_explain},
    {"log-level", of_log_level, run_log_level},
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
