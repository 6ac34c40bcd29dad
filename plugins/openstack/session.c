#include "session.h"

#include <string.h>

#include "endpoint.h"
#include "login.h"
#include "nova.h"

/* Between tokens that a service refuses. */
#define LONGEST_PAUSE_MILLISECONDS 60000

struct waiter {
    void (*ready)(void *data);
    void *data;
};

struct session {
    struct cloud *cloud;
    GQueue waiters; /* of struct waiter */
    struct login *login;
    struct nova *nova;
    struct trouble trouble; /* of both */
    unsigned refusals[SERVICES];
    int64_t forced[SERVICES]; /* when a token was last thrown away because it was refused */
    char *missing;            /* there is no such service as the last call is for; NULL: there is */
};

/* ---- Waiting ---- */

void
session_wait(struct session *session, void (*ready)(void *data), void *data)
{
    struct waiter *waiter = g_new(struct waiter, 1);

    *waiter = (struct waiter){.ready = ready, .data = data};
    g_queue_push_tail(&session->waiters, waiter);
}

void
session_leave(struct session *session, void *data)
{
    for (GList *link = session->waiters.head; link != NULL; link = link->next) {
        struct waiter *waiter = link->data;

        if (waiter->data != data)
            continue;
        g_queue_delete_link(&session->waiters, link);
        g_free(waiter);
        return;
    }
}

/* Those that wait again meanwhile are not called twice. */
static void
tell(void *data)
{
    struct session *session = data;

    for (guint left = session->waiters.length; left > 0 && session->waiters.length > 0; left--) {
        g_autofree struct waiter *waiter = g_queue_pop_head(&session->waiters);

        waiter->ready(waiter->data);
    }
}

/* ---- Services ---- */

/* Free with g_free(); NULL: there is no such service. */
static char *
endpoint_of(const struct session *session, enum service service)
{
    return endpoint_find(session->cloud->settings, login_catalog(session->login), service,
                         session_project(session));
}

/* Free with g_free(). */
static char *
describe_missing(const struct session *session, enum service service)
{
    const struct settings *settings = session->cloud->settings;
    g_autofree char *interface = settings_interface(settings, service);

    return g_strdup_printf("the cloud has no %s endpoint for the service %s%s%s", interface,
                           service_forms[service].name,
                           settings->region != NULL ? " in region " : "",
                           settings->region != NULL ? settings->region : "");
}

/* ---- Life ---- */

static void
on_login_ended(void *data)
{
    struct session *session = data;
    g_autofree char *endpoint = endpoint_of(session, SERVICE_COMPUTE);

    nova_note_endpoint(session->nova, endpoint);
    tell(session);
}

static gboolean
on_nova_refused(void *data)
{
    struct session *session = data;

    if (!session_refused(session, SERVICE_COMPUTE, session_generation(session)))
        return FALSE;
    session_refused_again(session, SERVICE_COMPUTE);
    return TRUE;
}

struct session *
session_new(struct cloud *cloud)
{
    struct session *session = g_new0(struct session, 1);

    session->cloud = cloud;
    session->trouble.cloud = cloud;
    g_queue_init(&session->waiters);
    session->login = login_new(cloud, &session->trouble, on_login_ended, session);
    session->nova =
        nova_new(cloud, session->login, &session->trouble, on_nova_refused, tell, session);
    return session;
}

void
session_reset(struct session *session)
{
    login_reset(session->login);
    nova_reset(session->nova);
    trouble_clear(&session->trouble);
    g_clear_pointer(&session->missing, g_free);
    memset(session->refusals, 0, sizeof session->refusals);
    memset(session->forced, 0, sizeof session->forced);
}

void
session_free(struct session *session)
{
    if (session == NULL)
        return;
    session_reset(session);
    nova_free(session->nova);
    login_free(session->login);
    g_queue_clear_full(&session->waiters, g_free);
    g_free(session);
}

/* ---- What calls need ---- */

static enum session_state
need_token(struct session *session)
{
    if (login_is_needless(session->login) || login_is_fresh(session->login))
        return SESSION_READY;
    if (login_is_under_way(session->login))
        return SESSION_WAIT;
    if (trouble_lasts(&session->trouble))
        return login_is_usable(session->login) ? SESSION_READY : SESSION_FAILED;
    login_begin(session->login);
    return SESSION_WAIT;
}

static enum session_state
need_version(struct session *session, const char *endpoint)
{
    if (nova_is_known(session->nova))
        return SESSION_READY;
    if (nova_is_under_way(session->nova))
        return SESSION_WAIT;
    if (trouble_lasts(&session->trouble))
        return SESSION_FAILED;
    nova_discover(session->nova, endpoint);
    return nova_is_known(session->nova) ? SESSION_READY : SESSION_WAIT;
}

static enum session_state
need(struct session *session, enum service service)
{
    enum session_state state = need_token(session);
    g_autofree char *endpoint = NULL;

    g_clear_pointer(&session->missing, g_free);
    if (state != SESSION_READY)
        return state;
    endpoint = endpoint_of(session, service);
    if (endpoint != NULL)
        return service == SERVICE_COMPUTE ? need_version(session, endpoint) : SESSION_READY;
    session->missing = describe_missing(session, service);
    return SESSION_FAILED;
}

enum session_state
session_need(struct session *session, enum service service)
{
    if (cloud_refresh(session->cloud)) {
        session_reset(session);
        /* Those that wait for what was given up have to begin anew. */
        tell(session);
    }
    return need(session, service);
}

enum drover_failure
session_failure(const struct session *session)
{
    return session->missing != NULL ? DROVER_FAILURE_NOT_FOUND : session->trouble.failure;
}

const char *
session_message(const struct session *session)
{
    return session->missing != NULL ? session->missing : session->trouble.message;
}

const char *
session_token(const struct session *session)
{
    return login_token(session->login);
}

unsigned
session_generation(const struct session *session)
{
    return login_generation(session->login);
}

const char *
session_project(const struct session *session)
{
    return login_project(session->login);
}

char *
session_url(const struct session *session, enum service service)
{
    return service == SERVICE_COMPUTE ? g_strdup(nova_url(session->nova))
                                      : endpoint_of(session, service);
}

gboolean
session_has(const struct session *session, enum service service)
{
    g_autofree char *url = endpoint_of(session, service);

    return url != NULL;
}

int
session_microversion(const struct session *session)
{
    return nova_microversion(session->nova);
}

void
session_doubt_version(struct session *session, int microversion)
{
    nova_doubt(session->nova, microversion);
}

/* ---- Refused tokens ---- */

gboolean
session_refused(struct session *session, enum service service, unsigned generation)
{
    int64_t pause = trouble_pause(session->refusals[service], LONGEST_PAUSE_MILLISECONDS);
    int64_t now = drover_now();

    if (login_is_needless(session->login))
        return FALSE;
    if (generation != session_generation(session) || login_is_under_way(session->login) ||
        session_token(session) == NULL)
        return TRUE;
    if (session->refusals[service] > 0 && now < session->forced[service] + pause)
        return FALSE;
    session->forced[service] = now;
    login_drop_token(session->login);
    cloud_doubt(session->cloud);
    return TRUE;
}

void
session_refused_again(struct session *session, enum service service)
{
    session->refusals[service]++;
}

void
session_accepted(struct session *session, enum service service)
{
    session->refusals[service] = 0;
}
