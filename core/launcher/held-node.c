#include "launcher/held-node.h"

#include <string.h>

#include "base/log.h"
#include "zk/change.h"
#include "zk/operation.h"

#define LOGGER "zk.HeldNode"

typedef enum { CREATING, LOCKING, READING, IDLE, STORING, DELETING } Work;

struct _DroverHeldNode {
    grefcount references; /* the owner, and an answer still to come */
    DroverCluster *cluster;
    gboolean freed;
    char *id, *path;
    json_t *record;
    gint32 version;
    DroverLock *lock;
    guint listener; /* of the session, while an answer got lost with the connection */
    Work work;
    json_t *fields; /* being stored */
    gboolean release;
    DroverHeldFunc done;
    gpointer user_data;
};

static void step(DroverHeldNode *held);

static void
held_unref(DroverHeldNode *held)
{
    if (!g_ref_count_dec(&held->references))
        return;
    json_decref(held->record);
    json_decref(held->fields);
    g_free(held->id);
    g_free(held->path);
    g_free(held);
}

static DroverSession *
session_of(const DroverHeldNode *held)
{
    return drover_cluster_session(held->cluster);
}

static void
finish(DroverHeldNode *held, DroverHeldOutcome outcome)
{
    DroverHeldFunc done = g_steal_pointer(&held->done);

    held->work = IDLE;
    g_clear_pointer(&held->fields, json_decref);
    if (done != NULL)
        done(held, outcome, held->user_data);
}

/* An answer came. FALSE when nobody waits for it any more. */
static gboolean
answered(DroverHeldNode *held)
{
    if (!held->freed)
        return TRUE;
    held_unref(held);
    return FALSE;
}

static void
expect_answer(DroverHeldNode *held)
{
    g_ref_count_inc(&held->references);
}

/* ---- Waiting for the connection ---- */

static void
on_session(DroverSession *session, DroverSessionState state, gpointer user_data)
{
    DroverHeldNode *held = user_data;

    if (state != DROVER_SESSION_CONNECTED && state != DROVER_SESSION_LOST)
        return;
    drover_session_remove(session, held->listener);
    held->listener = 0;
    if (held->lock != NULL && !drover_lock_is_held(held->lock)) {
        finish(held, DROVER_HELD_LOST);
        return;
    }
    /* What we wrote last may be there or not. */
    if (held->work == STORING || held->work == DELETING)
        held->version = -1;
    step(held);
}

static void
wait_for_connection(DroverHeldNode *held)
{
    held->listener = drover_session_add_listener(session_of(held), on_session, held);
}

/* ---- Reading ---- */

static void
on_read(const DroverReadReply *reply, gpointer user_data)
{
    DroverHeldNode *held = user_data;
    g_autoptr(DroverNode) node = NULL;

    if (!answered(held))
        return;
    if (reply->rc == ZOK)
        node = drover_node_decode(held->id, reply->data, reply->stat.version, NULL);
    if (drover_rc_is_unknown(reply->rc)) {
        wait_for_connection(held);
    } else if (node == NULL) {
        finish(held, DROVER_HELD_LOST);
    } else {
        json_decref(held->record);
        held->record = drover_node_record(node);
        held->version = node->version;
        if (held->work == READING)
            finish(held, DROVER_HELD_DONE);
        else
            step(held);
    }
    held_unref(held);
}

static void
read_record(DroverHeldNode *held)
{
    expect_answer(held);
    drover_session_get(session_of(held), held->path, FALSE, on_read, held);
}

/* ---- Locking ---- */

static void
on_locked(DroverLock *lock, DroverLockOutcome outcome, gpointer user_data)
{
    DroverHeldNode *held = user_data;

    if (outcome == DROVER_LOCK_HELD) {
        /* What we have just made is as we made it. */
        if (held->record != NULL) {
            finish(held, DROVER_HELD_DONE);
        } else {
            held->work = READING;
            step(held);
        }
    } else {
        finish(held, outcome == DROVER_LOCK_GONE ? DROVER_HELD_LOST : DROVER_HELD_BUSY);
    }
}

static void
acquire_lock(DroverHeldNode *held)
{
    g_autofree char *directory = drover_node_lock_path(held->id);

    held->work = LOCKING;
    held->lock = drover_lock_new(session_of(held), directory, FALSE, NULL);
    drover_lock_acquire(held->lock, DROVER_LOCK_DO_NOT_WAIT, on_locked, held);
}

/* ---- Creating ---- */

static void
set_id(DroverHeldNode *held, const char *id)
{
    held->id = g_strdup(id);
    held->path = drover_node_path(id);
}

static void
on_created(const DroverChangeResult *result, gpointer user_data)
{
    DroverHeldNode *held = user_data;

    if (!answered(held))
        return;
    if (result->outcome == DROVER_CHANGE_DONE) {
        set_id(held, strrchr(result->created[0], '/') + 1);
        held->version = 0;
        acquire_lock(held);
    } else {
        /* If it was made after all, it is an orphan that the cleaner finds. */
        finish(held, DROVER_HELD_LOST);
    }
    held_unref(held);
}

static void
create(DroverHeldNode *held)
{
    DroverChange *change = drover_change_new(session_of(held));
    g_autoptr(GBytes) data = drover_record_bytes(held->record);

    drover_change_create(change, DROVER_NODES_PATH "/", data, ZOO_SEQUENCE);
    expect_answer(held);
    drover_change_commit(change, on_created, held);
}

/* ---- Storing and deleting ---- */

static void
take_stored(DroverHeldNode *held)
{
    held->version++;
    if (held->release)
        g_clear_pointer(&held->lock, drover_lock_free);
    finish(held, DROVER_HELD_DONE);
}

static void
on_changed(const DroverChangeResult *result, gpointer user_data)
{
    DroverHeldNode *held = user_data;

    if (!answered(held))
        return;
    switch (result->outcome) {
    case DROVER_CHANGE_DONE:
        if (held->work == STORING) {
            take_stored(held);
        } else {
            g_clear_pointer(&held->lock, drover_lock_free);
            finish(held, DROVER_HELD_DONE);
        }
        break;
    case DROVER_CHANGE_UNKNOWN:
        wait_for_connection(held);
        break;
    case DROVER_CHANGE_CONFLICT:
        read_record(held);
        break;
    case DROVER_CHANGE_BUSY:
        finish(held, DROVER_HELD_BUSY);
        break;
    default:
        finish(held, DROVER_HELD_LOST);
        break;
    }
    held_unref(held);
}

static void
store(DroverHeldNode *held)
{
    DroverChange *change = drover_change_new(session_of(held));
    g_autoptr(GBytes) data = NULL;

    drover_node_record_merge(held->record, held->fields);
    data = drover_record_bytes(held->record);
    if (held->release)
        drover_change_release(change, held->lock);
    else
        drover_change_hold(change, held->lock);
    drover_change_set(change, held->path, data, held->version);
    expect_answer(held);
    drover_change_commit(change, on_changed, held);
}

static void
delete_record(DroverHeldNode *held)
{
    DroverChange *change = drover_change_new(session_of(held));

    drover_change_release(change, held->lock);
    drover_change_delete_claimed(change, held->path, TRUE, held->version);
    expect_answer(held);
    drover_change_commit(change, on_changed, held);
}

static void
step(DroverHeldNode *held)
{
    switch (held->work) {
    case CREATING:
        create(held);
        break;
    case READING:
        read_record(held);
        break;
    case STORING:
    case DELETING:
        /* Its version is not known since an answer was lost. */
        if (held->version < 0)
            read_record(held);
        else if (held->work == STORING)
            store(held);
        else
            delete_record(held);
        break;
    case LOCKING:
    case IDLE:
        break;
    }
}

/* ---- The owner's side ---- */

static DroverHeldNode *
held_new(DroverCluster *cluster, DroverHeldFunc done, gpointer user_data)
{
    DroverHeldNode *held = g_new0(DroverHeldNode, 1);

    g_ref_count_init(&held->references);
    held->cluster = cluster;
    held->done = done;
    held->user_data = user_data;
    return held;
}

DroverHeldNode *
drover_held_node_create(DroverCluster *cluster, const json_t *record, DroverHeldFunc done,
                        gpointer user_data)
{
    DroverHeldNode *held = held_new(cluster, done, user_data);

    held->record = json_deep_copy(record);
    held->work = CREATING;
    step(held);
    return held;
}

DroverHeldNode *
drover_held_node_take(DroverCluster *cluster, const char *id, DroverHeldFunc done,
                      gpointer user_data)
{
    DroverHeldNode *held = held_new(cluster, done, user_data);

    set_id(held, id);
    acquire_lock(held);
    return held;
}

void
drover_held_node_free(DroverHeldNode *held)
{
    if (held == NULL)
        return;
    held->freed = TRUE;
    held->done = NULL;
    if (held->listener != 0)
        drover_session_remove(session_of(held), held->listener);
    g_clear_pointer(&held->lock, drover_lock_free);
    held_unref(held);
}

const char *
drover_held_node_id(const DroverHeldNode *held)
{
    return held->id;
}

const json_t *
drover_held_node_record(const DroverHeldNode *held)
{
    return held->record;
}

static void
begin(DroverHeldNode *held, Work work, DroverHeldFunc done, gpointer user_data)
{
    g_assert(held->work == IDLE);
    held->work = work;
    held->done = done;
    held->user_data = user_data;
    step(held);
}

void
drover_held_node_store(DroverHeldNode *held, const json_t *fields, gboolean release,
                       DroverHeldFunc done, gpointer user_data)
{
    held->fields = json_deep_copy(fields);
    held->release = release;
    begin(held, STORING, done, user_data);
}

void
drover_held_node_delete(DroverHeldNode *held, DroverHeldFunc done, gpointer user_data)
{
    begin(held, DELETING, done, user_data);
}
