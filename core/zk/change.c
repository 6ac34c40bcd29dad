#include "zk/change.h"

#include "base/log.h"
#include "zk/operation.h"

/* A claim is wrong about the directory's existence once, or when others make and remove it. */
#define MOST_CORRECTIONS 4

typedef enum {
    CLAIM,          /* lock directory: created, or removed and created */
    CLAIM_AND_DROP, /* lock directory below a record that is deleted next */
    FENCE,
    RELEASE,
    CREATE,
    SET,
    DELETE,
    EXPECT,
} StepKind;

typedef struct {
    StepKind kind;
    char *path;
    GBytes *data;
    int flags;
    gint32 version;
    gboolean present; /* claims: the directory is believed to exist */
    guint corrections;
    DroverLock *lock; /* release */
} Step;

struct _DroverChange {
    DroverSession *session;
    GArray *steps;
    GArray *owners; /* for each operation of the transaction, the index of its step */
    DroverChangeFunc done;
    gpointer user_data;
};

static void
step_clear(Step *step)
{
    g_free(step->path);
    g_clear_pointer(&step->data, g_bytes_unref);
}

DroverChange *
drover_change_new(DroverSession *session)
{
    DroverChange *change = g_new0(DroverChange, 1);

    change->session = session;
    change->steps = g_array_new(FALSE, TRUE, sizeof(Step));
    g_array_set_clear_func(change->steps, (GDestroyNotify)step_clear);
    change->owners = g_array_new(FALSE, TRUE, sizeof(guint));
    return change;
}

void
drover_change_free(DroverChange *change)
{
    g_array_unref(change->steps);
    g_array_unref(change->owners);
    g_free(change);
}

static Step *
add_step(DroverChange *change, StepKind kind, const char *path)
{
    Step step = {.kind = kind, .path = g_strdup(path), .version = -1};

    g_array_append_val(change->steps, step);
    return &g_array_index(change->steps, Step, change->steps->len - 1);
}

void
drover_change_claim(DroverChange *change, const char *lock_directory, gboolean present)
{
    add_step(change, CLAIM, lock_directory)->present = present;
}

/* Proofs that rest on a lock which is not held name what never exists, and so fail as they should.
 */
static Step *
add_proof(DroverChange *change, StepKind kind, const DroverLock *lock)
{
    const char *contender = drover_lock_contender(lock);
    g_autofree char *none = g_strconcat(drover_lock_directory(lock), "/not-held", NULL);

    return add_step(change, kind, contender != NULL ? contender : none);
}

void
drover_change_hold(DroverChange *change, DroverLock *lock)
{
    add_proof(change, FENCE, lock);
}

void
drover_change_release(DroverChange *change, DroverLock *lock)
{
    add_proof(change, RELEASE, lock)->lock = lock;
}

void
drover_change_create(DroverChange *change, const char *path, GBytes *data, int flags)
{
    Step *step = add_step(change, CREATE, path);

    step->data = data != NULL ? g_bytes_ref(data) : NULL;
    step->flags = flags;
}

void
drover_change_set(DroverChange *change, const char *path, GBytes *data, gint32 version)
{
    Step *step = add_step(change, SET, path);

    step->data = g_bytes_ref(data);
    step->version = version;
}

void
drover_change_delete(DroverChange *change, const char *path, gint32 version)
{
    add_step(change, DELETE, path)->version = version;
}

void
drover_change_expect(DroverChange *change, const char *path, gint32 version)
{
    add_step(change, EXPECT, path)->version = version;
}

void
drover_change_delete_claimed(DroverChange *change, const char *path, gboolean present,
                             gint32 version)
{
    g_autofree char *directory = g_strconcat(path, "/lock", NULL);

    add_step(change, CLAIM_AND_DROP, directory)->present = present;
    drover_change_delete(change, path, version);
}

/* ---- The transaction ---- */

static void
own(DroverChange *change, guint step_index)
{
    g_array_append_val(change->owners, step_index);
}

static void
add_operations(DroverChange *change, guint index, DroverTransaction *transaction)
{
    Step *step = &g_array_index(change->steps, Step, index);

    switch (step->kind) {
    case CLAIM:
        if (step->present) {
            drover_transaction_delete(transaction, step->path, -1);
            own(change, index);
        }
        drover_transaction_create(transaction, step->path, NULL, 0);
        break;
    case CLAIM_AND_DROP:
        /* An absent directory needs no proof: deleting the record fails if there is one. */
        if (!step->present)
            return;
        drover_transaction_delete(transaction, step->path, -1);
        break;
    case FENCE:
    case EXPECT:
        drover_transaction_check(transaction, step->path, step->version);
        break;
    case RELEASE:
    case DELETE:
        drover_transaction_delete(transaction, step->path, step->version);
        break;
    case CREATE:
        drover_transaction_create(transaction, step->path, step->data, step->flags);
        break;
    case SET:
        drover_transaction_set(transaction, step->path, step->data, step->version);
        break;
    }
    own(change, index);
}

static void on_committed(const DroverCommitReply *reply, gpointer user_data);

static void
attempt(DroverChange *change)
{
    DroverTransaction *transaction = drover_transaction_new();

    g_array_set_size(change->owners, 0);
    for (guint i = 0; i < change->steps->len; i++)
        add_operations(change, i, transaction);
    drover_session_commit(change->session, transaction, on_committed, change);
}

void
drover_change_commit(DroverChange *change, DroverChangeFunc done, gpointer user_data)
{
    change->done = done;
    change->user_data = user_data;
    attempt(change);
}

/* ---- What became of it ---- */

static void
finish(DroverChange *change, DroverChangeOutcome outcome, const char *blamed, int rc,
       const char *const *created)
{
    DroverChangeResult result = {outcome, blamed, rc, created};

    if (change->done != NULL)
        change->done(&result, change->user_data);
    drover_change_free(change);
}

static void
finish_done(DroverChange *change, const DroverCommitReply *reply)
{
    g_autoptr(GPtrArray) created = g_ptr_array_new();

    for (guint i = 0; i < reply->n_operations; i++) {
        Step *step = &g_array_index(change->steps, Step, g_array_index(change->owners, guint, i));
        if (step->kind == CREATE)
            g_ptr_array_add(created, (gpointer)reply->paths[i]);
        if (step->kind == RELEASE)
            drover_lock_forget(step->lock);
    }
    g_ptr_array_add(created, NULL);
    finish(change, DROVER_CHANGE_DONE, NULL, ZOK, (const char *const *)created->pdata);
}

/* The claim that explains the failure of a step by being wrong about its directory, or NULL. */
static Step *
find_mistaken_claim(Step *step, gboolean has_former, int rc)
{
    switch (step->kind) {
    case CLAIM:
    case CLAIM_AND_DROP:
        return rc == (step->present ? ZNONODE : ZNODEEXISTS) ? step : NULL;
    case DELETE:
        /* The record has a directory below that the claim before it did not know of. */
        return rc == ZNOTEMPTY && has_former && step[-1].kind == CLAIM_AND_DROP && !step[-1].present
                   ? step - 1
                   : NULL;
    default:
        return NULL;
    }
}

/* TRUE when another attempt may succeed. */
static gboolean
correct_claim(DroverChange *change, guint index, int rc)
{
    Step *claim = find_mistaken_claim(&g_array_index(change->steps, Step, index), index > 0, rc);

    if (claim == NULL || claim->corrections == MOST_CORRECTIONS)
        return FALSE;
    claim->corrections++;
    claim->present = !claim->present;
    return TRUE;
}

static DroverChangeOutcome
outcome_of(const Step *step, int rc)
{
    StepKind kind = step->kind;

    /* A claim that is corrected no more: others are busy with its directory. */
    if (rc == ZNOTEMPTY || (kind == CLAIM && rc == ZNODEEXISTS) ||
        (rc == ZNONODE && step->corrections == MOST_CORRECTIONS))
        return DROVER_CHANGE_BUSY;
    if (rc == ZBADVERSION || rc == ZNODEEXISTS)
        return DROVER_CHANGE_CONFLICT;
    if (rc == ZNONODE)
        return kind == FENCE || kind == RELEASE ? DROVER_CHANGE_UNFENCED : DROVER_CHANGE_GONE;
    return DROVER_CHANGE_REFUSED;
}

static void
on_committed(const DroverCommitReply *reply, gpointer user_data)
{
    DroverChange *change = user_data;
    guint failed = 0, index;
    Step *step;

    if (reply->rc == ZOK) {
        finish_done(change, reply);
        return;
    }
    if (drover_rc_is_unknown(reply->rc)) {
        finish(change, DROVER_CHANGE_UNKNOWN, NULL, reply->rc, NULL);
        return;
    }
    while (failed + 1 < reply->n_operations && reply->codes[failed] == ZOK)
        failed++;
    index = g_array_index(change->owners, guint, failed);
    step = &g_array_index(change->steps, Step, index);
    if (correct_claim(change, index, reply->codes[failed])) {
        attempt(change);
        return;
    }
    if (outcome_of(step, reply->codes[failed]) == DROVER_CHANGE_REFUSED)
        drover_log_for(DROVER_LOG_ERROR, "zk.ZooKeeper", "ZooKeeper refuses a change of %s: %s",
                       step->path, zerror(reply->codes[failed]));
    finish(change, outcome_of(step, reply->codes[failed]), step->path, reply->codes[failed], NULL);
}

const char *
drover_change_outcome_name(DroverChangeOutcome outcome)
{
    static const char *const names[] = {"done",     "busy",    "conflict", "gone",
                                        "unfenced", "unknown", "refused"};

    return names[outcome];
}
