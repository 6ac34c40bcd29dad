#include "launcher/machine/launch-private.h"

#include <string.h>

#include "launcher/provider/label.h"
#include "launcher/provider/template.h"

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
    drover_launch_stop_timers(launch);
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

void
drover_launch_finish(DroverLaunch *launch, DroverLaunchOutcome outcome)
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

/* ---- Storing ---- */

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
    else if (launch->binding.fields != NULL && !launch->release)
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
    drover_launch_finish(user_data, DROVER_LAUNCH_LOST);
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
    drover_launch_begin_attempt(launch);
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

void
drover_launch_try_another_node(DroverLaunch *launch)
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
        drover_launch_finish(launch, DROVER_LAUNCH_LOST);
        return;
    }
    if (launch->done == NULL)
        free_node(launch);
    fill_templates(launch);
    launch->attempt = 1;
    launch->began = g_get_monotonic_time();
    drover_launch_start_deadline(launch);
    if (launch->resumed != NULL && launch->resumed->made) {
        drover_log(DROVER_LOG_INFO, &subject, "Going on with a machine that is there already");
        g_clear_pointer(&launch->resumed, drover_journal_entry_free);
        drover_launch_scan(launch);
    } else if (launch->resumed != NULL && launch->resumed->saved != NULL) {
        drover_log(DROVER_LOG_INFO, &subject, "Going on with the launch");
        drover_launch_make(launch);
    } else {
        drover_log(DROVER_LOG_INFO, &subject, "The launch cannot be taken up");
        drover_launch_abort(launch);
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
