#include "session.h"

#include <string.h>

#include "credentials.h"
#include "endpoint.h"
#include "fault.h"

/* A token that ends within this time is renewed before it is used. */
#define MARGIN_MILLISECONDS         120000
#define FIRST_PAUSE_MILLISECONDS    1000
#define LONGEST_PAUSE_MILLISECONDS  60000
#define LONGEST_OUTAGE_MILLISECONDS 5000

struct waiter {
    void (*ready)(void *data);
    void *data;
};

struct session {
    struct cloud *cloud;
    GQueue waiters; /* of struct waiter */

    /* The login. */
    struct drover_http_request *login;
    char *login_url; /* of Keystone's version 3, once known */
    char *token, *project_id;
    json_t *catalog;
    int64_t expires, lifetime; /* monotonic milliseconds; 0: never */
    int64_t margin;
    unsigned generation;

    /* The last login failed, or the token that it gave was refused. */
    enum drover_failure failure;
    char *message;
    unsigned failures;
    int64_t not_before;
    unsigned refusals;
    int64_t forced; /* when a token was last thrown away because it was refused */

    /* Nova. */
    struct drover_http_request *discovery;
    int microversion; /* -1: not known */
    char *compute_url;
};

struct session *
session_new(struct cloud *cloud)
{
    struct session *session = g_new0(struct session, 1);

    session->cloud = cloud;
    session->microversion = -1;
    g_queue_init(&session->waiters);
    return session;
}

static void
drop_token(struct session *session)
{
    g_clear_pointer(&session->token, g_free);
}

void
session_reset(struct session *session)
{
    drop_token(session);
    drover_http_request_free(session->login);
    drover_http_request_free(session->discovery);
    session->login = session->discovery = NULL;
    g_clear_pointer(&session->login_url, g_free);
    g_clear_pointer(&session->project_id, g_free);
    g_clear_pointer(&session->catalog, json_decref);
    g_clear_pointer(&session->compute_url, g_free);
    g_clear_pointer(&session->message, g_free);
    session->microversion = -1;
    session->failures = session->refusals = 0;
    session->not_before = session->forced = 0;
}

void
session_free(struct session *session)
{
    if (session == NULL)
        return;
    session_reset(session);
    g_queue_clear_full(&session->waiters, g_free);
    g_free(session);
}

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
tell(struct session *session)
{
    for (guint left = session->waiters.length; left > 0 && session->waiters.length > 0; left--) {
        g_autofree struct waiter *waiter = g_queue_pop_head(&session->waiters);

        waiter->ready(waiter->data);
    }
}

/* ---- Failing ---- */

static void
note_failure(struct session *session, enum drover_failure failure, const char *what,
             const char *why)
{
    int64_t longest =
        failure == DROVER_FAILURE_AUTH ? LONGEST_PAUSE_MILLISECONDS : LONGEST_OUTAGE_MILLISECONDS;
    int64_t pause = FIRST_PAUSE_MILLISECONDS << MIN(session->failures, 6u);

    if (failure == DROVER_FAILURE_AUTH)
        cloud_doubt(session->cloud);
    session->failures++;
    session->failure = failure;
    session->not_before = drover_now() + MIN(pause, longest);
    g_free(session->message);
    session->message = g_strdup_printf("%s: %s", what, why);
    drover_provider_log(session->cloud->provider, DROVER_WARNING, "%s", session->message);
}

static void
note_failed_call(struct session *session, const struct drover_http_request *call, const char *what)
{
    int status = drover_http_status(call);
    g_autofree char *words = fault_words(drover_http_body(call, NULL));
    g_autofree char *why = g_strdup_printf(
        "%s%s%s", drover_http_message(call) != NULL ? drover_http_message(call) : "",
        words != NULL ? ": " : "", words != NULL ? words : "");
    enum drover_failure failure =
        status == 0 || status >= 500 ? DROVER_FAILURE_OTHER : DROVER_FAILURE_AUTH;

    if (drover_http_failure(call) == DROVER_FAILURE_TIMEOUT ||
        drover_http_failure(call) == DROVER_FAILURE_RATE_LIMITED)
        failure = (enum drover_failure)drover_http_failure(call);
    note_failure(session, failure, what, why);
}

/* ---- The login ---- */

static json_t *
answer_of(const struct drover_http_request *call)
{
    size_t length;
    const char *body = drover_http_body(call, &length);

    return json_loadb(body, length, 0, NULL);
}

static void
take_expiry(struct session *session, const json_t *token)
{
    gint64 expires = credentials_time(json_string_value(json_object_get(token, "expires_at")));
    int64_t left = (expires - g_get_real_time()) / 1000;
    gboolean was_short = session->lifetime > 0 && session->lifetime < 2 * MARGIN_MILLISECONDS;

    session->expires = expires != 0 ? drover_now() + MAX(left, 0) : 0;
    /* Where all tokens are short they must last some time all the same. */
    session->margin = was_short && left < 2 * MARGIN_MILLISECONDS ? left / 2 : MARGIN_MILLISECONDS;
    session->lifetime = expires != 0 ? MAX(left, 1) : 0;
}

/* FALSE when there is no sense in the answer. */
static gboolean
take_token(struct session *session, const struct drover_http_request *call)
{
    const char *secret = drover_http_header(call, "X-Subject-Token");
    json_t *answer = answer_of(call);
    json_t *token = json_object_get(answer, "token");
    gboolean makes_sense = secret != NULL && json_is_object(token);

    if (makes_sense) {
        g_free(session->token);
        g_free(session->project_id);
        json_decref(session->catalog);
        session->token = g_strdup(secret);
        session->project_id =
            g_strdup(json_string_value(json_object_get(json_object_get(token, "project"), "id")));
        session->catalog = json_incref(json_object_get(token, "catalog"));
        session->generation++;
        session->failures = 0;
        take_expiry(session, token);
    }
    json_decref(answer);
    return makes_sense;
}

static void
on_login(struct drover_http_request *call, void *data)
{
    struct session *session = data;

    if (drover_http_failure(call) != 0)
        note_failed_call(session, call, "the login at the cloud failed");
    else if (!take_token(session, call))
        note_failure(session, DROVER_FAILURE_OTHER, "the login at the cloud failed",
                     "the answer has no token");
    else
        drover_provider_log(session->cloud->provider, DROVER_DEBUG, "Logged in at %s",
                            session->login_url);
    session->login = NULL;
    drover_http_request_free(call);
    tell(session);
}

static void
log_in(struct session *session)
{
    g_autofree char *url = g_strconcat(session->login_url, "/auth/tokens", NULL);
    json_t *body = credentials_request(session->cloud->settings);
    char *text = json_dumps(body, JSON_COMPACT);

    session->login = drover_http_request_new(session->cloud->shared_http, "POST", url);
    drover_http_request_set_header(session->login, "Accept", "application/json");
    drover_http_request_set_json(session->login, text);
    drover_http_request_set_idempotent(session->login, 1);
    drover_http_request_start(session->login, on_login, session);
    free(text);
    json_decref(body);
}

/* Whatever is answered: without a list of versions the usual address is tried. */
static void
on_versions(struct drover_http_request *call, void *data)
{
    struct session *session = data;
    const char *auth_url = settings_auth(session->cloud->settings, "auth_url");

    if (drover_http_status(call) == 0) {
        note_failed_call(session, call, "the login at the cloud failed");
        session->login = NULL;
        drover_http_request_free(call);
        tell(session);
        return;
    }
    {
        json_t *answer = answer_of(call);

        session->login_url = credentials_v3_url(auth_url, answer);
        json_decref(answer);
    }
    drover_http_request_free(call);
    log_in(session);
}

static void
begin_login(struct session *session)
{
    const char *auth_url = settings_auth(session->cloud->settings, "auth_url");

    if (session->login_url == NULL && credentials_url_is_v3(auth_url))
        session->login_url = credentials_v3_url(auth_url, NULL);
    if (session->login_url != NULL) {
        log_in(session);
        return;
    }
    session->login = drover_http_request_new(session->cloud->shared_http, "GET", auth_url);
    drover_http_request_set_header(session->login, "Accept", "application/json");
    drover_http_request_start(session->login, on_versions, session);
}

/* ---- Nova's versions ---- */

static void
take_versions(struct session *session, const struct drover_http_request *call)
{
    g_autoptr(GError) error = NULL;
    json_t *answer = answer_of(call);

    session->microversion = endpoint_choose_microversion(session->cloud->settings, answer, &error);
    if (session->microversion < 0)
        note_failure(session, DROVER_FAILURE_PERMANENT, "Nova cannot be used", error->message);
    json_decref(answer);
}

static void
on_discovery(struct drover_http_request *call, void *data)
{
    struct session *session = data;
    int status = drover_http_status(call);

    /* A cloud that does not tell has what all have. */
    if (drover_http_failure(call) == 0 || (status >= 400 && status < 500 && status != 401))
        take_versions(session, call);
    else
        note_failed_call(session, call, "Nova does not tell its versions");
    session->discovery = NULL;
    drover_http_request_free(call);
    tell(session);
}

static gboolean
is_fixed(const struct settings *settings)
{
    return settings_of_service(settings, SERVICE_COMPUTE, "endpoint_override") != NULL &&
           settings_of_service(settings, SERVICE_COMPUTE, "api_version") != NULL;
}

static void
fix_version(struct session *session)
{
    const char *wish =
        settings_of_service(session->cloud->settings, SERVICE_COMPUTE, "default_microversion");

    session->microversion = MAX(endpoint_microversion(wish), 1);
}

static void
discover(struct session *session)
{
    g_autofree char *url = endpoint_find(session->cloud->settings, session->catalog,
                                         SERVICE_COMPUTE, session->project_id);
    g_autofree char *versions = NULL;

    g_free(session->compute_url);
    if (is_fixed(session->cloud->settings)) {
        session->compute_url = g_steal_pointer(&url);
        fix_version(session);
        return;
    }
    session->compute_url = endpoint_of_compute(url, &versions);
    session->discovery = drover_http_request_new(session->cloud->shared_http, "GET", versions);
    drover_http_request_set_header(session->discovery, "Accept", "application/json");
    drover_http_request_set_limiter(session->discovery, session->cloud->limiters[SERVICE_COMPUTE]);
    if (session->token != NULL)
        drover_http_request_set_header(session->discovery, "X-Auth-Token", session->token);
    drover_http_request_start(session->discovery, on_discovery, session);
}

/* ---- What calls need ---- */

static gboolean
needs_no_token(const struct session *session)
{
    return g_strcmp0(settings_method(session->cloud->settings), "none") == 0;
}

static enum session_state
need_token(struct session *session)
{
    int64_t now = drover_now();
    gboolean usable = session->token != NULL && (session->expires == 0 || now < session->expires);

    if (needs_no_token(session) ||
        (usable && (session->expires == 0 || now + session->margin < session->expires)))
        return SESSION_READY;
    if (session->login != NULL)
        return SESSION_WAIT;
    if (now < session->not_before)
        return usable ? SESSION_READY : SESSION_FAILED;
    begin_login(session);
    return SESSION_WAIT;
}

static enum session_state
need_version(struct session *session)
{
    if (session->microversion >= 0)
        return SESSION_READY;
    if (session->discovery == NULL && drover_now() < session->not_before)
        return SESSION_FAILED;
    if (session->discovery == NULL)
        discover(session);
    return session->microversion >= 0 ? SESSION_READY : SESSION_WAIT;
}

static enum session_state
need(struct session *session, enum service service)
{
    enum session_state state = need_token(session);

    if (state != SESSION_READY)
        return state;
    if (!session_has(session, service)) {
        session->failure = DROVER_FAILURE_NOT_FOUND;
        g_free(session->message);
        session->message = g_strdup_printf("the cloud has no endpoint for the service %s",
                                           service_forms[service].name);
        return SESSION_FAILED;
    }
    return service == SERVICE_COMPUTE ? need_version(session) : SESSION_READY;
}

enum session_state
session_need(struct session *session, enum service service)
{
    gboolean is_new = cloud_refresh(session->cloud);
    enum session_state state;

    if (is_new)
        session_reset(session);
    state = need(session, service);
    /* Those that wait for what was given up have to begin anew. */
    if (is_new)
        tell(session);
    return state;
}

enum drover_failure
session_failure(const struct session *session)
{
    return session->failure;
}

const char *
session_message(const struct session *session)
{
    return session->message;
}

const char *
session_token(const struct session *session)
{
    return session->token;
}

unsigned
session_generation(const struct session *session)
{
    return session->generation;
}

const char *
session_project(const struct session *session)
{
    return session->project_id != NULL ? session->project_id
                                       : settings_auth(session->cloud->settings, "project_id");
}

char *
session_url(const struct session *session, enum service service)
{
    if (service == SERVICE_COMPUTE)
        return g_strdup(session->compute_url);
    return endpoint_find(session->cloud->settings, session->catalog, service,
                         session_project(session));
}

gboolean
session_has(const struct session *session, enum service service)
{
    g_autofree char *url = endpoint_find(session->cloud->settings, session->catalog, service,
                                         session_project(session));

    return url != NULL;
}

int
session_microversion(const struct session *session)
{
    return session->microversion;
}

/* ---- Refused tokens ---- */

gboolean
session_refused(struct session *session, unsigned generation)
{
    int64_t pause = FIRST_PAUSE_MILLISECONDS << MIN(session->refusals, 6u);
    int64_t now = drover_now();

    if (generation != session->generation || session->login != NULL || session->token == NULL)
        return TRUE;
    if (needs_no_token(session) ||
        (session->refusals > 0 && now < session->forced + MIN(pause, LONGEST_PAUSE_MILLISECONDS)))
        return FALSE;
    session->forced = now;
    drop_token(session);
    cloud_doubt(session->cloud);
    return TRUE;
}

void
session_refused_again(struct session *session)
{
    session->refusals++;
}

void
session_accepted(struct session *session)
{
    session->refusals = 0;
}
