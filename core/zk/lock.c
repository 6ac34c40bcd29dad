#include "zk/lock.h"

#include <string.h>

#include "base/uuid.h"
#include "zk/operation.h"

#define MARKER "__lock__"
/* In place of the answer to a question that was not asked. */
#define NOT_ASKED 1

typedef enum {
    IDLE, /* a contender of ours may still have to be removed */
    ACQUIRING,
    WAITING, /* for the contender before ours */
    HELD,
} LockState;

/*
 * All that is to be done is decided in step(), which asks nothing new before the last questions are
 * answered; so an answer is always about what the lock wants now. A lock that its owner freed lives
 * on until its contender is gone.
 */
struct _DroverLock {
    DroverSession *session;
    char *directory;
    gboolean make_parents;
    GBytes *identifier;
    LockState state;
    char *prefix; /* of the contender's name; kept for a session, so that a lost reply is found */
    char *contender; /* full path once known */
    char *predecessor;
    guint questions;       /* without an answer, and callbacks that have not returned */
    gboolean tried;        /* a contender of ours may be in the directory */
    gboolean searched;     /* for one that an earlier process left */
    gboolean made_parents; /* in this attempt */
    gboolean freed;
    int created_rc; /* of the contender that was created last */
    gint64 wait;
    guint timer;
    guint listener, observer;
    DroverLockFunc done;
    gpointer user_data;
};

/* The prefixes of all locks of this process: what else is of our session is inherited. */
static GHashTable *prefixes;

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

char *
drover_lock_new_name(void)
{
    g_autofree char *digits = drover_uuid_digits();

    return g_strconcat(digits, MARKER, NULL);
}

/* Of two contenders, by their sequences; a number that has wrapped below zero comes first. */
static int
compare(const char *a, const char *b)
{
    return strcmp(drover_lock_sequence(a), drover_lock_sequence(b));
}

const char *
drover_lock_find_holder(const char *const *names)
{
    const char *first = NULL;

    for (; *names != NULL; names++)
        if (drover_lock_sequence(*names) != NULL && (first == NULL || compare(*names, first) < 0))
            first = *names;
    return first;
}

gboolean
drover_lock_has_identifier(GBytes *data, const char *identifier)
{
    gsize length = 0;
    const char *text = data != NULL ? g_bytes_get_data(data, &length) : NULL;

    return length == strlen(identifier) && (length == 0 || memcmp(text, identifier, length) == 0);
}

/* The contender just before `own`; NULL when `own` is the first. */
static const char *
find_predecessor(const char *const *names, const char *own)
{
    const char *before = NULL;

    for (; *names != NULL; names++)
        if (drover_lock_sequence(*names) != NULL && compare(*names, own) < 0 &&
            (before == NULL || compare(*names, before) > 0))
            before = *names;
    return before;
}

/* ---- What an earlier process left ---- */

typedef struct {
    DroverSession *session;
    DroverLockInheritedFunc done;
    gpointer user_data;
} Inquiry;

static void
on_inquired(const DroverReadReply *reply, gpointer user_data)
{
    g_autofree Inquiry *inquiry = user_data;
    const char *holder = drover_session_holder(inquiry->session);
    gboolean inherited = FALSE;

    for (guint i = 0; reply->rc == ZOK && i < reply->n_children; i++)
        inherited = inherited || drover_lock_is_of_holder(reply->children[i], holder);
    inquiry->done(inherited, inquiry->user_data);
}

void
drover_lock_ask_inherited(DroverSession *session, const char *directory,
                          DroverLockInheritedFunc done, gpointer user_data)
{
    Inquiry *inquiry = g_new0(Inquiry, 1);

    *inquiry = (Inquiry){session, done, user_data};
    drover_session_list(session, directory, FALSE, on_inquired, inquiry);
}

/* ---- Our own contenders ---- */

static void
set_prefix(DroverLock *lock, char *prefix)
{
    if (prefixes == NULL)
        prefixes = g_hash_table_new(g_str_hash, g_str_equal);
    if (lock->prefix != NULL)
        g_hash_table_remove(prefixes, lock->prefix);
    g_free(lock->prefix);
    lock->prefix = prefix;
    if (prefix != NULL)
        g_hash_table_add(prefixes, prefix);
}

static void
draw_prefix(DroverLock *lock)
{
    set_prefix(lock, g_strdup_printf("%s%08x%08x" MARKER, drover_session_holder(lock->session),
                                     g_random_int(), g_random_int()));
}

static char *
prefix_of(const char *name)
{
    return g_strndup(name, (gsize)(drover_lock_sequence(name) - name));
}

static gboolean
is_own(const DroverLock *lock, const char *name)
{
    return drover_lock_sequence(name) != NULL && g_str_has_prefix(name, lock->prefix);
}

/* TRUE for a contender that an earlier process left in the session that this one took up. */
static gboolean
is_inherited(const DroverLock *lock, const char *name)
{
    g_autofree char *prefix = NULL;

    if (!drover_session_is_resumed(lock->session) ||
        !drover_lock_is_of_holder(name, drover_session_holder(lock->session)))
        return FALSE;
    prefix = prefix_of(name);
    return !g_hash_table_contains(prefixes, prefix);
}

typedef gboolean (*Criterion)(const DroverLock *lock, const char *name);

static const char *
find_first(const DroverLock *lock, const char *const *names, Criterion criterion)
{
    const char *first = NULL;

    for (; *names != NULL; names++)
        if (criterion(lock, *names) && (first == NULL || compare(*names, first) < 0))
            first = *names;
    return first;
}

static const char *
find_own(DroverLock *lock, const char *const *names)
{
    const char *own = find_first(lock, names, is_own);

    if (own == NULL && lock->state == ACQUIRING) {
        own = find_first(lock, names, is_inherited);
        if (own != NULL)
            set_prefix(lock, prefix_of(own));
    }
    return own;
}

/* Contenders that are nobody's would keep everybody waiting. */
static void
remove_others(DroverLock *lock, const char *const *names, const char *own)
{
    for (; *names != NULL; names++)
        if (*names != own && (is_own(lock, *names) || is_inherited(lock, *names))) {
            g_autofree char *path = g_strconcat(lock->directory, "/", *names, NULL);
            drover_session_delete(lock->session, path, NULL, NULL);
        }
}

/* ---- Questions and steps ---- */

static void step(DroverLock *lock);

static DroverLock *
ask(DroverLock *lock)
{
    lock->questions++;
    return lock;
}

static void
answered(DroverLock *lock)
{
    lock->questions--;
    step(lock);
}

static void
finish(DroverLock *lock, LockState state, DroverLockOutcome outcome)
{
    DroverLockFunc done = g_steal_pointer(&lock->done);

    lock->state = state;
    g_clear_handle_id(&lock->timer, g_source_remove);
    g_clear_pointer(&lock->predecessor, g_free);
    ask(lock);
    if (done != NULL)
        done(lock, outcome, lock->user_data);
    answered(lock);
}

static void
no_contender_is_left(DroverLock *lock)
{
    g_clear_pointer(&lock->contender, g_free);
    lock->tried = FALSE;
}

static void
on_removed(const DroverCommitReply *reply, gpointer user_data)
{
    DroverLock *lock = user_data;

    /* A lost connection is tried again when it is back; a lost session has removed it. */
    if (drover_rc_is_unknown(reply->rc))
        g_clear_pointer(&lock->contender, g_free);
    else
        no_contender_is_left(lock);
    answered(lock);
}

static void
on_predecessor(const DroverReadReply *reply, gpointer user_data)
{
    DroverLock *lock = user_data;

    if (lock->state == WAITING && reply->rc != ZOK) {
        if (reply->rc == ZNONODE || drover_rc_is_unknown(reply->rc))
            lock->state = ACQUIRING;
        else
            finish(lock, IDLE, DROVER_LOCK_FAILED);
    }
    answered(lock);
}

static void
on_parents(const DroverReadReply *reply, gpointer user_data)
{
    DroverLock *lock = user_data;

    lock->made_parents = TRUE;
    if (lock->state == ACQUIRING && reply->rc != ZOK && !drover_rc_is_unknown(reply->rc))
        finish(lock, IDLE, DROVER_LOCK_FAILED);
    answered(lock);
}

static void
on_contender(const DroverCommitReply *reply, gpointer user_data)
{
    DroverLock *lock = user_data;

    lock->created_rc = reply->rc;
    answered(lock);
}

/* ---- What the directory shows ---- */

static void
without_directory(DroverLock *lock)
{
    if (lock->created_rc == NOT_ASKED)
        return;
    if (lock->make_parents && !lock->made_parents)
        drover_session_ensure(lock->session, lock->directory, on_parents, ask(lock));
    else
        finish(lock, IDLE, DROVER_LOCK_GONE);
}

static void
without_contender(DroverLock *lock)
{
    switch (lock->created_rc) {
    case NOT_ASKED:
    case ZOK: /* somebody removed it */
    case ZNONODE:
        break; /* the next step creates one */
    default:
        if (!drover_rc_is_unknown(lock->created_rc))
            finish(lock, IDLE, DROVER_LOCK_FAILED);
    }
}

static void
with_contender(DroverLock *lock, const char *const *names, const char *own)
{
    const char *before = find_predecessor(names, own);

    if (before == NULL) {
        finish(lock, HELD, DROVER_LOCK_HELD);
    } else if (lock->wait == DROVER_LOCK_DO_NOT_WAIT) {
        finish(lock, IDLE, DROVER_LOCK_BUSY);
    } else {
        lock->state = WAITING;
        g_free(lock->predecessor);
        lock->predecessor = g_strconcat(lock->directory, "/", before, NULL);
        /* A read leaves no watch behind when the predecessor is gone already. */
        drover_session_get(lock->session, lock->predecessor, TRUE, on_predecessor, ask(lock));
    }
}

static void
take_listing(DroverLock *lock, const DroverReadReply *reply)
{
    const char *own = NULL;
    gboolean was_there = lock->contender != NULL || lock->created_rc == ZOK;

    lock->searched = TRUE;
    if (reply->rc == ZOK)
        own = find_own(lock, reply->children);
    if (own != NULL)
        remove_others(lock, reply->children, own);
    g_free(lock->contender);
    lock->contender = own != NULL ? g_strconcat(lock->directory, "/", own, NULL) : NULL;
    lock->tried = own != NULL;
    if (lock->state != ACQUIRING)
        return;
    if (own != NULL)
        with_contender(lock, reply->children, own);
    else if (was_there && !lock->make_parents)
        /* The object is being deleted, from its leaves upwards: nothing may grow again. */
        finish(lock, IDLE, DROVER_LOCK_GONE);
    else if (reply->rc == ZNONODE)
        without_directory(lock);
    else
        without_contender(lock);
}

static void
on_listed(const DroverReadReply *reply, gpointer user_data)
{
    DroverLock *lock = user_data;

    if (reply->rc == ZOK || reply->rc == ZNONODE)
        take_listing(lock, reply);
    else if (!drover_rc_is_unknown(reply->rc)) {
        lock->tried = FALSE;
        if (lock->state == ACQUIRING)
            finish(lock, IDLE, DROVER_LOCK_FAILED);
    }
    answered(lock);
}

/* ---- Steps ---- */

static void
create_contender(DroverLock *lock)
{
    g_autofree char *path = g_strconcat(lock->directory, "/", lock->prefix, NULL);
    DroverTransaction *directory = drover_transaction_new();
    DroverTransaction *contender = drover_transaction_new();

    drover_transaction_create(directory, lock->directory, NULL, 0);
    drover_session_commit(lock->session, directory, NULL, NULL);
    drover_transaction_create(contender, path, lock->identifier, ZOO_EPHEMERAL | ZOO_SEQUENCE);
    drover_session_commit(lock->session, contender, on_contender, ask(lock));
    lock->tried = TRUE;
}

static void
list_directory(DroverLock *lock)
{
    drover_session_list(lock->session, lock->directory, FALSE, on_listed, ask(lock));
}

static void
acquire(DroverLock *lock)
{
    lock->created_rc = NOT_ASKED;
    if (!lock->tried && (lock->searched || !drover_session_is_resumed(lock->session)))
        create_contender(lock);
    list_directory(lock);
}

static void
destroy(DroverLock *lock)
{
    drover_session_remove(lock->session, lock->listener);
    drover_session_remove(lock->session, lock->observer);
    set_prefix(lock, NULL);
    g_free(lock->directory);
    g_clear_pointer(&lock->identifier, g_bytes_unref);
    g_free(lock->contender);
    g_free(lock->predecessor);
    g_free(lock);
}

static void
step(DroverLock *lock)
{
    gboolean connected = drover_session_state(lock->session) == DROVER_SESSION_CONNECTED;

    if (lock->questions > 0)
        return;
    if (lock->freed && !lock->tried)
        destroy(lock);
    else if (connected && lock->state == ACQUIRING)
        acquire(lock);
    else if (connected && lock->state == IDLE && lock->contender != NULL)
        drover_session_delete(lock->session, lock->contender, on_removed, ask(lock));
    else if (connected && lock->state == IDLE && lock->tried)
        list_directory(lock);
}

/* ---- Session, watches and time ---- */

static void
on_event(const char *path, int type, gpointer user_data)
{
    DroverLock *lock = user_data;

    if (lock->state == WAITING && strcmp(path, lock->predecessor) == 0) {
        lock->state = ACQUIRING;
        step(lock);
    }
}

static void
on_state(DroverSession *session, DroverSessionState state, gpointer user_data)
{
    DroverLock *lock = user_data;

    if (state == DROVER_SESSION_LOST) {
        no_contender_is_left(lock);
        /* The servers may still show a contender of the old session for a moment. */
        draw_prefix(lock);
        if (lock->state == HELD)
            lock->state = IDLE;
    }
    if (lock->state == WAITING)
        lock->state = ACQUIRING;
    if (lock->state == ACQUIRING && lock->wait == DROVER_LOCK_DO_NOT_WAIT &&
        state != DROVER_SESSION_CONNECTED)
        finish(lock, IDLE, DROVER_LOCK_UNKNOWN);
    else
        step(lock);
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

/* ---- For the owner ---- */

DroverLock *
drover_lock_new(DroverSession *session, const char *directory, gboolean make_parents,
                const char *identifier)
{
    static const DroverSessionObserver observer = {.event = on_event};
    DroverLock *lock = g_new0(DroverLock, 1);

    lock->session = session;
    lock->directory = g_strdup(directory);
    lock->make_parents = make_parents;
    if (identifier != NULL)
        lock->identifier = g_bytes_new(identifier, strlen(identifier));
    draw_prefix(lock);
    lock->listener = drover_session_add_listener(session, on_state, lock);
    lock->observer = drover_session_add_observer(session, directory, &observer, lock);
    return lock;
}

void
drover_lock_acquire(DroverLock *lock, gint64 wait, DroverLockFunc done, gpointer user_data)
{
    g_return_if_fail(lock->state == IDLE);
    lock->state = ACQUIRING;
    lock->wait = wait;
    lock->done = done;
    lock->user_data = user_data;
    lock->made_parents = FALSE;
    /* What an earlier attempt knew. Its contender is looked for if it may still be there. */
    g_clear_pointer(&lock->contender, g_free);
    lock->created_rc = NOT_ASKED;
    if (wait > 0)
        lock->timer = g_timeout_add((guint)wait, on_timeout, lock);
    else if (wait == DROVER_LOCK_DO_NOT_WAIT &&
             drover_session_state(lock->session) != DROVER_SESSION_CONNECTED)
        lock->timer = g_idle_add(refuse_unconnected, lock);
    step(lock);
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
    no_contender_is_left(lock);
    lock->state = IDLE;
    step(lock);
}

void
drover_lock_free(DroverLock *lock)
{
    if (lock == NULL)
        return;
    lock->freed = TRUE;
    drover_lock_release(lock);
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
