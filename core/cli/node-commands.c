/* drover list, hold, delete */
#include "base/error.h"
#include "cli/backing-node.h"
#include "cli/command.h"
#include "cli/node-table.h"
#include "cli/provider.h"
#include "model/node.h"

#define LOCK_WAIT      (5 * 1000) /* milliseconds */
#define DELETE_SECONDS 600

/* ---- list ---- */

static gboolean detail;

static const GOptionEntry list_options[] = {
    {"detail", 0, 0, G_OPTION_ARG_NONE, &detail, "Show all columns", NULL},
    G_OPTION_ENTRY_NULL,
};

static int
list(DroverCli *cli, const char *argument)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) nodes =
        drover_store_read_all(cli->store, DROVER_NODES_PATH, DROVER_READ_LOCK, &error);

    if (nodes == NULL)
        return drover_cli_fail(cli, "%s", error->message);
    drover_node_table_print(cli, nodes, detail);
    return 0;
}

const DroverCommand drover_list_command = {
    .name = "list",
    .summary = "List nodes",
    .options = list_options,
    .needs_store = TRUE,
    .run = list,
};

/* ---- Changing one node ---- */

/* The table of one node, or of none. Takes the record over. */
static void
print_one(DroverCli *cli, DroverRecord *record)
{
    g_autoptr(GPtrArray) nodes = g_ptr_array_new_with_free_func((GDestroyNotify)drover_record_free);

    if (record != NULL)
        g_ptr_array_add(nodes, record);
    drover_node_table_print(cli, nodes, FALSE);
}

static int
not_found(DroverCli *cli, const char *id)
{
    drover_cli_notice(cli, "Node id %s not found", id);
    if (cli->json)
        print_one(cli, NULL);
    return 0;
}

/* What to do when the node cannot be read. */
static int
unreadable(DroverCli *cli, const char *id, const GError *error)
{
    if (g_error_matches(error, DROVER_ERROR, DROVER_ERROR_NOT_FOUND))
        return not_found(cli, id);
    return drover_cli_fail(cli, "%s", error->message);
}

/* What is to become of a node. */
typedef struct {
    DroverNodeState state;
    /* May object: FALSE, with the exit status after a message. NULL: everything goes. */
    gboolean (*allows)(DroverCli *cli, const DroverNode *node, int *status);
    /* What comes after the new state was written, with the lock still held; returns the exit
     * status. NULL: the lock is released in the same step. */
    int (*then)(DroverCli *cli, DroverLock *lock, const DroverNode *node, DroverRecord *written);
} Fate;

/*
 * Whether our write is there, although its answer was lost: it is the only one with this time. The
 * lock may still be ours then.
 */
static gboolean
was_written(DroverStore *store, const DroverRecord *written)
{
    g_autoptr(DroverRecord) found = NULL;

    drover_store_catch_up(store, DROVER_NODES_PATH);
    found = drover_store_read(store, DROVER_NODES_PATH, written->name, DROVER_READ_PLAIN, NULL);
    return found != NULL && g_bytes_equal(found->data, written->data);
}

/* Writes the node's new state and may release the lock, in one step. */
static DroverChangeOutcome
write_state(DroverCli *cli, DroverLock *lock, const DroverNode *node, const Fate *fate,
            DroverRecord **written)
{
    g_autoptr(json_t) record = drover_node_record(node);
    g_autofree char *path = drover_node_path(node->id);
    DroverChange *change = drover_change_new(drover_store_session(cli->store));
    DroverChangeOutcome outcome;

    drover_node_record_set_state(record, fate->state);
    *written = g_new0(DroverRecord, 1);
    (*written)->name = g_strdup(node->id);
    (*written)->data = drover_record_bytes(record);
    drover_change_hold(change, lock);
    drover_change_set(change, path, (*written)->data, node->version);
    if (fate->then == NULL)
        drover_change_release(change, lock);
    outcome = drover_store_commit(cli->store, change, NULL);
    if (outcome == DROVER_CHANGE_UNKNOWN && was_written(cli->store, *written))
        outcome = DROVER_CHANGE_DONE;
    if (outcome != DROVER_CHANGE_DONE)
        g_clear_pointer(written, drover_record_free);
    return outcome;
}

/* Under the lock. A record that somebody writes without the lock is read again. */
static int
change_locked(DroverCli *cli, DroverLock *lock, const char *id, const Fate *fate)
{
    DroverChangeOutcome outcome;

    do {
        g_autoptr(GError) error = NULL;
        g_autoptr(DroverRecord) record =
            drover_store_read(cli->store, DROVER_NODES_PATH, id, DROVER_READ_PLAIN, &error);
        g_autoptr(DroverNode) node = NULL;
        DroverRecord *written = NULL;
        int status;

        if (record == NULL)
            return unreadable(cli, id, error);
        node = drover_node_decode(id, record->data, record->version, &error);
        if (node == NULL)
            return drover_cli_fail(cli, "node %s is unusable: %s", id, error->message);
        if (fate->allows != NULL && !fate->allows(cli, node, &status))
            return status;
        outcome = write_state(cli, lock, node, fate, &written);
        if (outcome == DROVER_CHANGE_DONE && fate->then != NULL)
            return fate->then(cli, lock, node, written);
        if (outcome == DROVER_CHANGE_DONE) {
            print_one(cli, written);
            return 0;
        }
    } while (outcome == DROVER_CHANGE_CONFLICT);
    if (outcome == DROVER_CHANGE_GONE)
        return not_found(cli, id);
    return drover_cli_fail(cli, "node %s was not changed: %s", id,
                           drover_change_outcome_name(outcome));
}

static int
change_state(DroverCli *cli, const char *id, const Fate *fate)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *directory = drover_node_lock_path(id);
    /* Locking must not make a node of an id that nobody has. */
    g_autoptr(DroverRecord) record =
        drover_store_read(cli->store, DROVER_NODES_PATH, id, DROVER_READ_PLAIN, &error);
    DroverLock *lock;
    int status;

    if (record == NULL)
        return unreadable(cli, id, error);
    lock = drover_lock_new(drover_store_session(cli->store), directory, FALSE, NULL);
    switch (drover_store_lock(cli->store, lock, LOCK_WAIT)) {
    case DROVER_LOCK_HELD:
        status = change_locked(cli, lock, id, fate);
        break;
    case DROVER_LOCK_GONE:
        status = not_found(cli, id);
        break;
    case DROVER_LOCK_TIMEOUT:
        status = drover_cli_fail(cli, "Timeout trying to acquire lock %s", directory);
        break;
    default:
        status = drover_cli_fail(cli, "the lock %s cannot be acquired", directory);
    }
    drover_lock_free(lock);
    return status;
}

/* ---- hold ---- */

static int
hold(DroverCli *cli, const char *id)
{
    static const Fate fate = {.state = DROVER_NODE_HOLD};

    return change_state(cli, id, &fate);
}

const DroverCommand drover_hold_command = {
    .name = "hold",
    .summary = "Keep a node from being used",
    .argument = "ID",
    .needs_store = TRUE,
    .run = hold,
};

/* ---- delete ---- */

static gboolean now, force;

static const GOptionEntry delete_options[] = {
    {"now", 0, 0, G_OPTION_ARG_NONE, &now, "Delete it from here, not by a launcher", NULL},
    {"force", 0, 0, G_OPTION_ARG_NONE, &force,
     "Only forget the node, not its machine; have a backing node given back", NULL},
    G_OPTION_ENTRY_NULL,
};

static const DroverProviderConfig *
provider_of(const DroverCli *cli, const DroverNode *node)
{
    return node->provider != NULL ? drover_config_find_provider(cli->config, node->provider) : NULL;
}

static gboolean
can_delete_now(DroverCli *cli, const DroverNode *node, int *status)
{
    if (provider_of(cli, node) != NULL)
        return TRUE;
    drover_cli_notice(cli, "Provider %s for node %s not defined on this launcher",
                      node->provider != NULL ? node->provider : "None", node->id);
    if (cli->json)
        print_one(cli, NULL);
    *status = 0;
    return FALSE;
}

/* Releases the lock and deletes it with the record, unless somebody else waits for the lock. */
static int
delete_record(DroverCli *cli, DroverLock *lock, const DroverNode *node)
{
    g_autofree char *path = drover_node_path(node->id),
                    *directory = drover_node_lock_path(node->id);
    DroverChange *change = drover_change_new(drover_store_session(cli->store));
    DroverChangeOutcome outcome;

    drover_change_hold(change, lock);
    drover_change_release(change, lock);
    drover_change_delete(change, directory, -1);
    drover_change_delete(change, path, -1);
    outcome = drover_store_commit(cli->store, change, NULL);
    if (outcome != DROVER_CHANGE_DONE && outcome != DROVER_CHANGE_GONE)
        return drover_cli_fail(cli,
                               "the machine of node %s is gone, its record is not (%s); a launcher "
                               "deletes it",
                               node->id, drover_change_outcome_name(outcome));
    print_one(cli, NULL);
    return 0;
}

static gboolean
delete_machine(DroverCliProvider *provider, const DroverNode *node, GError **error)
{
    DroverTaskInput input = {.node_id = node->id,
                             .external_id = node->external_id,
                             .pool = node->pool,
                             .label = node->labels[0]};
    g_autoptr(GError) problem = NULL;

    if (node->external_id == NULL ||
        drover_cli_provider_run(provider, DROVER_TASK_MACHINE_DELETE, &input, DELETE_SECONDS, NULL,
                                &problem) ||
        g_error_matches(problem, DROVER_ERROR, DROVER_ERROR_NOT_FOUND))
        return TRUE;
    g_propagate_error(error, g_steal_pointer(&problem));
    return FALSE;
}

/*
 * Machines that exist already have nothing that would have to be deleted: their nodes go as without
 * --now. What fails here is left to a launcher.
 */
static int
delete_now(DroverCli *cli, DroverLock *lock, const DroverNode *node, DroverRecord *written)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(DroverCliProvider) provider =
        drover_cli_provider_open(cli, provider_of(cli, node), &error);

    if (provider != NULL && !drover_cli_provider_can(provider, DROVER_CAN_MACHINES)) {
        print_one(cli, written);
        return 0;
    }
    drover_record_free(written);
    if (provider == NULL || !delete_machine(provider, node, &error))
        return drover_cli_fail(cli, "the machine of node %s cannot be deleted from here: %s",
                               node->id, error->message);
    return delete_record(cli, lock, node);
}

/* The last resort for a node whose provider is gone for good. `node` may be NULL. */
static int
forget(DroverCli *cli, const DroverRecord *record, const DroverNode *node)
{
    const char *id = record->name;
    g_autofree char *path = drover_node_path(id);
    DroverChange *change = drover_change_new(drover_store_session(cli->store));
    DroverChangeOutcome outcome;

    drover_change_delete_claimed(change, path, TRUE, record->version);
    outcome = drover_store_commit(cli->store, change, NULL);
    if (outcome == DROVER_CHANGE_BUSY)
        return drover_cli_fail(cli, "node %s is locked by somebody who may still use it", id);
    if (outcome != DROVER_CHANGE_DONE)
        return drover_cli_fail(cli, "node %s was not deleted: %s", id,
                               drover_change_outcome_name(outcome));
    g_printerr("The record of node %s is gone. Its machine may still exist: provider %s, server "
               "%s\n",
               id, node != NULL && node->provider != NULL ? node->provider : "unknown",
               node != NULL && node->external_id != NULL ? node->external_id : "unknown");
    print_one(cli, NULL);
    return 0;
}

static int
delete_by_force(DroverCli *cli, const char *id)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(DroverRecord) record =
        drover_store_read(cli->store, DROVER_NODES_PATH, id, DROVER_READ_LOCK, &error);
    g_autoptr(DroverNode) node = NULL;
    g_autofree char *contender = NULL;

    if (record == NULL)
        return unreadable(cli, id, error);
    node = drover_node_decode(id, record->data, record->version, NULL);
    if (node != NULL)
        contender =
            drover_cli_backing_contender(cli, node, (const char *const *)record->contenders);
    return contender != NULL ? drover_cli_give_backing_back(cli, node, contender, now)
                             : forget(cli, record, node);
}

static int delete (DroverCli *cli, const char *id)
{
    Fate fate = {.state = DROVER_NODE_DELETING};

    if (now) {
        fate.allows = can_delete_now;
        fate.then = delete_now;
    }
    return force ? delete_by_force(cli, id) : change_state(cli, id, &fate);
}

const DroverCommand drover_delete_command = {
    .name = "delete",
    .summary = "Delete a node",
    .argument = "ID",
    .options = delete_options,
    .needs_store = TRUE,
    .run = delete,
};
