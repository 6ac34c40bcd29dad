#include "launcher/launch.h"

#include <string.h>

#include "base/log.h"
#include "launcher/held-node.h"
#include "launcher/instance.h"
#include "launcher/label.h"
#include "launcher/tags.h"
#include "launcher/template.h"

#define LOGGER "NodeLauncher"

#define DEFAULT_LAUNCH_TIMEOUT 3600
#define DEFAULT_BOOT_TIMEOUT   60
#define DEFAULT_ATTEMPTS       3
#define CLEAR_RETRY_SECONDS    1
#define CANCEL_SECONDS         60

typedef void (*Then)(DroverLaunch *launch);

struct _DroverLaunch {
    grefcount references; /* itself, and every answer still to come */
    gboolean dropped;     /* answers mean nothing any more */
    DroverManager *manager;
    DroverParts *parts;
    DroverRequest *request;
    const DroverPoolConfig *pool; /* the manager's */
    char *label, *zone;
    char *image;                 /* the external id of an uploaded one; NULL: the label has none */
    gboolean image_missing;      /* though it should have one */
    struct drover_value *filled; /* the label's section with its templates; NULL: it has none */
    DroverUsagePromise *promise; /* until the record is there */
    DroverHeldNode *node;
    json_t *unsaved; /* fields that are to be stored */
    gboolean saving, release;
    Then then; /* what comes when all is stored */
    guint attempt;
    guint deadline; /* of the attempt */
    guint pause;    /* before something is tried again */
    gboolean timed_out;
    DroverTask *task;
    DroverScannerJob *scan;
    char *address;               /* being scanned */
    DroverJournalEntry *resumed; /* what an earlier process left; NULL: nothing, or used up */
    DroverLaunchFunc done;
    gpointer user_data;
};

static void
launch_unref(DroverLaunch *launch)
{
    if (!g_ref_count_dec(&launch->references))
        return;
    drover_request_unref(launch->request);
    json_decref(launch->unsaved);
    g_free(launch->label);
    g_free(launch->zone);
    g_free(launch->image);
    g_free(launch->address);
    drover_journal_entry_free(launch->resumed);
    drover_value_free(launch->filled);
    g_free(launch);
}

static DroverLogSubject
subject_of(const DroverLaunch *launch)
{
    return (DroverLogSubject){.logger = LOGGER,
                              .event_id = launch->request->event_id,
                              .request_id = launch->request->id,
                              .node_id = drover_launch_node_id(launch)};
}

static int
setting(const DroverLaunch *launch, const char *option, int otherwise)
{
    return (int)drover_value_get_integer(drover_manager_runner_config(launch->manager)->values,
                                         option, otherwise);
}

static guint
most_attempts(const DroverLaunch *launch)
{
    return (guint)MAX(setting(launch, "launch-retries", DEFAULT_ATTEMPTS), 1);
}

static void
stop_timers(DroverLaunch *launch)
{
    g_clear_handle_id(&launch->deadline, g_source_remove);
    g_clear_handle_id(&launch->pause, g_source_remove);
}

/* An answer that comes when all is decided changes nothing any more. */
static gboolean
is_decided(const DroverLaunch *launch)
{
    return launch->dropped || launch->release;
}

/* ---- The journal ---- */

static void
note_saved(DroverLaunch *launch, gboolean made, const char *saved)
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

static void
on_saved(const char *saved, gpointer user_data)
{
    DroverLaunch *launch = user_data;

    if (launch->dropped || launch->node == NULL)
        return;
    if (saved != NULL)
        note_saved(launch, FALSE, saved);
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
    launch_unref(launch);
}

static void
drop(gpointer work)
{
    DroverLaunch *launch = work;

    end(launch);
    g_clear_pointer(&launch->node, drover_held_node_free);
    launch_unref(launch);
}

/* ---- Storing ---- */

static void
lose(DroverLaunch *launch)
{
    DroverLogSubject subject = subject_of(launch);

    drover_log(DROVER_LOG_ERROR, &subject, "The node's record or lock is gone");
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

static void
on_stored(DroverHeldNode *node, DroverHeldOutcome outcome, gpointer user_data)
{
    DroverLaunch *launch = user_data;
    Then then;

    launch->saving = FALSE;
    if (outcome != DROVER_HELD_DONE) {
        lose(launch);
    } else if (json_object_size(launch->unsaved) > 0) {
        save(launch);
    } else if ((then = g_steal_pointer(&launch->then)) != NULL) {
        then(launch);
    }
}

/* Sets the fields, takes them over, and goes on when they are stored. */
static void
store(DroverLaunch *launch, json_t *fields, Then then)
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
    DroverLogSubject subject = subject_of(launch);

    drover_log(DROVER_LOG_INFO, &subject, "Node is ready");
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
conclude(DroverLaunch *launch, json_t *fields, Then report)
{
    launch->release = TRUE;
    stop_timers(launch);
    /* Nobody waits for it: its machine is free for others. */
    if (launch->done == NULL)
        json_object_set_new(fields, "allocated_to", json_null());
    store(launch, fields, report);
}

/* `fields` of the machine go with the last write. */
static void
become_ready(DroverLaunch *launch, json_t *fields)
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

static char *external_id(const DroverLaunch *launch);
static void record_node(DroverLaunch *launch, const char *launcher_id);

/* The node is left to be deleted, and with it, by its tags, what may have been made for it. */
static void
go_on_with_another_node(DroverLaunch *launch)
{
    g_autofree char *launcher_id =
        g_strdup(drover_json_string(drover_held_node_record(launch->node), "launcher"));

    forget_saved(launch);
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
    g_autofree char *id = external_id(launch);

    return id == NULL && !refused;
}

static void
fail_attempt(DroverLaunch *launch, DroverLogLevel level, const char *kind, const char *message,
             gboolean final, gboolean refused, guint pause)
{
    DroverLogSubject subject = subject_of(launch);

    stop_timers(launch);
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

static void
abort_for_quota(DroverLaunch *launch, const char *message)
{
    DroverLogSubject subject = subject_of(launch);

    drover_log(DROVER_LOG_INFO, &subject, "The cloud refuses for quota: %s", message);
    drover_facts_note_refusal(drover_manager_facts(launch->manager));
    conclude(launch, state_fields(DROVER_NODE_ABORTED), report_aborted);
}

static void
fail_for(DroverLaunch *launch, const DroverTaskResult *result)
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
    fail_attempt(launch,
                 result->failure == DROVER_FAILURE_TIMEOUT ? DROVER_LOG_WARNING : DROVER_LOG_ERROR,
                 kind, result->message, final, refused, (guint)MAX(result->retry_after, 0));
}

static void
fail_for_time(DroverLaunch *launch)
{
    fail_attempt(launch, DROVER_LOG_WARNING, "servercreatetimeout",
                 "it took longer than launch-timeout", FALSE, FALSE, 0);
}

/* ---- Reaching the machine ---- */

static void
fail_for_scan(DroverLaunch *launch)
{
    fail_attempt(launch, DROVER_LOG_WARNING, "keyscan", "the machine cannot be reached", FALSE,
                 FALSE, 0);
}

static void
log_console(const DroverLaunch *launch, const char *text)
{
    DroverLogSubject subject = subject_of(launch);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

    drover_log(DROVER_LOG_INFO, &subject, "Console log of %s:",
               drover_json_string(drover_held_node_record(launch->node), "hostname") != NULL
                   ? drover_json_string(drover_held_node_record(launch->node), "hostname")
                   : "the machine");
    for (char **line = lines; *line != NULL; line++)
        if (*g_strchomp(*line) != '\0' || line[1] != NULL)
            drover_log(DROVER_LOG_INFO, &subject, "%s", *line);
}

static void
on_console(const DroverTaskResult *result, gpointer user_data)
{
    DroverLaunch *launch = user_data;

    launch->task = NULL;
    if (!is_decided(launch)) {
        if (result->ok && *result->text != '\0')
            log_console(launch, result->text);
        fail_for_scan(launch);
    }
    launch_unref(launch);
}

static void submit(DroverLaunch *launch, DroverTaskKind kind, const char *id,
                   const char *const *inputs, DroverTaskFunc done, DroverTaskIdFunc id_known);

static void
ask_for_console(DroverLaunch *launch)
{
    DroverRunner *runner = drover_manager_runner(launch->manager);
    g_autofree char *id = external_id(launch);

    drover_runner_scan_failed(runner, launch->label, id);
    if (drover_runner_can(runner, DROVER_CAN_CONSOLE))
        submit(launch, DROVER_TASK_MACHINE_CONSOLE, id, NULL, on_console, NULL);
    else
        fail_for_scan(launch);
}

static void
on_scanned(const DroverScannerResult *result, gpointer user_data)
{
    DroverLaunch *launch = user_data;
    DroverLogSubject subject = subject_of(launch);
    json_t *fields;

    launch->scan = NULL;
    if (result->message != NULL) {
        drover_log(DROVER_LOG_WARNING, &subject, "Cannot reach %s: %s", launch->address,
                   result->message);
        ask_for_console(launch);
        return;
    }
    fields = json_object();
    if (result->keys[0] != NULL)
        json_object_set_new(fields, "host_keys",
                            drover_json_from_strings((const char *const *)result->keys));
    become_ready(launch, fields);
}

/* A port that is an object holds access data, and nothing to connect to. */
static gboolean
is_scanned(const DroverLaunch *launch, const json_t *fields)
{
    const json_t *port = json_object_get(fields, "connection_port");

    if (port == NULL)
        port = json_object_get(drover_held_node_record(launch->node), "connection_port");
    return drover_label_is_scanned(launch->pool, launch->label) && json_is_integer(port);
}

static void
scan(DroverLaunch *launch)
{
    const json_t *record = drover_held_node_record(launch->node);
    const char *type = drover_json_string(record, "connection_type");
    gboolean keys = g_strcmp0(type, "ssh") == 0 || g_strcmp0(type, "network_cli") == 0;
    const char *address = drover_json_string(record, "interface_ip");

    if (launch->timed_out) {
        fail_for_time(launch);
        return;
    }
    if (address == NULL) {
        fail_attempt(launch, DROVER_LOG_ERROR, "network", "the machine has no address", FALSE,
                     FALSE, 0);
        return;
    }
    note_saved(launch, TRUE, NULL);
    g_free(launch->address);
    launch->address = g_strdup(address);
    launch->scan = drover_scanner_start(
        launch->parts->scanner, drover_manager_name(launch->manager),
        keys ? DROVER_SCAN_HOST_KEYS : DROVER_SCAN_CONNECT, address,
        (guint16)drover_json_integer(record, "connection_port", 22),
        (guint)MAX(setting(launch, "boot-timeout", DEFAULT_BOOT_TIMEOUT), 1), on_scanned, launch);
}

/* ---- Making the machine ---- */

static void
submit(DroverLaunch *launch, DroverTaskKind kind, const char *id, const char *const *inputs,
       DroverTaskFunc done, DroverTaskIdFunc id_known)
{
    const struct drover_value *values = drover_label_values(launch->pool, launch->label);
    DroverTaskInput input = {.node_id = drover_launch_node_id(launch),
                             .external_id = id,
                             .pool = launch->pool->name,
                             .label = launch->label,
                             .pool_config = launch->pool->values,
                             .label_config = launch->filled != NULL ? launch->filled : values,
                             .inputs = inputs};

    if (kind == DROVER_TASK_MACHINE_CREATE) {
        input.saved = launch->resumed != NULL ? launch->resumed->saved : NULL;
        input.saved_changed = on_saved;
    }

    g_ref_count_inc(&launch->references);
    launch->task = drover_runner_submit(drover_manager_runner(launch->manager), kind, &input, done,
                                        id_known, launch);
}

/* As it is handed to a driver: an object as its text. NULL when nothing was made. */
static char *
external_id(const DroverLaunch *launch)
{
    const json_t *id = json_object_get(launch->unsaved, "external_id");

    if (id == NULL)
        id = json_object_get(drover_held_node_record(launch->node), "external_id");
    if (json_is_string(id))
        return g_strdup(json_string_value(id));
    return id != NULL && !json_is_null(id) ? drover_json_text(id) : NULL;
}

static json_t *
external_id_field(const char *id)
{
    json_t *value = id[0] == '{' ? drover_json_parse_object(id, strlen(id), NULL) : NULL;

    return value != NULL ? value : json_string(id);
}

static void
on_id_known(const char *id, gpointer user_data)
{
    DroverLaunch *launch = user_data;
    json_t *fields;

    /* Later the lock is given up; what is made then is found by its tags. */
    if (is_decided(launch))
        return;
    fields = json_object();
    json_object_set_new(fields, "external_id", external_id_field(id));
    store(launch, fields, NULL);
}

static void
on_made(const DroverTaskResult *result, gpointer user_data)
{
    DroverLaunch *launch = user_data;

    launch->task = NULL;
    if (is_decided(launch)) {
        /* nobody is interested */
    } else if (result->ok && !launch->timed_out) {
        json_t *fields = drover_instance_fields(result, launch->pool);

        if (is_scanned(launch, fields))
            store(launch, fields, scan);
        else
            become_ready(launch, fields);
    } else if (launch->timed_out) {
        fail_for_time(launch);
    } else if (result->failure == DROVER_FAILURE_QUOTA) {
        abort_for_quota(launch, result->message);
    } else {
        fail_for(launch, result);
    }
    launch_unref(launch);
}

static void
add_input(const char **inputs, guint *n, const char *name, const char *value)
{
    if (value == NULL)
        return;
    inputs[(*n)++] = name;
    inputs[(*n)++] = value;
}

static void
make(DroverLaunch *launch)
{
    const char *node_id = drover_launch_node_id(launch);
    g_autofree char *hostname = g_strconcat("np", node_id, NULL);
    /* Only when it goes on with a machine that was begun. */
    g_autofree char *id = external_id(launch);
    g_autofree char *tags =
        drover_tags_of_node(node_id, launch->pool->name, drover_manager_name(launch->manager));
    const char *inputs[] = {"hostname", hostname, "tags", tags, NULL, NULL, NULL, NULL, NULL};
    guint n = 4;

    add_input(inputs, &n, "image", launch->image);
    add_input(inputs, &n, "az", launch->zone);
    if (launch->timed_out)
        fail_for_time(launch);
    else if (launch->image_missing)
        fail_attempt(launch, DROVER_LOG_ERROR, "nodepool", "there is no image to launch from",
                     FALSE, TRUE, 0);
    else
        submit(launch, DROVER_TASK_MACHINE_CREATE, id, inputs, on_made, on_id_known);
    g_clear_pointer(&launch->resumed, drover_journal_entry_free);
}

/* ---- Clearing away what the former attempt made ---- */

static void clear(DroverLaunch *launch);

static gboolean
on_clear_again(gpointer user_data)
{
    DroverLaunch *launch = user_data;

    launch->pause = 0;
    clear(launch);
    return G_SOURCE_REMOVE;
}

static void
on_cleared(const DroverTaskResult *result, gpointer user_data)
{
    DroverLaunch *launch = user_data;
    DroverLogSubject subject = subject_of(launch);

    launch->task = NULL;
    if (is_decided(launch)) {
        /* nobody is interested */
    } else if (result->ok || result->failure == DROVER_FAILURE_NOT_FOUND) {
        json_t *fields = json_object();

        json_object_set_new(fields, "external_id", json_null());
        store(launch, fields, make);
    } else if (launch->timed_out) {
        fail_for_time(launch);
    } else {
        drover_log(DROVER_LOG_WARNING, &subject, "What was made cannot be deleted: %s",
                   result->message);
        launch->pause = g_timeout_add_seconds(CLEAR_RETRY_SECONDS, on_clear_again, launch);
    }
    launch_unref(launch);
}

/* One node never has two machines. */
static void
clear(DroverLaunch *launch)
{
    g_autofree char *id = external_id(launch);

    if (launch->timed_out)
        fail_for_time(launch);
    else if (id == NULL)
        make(launch);
    else
        submit(launch, DROVER_TASK_MACHINE_DELETE, id, NULL, on_cleared, NULL);
}

/* ---- Attempts ---- */

/* A driver that does not even end what is cancelled gets no second chance: one node never has two
 * machines. */
static gboolean
on_no_answer(gpointer user_data)
{
    DroverLaunch *launch = user_data;

    launch->deadline = 0;
    fail_attempt(launch, DROVER_LOG_ERROR, "servercreatetimeout",
                 "the driver does not end the operation that was cancelled", TRUE, FALSE, 0);
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
        fail_for_time(launch);
    }
    return G_SOURCE_REMOVE;
}

static void
start_deadline(DroverLaunch *launch)
{
    launch->timed_out = FALSE;
    launch->deadline = g_timeout_add_seconds(
        (guint)MAX(setting(launch, "launch-timeout", DEFAULT_LAUNCH_TIMEOUT), 1), on_deadline,
        launch);
}

static gboolean
is_in_state(const DroverLaunch *launch, DroverNodeState state)
{
    const char *name = drover_json_string(drover_held_node_record(launch->node), "state");

    return g_strcmp0(name, drover_node_state_name(state)) == 0;
}

/* The most recent one, for each attempt anew. */
static void
choose_image(DroverLaunch *launch, json_t *fields)
{
    const char *image = drover_label_diskimage(launch->pool, launch->label);
    DroverImageUpload upload;

    g_clear_pointer(&launch->image, g_free);
    launch->image_missing = FALSE;
    if (image == NULL)
        return;
    if (drover_images_find(launch->parts->images, image, drover_manager_name(launch->manager),
                           &upload) == DROVER_IMAGE_READY) {
        launch->image = g_strdup(upload.external_id);
        json_object_set_new(fields, "image_id", json_string(upload.path));
    }
    launch->image_missing = launch->image == NULL;
}

static void
begin_attempt(DroverLaunch *launch)
{
    const DroverProviderConfig *config = drover_manager_runner_config(launch->manager);
    const DroverResources *cost =
        drover_facts_cost(drover_manager_facts(launch->manager), launch->pool->name, launch->label);
    json_t *fields = drover_label_image_fields(config, launch->pool, launch->label);

    choose_image(launch, fields);
    launch->attempt++;
    start_deadline(launch);
    if (is_in_state(launch, DROVER_NODE_INIT))
        drover_node_record_set_state(fields, DROVER_NODE_BUILDING);
    if (cost != NULL)
        json_object_set_new(fields, "resources", drover_resources_json(cost));
    store(launch, fields, clear);
}

/* ---- Life ---- */

static void
fill_templates(DroverLaunch *launch)
{
    DroverLogSubject subject = subject_of(launch);

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
on_recorded(DroverHeldNode *node, DroverHeldOutcome outcome, gpointer user_data)
{
    DroverLaunch *launch = user_data;
    DroverLogSubject subject = subject_of(launch);

    if (outcome != DROVER_HELD_DONE) {
        lose(launch);
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

static void
on_taken(DroverHeldNode *node, DroverHeldOutcome outcome, gpointer user_data)
{
    DroverLaunch *launch = user_data;
    DroverLogSubject subject = subject_of(launch);

    if (outcome != DROVER_HELD_DONE) {
        finish(launch, DROVER_LAUNCH_LOST);
        return;
    }
    fill_templates(launch);
    launch->attempt = 1;
    start_deadline(launch);
    if (launch->resumed != NULL && launch->resumed->made) {
        drover_log(DROVER_LOG_INFO, &subject, "Going on with a machine that is there already");
        g_clear_pointer(&launch->resumed, drover_journal_entry_free);
        scan(launch);
    } else if (launch->resumed != NULL && launch->resumed->saved != NULL) {
        drover_log(DROVER_LOG_INFO, &subject, "Going on with the launch");
        make(launch);
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
}
