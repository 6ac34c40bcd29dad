#include <unistd.h>

#include "base/json.h"
#include "launcher/launcher-private.h"
#include "launcher/survey.h"
#include "metrics/process.h"

/* ---- What it shows ---- */

const char *
drover_launcher_state(const DroverLauncher *launcher)
{
    if (launcher->stopping || launcher->graceful)
        return "stopped";
    if (!launcher->passed)
        return "initializing";
    return launcher->paused ? "paused" : "running";
}

gboolean
drover_launcher_has_passed(const DroverLauncher *launcher)
{
    return launcher->passed;
}

DroverCluster *
drover_launcher_cluster(const DroverLauncher *launcher)
{
    return launcher->cluster;
}

const DroverConfig *
drover_launcher_config(const DroverLauncher *launcher)
{
    return launcher->config;
}

void
drover_launcher_begin_survey(DroverLauncher *launcher)
{
    if (launcher->survey == NULL)
        launcher->survey = drover_survey_new(launcher);
}

void
drover_launcher_write_metrics(DroverLauncher *launcher, DroverExposition form, GString *text)
{
    if (launcher->survey != NULL)
        drover_survey_refresh(launcher->survey);
    drover_metrics_write(launcher->parts.telemetry->metrics, form, text);
    drover_metrics_write_process(form, text);
}

/* ---- Parts ---- */

static const char *
state_name(const DroverLauncher *launcher)
{
    if (launcher->stopping)
        return "stopping";
    if (launcher->graceful)
        return "stopping when done";
    if (launcher->paused)
        return "paused";
    return launcher->passed ? "running" : "starting";
}

static json_t *
session_object(const DroverLauncher *launcher)
{
    static const char *const states[] = {[DROVER_SESSION_CONNECTING] = "connecting",
                                         [DROVER_SESSION_CONNECTED] = "connected",
                                         [DROVER_SESSION_SUSPENDED] = "suspended",
                                         [DROVER_SESSION_LOST] = "lost"};
    g_autofree char *id =
        g_strdup_printf("0x%" G_GINT64_MODIFIER "x", (guint64)drover_session_id(launcher->session));

    return json_pack("{s:s, s:s, s:i, s:b}", "id", id, "state",
                     states[drover_session_state(launcher->session)], "timeout",
                     drover_session_timeout(launcher->session), "resumed",
                     drover_session_is_resumed(launcher->session));
}

static json_t *
provider_object(const DroverManager *manager)
{
    const DroverProviderConfig *config = drover_manager_config(manager);
    const DroverRunner *runner = drover_manager_runner(manager);
    const struct drover_driver *driver = drover_manager_driver(manager);
    const DroverResources *used =
        drover_usage_of_provider(drover_manager_parts(manager)->usage, config->name);
    const char *illness = drover_manager_illness(manager);
    const char *problem = illness != NULL ? illness : drover_manager_problem(manager);
    const char *state = illness != NULL                      ? "unhealthy"
                        : drover_manager_is_running(manager) ? "running"
                        : problem != NULL                    ? "failed"
                                                             : "starting";

    return json_pack("{s:o, s:o, s:o, s:s, s:o, s:o, s:I, s:I, s:I, s:I}", "name",
                     drover_json_from_string(config->name), "driver",
                     drover_json_from_string(config->driver), "driver_version",
                     drover_json_from_string(driver != NULL ? driver->version : NULL), "state",
                     state, "problem", drover_json_from_string(problem), "used",
                     used != NULL ? drover_resources_json(used) : json_object(), "tasks",
                     (json_int_t)(runner != NULL ? drover_runner_tasks(runner) : 0), "blocked",
                     (json_int_t)(runner != NULL ? drover_runner_blocked_for(runner) : 0),
                     "launching", (json_int_t)drover_manager_active(manager), "max_concurrency",
                     (json_int_t)config->max_concurrency);
}

static json_t *
provider_objects(const DroverLauncher *launcher)
{
    json_t *list = json_array();

    for (guint i = 0; i < launcher->managers->len; i++)
        json_array_append_new(list, provider_object(launcher->managers->pdata[i]));
    return list;
}

static json_t *
pool_objects(const DroverLauncher *launcher, gboolean with_requests)
{
    json_t *list = json_array();

    for (guint i = 0; i < launcher->pools->len; i++) {
        json_t *pool = drover_pool_describe(launcher->pools->pdata[i]);

        if (!with_requests)
            json_object_del(pool, "requests");
        json_array_append_new(list, pool);
    }
    return list;
}

static json_t *
counters_object(const DroverLauncher *launcher)
{
    const DroverSessionCounters *counters = drover_session_counters(launcher->session);

    return json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "reads", (json_int_t)counters->reads, "writes",
        (json_int_t)counters->writes, "transactions", (json_int_t)counters->transactions, "events",
        (json_int_t)counters->events, "batches", (json_int_t)counters->batches, "sessions",
        (json_int_t)counters->sessions, "connections", (json_int_t)counters->connections);
}

static void
count(json_t *counts, const char *name)
{
    json_object_set_new(counts, name, json_integer(drover_json_integer(counts, name, 0) + 1));
}

static json_t *
count_nodes(const DroverLauncher *launcher)
{
    json_t *counts = json_object();
    DroverCacheIter iter;
    gpointer node;

    drover_cache_iter_init(&iter, drover_cluster_nodes(launcher->cluster));
    while (drover_cache_iter_next(&iter, NULL, &node))
        count(counts, drover_node_state_name(((DroverNode *)node)->state));
    return counts;
}

static json_t *
count_requests(const DroverLauncher *launcher)
{
    const GPtrArray *requests = drover_cluster_requests(launcher->cluster);
    json_t *counts = json_object();

    for (guint i = 0; i < requests->len; i++)
        count(counts,
              drover_request_state_name(((const DroverRequest *)requests->pdata[i])->state));
    return counts;
}

static json_t *
work_object(const DroverLauncher *launcher)
{
    return json_pack("{s:I, s:I, s:I}", "under_way",
                     (json_int_t)g_hash_table_size(launcher->parts.work), "closing",
                     (json_int_t)launcher->parts.closing, "drivers",
                     (json_int_t)launcher->open_runners);
}

/* ---- The whole ---- */

static json_t *
describe(DroverLauncher *launcher, gboolean with_requests)
{
    gint64 uptime = (g_get_monotonic_time() - launcher->started) / G_USEC_PER_SEC;
    json_t *status = json_object();

    json_object_set_new(status, "program", json_string("drover-launcher"));
    json_object_set_new(status, "version", json_string(DROVER_VERSION));
    json_object_set_new(status, "pid", json_integer(getpid()));
    json_object_set_new(status, "uptime", json_integer(uptime));
    json_object_set_new(status, "state", json_string(state_name(launcher)));
    json_object_set_new(status, "configuration", drover_json_from_string(launcher->config_path));
    json_object_set_new(status, "session", session_object(launcher));
    json_object_set_new(status, "caches_complete",
                        json_boolean(drover_cluster_is_complete(launcher->cluster)));
    json_object_set_new(
        status, "model_api",
        json_pack("{s:i, s:I}", "own", DROVER_MODEL_API, "system",
                  (json_int_t)drover_model_version_minimum(launcher->model_version)));
    json_object_set_new(status, "providers", provider_objects(launcher));
    json_object_set_new(status, "pools", pool_objects(launcher, with_requests));
    json_object_set_new(status, "work", work_object(launcher));
    json_object_set_new(status, "counters", counters_object(launcher));
    return status;
}

json_t *
drover_launcher_status(DroverLauncher *launcher)
{
    return describe(launcher, FALSE);
}

json_t *
drover_launcher_details(DroverLauncher *launcher)
{
    json_t *details = describe(launcher, TRUE);

    json_object_set_new(details, "nodes", count_nodes(launcher));
    json_object_set_new(details, "node_requests", count_requests(launcher));
    json_object_set_new(details, "pools_registered",
                        json_integer(drover_cluster_pools(launcher->cluster)->len));
    return details;
}

json_t *
drover_launcher_explain(DroverLauncher *launcher, const char *request_id)
{
    json_t *list = json_array();

    for (guint i = 0; i < launcher->pools->len; i++) {
        json_t *verdict = drover_pool_verdict(launcher->pools->pdata[i], request_id);

        if (verdict != NULL)
            json_array_append_new(list, verdict);
    }
    return list;
}

char *
drover_launcher_dump(DroverLauncher *launcher)
{
    const DroverSessionCounters *counters = drover_session_counters(launcher->session);

    return g_strdup_printf(
        "session 0x%" G_GINT64_MODIFIER "x, %s, %u nodes, %u requests, %u pools registered, "
        "%u providers, %u drivers running; reads %" G_GUINT64_FORMAT
        ", transactions %" G_GUINT64_FORMAT ", writes %" G_GUINT64_FORMAT
        ", events %" G_GUINT64_FORMAT ", batches %" G_GUINT64_FORMAT,
        (guint64)drover_session_id(launcher->session),
        drover_cluster_is_complete(launcher->cluster) ? "caches complete" : "caches not complete",
        drover_cache_size(drover_cluster_nodes(launcher->cluster)),
        drover_cluster_requests(launcher->cluster)->len,
        drover_cluster_pools(launcher->cluster)->len, launcher->managers->len,
        launcher->open_runners, counters->reads, counters->transactions, counters->writes,
        counters->events, counters->batches);
}
