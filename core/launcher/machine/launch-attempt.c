/* The attempts of a launch: how each begins, how it ends, and what comes of that. */
#include "launcher/machine/launch-private.h"
#include "launcher/provider/label.h"

#define DEFAULT_LAUNCH_TIMEOUT 3600
#define DEFAULT_ATTEMPTS       3
#define CANCEL_SECONDS         60

static guint
most_attempts(const DroverLaunch *launch)
{
    return (guint)MAX(drover_launch_setting(launch, "launch-retries", DEFAULT_ATTEMPTS), 1);
}

void
drover_launch_stop_timers(DroverLaunch *launch)
{
    g_clear_handle_id(&launch->deadline, g_source_remove);
    g_clear_handle_id(&launch->pause, g_source_remove);
}

/* An attempt has ended: "ready", or "error.<kind>". */
static void
count_attempt(const DroverLaunch *launch, const char *result)
{
    const json_t *record = launch->node != NULL ? drover_held_node_record(launch->node) : NULL;
    const char *zone = record != NULL ? drover_json_string(record, "az") : launch->zone;

    drover_telemetry_note_launch(launch->parts->telemetry, drover_manager_name(launch->manager),
                                 zone, launch->request->requestor, result, launch->began);
}

/* ---- What becomes of the node ---- */

static json_t *
state_fields(DroverNodeState state)
{
    json_t *fields = json_object();

    drover_node_record_set_state(fields, state);
    return fields;
}

static void
report_ready(DroverLaunch *launch)
{
    DroverLogSubject subject = drover_launch_subject(launch);

    drover_log(DROVER_LOG_INFO, &subject, "Node is ready");
    drover_facts_note_made(drover_manager_facts(launch->manager), launch->label);
    count_attempt(launch, "ready");
    drover_launch_finish(launch, DROVER_LAUNCH_READY);
}

static void
report_failed(DroverLaunch *launch)
{
    drover_launch_finish(launch, DROVER_LAUNCH_FAILED);
}

static void
report_aborted(DroverLaunch *launch)
{
    drover_launch_finish(launch, DROVER_LAUNCH_ABORTED);
}

static void
conclude(DroverLaunch *launch, json_t *fields, DroverLaunchThen report)
{
    launch->release = TRUE;
    drover_launch_stop_timers(launch);
    /* Nobody waits for it: its machine is free for others. */
    if (launch->done == NULL)
        json_object_set_new(fields, "allocated_to", json_null());
    drover_launch_store(launch, fields, report);
}

void
drover_launch_become_ready(DroverLaunch *launch, json_t *fields)
{
    drover_node_record_set_state(fields, DROVER_NODE_READY);
    conclude(launch, fields, report_ready);
}

void
drover_launch_abort(DroverLaunch *launch)
{
    conclude(launch, state_fields(DROVER_NODE_ABORTED), report_aborted);
}

void
drover_launch_lose(DroverLaunch *launch)
{
    DroverLogSubject subject = drover_launch_subject(launch);

    drover_log(DROVER_LOG_ERROR, &subject, "The node's record or lock is gone");
    count_attempt(launch, "error.zksession");
    drover_launch_finish(launch, DROVER_LAUNCH_LOST);
}

/* ---- How an attempt begins ---- */

/* A driver that does not even end what is cancelled gets no second chance: one node never has two
 * machines. */
static gboolean
on_no_answer(gpointer user_data)
{
    DroverLaunch *launch = user_data;

    launch->deadline = 0;
    drover_launch_fail_attempt(
        launch, &(DroverLaunchFailure){
                    .level = DROVER_LOG_ERROR,
                    .kind = "servercreatetimeout",
                    .message = "the driver does not end the operation that was cancelled",
                    .final = TRUE});
    return G_SOURCE_REMOVE;
}

static gboolean
on_deadline(gpointer user_data)
{
    DroverLaunch *launch = user_data;

    launch->deadline = 0;
    launch->timed_out = TRUE;
    if (launch->task != NULL) {
        drover_task_cancel(launch->task);
        launch->deadline = g_timeout_add_seconds(CANCEL_SECONDS, on_no_answer, launch);
    } else if (launch->scan != NULL || launch->pause != 0) {
        g_clear_pointer(&launch->scan, drover_scanner_cancel);
        drover_launch_fail_for_time(launch);
    }
    return G_SOURCE_REMOVE;
}

void
drover_launch_start_deadline(DroverLaunch *launch)
{
    launch->timed_out = FALSE;
    launch->deadline = g_timeout_add_seconds(
        (guint)MAX(drover_launch_setting(launch, "launch-timeout", DEFAULT_LAUNCH_TIMEOUT), 1),
        on_deadline, launch);
}

static gboolean
is_in_state(const DroverLaunch *launch, DroverNodeState state)
{
    const char *name = drover_json_string(drover_held_node_record(launch->node), "state");

    return g_strcmp0(name, drover_node_state_name(state)) == 0;
}

void
drover_launch_begin_attempt(DroverLaunch *launch)
{
    const DroverProviderConfig *config = drover_manager_runner_config(launch->manager);
    const DroverResources *cost =
        drover_facts_cost(drover_manager_facts(launch->manager), launch->pool->name, launch->label);
    json_t *fields = drover_label_image_fields(config, launch->pool, launch->label);

    drover_launch_choose_image(launch, fields);
    if (launch->attempt++ == 0)
        launch->began = g_get_monotonic_time();
    drover_launch_start_deadline(launch);
    if (is_in_state(launch, DROVER_NODE_INIT))
        drover_node_record_set_state(fields, DROVER_NODE_BUILDING);
    if (cost != NULL)
        json_object_set_new(fields, "resources", drover_resources_json(cost));
    drover_launch_store(launch, fields, drover_launch_clear);
}

/* ---- How it fails ---- */

static gboolean
on_next_attempt(gpointer user_data)
{
    DroverLaunch *launch = user_data;

    launch->pause = 0;
    drover_launch_begin_attempt(launch);
    return G_SOURCE_REMOVE;
}

/*
 * When the driver does not say what it made, and not that it made nothing either, another attempt
 * could be the second machine of the same node.
 */
static gboolean
may_have_been_made(const DroverLaunch *launch, gboolean refused)
{
    g_autofree char *id = drover_launch_external_id(launch);

    return id == NULL && !refused;
}

/*
 * Standby nodes are asked for again and again: what stands in their way is told when it changes.
 * Whoever looks into a job's request finds all that became of it.
 */
static gboolean
is_told_already(DroverLaunch *launch, const char *why)
{
    gboolean news =
        drover_facts_note_failed(drover_manager_facts(launch->manager), launch->label, why);

    return !news && g_strcmp0(launch->request->requestor, DROVER_STANDBY_REQUESTOR) == 0;
}

void
drover_launch_fail_attempt(DroverLaunch *launch, const DroverLaunchFailure *failure)
{
    DroverLogSubject subject = drover_launch_subject(launch);
    g_autofree char *error = g_strconcat("error.", failure->kind, NULL);
    DroverLogLevel level =
        is_told_already(launch, failure->message) ? DROVER_LOG_DEBUG : failure->level;

    drover_launch_stop_timers(launch);
    count_attempt(launch, error);
    drover_log(level, &subject, "Launch attempt %u/%u failed (%s): %s", launch->attempt,
               most_attempts(launch), failure->kind, failure->message);
    /* Nor does anybody want another attempt when nobody waits for the node any more. */
    if (failure->final || launch->attempt >= most_attempts(launch) || launch->done == NULL)
        conclude(launch, state_fields(DROVER_NODE_FAILED), report_failed);
    else if (may_have_been_made(launch, failure->refused))
        conclude(launch, state_fields(DROVER_NODE_FAILED), drover_launch_try_another_node);
    else if (failure->pause > 0)
        launch->pause = g_timeout_add(failure->pause, on_next_attempt, launch);
    else
        drover_launch_begin_attempt(launch);
}

void
drover_launch_abort_for_quota(DroverLaunch *launch, const char *message)
{
    DroverLogSubject subject = drover_launch_subject(launch);

    drover_log(DROVER_LOG_INFO, &subject, "The cloud refuses for quota: %s", message);
    count_attempt(launch, "error.quota");
    drover_facts_note_refusal(drover_manager_facts(launch->manager));
    conclude(launch, state_fields(DROVER_NODE_ABORTED), report_aborted);
}

void
drover_launch_fail_for(DroverLaunch *launch, const DroverTaskResult *result)
{
    static const struct {
        enum drover_failure failure;
        const char *kind;
        gboolean refused, final;
    } kinds[] = {{DROVER_FAILURE_CAPACITY, "capacity", TRUE, FALSE},
                 {DROVER_FAILURE_RATE_LIMITED, "unknown", TRUE, FALSE},
                 {DROVER_FAILURE_NOT_FOUND, "unknown", TRUE, FALSE},
                 {DROVER_FAILURE_BROKEN, "status", FALSE, FALSE},
                 {DROVER_FAILURE_NO_ADDRESS, "network", FALSE, FALSE},
                 {DROVER_FAILURE_TIMEOUT, "servercreatetimeout", FALSE, FALSE},
                 {DROVER_FAILURE_PERMANENT, "unknown", TRUE, TRUE},
                 {DROVER_FAILURE_AUTH, "unknown", TRUE, TRUE}};
    DroverFacts *facts = drover_manager_facts(launch->manager);
    DroverLaunchFailure failure = {
        .level = result->failure == DROVER_FAILURE_TIMEOUT ? DROVER_LOG_WARNING : DROVER_LOG_ERROR,
        .kind = "unknown",
        .message = result->message,
        .pause = (guint)MAX(result->retry_after, 0)};

    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++)
        if (kinds[i].failure == result->failure) {
            failure.kind = kinds[i].kind;
            failure.refused = kinds[i].refused;
            failure.final = kinds[i].final;
        }
    if (result->failure == DROVER_FAILURE_PERMANENT)
        drover_facts_break_label(facts, launch->label, result->message);
    if (launch->zone != NULL)
        drover_facts_forget_zones(facts);
    drover_launch_fail_attempt(launch, &failure);
}

void
drover_launch_fail_for_time(DroverLaunch *launch)
{
    drover_launch_fail_attempt(
        launch, &(DroverLaunchFailure){.level = DROVER_LOG_WARNING,
                                       .kind = "servercreatetimeout",
                                       .message = "it took longer than launch-timeout"});
}
