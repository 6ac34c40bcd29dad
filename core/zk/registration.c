#include "zk/registration.h"

#include <string.h>

#include "base/log.h"
#include "zk/operation.h"

#define LOGGER "ComponentRegistry"

struct _DroverRegistration {
    DroverSession *session;
    grefcount references; /* the owner, and every answer still to come */
    char *directory, *prefix;
    GBytes *record; /* what should be there */
    GBytes *stored; /* what is there */
    DroverRegistrationMatch match;
    DroverRegistrationFunc registered;
    gpointer user_data;
    char *name;     /* of our znode */
    gint32 version; /* of its record */
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
    g_clear_pointer(&registration->stored, g_bytes_unref);
    g_free(registration);
}

static char *
path_of(const DroverRegistration *registration, const char *name)
{
    return g_strconcat(registration->directory, "/", name, NULL);
}

static void
delete_znode(DroverRegistration *registration, const char *name)
{
    g_autofree char *path = path_of(registration, name);
    DroverTransaction *removal = drover_transaction_new();

    drover_transaction_delete(removal, path, -1);
    drover_session_commit(registration->session, removal, NULL, NULL);
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
    return g_bytes_equal(reply->data, registration->record) ||
           (registration->match != NULL && !registration->freed &&
            registration->match(reply->data, registration->user_data));
}

static void
on_candidate(const DroverReadReply *reply, gpointer user_data)
{
    Candidate *candidate = user_data;
    DroverRegistration *registration = candidate->registration;

    registration->candidates--;
    if (reply->rc == ZOK && is_ours(registration, reply)) {
        if (registration->name == NULL && !registration->freed) {
            registration->version = reply->stat.version;
            registration->stored = g_bytes_ref(reply->data);
            set_name(registration, candidate->name);
        } else {
            delete_znode(registration, candidate->name);
        }
    } else if (drover_rc_is_unknown(reply->rc)) {
        registration->searched = FALSE;
    }
    if (registration->candidates == 0) {
        registration->busy = FALSE;
        step(registration);
    }
    g_free(candidate->name);
    g_free(candidate);
    registration_unref(registration);
}

static void
on_directory(const DroverReadReply *reply, gpointer user_data)
{
    DroverRegistration *registration = user_data;

    registration->busy = FALSE;
    if (reply->rc == ZOK) {
        registration->searched = TRUE;
        for (guint i = 0; i < reply->n_children; i++) {
            const char *name = reply->children[i];
            g_autofree char *path = path_of(registration, name);
            Candidate *candidate;

            if (!g_str_has_prefix(name, registration->prefix) ||
                g_strcmp0(name, registration->name) == 0)
                continue;
            candidate = g_new0(Candidate, 1);
            candidate->registration = registration_ref(registration);
            candidate->name = g_strdup(name);
            registration->candidates++;
            registration->busy = TRUE;
            drover_session_get(registration->session, path, FALSE, on_candidate, candidate);
        }
        step(registration);
    }
    registration_unref(registration);
}

/* ---- Creating and updating ---- */

static void
on_created(const DroverCommitReply *reply, gpointer user_data)
{
    DroverRegistration *registration = user_data;
    const char *name;

    registration->busy = FALSE;
    if (reply->rc == ZOK) {
        name = strrchr(reply->paths[0], '/') + 1;
        registration->version = 0;
        set_name(registration, name);
        if (registration->freed)
            delete_znode(registration, name);
        step(registration);
    } else {
        g_clear_pointer(&registration->stored, g_bytes_unref);
        registration->searched = FALSE;
        if (!drover_rc_is_unknown(reply->rc))
            drover_log_for(DROVER_LOG_ERROR, LOGGER, "cannot register in %s: %s",
                           registration->directory, zerror(reply->rc));
    }
    registration_unref(registration);
}

static void
on_updated(const DroverCommitReply *reply, gpointer user_data)
{
    DroverRegistration *registration = user_data;

    registration->busy = FALSE;
    if (reply->rc == ZOK) {
        registration->version = reply->versions[0];
        step(registration);
    } else if (reply->rc == ZNONODE) {
        drover_registration_vanished(registration);
    } else {
        /* Somebody else wrote, or nobody knows: read it again. */
        g_clear_pointer(&registration->stored, g_bytes_unref);
        g_clear_pointer(&registration->name, g_free);
        registration->searched = FALSE;
        step(registration);
    }
    registration_unref(registration);
}

static void
write_record(DroverRegistration *registration)
{
    DroverTransaction *transaction = drover_transaction_new();

    g_clear_pointer(&registration->stored, g_bytes_unref);
    registration->stored = g_bytes_ref(registration->record);
    if (registration->name != NULL) {
        g_autofree char *path = path_of(registration, registration->name);

        drover_transaction_set(transaction, path, registration->record, registration->version);
        drover_session_commit(registration->session, transaction, on_updated,
                              registration_ref(registration));
    } else {
        g_autofree char *path = path_of(registration, registration->prefix);

        drover_transaction_create(transaction, path, registration->record,
                                  ZOO_EPHEMERAL | ZOO_SEQUENCE);
        drover_session_commit(registration->session, transaction, on_created,
                              registration_ref(registration));
    }
}

static void
step(DroverRegistration *registration)
{
    if (registration->busy || registration->freed ||
        drover_session_state(registration->session) != DROVER_SESSION_CONNECTED)
        return;
    if (!registration->searched) {
        registration->busy = TRUE;
        drover_session_list(registration->session, registration->directory, FALSE, on_directory,
                            registration_ref(registration));
    } else if (registration->name == NULL ||
               !g_bytes_equal(registration->stored, registration->record)) {
        registration->busy = TRUE;
        write_record(registration);
    }
}

static void
on_state(DroverSession *session, DroverSessionState state, gpointer user_data)
{
    DroverRegistration *registration = user_data;

    if (state == DROVER_SESSION_LOST) {
        registration->searched = FALSE;
        g_clear_pointer(&registration->stored, g_bytes_unref);
        set_name(registration, NULL);
    } else if (state == DROVER_SESSION_CONNECTED) {
        step(registration);
    }
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
    g_clear_pointer(&registration->stored, g_bytes_unref);
    set_name(registration, NULL);
    step(registration);
}

void
drover_registration_free(DroverRegistration *registration)
{
    if (registration == NULL)
        return;
    drover_session_remove(registration->session, registration->listener);
    registration->freed = TRUE;
    if (registration->name != NULL)
        delete_znode(registration, registration->name);
    registration_unref(registration);
}
