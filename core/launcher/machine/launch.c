#include "launcher/machine/launch-private.h"

#include <string.h>

#include "launcher/provider/label.h"
#include "launcher/provider/template.h"

#define DEFAULT_LAUNCH_TIMEOUT 3600
#define DEFAULT_ATTEMPTS       3
#define CANCEL_SECONDS         60

void
drover_launch_unref(DroverLaunch *launch)
{
    if (!g_ref_count_dec(&launch->references))
        return;
    drover_request_unref(launch->request);
    json_decref(launch->unsaved);
    g_free(launch->label);
    g_free(launch->provider_name);
    g_free(launch->pool_name);
    g_free(launch->zone);
    g_free(launch->image);
    g_free(launch->address);
    drover_journal_entry_free(launch->resumed);
    drover_value_free(launch->filled);
    g_free(launch);
}

DroverLogSubject
drover_launch_subject(const DroverLaunch *launch)
{
    return (DroverLogSubject){.logger = DROVER_LAUNCH_LOGGER,
                              .event_id = launch->request->event_id,
                              .request_id = launch->request->id,
                              .node_id = drover_launch_node_id(launch),
                              .provider = launch->provider_name,
                              .pool = launch->pool_name};
}

int
drover_launch_setting(const DroverLaunch *launch, const char *option, int otherwise)
{
    return (int)drover_value_get_integer(drover_manager_runner_config(launch->manager)->values,
                                         option, otherwise);
}

static guint
most_attempts(const DroverLaunch *launch)
{
    return (guint)MAX(drover_launch_setting(launch, "launch-retries", DEFAULT_ATTEMPTS), 1);
}

static void
stop_timers(DroverLaunch *launch)
{
    g_clear_handle_id(&launch->deadline, g_source_remove);
    g_clear_handle_id(&launch->pause, g_source_remove);
}

/* An answer that comes when all is decided changes nothing any more. */
gboolean
drover_launch_is_decided(const DroverLaunch *launch)
{
    return launch->dropped || launch->release;
}

/* ---- The journal ---- */

void
drover_launch_note_saved(DroverLaunch *launch, gboolean made, const char *saved)
{
    DroverJournalEntry entry = {.provider = (char *)drover_manager_name(launch->manager),
                                .made = made,
                                .saved = (char *)saved};

    drover_journal_write(launch->parts->journal, drover_launch_node_id(launch), &entry);
}

static void
forget_saved(DroverLaunch *launch)
{
    if (drover_launch_node_id(launch) != NULL)
        drover_journal_remove(launch->parts->journal, drover_launch_node_id(launch));
}

void
drover_launch_on_saved(const char *saved, gpointer user_data)
{
    DroverLaunch *launch = user_data;

    if (launch->dropped || launch->node == NULL)
        return;
    if (saved != NULL)
        drover_launch_note_saved(launch, FALSE, saved);
    else
        forget_saved(launch);
}

/* ---- The end ---- */

static void
end(DroverLaunch *launch)
{
    stop_timers(launch);
    if (launch->task != NULL)
        drover_task_cancel(launch->task);
    g_clear_pointer(&launch->scan, drover_scanner_cancel);
    g_clear_pointer(&launch->promise, drover_usage_give_back);
    launch->dropped = TRUE;
    drover_launch_unbind(launch);
    if (drover_launch_node_id(launch) != NULL)
        g_hash_table_remove(launch->parts->busy_nodes, drover_launch_node_id(launch));
    drover_manager_remove_work(launch->manager, launch);
}

static void
finish(DroverLaunch *launch, DroverLaunchOutcome outcome)
{
    end(launch);
    forget_saved(launch);
    if (launch->done != NULL)
        launch->done(launch, outcome, launch->user_data);
    g_clear_pointer(&launch->node, drover_held_node_free);
    drover_launch_unref(launch);
}

static void
drop(gpointer work)
{
    DroverLaunch *launch = work;

    /* A record that is just being made would be nobody's for long: it is taken away first. */
    if (launch->recording && !launch->leaving) {
        launch->leaving = TRUE;
        launch->done = NULL;
        return;
    }
    end(launch);
    g_clear_pointer(&launch->node, drover_held_node_free);
    drover_launch_unref(launch);
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

/* ---- Storing ---- */

void
drover_launch_lose(DroverLaunch *launch)
{
    DroverLogSubject subject = drover_launch_subject(launch);

    drover_log(DROVER_LOG_ERROR, &subject, "The node's record or lock is gone");
    count_attempt(launch, "error.zksession");
    finish(launch, DROVER_LAUNCH_LOST);
}

static void on_stored(DroverHeldNode *node, DroverHeldOutcome outcome, gpointer user_data);

static void
save(DroverLaunch *launch)
{
    g_autoptr(json_t) fields = g_steal_pointer(&launch->unsaved);

    launch->unsaved = json_object();
    launch->saving = TRUE;
    drover_held_node_store(launch->node, fields, launch->release, on_stored, launch);
}

void
drover_launch_go_on(DroverLaunch *launch)
{
    DroverLaunchThen then;

    launch->saving = FALSE;
    if (json_object_size(launch->unsaved) > 0)
        save(launch);
    else if (launch->binding.fields != NULL)
        drover_launch_store_binding(launch);
    else if ((then = g_steal_pointer(&launch->then)) != NULL)
        then(launch);
}

static void
on_stored(DroverHeldNode *node, DroverHeldOutcome outcome, gpointer user_data)
{
    DroverLaunch *launch = user_data;

    if (outcome == DROVER_HELD_DONE)
        drover_launch_go_on(launch);
    else
        drover_launch_lose(launch);
}

/* Sets the fields, takes them over, and goes on when they are stored. */
void
drover_launch_store(DroverLaunch *launch, json_t *fields, DroverLaunchThen then)
{
    json_object_update_new(launch->unsaved, fields);
    if (then != NULL)
        launch->then = then;
    if (!launch->saving)
        save(launch);
}

static json_t *
state_fields(DroverNodeState state)
{
    json_t *fields = json_object();

    drover_node_record_set_state(fields, state);
    return fields;
}

/* ---- Outcomes ---- */

static void
report_ready(DroverLaunch *launch)
{
    DroverLogSubject subject = drover_launch_subject(launch);

    drover_log(DROVER_LOG_INFO, &subject, "Node is ready");
    drover_facts_note_made(drover_manager_facts(launch->manager), launch->label);
    count_attempt(launch, "ready");
    finish(launch, DROVER_LAUNCH_READY);
}

static void
report_failed(DroverLaunch *launch)
{
    finish(launch, DROVER_LAUNCH_FAILED);
}

static void
report_aborted(DroverLaunch *launch)
{
    finish(launch, DROVER_LAUNCH_ABORTED);
}

static void
conclude(DroverLaunch *launch, json_t *fields, DroverLaunchThen report)
{
    launch->release = TRUE;
    stop_timers(launch);
    /* Nobody waits for it: its machine is free for others. */
    if (launch->done == NULL)
        json_object_set_new(fields, "allocated_to", json_null());
    drover_launch_store(launch, fields, report);
}

/* `fields` of the machine go with the last write. */
void
drover_launch_become_ready(DroverLaunch *launch, json_t *fields)
{
    drover_node_record_set_state(fields, DROVER_NODE_READY);
    conclude(launch, fields, report_ready);
}

static void begin_attempt(DroverLaunch *launch);

static gboolean
on_next_attempt(gpointer user_data)
{
    DroverLaunch *launch = user_data;

    launch->pause = 0;
    begin_attempt(launch);
    return G_SOURCE_REMOVE;
}

static void record_node(DroverLaunch *launch, const char *launcher_id);

/* The node is left to be deleted, and with it, by its tags, what may have been made for it. */
static void
go_on_with_another_node(DroverLaunch *launch)
{
    g_autofree char *launcher_id =
        g_strdup(drover_json_string(drover_held_node_record(launch->node), "launcher"));

    forget_saved(launch);
    drover_launch_unbind(launch);
    g_hash_table_remove(launch->parts->busy_nodes, drover_launch_node_id(launch));
    g_clear_pointer(&launch->node, drover_held_node_free);
    launch->release = FALSE;
    record_node(launch, launcher_id);
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
drover_launch_fail_attempt(DroverLaunch *launch, DroverLogLevel level, const char *kind,
                           const char *message, gboolean final, gboolean refused, guint pause)
{
    DroverLogSubject subject = drover_launch_subject(launch);
    g_autofree char *error = g_strconcat("error.", kind, NULL);

    stop_timers(launch);
    count_attempt(launch, error);
    if (is_told_already(launch, message))
        level = DROVER_LOG_DEBUG;
    drover_log(level, &subject, "Launch attempt %u/%u failed (%s): %s", launch->attempt,
               most_attempts(launch), kind, message);
    /* Nor does anybody want another attempt when nobody waits for the node any more. */
    if (final || launch->attempt >= most_attempts(launch) || launch->done == NULL)
        conclude(launch, state_fields(DROVER_NODE_FAILED), report_failed);
    else if (may_have_been_made(launch, refused))
        conclude(launch, state_fields(DROVER_NODE_FAILED), go_on_with_another_node);
    else if (pause > 0)
        launch->pause = g_timeout_add(pause, on_next_attempt, launch);
    else
        begin_attempt(launch);
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
        gboolean refused; /* nothing was made */
        gboolean final;   /* another attempt cannot end otherwise */
    } kinds[] = {{DROVER_FAILURE_CAPACITY, "capacity", TRUE, FALSE},
                 {DROVER_FAILURE_RATE_LIMITED, "unknown", TRUE, FALSE},
                 {DROVER_FAILURE_NOT_FOUND, "unknown", TRUE, FALSE},
                 {DROVER_FAILURE_BROKEN, "status", FALSE, FALSE},
                 {DROVER_FAILURE_NO_ADDRESS, "network", FALSE, FALSE},
                 {DROVER_FAILURE_TIMEOUT, "servercreatetimeout", FALSE, FALSE},
                 {DROVER_FAILURE_PERMANENT, "unknown", TRUE, TRUE},
                 {DROVER_FAILURE_AUTH, "unknown", TRUE, TRUE}};
    DroverFacts *facts = drover_manager_facts(launch->manager);
    const char *kind = "unknown";
    gboolean refused = FALSE, final = FALSE;

    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++)
        if (kinds[i].failure == result->failure) {
            kind = kinds[i].kind;
            refused = kinds[i].refused;
            final = kinds[i].final;
        }
    if (result->failure == DROVER_FAILURE_PERMANENT)
        drover_facts_break_label(facts, launch->label, result->message);
    if (launch->zone != NULL)
        drover_facts_forget_zones(facts);
    drover_launch_fail_attempt(
        launch, result->failure == DROVER_FAILURE_TIMEOUT ? DROVER_LOG_WARNING : DROVER_LOG_ERROR,
        kind, result->message, final, refused, (guint)MAX(result->retry_after, 0));
}

void
drover_launch_fail_for_time(DroverLaunch *launch)
{
    drover_launch_fail_attempt(launch, DROVER_LOG_WARNING, "servercreatetimeout",
                               "it took longer than launch-timeout", FALSE, FALSE, 0);
}

/* ---- Attempts ---- */

/* A driver that does not even end what is cancelled gets no second chance: one node never has two
 * machines. */
static gboolean
on_no_answer(gpointer user_data)
{
    DroverLaunch *launch = user_data;

    launch->deadline = 0;
    drover_launch_fail_attempt(launch, DROVER_LOG_ERROR, "servercreatetimeout",
                               "the driver does not end the operation that was cancelled", TRUE,
                               FALSE, 0);
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

static void
start_deadline(DroverLaunch *launch)
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

static void
begin_attempt(DroverLaunch *launch)
{
    const DroverProviderConfig *config = drover_manager_runner_config(launch->manager);
    const DroverResources *cost =
        drover_facts_cost(drover_manager_facts(launch->manager), launch->pool->name, launch->label);
    json_t *fields = drover_label_image_fields(config, launch->pool, launch->label);

    drover_launch_choose_image(launch, fields);
    if (launch->attempt++ == 0)
        launch->began = g_get_monotonic_time();
    start_deadline(launch);
    if (is_in_state(launch, DROVER_NODE_INIT))
        drover_node_record_set_state(fields, DROVER_NODE_BUILDING);
    if (cost != NULL)
        json_object_set_new(fields, "resources", drover_resources_json(cost));
    drover_launch_store(launch, fields, drover_launch_clear);
}

/* ---- Life ---- */

static void
fill_templates(DroverLaunch *launch)
{
    DroverLogSubject subject = drover_launch_subject(launch);

    drover_value_free(launch->filled);
    launch->filled = drover_template_fill(drover_manager_driver(launch->manager),
                                          drover_label_values(launch->pool, launch->label),
                                          launch->request, &subject);
}

/* The record counts from now on. */
static void
on_record_made(gpointer user_data)
{
    DroverLaunch *launch = user_data;

    g_clear_pointer(&launch->promise, drover_usage_give_back);
}

static void
on_taken_away(DroverHeldNode *node, DroverHeldOutcome outcome, gpointer user_data)
{
    finish(user_data, DROVER_LAUNCH_LOST);
}

static void
on_recorded(DroverHeldNode *node, DroverHeldOutcome outcome, gpointer user_data)
{
    DroverLaunch *launch = user_data;
    DroverLogSubject subject = drover_launch_subject(launch);

    launch->recording = FALSE;
    if (outcome != DROVER_HELD_DONE) {
        drover_launch_lose(launch);
        return;
    }
    /* Nobody wants it any more. */
    if (launch->done == NULL) {
        drover_held_node_delete(node, on_taken_away, launch);
        return;
    }
    fill_templates(launch);
    g_hash_table_add(launch->parts->busy_nodes, g_strdup(drover_launch_node_id(launch)));
    drover_log(DROVER_LOG_INFO, &subject, "Launching a node with label %s", launch->label);
    begin_attempt(launch);
}

static json_t *
new_record(const DroverLaunch *launch, const char *launcher_id)
{
    json_t *record = drover_node_new_record(DROVER_NODE_INIT);
    const char *labels[] = {launch->label, NULL};

    json_object_set_new(record, "type", drover_json_from_strings(labels));
    drover_record_set_string(record, "provider", drover_manager_name(launch->manager));
    drover_record_set_string(record, "pool", launch->pool->name);
    drover_record_set_string(record, "launcher", launcher_id);
    drover_record_set_string(record, "az", launch->zone);
    drover_node_record_allocate(record, launch->request->id, launch->request->tenant_name,
                                launch->request->requestor);
    if (launch->pool->node_attributes != NULL)
        json_object_set(record, "attributes", launch->pool->node_attributes);
    return record;
}

static DroverLaunch *
launch_new(const DroverLaunchOrder *order, DroverLaunchFunc done, gpointer user_data)
{
    DroverLaunch *launch = g_new0(DroverLaunch, 1);

    g_ref_count_init(&launch->references);
    launch->manager = order->manager;
    launch->provider_name = g_strdup(drover_manager_name(order->manager));
    launch->pool_name = g_strdup(order->pool);
    launch->parts = drover_manager_parts(order->manager);
    launch->request = drover_request_ref((DroverRequest *)order->request);
    launch->pool =
        drover_provider_config_find_pool(drover_manager_runner_config(order->manager), order->pool);
    launch->label = g_strdup(order->label);
    launch->zone = g_strdup(order->zone);
    launch->unsaved = json_object();
    launch->done = done;
    launch->user_data = user_data;
    drover_manager_add_work(order->manager, DROVER_WORK_LAUNCH, drop, launch);
    return launch;
}

static void
record_node(DroverLaunch *launch, const char *launcher_id)
{
    const char *provider = drover_manager_name(launch->manager), *pool = launch->pool->name;
    DroverFacts *facts = drover_manager_facts(launch->manager);
    g_autoptr(json_t) record = new_record(launch, launcher_id);

    launch->promise =
        drover_usage_promise(launch->parts->usage, provider, pool, launch->request->tenant_name,
                             drover_facts_cost(facts, pool, launch->label));
    launch->recording = TRUE;
    launch->node = drover_held_node_create(launch->parts->cluster, record, on_record_made,
                                           on_recorded, launch);
}

DroverLaunch *
drover_launch_new(const DroverLaunchOrder *order, DroverLaunchFunc done, gpointer user_data)
{
    DroverLaunch *launch = launch_new(order, done, user_data);

    record_node(launch, order->launcher_id);
    return launch;
}

/* ---- Going on with what an earlier process began ---- */

/* It is nobody's from now on, and not only when it is ready: its request is others'. */
static void
free_node(DroverLaunch *launch)
{
    json_t *fields = json_object();

    json_object_set_new(fields, "allocated_to", json_null());
    drover_launch_store(launch, fields, NULL);
}

static void
on_taken(DroverHeldNode *node, DroverHeldOutcome outcome, gpointer user_data)
{
    DroverLaunch *launch = user_data;
    DroverLogSubject subject = drover_launch_subject(launch);

    if (outcome != DROVER_HELD_DONE) {
        finish(launch, DROVER_LAUNCH_LOST);
        return;
    }
    if (launch->done == NULL)
        free_node(launch);
    fill_templates(launch);
    launch->attempt = 1;
    launch->began = g_get_monotonic_time();
    start_deadline(launch);
    if (launch->resumed != NULL && launch->resumed->made) {
        drover_log(DROVER_LOG_INFO, &subject, "Going on with a machine that is there already");
        g_clear_pointer(&launch->resumed, drover_journal_entry_free);
        drover_launch_scan(launch);
    } else if (launch->resumed != NULL && launch->resumed->saved != NULL) {
        drover_log(DROVER_LOG_INFO, &subject, "Going on with the launch");
        drover_launch_make(launch);
    } else {
        drover_log(DROVER_LOG_INFO, &subject, "The launch cannot be taken up");
        conclude(launch, state_fields(DROVER_NODE_ABORTED), report_aborted);
    }
}

DroverLaunch *
drover_launch_resume(const DroverLaunchOrder *order, const char *node_id, DroverLaunchFunc done,
                     gpointer user_data)
{
    DroverLaunch *launch = launch_new(order, done, user_data);

    launch->resumed =
        drover_journal_read(launch->parts->journal, node_id, drover_manager_name(order->manager));
    g_hash_table_add(launch->parts->busy_nodes, g_strdup(node_id));
    launch->node = drover_held_node_take(launch->parts->cluster, node_id, on_taken, launch);
    return launch;
}

const char *
drover_launch_node_id(const DroverLaunch *launch)
{
    return launch->node != NULL ? drover_held_node_id(launch->node) : NULL;
}

void
drover_launch_disown(DroverLaunch *launch)
{
    launch->done = NULL;
    if (launch->node != NULL && !launch->recording &&
        drover_held_node_record(launch->node) != NULL && !drover_launch_is_decided(launch)) {
        free_node(launch);
        drover_launch_end_waiting(launch);
    }
}
