#include "launcher/machine/deletion.h"

#include "base/log.h"
#include "launcher/cluster/held-node.h"

#define LOGGER "NodeDeleter"

typedef struct {
    grefcount references; /* itself, and an answer of the driver still to come */
    gboolean dropped;
    DroverManager *manager;
    DroverNode *node; /* as it was when the deletion began, then as it was read */
    DroverHeldNode *held;
    DroverTask *task;
    guint timer;
    DroverDeletionFunc done;
    gpointer user_data;
} Deletion;

static void
deletion_unref(Deletion *deletion)
{
    if (!g_ref_count_dec(&deletion->references))
        return;
    drover_node_unref(deletion->node);
    g_free(deletion);
}

static DroverLogSubject
subject_of(const Deletion *deletion)
{
    return (DroverLogSubject){.logger = LOGGER,
                              .request_id = deletion->node->allocated_to,
                              .node_id = deletion->node->id,
                              .provider = deletion->node->provider,
                              .pool = deletion->node->pool};
}

static guint
timeout_of(const Deletion *deletion)
{
    return drover_manager_parts(deletion->manager)->delete_timeout;
}

/* ---- The end ---- */

static void
end(Deletion *deletion)
{
    g_clear_handle_id(&deletion->timer, g_source_remove);
    if (deletion->task != NULL)
        drover_task_cancel(deletion->task);
    g_clear_pointer(&deletion->held, drover_held_node_free);
    deletion->dropped = TRUE;
    g_hash_table_remove(drover_manager_parts(deletion->manager)->busy_nodes, deletion->node->id);
    drover_manager_remove_work(deletion->manager, deletion);
}

static void
finish(Deletion *deletion, DroverDeletionOutcome outcome)
{
    end(deletion);
    deletion->done(deletion->node->id, outcome, deletion->user_data);
    deletion_unref(deletion);
}

static void
drop(gpointer work)
{
    finish(work, DROVER_DELETION_LEFT);
}

/* ---- The record ---- */

static void
on_marked_deleted(DroverHeldNode *held, DroverHeldOutcome outcome, gpointer user_data)
{
    finish(user_data, DROVER_DELETION_LEFT);
}

static void
on_record_deleted(DroverHeldNode *held, DroverHeldOutcome outcome, gpointer user_data)
{
    Deletion *deletion = user_data;
    DroverLogSubject subject = subject_of(deletion);
    g_autoptr(json_t) fields = NULL;

    if (outcome == DROVER_HELD_BUSY) {
        /* Somebody waits for the lock: whoever has it next finds what is left to do. */
        fields = json_object();
        drover_node_record_set_state(fields, DROVER_NODE_DELETED);
        drover_held_node_store(held, fields, TRUE, on_marked_deleted, deletion);
        return;
    }
    if (outcome == DROVER_HELD_DONE)
        drover_log(DROVER_LOG_INFO, &subject, "Deleted node of provider %s",
                   deletion->node->provider);
    finish(deletion, outcome == DROVER_HELD_DONE ? DROVER_DELETION_DONE : DROVER_DELETION_LEFT);
}

static void
delete_record(Deletion *deletion)
{
    drover_held_node_delete(deletion->held, on_record_deleted, deletion);
}

/* ---- The machine ---- */

static void
on_machine_deleted(const DroverTaskResult *result, gpointer user_data)
{
    Deletion *deletion = user_data;
    DroverLogSubject subject = subject_of(deletion);

    deletion->task = NULL;
    if (!deletion->dropped) {
        g_clear_handle_id(&deletion->timer, g_source_remove);
        if (result->ok || result->failure == DROVER_FAILURE_NOT_FOUND) {
            if (!result->ok)
                drover_log(DROVER_LOG_INFO, &subject, "There is no such machine any more: %s",
                           result->message);
            delete_record(deletion);
        } else {
            drover_log(result->failure == DROVER_FAILURE_TIMEOUT ? DROVER_LOG_WARNING
                                                                 : DROVER_LOG_ERROR,
                       &subject, "The machine cannot be deleted: %s", result->message);
            finish(deletion, DROVER_DELETION_FAILED);
        }
    }
    deletion_unref(deletion);
}

static gboolean
on_timeout(gpointer user_data)
{
    Deletion *deletion = user_data;
    DroverLogSubject subject = subject_of(deletion);

    deletion->timer = 0;
    drover_log(DROVER_LOG_WARNING, &subject, "The machine is not deleted after %u s",
               timeout_of(deletion));
    finish(deletion, DROVER_DELETION_FAILED);
    return G_SOURCE_REMOVE;
}

static void
delete_machine(DroverHeldNode *held, DroverHeldOutcome outcome, gpointer user_data)
{
    Deletion *deletion = user_data;
    DroverTaskInput input = {.node_id = deletion->node->id,
                             .external_id = deletion->node->external_id,
                             .pool = deletion->node->pool,
                             .label = deletion->node->labels[0]};

    if (outcome != DROVER_HELD_DONE) {
        finish(deletion, DROVER_DELETION_LEFT);
        return;
    }
    if (deletion->node->external_id == NULL) {
        delete_record(deletion);
        return;
    }
    g_ref_count_inc(&deletion->references);
    deletion->timer = g_timeout_add_seconds(timeout_of(deletion), on_timeout, deletion);
    deletion->task =
        drover_runner_submit(drover_manager_runner(deletion->manager), DROVER_TASK_MACHINE_DELETE,
                             &input, on_machine_deleted, NULL, deletion);
}

/* ---- The decision, with the lock held ---- */

gboolean
drover_deletion_is_due(DroverNodeState state)
{
    switch (state) {
    case DROVER_NODE_USED:
    case DROVER_NODE_IN_USE:
    case DROVER_NODE_BUILDING:
    case DROVER_NODE_FAILED:
    case DROVER_NODE_DELETING:
    case DROVER_NODE_DELETED:
    case DROVER_NODE_ABORTED:
        return TRUE;
    default:
        return FALSE;
    }
}

static void
take_record(Deletion *deletion)
{
    g_autoptr(GBytes) data = drover_record_bytes(drover_held_node_record(deletion->held));
    DroverNode *node = drover_node_decode(deletion->node->id, data, 0, NULL);

    drover_node_unref(deletion->node);
    deletion->node = node;
}

/* Since when it is tried is kept. */
static void
mark_deleting(Deletion *deletion)
{
    g_autoptr(json_t) fields = json_object();

    if (deletion->node->state == DROVER_NODE_DELETING) {
        delete_machine(deletion->held, DROVER_HELD_DONE, deletion);
        return;
    }
    drover_node_record_set_state(fields, DROVER_NODE_DELETING);
    drover_held_node_store(deletion->held, fields, FALSE, delete_machine, deletion);
}

static void
on_taken(DroverHeldNode *held, DroverHeldOutcome outcome, gpointer user_data)
{
    Deletion *deletion = user_data;
    DroverLogSubject subject;

    if (outcome != DROVER_HELD_DONE) {
        finish(deletion, DROVER_DELETION_LEFT);
        return;
    }
    take_record(deletion);
    subject = subject_of(deletion);
    if (!drover_deletion_is_due(deletion->node->state)) {
        finish(deletion, DROVER_DELETION_LEFT);
    } else if (deletion->node->state == DROVER_NODE_DELETED) {
        delete_record(deletion);
    } else {
        drover_log(DROVER_LOG_INFO, &subject, "Deleting %s instance %s of provider %s",
                   drover_node_state_name(deletion->node->state),
                   deletion->node->external_id != NULL ? deletion->node->external_id : "(none)",
                   deletion->node->provider);
        mark_deleting(deletion);
    }
}

void
drover_deletion_begin(DroverManager *manager, const DroverNode *node, DroverDeletionFunc done,
                      gpointer user_data)
{
    Deletion *deletion = g_new0(Deletion, 1);

    g_ref_count_init(&deletion->references);
    deletion->manager = manager;
    deletion->node = drover_node_ref((DroverNode *)node);
    deletion->done = done;
    deletion->user_data = user_data;
    drover_manager_add_work(manager, DROVER_WORK_DELETION, drop, deletion);
    g_hash_table_add(drover_manager_parts(manager)->busy_nodes, g_strdup(node->id));
    deletion->held =
        drover_held_node_take(drover_manager_parts(manager)->cluster, node->id, on_taken, deletion);
}
