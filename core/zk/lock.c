#include "zk/lock.h"

#include <string.h>

#include "base/log.h"
#include "zk/operation.h"

#define MARKER "__lock__"
#define LOGGER "zk.lock"

typedef enum {
    IDLE,
    ACQUIRING, /* the round of directory, contender and list is under way, or waiting for its turn
                */
    WAITING,   /* for the contender before ours */
    HELD,
} LockState;

/*
 * A lock is referenced by its owner and by every answer that is still to come, so that an owner may
 * free it at any time; `released` then makes late answers clean up.
 */
struct _DroverLock {
    DroverSession *session;
    grefcount references;
    char *directory;
    gboolean make_parents;
    GBytes *identifier;
    char *prefix;    /* kept for all attempts, so that a lost reply can be found */
    char *contender; /* full path once known */
    char *predecessor;
    LockState state;
    gboolean tried; /* a contender of ours may exist although we do not know its name */
    gboolean cleaning;
    gboolean freed; /* by its owner; lives until its contender is gone */
    int created_rc; /* of the latest contender */
    gint64 wait;
    guint timer;
    guint listener, observer;
    DroverLockFunc done;
    gpointer user_data;
};

/* ---- Names ---- */

const char *
drover_lock_sequence(const char *name)
{
    const char *marker = g_strrstr(name, MARKER);
    const char *digits;
    gsize length;

    if (marker == NULL)
        return NULL;
    digits = marker + strlen(MARKER);
    length = strspn(digits + (digits[0] == '-'), "0123456789");
    if (length != 10 || digits[(digits[0] == '-') + length] != '\0')
        return NULL;
    return digits;
}

gboolean
drover_lock_is_of_holder(const char *name, const char *holder)
{
    return drover_lock_sequence(name) != NULL && g_str_has_prefix(name, holder);
}

const char *
drover_lock_find_holder(const char *const *names)
{
    const char *first = NULL;

    for (; *names != NULL; names++)
        if (drover_lock_sequence(*names) != NULL &&
            (first == NULL ||
             strcmp(drover_lock_sequence(*names), drover_lock_sequence(first)) < 0))
            first = *names;
    return first;
}

/* The contender just before `own`; NULL when `own` is the first. */
static const char *
find_predecessor(const char *const *names, const char *own)
{
    const char *before = NULL;

    for (; *names != NULL; names++) {
        const char *sequence = drover_lock_sequence(*names);
        if (sequence != NULL && strcmp(sequence, drover_lock_sequence(own)) < 0 &&
            (before == NULL || strcmp(sequence, drover_lock_sequence(before)) > 0))
            before = *names;
    }
    return before;
}

static const char *
find_by_prefix(const char *const *names, const char *prefix)
{
    for (; *names != NULL; names++)
        if (g_str_has_prefix(*names, prefix) && drover_lock_sequence(*names) != NULL)
            return *names;
    return NULL;
}

/* Eight hex digits that tell this process's contenders from those of its predecessors. */
static const char *
process_nonce(void)
{
    static char nonce[9];

    if (nonce[0] == '\0')
        g_snprintf(nonce, sizeof(nonce), "%08x", g_random_int());
    return nonce;
}

/* A contender that an earlier process left in the session that this one took up. */
static const char *
find_inherited(const char *const *names, DroverSession *session)
{
    const char *holder = drover_session_holder(session);

    for (; *names != NULL; names++)
        if (drover_lock_is_of_holder(*names, holder) &&
            !g_str_has_prefix(*names + strlen(holder), process_nonce()))
            return *names;
    return NULL;
}

static void
adopt(DroverLock *lock, const char *name)
{
    g_free(lock->prefix);
    lock->prefix = g_strndup(name, (gsize)(drover_lock_sequence(name) - name));
}

/* ---- References ---- */

static void
lock_unref(DroverLock *lock)
{
    if (!g_ref_count_dec(&lock->references))
        return;
    g_free(lock->directory);
    g_clear_pointer(&lock->identifier, g_bytes_unref);
    g_free(lock->prefix);
    g_free(lock->contender);
    g_free(lock->predecessor);
    g_free(lock);
}

static DroverLock *
lock_ref(DroverLock *lock)
{
    g_ref_count_inc(&lock->references);
    return lock;
}

static void
no_contender_is_left(DroverLock *lock)
{
    g_clear_pointer(&lock->contender, g_free);
    lock->tried = FALSE;
    if (lock->freed) {
        drover_session_remove(lock->session, lock->listener);
        drover_session_remove(lock->session, lock->observer);
        lock_unref(lock);
    }
}

/* ---- Removing the contender ---- */

static void clean_up(DroverLock *lock);

static void
on_deleted(const DroverCommitReply *reply, gpointer user_data)
{
    DroverLock *lock = user_data;

    lock->cleaning = FALSE;
    /* A lost connection is tried again when it is back; a lost session has removed it. */
    if (!drover_rc_is_unknown(reply->rc) && lock->tried)
        no_contender_is_left(lock);
    lock_unref(lock);
}

static void
on_found_for_cleaning(const DroverReadReply *reply, gpointer user_data)
{
    DroverLock *lock = user_data;
    const char *name = NULL;

    lock->cleaning = FALSE;
    if (reply->rc == ZOK)
        name = find_by_prefix(reply->children, lock->prefix);
    if (name != NULL) {
        lock->contender = g_strconcat(lock->directory, "/", name, NULL);
        clean_up(lock);
    } else if (!drover_rc_is_unknown(reply->rc) && lock->tried) {
        no_contender_is_left(lock);
    }
    lock_unref(lock);
}

/* Idle, but a contender of ours is or may be in the directory. */
static void
clean_up(DroverLock *lock)
{
    if (lock->state != IDLE || !lock->tried || lock->cleaning ||
        drover_session_state(lock->session) != DROVER_SESSION_CONNECTED)
        return;
    lock->cleaning = TRUE;
    if (lock->contender != NULL) {
        DroverTransaction *removal = drover_transaction_new();
        drover_transaction_delete(removal, lock->contender, -1);
        drover_session_commit(lock->session, removal, on_deleted, lock_ref(lock));
    } else {
        drover_session_list(lock->session, lock->directory, FALSE, on_found_for_cleaning,
                            lock_ref(lock));
    }
}

static void
finish(DroverLock *lock, LockState state, DroverLockOutcome outcome)
{
    DroverLockFunc done = g_steal_pointer(&lock->done);

    lock->state = state;
    g_clear_handle_id(&lock->timer, g_source_remove);
    g_clear_pointer(&lock->predecessor, g_free);
    if (state == IDLE)
        clean_up(lock);
    if (done != NULL)
        done(lock, outcome, lock->user_data);
}

/* ---- Acquiring ---- */

static void look(DroverLock *lock);
static void begin_round(DroverLock *lock);

static void
on_predecessor(const DroverReadReply *reply, gpointer user_data)
{
    DroverLock *lock = user_data;

    if (lock->state == WAITING && reply->rc == ZNONODE)
        look(lock);
    lock_unref(lock);
}

static void
wait_for(DroverLock *lock, const char *predecessor)
{
    g_free(lock->predecessor);
    lock->predecessor = g_strconcat(lock->directory, "/", predecessor, NULL);
    lock->state = WAITING;
    drover_session_exists(lock->session, lock->predecessor, TRUE, on_predecessor, lock_ref(lock));
}

/* Somebody removed our contender, or we were not allowed to create it. */
static void
not_in_the_list(DroverLock *lock)
{
    g_clear_pointer(&lock->contender, g_free);
    lock->tried = FALSE;
    if (lock->created_rc == ZOK && lock->wait != DROVER_LOCK_DO_NOT_WAIT)
        begin_round(lock);
    else
        finish(lock, IDLE, DROVER_LOCK_FAILED);
}

static void
on_listed(const DroverReadReply *reply, gpointer user_data)
{
    DroverLock *lock = user_data;
    const char *own = NULL, *before;

    if (lock->state != ACQUIRING) {
        clean_up(lock);
    } else if (reply->rc == ZNONODE) {
        lock->tried = FALSE;
        finish(lock, IDLE, DROVER_LOCK_GONE);
    } else if (drover_rc_is_unknown(reply->rc)) {
        /* Waiters go on when the connection is back; the others have to hear of it now. */
        if (lock->wait == DROVER_LOCK_DO_NOT_WAIT)
            finish(lock, IDLE, DROVER_LOCK_UNKNOWN);
    } else if (reply->rc != ZOK) {
        finish(lock, IDLE, DROVER_LOCK_FAILED);
    } else if ((own = find_by_prefix(reply->children, lock->prefix)) == NULL) {
        not_in_the_list(lock);
    } else {
        if (lock->contender == NULL)
            lock->contender = g_strconcat(lock->directory, "/", own, NULL);
        before = find_predecessor(reply->children, own);
        if (before == NULL)
            finish(lock, HELD, DROVER_LOCK_HELD);
        else if (lock->wait == DROVER_LOCK_DO_NOT_WAIT)
            finish(lock, IDLE, DROVER_LOCK_BUSY);
        else
            wait_for(lock, before);
    }
    lock_unref(lock);
}

/* The order of the names decides; our own contender is among them unless it was lost. */
static void
look(DroverLock *lock)
{
    lock->state = ACQUIRING;
    drover_session_list(lock->session, lock->directory, FALSE, on_listed, lock_ref(lock));
}

static void
on_contender(const DroverCommitReply *reply, gpointer user_data)
{
    DroverLock *lock = user_data;

    lock->created_rc = reply->rc;
    lock_unref(lock);
}

static void
send_contender(DroverLock *lock)
{
    g_autofree char *path = g_strconcat(lock->directory, "/", lock->prefix, NULL);
    DroverTransaction *contender = drover_transaction_new();

    if (lock->make_parents) {
        drover_session_ensure(lock->session, lock->directory, NULL, NULL);
    } else {
        DroverTransaction *directory = drover_transaction_new();
        drover_transaction_create(directory, lock->directory, NULL, 0);
        drover_session_commit(lock->session, directory, NULL, NULL);
    }
    drover_transaction_create(contender, path, lock->identifier, ZOO_EPHEMERAL | ZOO_SEQUENCE);
    drover_session_commit(lock->session, contender, on_contender, lock_ref(lock));
    lock->tried = TRUE;
}

static void
on_searched(const DroverReadReply *reply, gpointer user_data)
{
    DroverLock *lock = user_data;
    const char *own = NULL, *inherited = NULL;

    if (reply->rc == ZOK) {
        own = find_by_prefix(reply->children, lock->prefix);
        inherited = find_inherited(reply->children, lock->session);
    }
    if (lock->state == ACQUIRING && !drover_rc_is_unknown(reply->rc)) {
        if (own == NULL && inherited != NULL)
            adopt(lock, inherited);
        else if (own == NULL)
            send_contender(lock);
        lock->tried = TRUE;
        look(lock);
    }
    lock_unref(lock);
}

static void
begin_round(DroverLock *lock)
{
    lock->state = ACQUIRING;
    if (drover_session_state(lock->session) != DROVER_SESSION_CONNECTED)
        return;
    if (lock->tried || drover_session_is_resumed(lock->session)) {
        drover_session_list(lock->session, lock->directory, FALSE, on_searched, lock_ref(lock));
    } else {
        send_contender(lock);
        look(lock);
    }
}

static gboolean
on_timeout(gpointer user_data)
{
    DroverLock *lock = user_data;

    lock->timer = 0;
    finish(lock, IDLE, DROVER_LOCK_TIMEOUT);
    return G_SOURCE_REMOVE;
}

static gboolean
refuse_unconnected(gpointer user_data)
{
    DroverLock *lock = user_data;

    lock->timer = 0;
    finish(lock, IDLE, DROVER_LOCK_UNKNOWN);
    return G_SOURCE_REMOVE;
}

void
drover_lock_acquire(DroverLock *lock, gint64 wait, DroverLockFunc done, gpointer user_data)
{
    g_return_if_fail(lock->state == IDLE);
    lock->wait = wait;
    lock->done = done;
    lock->user_data = user_data;
    begin_round(lock);
    if (wait > 0)
        lock->timer = g_timeout_add((guint)wait, on_timeout, lock);
    else if (wait == DROVER_LOCK_DO_NOT_WAIT &&
             drover_session_state(lock->session) != DROVER_SESSION_CONNECTED)
        lock->timer = g_idle_add(refuse_unconnected, lock);
}

/* ---- Session and watches ---- */

static void
on_event(const char *path, int type, gpointer user_data)
{
    DroverLock *lock = user_data;

    if (lock->state == WAITING && g_strcmp0(path, lock->predecessor) == 0)
        look(lock);
}

static void
on_session_lost(DroverLock *lock)
{
    if (lock->freed) {
        no_contender_is_left(lock);
        return;
    }
    g_clear_pointer(&lock->contender, g_free);
    lock->tried = FALSE;
    if (lock->state == HELD)
        lock->state = IDLE;
    else if (lock->state != IDLE && lock->wait == DROVER_LOCK_DO_NOT_WAIT)
        finish(lock, IDLE, DROVER_LOCK_UNKNOWN);
}

static void
on_state(DroverSession *session, DroverSessionState state, gpointer user_data)
{
    DroverLock *lock = user_data;

    if (state == DROVER_SESSION_LOST)
        on_session_lost(lock);
    else if (state != DROVER_SESSION_CONNECTED)
        return;
    else if (lock->state == IDLE)
        clean_up(lock);
    else if (lock->state != HELD)
        begin_round(lock);
}

/* ---- Life ---- */

DroverLock *
drover_lock_new(DroverSession *session, const char *directory, gboolean make_parents,
                const char *identifier)
{
    static const DroverSessionObserver observer = {.event = on_event};
    DroverLock *lock = g_new0(DroverLock, 1);

    g_ref_count_init(&lock->references);
    lock->session = session;
    lock->directory = g_strdup(directory);
    lock->make_parents = make_parents;
    if (identifier != NULL)
        lock->identifier = g_bytes_new(identifier, strlen(identifier));
    lock->prefix = g_strdup_printf("%s%s%08x" MARKER, drover_session_holder(session),
                                   process_nonce(), g_random_int());
    lock->listener = drover_session_add_listener(session, on_state, lock);
    lock->observer = drover_session_add_observer(session, directory, &observer, lock);
    return lock;
}

void
drover_lock_release(DroverLock *lock)
{
    lock->done = NULL;
    finish(lock, IDLE, DROVER_LOCK_UNKNOWN);
}

void
drover_lock_forget(DroverLock *lock)
{
    g_clear_pointer(&lock->contender, g_free);
    lock->tried = FALSE;
    lock->state = IDLE;
}

void
drover_lock_free(DroverLock *lock)
{
    if (lock == NULL)
        return;
    drover_lock_release(lock);
    lock->freed = TRUE;
    if (!lock->tried)
        no_contender_is_left(lock);
}

gboolean
drover_lock_is_held(const DroverLock *lock)
{
    return lock != NULL && lock->state == HELD;
}

const char *
drover_lock_contender(const DroverLock *lock)
{
    return drover_lock_is_held(lock) ? lock->contender : NULL;
}

const char *
drover_lock_directory(const DroverLock *lock)
{
    return lock->directory;
}
