#include "launcher/cluster/held-node.h"

#include <string.h>

#include "base/log.h"
#include "zk/change.h"
#include "zk/operation.h"

#define LOGGER "zk.HeldNode"

#define UNKNOWN_VERSION (-1)

typedef enum { CREATING, LOCKING, READING, IDLE, STORING, DELETING } Work;

struct _DroverHeldNode {
    grefcount references; /* the owner, and an answer still to come */
    DroverCluster *cluster;
    gboolean freed;
    char *id, *path;
    json_t *record;
    gint32 version;
    DroverLock *lock;
    guint waiting; /* for the caches, when an answer got lost with the connection; or 0 */
    Work work;
    json_t *fields; /* being stored */
    gboolean release;
    DroverHeldOther other; /* what is stored with them, or NULL ... */
    gpointer other_data;
    json_t *before; /* ... and the record without the fields */
    DroverHeldMadeFunc made;
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
    json_decref(held->before);
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
    held->other = NULL;
    g_clear_pointer(&held->fields, json_decref);
    g_clear_pointer(&held->before, json_decref);
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

/* ---- When an answer got lost with the connection ---- */

static void
on_complete(gpointer user_data)
{
    DroverHeldNode *held = user_data;

    held->waiting = 0;
    if (held->work != LOCKING && held->lock != NULL && !drover_lock_is_held(held->lock)) {
        finish(held, DROVER_HELD_LOST);
        return;
    }
    /* What we wrote last may be there or not. */
    held->version = UNKNOWN_VERSION;
    step(held);
}

static void
wait_for_caches(DroverHeldNode *held)
{
    held->waiting = drover_cluster_await(held->cluster, on_complete, held);
}

/* ---- Reading ---- */

/* What is to be stored is there: the write had been done whose answer got lost. */
static gboolean
is_stored(const DroverHeldNode *held)
{
    const char *field;
    json_t *value;

    json_object_foreach(held->fields, field, value)
    {
        if (!json_equal(json_object_get(held->record, field), value))
            return FALSE;
    }
    return TRUE;
}

static void
finish_storing(DroverHeldNode *held)
{
    if (held->release)
        g_clear_pointer(&held->lock, drover_lock_free);
    finish(held, DROVER_HELD_DONE);
}

static void
take_record(DroverHeldNode *held, const DroverNode *node)
{
    json_decref(held->record);
    held->record = drover_node_record(node);
    held->version = node->version;
    if (held->work == READING)
        finish(held, DROVER_HELD_DONE);
    else if (held->work == STORING && is_stored(held))
        finish_storing(held);
    else
        step(held);
}

static void
finish_deleting(DroverHeldNode *held)
{
    g_clear_pointer(&held->lock, drover_lock_free);
    finish(held, DROVER_HELD_DONE);
}

static void
on_read(const DroverReadReply *reply, gpointer user_data)
{
    DroverHeldNode *held = user_data;
    g_autoptr(DroverNode) node = NULL;

    if (!answered(held))
        return;
    if (reply->rc == ZOK)
        node = drover_node_decode(held->id, reply->data, reply->stat.version, NULL);
    if (node != NULL)
        take_record(held, node);
    else if (drover_rc_is_unknown(reply->rc))
        wait_for_caches(held);
    else if (held->work == DELETING && reply->rc == ZNONODE)
        finish_deleting(held);
    else
        finish(held, DROVER_HELD_LOST);
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
take_lock(DroverHeldNode *held)
{
    /* What we have just made is as we made it. */
    if (held->record != NULL) {
        finish(held, DROVER_HELD_DONE);
    } else {
        held->work = READING;
        step(held);
    }
}

static void
on_locked(DroverLock *lock, DroverLockOutcome outcome, gpointer user_data)
{
    DroverHeldNode *held = user_data;

    if (outcome == DROVER_LOCK_HELD)
        take_lock(held);
    else if (outcome == DROVER_LOCK_UNKNOWN)
        wait_for_caches(held);
    else
        finish(held, outcome == DROVER_LOCK_GONE ? DROVER_HELD_LOST : DROVER_HELD_BUSY);
}

static void
acquire_lock(DroverHeldNode *held)
{
    g_autofree char *directory = drover_node_lock_path(held->id);

    held->work = LOCKING;
    if (held->lock == NULL)
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
take_created(DroverHeldNode *held, const char *id, gint32 version)
{
    set_id(held, id);
    held->version = version;
    held->made(held->user_data);
    acquire_lock(held);
}

static void
on_created(const DroverChangeResult *result, gpointer user_data)
{
    DroverHeldNode *held = user_data;

    if (!answered(held))
        return;
    if (result->outcome == DROVER_CHANGE_DONE) {
        take_created(held, strrchr(result->created[0], '/') + 1, 0);
    } else if (result->outcome == DROVER_CHANGE_UNKNOWN) {
        wait_for_caches(held);
    } else {
        finish(held, DROVER_HELD_LOST);
    }
    held_unref(held);
}

/* The node that was made although the answer got lost; NULL: there is none. */
static const DroverNode *
find_created(const DroverHeldNode *held)
{
    double created = json_number_value(json_object_get(held->record, "created_time"));
    const char *launcher = drover_json_string(held->record, "launcher");
    DroverCacheIter iter;
    gpointer object;

    drover_cache_iter_init(&iter, drover_cluster_nodes(held->cluster));
    while (drover_cache_iter_next(&iter, NULL, &object)) {
        const DroverNode *node = object;

        /* A time in microseconds, of one launcher, tells them apart. */
        if (node->state == DROVER_NODE_INIT && node->created_time == created &&
            g_strcmp0(node->launcher, launcher) == 0)
            return node;
    }
    return NULL;
}

static void
create(DroverHeldNode *held)
{
    const DroverNode *made = held->version == UNKNOWN_VERSION ? find_created(held) : NULL;
    g_autoptr(GBytes) data = NULL;
    DroverChange *change;

    if (made != NULL) {
        take_created(held, made->id, made->version);
        return;
    }
    change = drover_change_new(session_of(held));
    data = drover_record_bytes(held->record);
    drover_change_create(change, DROVER_NODES_PATH "/", data, ZOO_SEQUENCE);
    expect_answer(held);
    drover_change_commit(change, on_created, held);
}

/* ---- Storing and deleting ---- */

/* Nothing was written. */
static void
refuse(DroverHeldNode *held)
{
    json_decref(held->record);
    held->record = g_steal_pointer(&held->before);
    finish(held, DROVER_HELD_REFUSED);
}

/* The change failed for the other part of what is stored together. */
static gboolean
is_others_fault(const DroverHeldNode *held, const DroverChangeResult *result)
{
    return held->other != NULL && result->blamed != NULL &&
           result->outcome != DROVER_CHANGE_UNFENCED &&
           !g_str_has_prefix(result->blamed, held->path);
}

static void
on_changed(const DroverChangeResult *result, gpointer user_data)
{
    DroverHeldNode *held = user_data;

    if (!answered(held))
        return;
    if (result->outcome != DROVER_CHANGE_DONE && is_others_fault(held, result)) {
        refuse(held);
        held_unref(held);
        return;
    }
    switch (result->outcome) {
    case DROVER_CHANGE_DONE:
        held->version++;
        if (held->work == STORING)
            finish_storing(held);
        else
            finish_deleting(held);
        break;
    case DROVER_CHANGE_UNKNOWN:
        wait_for_caches(held);
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

    if (held->other != NULL) {
        json_decref(held->before);
        held->before = json_deep_copy(held->record);
    }
    drover_node_record_merge(held->record, held->fields);
    data = drover_record_bytes(held->record);
    if (held->release)
        drover_change_release(change, held->lock);
    else
        drover_change_hold(change, held->lock);
    drover_change_set(change, held->path, data, held->version);
    if (held->other != NULL && !held->other(change, held->other_data)) {
        drover_change_free(change);
        refuse(held);
        return;
    }
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
    case LOCKING:
        acquire_lock(held);
        break;
    case READING:
        read_record(held);
        break;
    case STORING:
    case DELETING:
        if (held->version == UNKNOWN_VERSION)
            read_record(held);
        else if (held->work == STORING)
            store(held);
        else
            delete_record(held);
        break;
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
drover_held_node_create(DroverCluster *cluster, const json_t *record, DroverHeldMadeFunc made,
                        DroverHeldFunc done, gpointer user_data)
{
    DroverHeldNode *held = held_new(cluster, done, user_data);

    held->made = made;
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
    drover_cluster_call_off(held->cluster, held->waiting);
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
drover_held_node_store_together(DroverHeldNode *held, const json_t *fields, DroverHeldOther other,
                                gpointer other_data, DroverHeldFunc done, gpointer user_data)
{
    held->other = other;
    held->other_data = other_data;
    drover_held_node_store(held, fields, FALSE, done, user_data);
}

void
drover_held_node_delete(DroverHeldNode *held, DroverHeldFunc done, gpointer user_data)
{
    begin(held, DELETING, done, user_data);
}
