#include "zk/registration.h"

#include <string.h>

#include "base/log.h"
#include "zk/operation.h"

#define LOGGER "ComponentRegistry"

struct _DroverRegistration {
    DroverSession *session;
    grefcount references; /* the owner until all is done, and every answer still to come */
    char *directory, *prefix;
    GBytes *record;    /* what should be there */
    GBytes *attempted; /* what was sent last: there, or perhaps there */
    gboolean stored;   /* `attempted` is there for sure */
    DroverRegistrationMatch match;
    DroverRegistrationFunc registered;
    gpointer user_data;
    char *name;     /* of our znode */
    gint32 version; /* of its record; -1: any */
    gboolean busy, freed;
    gboolean searched; /* nothing of ours is in the directory that we do not know */
    guint candidates;  /* reads under way */
    guint listener;
};

typedef struct {
    DroverRegistration *registration;
    char *name;
} Candidate;

static void step(DroverRegistration *registration);

static DroverRegistration *
registration_ref(DroverRegistration *registration)
{
    g_ref_count_inc(&registration->references);
    return registration;
}

static void
registration_unref(DroverRegistration *registration)
{
    if (!g_ref_count_dec(&registration->references))
        return;
    g_free(registration->directory);
    g_free(registration->prefix);
    g_free(registration->name);
    g_bytes_unref(registration->record);
    g_clear_pointer(&registration->attempted, g_bytes_unref);
    g_free(registration);
}

static char *
path_of(const DroverRegistration *registration, const char *name)
{
    return g_strconcat(registration->directory, "/", name, NULL);
}

static void
note_attempt(DroverRegistration *registration, GBytes *record)
{
    g_bytes_ref(record);
    g_clear_pointer(&registration->attempted, g_bytes_unref);
    registration->attempted = record;
}

static void
remove_znode(DroverRegistration *registration, const char *name, DroverCommitFunc done)
{
    g_autofree char *path = path_of(registration, name);

    drover_session_delete(registration->session, path, done, registration_ref(registration));
}

static void
set_name(DroverRegistration *registration, const char *name)
{
    g_free(registration->name);
    registration->name = g_strdup(name);
    if (registration->registered != NULL && !registration->freed)
        registration->registered(name, registration->user_data);
}

/* ---- Finding what is there already ---- */

static gboolean
is_ours(DroverRegistration *registration, const DroverReadReply *reply)
{
    if (reply->stat.ephemeralOwner != drover_session_id(registration->session))
        return FALSE;
    if (g_bytes_equal(reply->data, registration->record) ||
        (registration->attempted != NULL && g_bytes_equal(reply->data, registration->attempted)))
        return TRUE;
    return registration->match != NULL && !registration->freed &&
           registration->match(reply->data, registration->user_data);
}

static void
on_surplus_removed(const DroverCommitReply *reply, gpointer user_data)
{
    DroverRegistration *registration = user_data;

    if (drover_rc_is_unknown(reply->rc))
        registration->searched = FALSE;
    registration_unref(registration);
}

static void
take_candidate(DroverRegistration *registration, const char *name, const DroverReadReply *reply)
{
    if (drover_rc_is_unknown(reply->rc)) {
        registration->searched = FALSE;
    } else if (reply->rc == ZOK && is_ours(registration, reply)) {
        if (registration->name != NULL) {
            remove_znode(registration, name, on_surplus_removed);
            return;
        }
        registration->version = reply->stat.version;
        registration->stored = TRUE;
        note_attempt(registration, reply->data);
        set_name(registration, name);
    }
}

static void
on_candidate(const DroverReadReply *reply, gpointer user_data)
{
    Candidate *candidate = user_data;
    DroverRegistration *registration = candidate->registration;

    take_candidate(registration, candidate->name, reply);
    registration->candidates--;
    registration->busy = registration->candidates > 0;
    step(registration);
    g_free(candidate->name);
    g_free(candidate);
    registration_unref(registration);
}

static void
read_candidate(DroverRegistration *registration, const char *name)
{
    g_autofree char *path = path_of(registration, name);
    Candidate *candidate = g_new0(Candidate, 1);

    candidate->registration = registration_ref(registration);
    candidate->name = g_strdup(name);
    registration->candidates++;
    drover_session_get(registration->session, path, FALSE, on_candidate, candidate);
}

static void
on_directory(const DroverReadReply *reply, gpointer user_data)
{
    DroverRegistration *registration = user_data;

    registration->busy = FALSE;
    if (reply->rc == ZOK) {
        registration->searched = TRUE;
        for (guint i = 0; i < reply->n_children; i++)
            if (g_str_has_prefix(reply->children[i], registration->prefix) &&
                g_strcmp0(reply->children[i], registration->name) != 0)
                read_candidate(registration, reply->children[i]);
        registration->busy = registration->candidates > 0;
        step(registration);
    } else if (!drover_rc_is_unknown(reply->rc)) {
        drover_log_for(DROVER_LOG_ERROR, LOGGER, "cannot list %s: %s", registration->directory,
                       zerror(reply->rc));
    }
    registration_unref(registration);
}

static void
search(DroverRegistration *registration)
{
    drover_session_ensure(registration->session, registration->directory, NULL, NULL);
    drover_session_list(registration->session, registration->directory, FALSE, on_directory,
                        registration_ref(registration));
}

/* ---- Creating, updating and removing ---- */

static void
on_created(const DroverCommitReply *reply, gpointer user_data)
{
    DroverRegistration *registration = user_data;

    registration->busy = FALSE;
    if (reply->rc == ZOK) {
        registration->version = 0;
        registration->stored = TRUE;
        set_name(registration, strrchr(reply->paths[0], '/') + 1);
    } else {
        registration->searched = FALSE;
    }
    if (reply->rc == ZOK || reply->rc == ZNONODE || drover_rc_is_unknown(reply->rc))
        step(registration);
    else
        drover_log_for(DROVER_LOG_ERROR, LOGGER, "cannot register in %s: %s",
                       registration->directory, zerror(reply->rc));
    registration_unref(registration);
}

static void
create(DroverRegistration *registration)
{
    g_autofree char *path = path_of(registration, registration->prefix);
    DroverTransaction *transaction = drover_transaction_new();

    note_attempt(registration, registration->record);
    drover_transaction_create(transaction, path, registration->record,
                              ZOO_EPHEMERAL | ZOO_SEQUENCE);
    drover_session_commit(registration->session, transaction, on_created,
                          registration_ref(registration));
}

static void
on_updated(const DroverCommitReply *reply, gpointer user_data)
{
    DroverRegistration *registration = user_data;

    registration->busy = FALSE;
    registration->stored = reply->rc == ZOK;
    if (reply->rc == ZOK)
        registration->version = reply->versions[0];
    else
        registration->version = -1; /* it is ours, whoever wrote it */
    if (reply->rc == ZNONODE)
        drover_registration_vanished(registration);
    else if (reply->rc == ZOK || reply->rc == ZBADVERSION || drover_rc_is_unknown(reply->rc))
        step(registration);
    else
        drover_log_for(DROVER_LOG_ERROR, LOGGER, "cannot update %s/%s: %s", registration->directory,
                       registration->name, zerror(reply->rc));
    registration_unref(registration);
}

static void
update(DroverRegistration *registration)
{
    g_autofree char *path = path_of(registration, registration->name);
    DroverTransaction *transaction = drover_transaction_new();

    note_attempt(registration, registration->record);
    drover_transaction_set(transaction, path, registration->record, registration->version);
    drover_session_commit(registration->session, transaction, on_updated,
                          registration_ref(registration));
}

static void
on_removed(const DroverCommitReply *reply, gpointer user_data)
{
    DroverRegistration *registration = user_data;

    registration->busy = FALSE;
    if (!drover_rc_is_unknown(reply->rc))
        g_clear_pointer(&registration->name, g_free);
    step(registration);
    registration_unref(registration);
}

/* ---- Steps ---- */

/* Whether a znode of ours may be there, known or not. */
static gboolean
may_be_there(const DroverRegistration *registration)
{
    return registration->name != NULL ||
           (registration->attempted != NULL && !registration->searched);
}

static void
leave(DroverRegistration *registration)
{
    if (registration->listener == 0)
        return;
    drover_session_remove(registration->session, registration->listener);
    registration->listener = 0;
    registration_unref(registration);
}

static void
step(DroverRegistration *registration)
{
    if (registration->busy)
        return;
    if (registration->freed && !may_be_there(registration)) {
        leave(registration);
        return;
    }
    if (drover_session_state(registration->session) != DROVER_SESSION_CONNECTED)
        return;
    registration->busy = TRUE;
    if (!registration->searched)
        search(registration);
    else if (registration->freed)
        remove_znode(registration, registration->name, on_removed);
    else if (registration->name == NULL)
        create(registration);
    else if (!registration->stored || !g_bytes_equal(registration->attempted, registration->record))
        update(registration);
    else
        registration->busy = FALSE;
}

static void
on_state(DroverSession *session, DroverSessionState state, gpointer user_data)
{
    DroverRegistration *registration = user_data;

    if (state == DROVER_SESSION_LOST) {
        registration->searched = FALSE;
        g_clear_pointer(&registration->attempted, g_bytes_unref);
        set_name(registration, NULL);
    }
    step(registration);
}

/* ---- Life ---- */

DroverRegistration *
drover_registration_new(DroverSession *session, const char *directory, const char *name,
                        GBytes *record, DroverRegistrationMatch match,
                        DroverRegistrationFunc registered, gpointer user_data)
{
    DroverRegistration *registration = g_new0(DroverRegistration, 1);

    g_ref_count_init(&registration->references);
    registration->session = session;
    registration->directory = g_strdup(directory);
    registration->prefix = g_strdup(name);
    registration->record = g_bytes_ref(record);
    registration->match = match;
    registration->registered = registered;
    registration->user_data = user_data;
    registration->listener = drover_session_add_listener(session, on_state, registration);
    step(registration);
    return registration;
}

void
drover_registration_update(DroverRegistration *registration, GBytes *record)
{
    if (g_bytes_equal(record, registration->record))
        return;
    g_bytes_unref(registration->record);
    registration->record = g_bytes_ref(record);
    step(registration);
}

const char *
drover_registration_name(const DroverRegistration *registration)
{
    return registration->name;
}

void
drover_registration_vanished(DroverRegistration *registration)
{
    registration->searched = FALSE;
    set_name(registration, NULL);
    step(registration);
}

void
drover_registration_free(DroverRegistration *registration)
{
    if (registration == NULL)
        return;
    registration->freed = TRUE;
    step(registration);
}
