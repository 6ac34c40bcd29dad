#include "session.h"

#include <string.h>

#include "credentials.h"
#include "endpoint.h"
#include "fault.h"
#include "redirection.h"

/* A token that ends within this time is renewed before it is used. Should Keystone not answer for
 * so long, the old one is used as long as it lasts. */
#define MARGIN_MILLISECONDS         120000
#define RENEWAL_MILLISECONDS        20000
#define FIRST_PAUSE_MILLISECONDS    1000
#define LONGEST_PAUSE_MILLISECONDS  60000
#define LONGEST_OUTAGE_MILLISECONDS 5000
/* How long a version of Nova is used that was not told but guessed. */
#define GUESS_MILLISECONDS 300000

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
    unsigned redirections; /* of the login, or the discovery, under way */

    /* The last login failed, or the token that it gave was refused. */
    enum drover_failure failure;
    char *message;
    unsigned failures;
    int64_t not_before;
    unsigned refusals[SERVICES];
    int64_t forced[SERVICES]; /* when a token was last thrown away because it was refused */
    char *missing;            /* there is no such service as the last call is for; NULL: there is */

    /* Nova. */
    struct drover_http_request *discovery;
    int microversion;       /* -1: not known */
    int64_t guessed_until;  /* 0: Nova has told it */
    char *compute_endpoint; /* as it was found, and what is used */
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
    g_clear_pointer(&session->compute_endpoint, g_free);
    g_clear_pointer(&session->compute_url, g_free);
    g_clear_pointer(&session->message, g_free);
    g_clear_pointer(&session->missing, g_free);
    session->microversion = -1;
    session->guessed_until = 0;
    session->failures = 0;
    session->not_before = 0;
    memset(session->refusals, 0, sizeof session->refusals);
    memset(session->forced, 0, sizeof session->forced);
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
    int64_t life = credentials_life(token);
    gboolean was_short = session->lifetime > 0 && session->lifetime < 2 * MARGIN_MILLISECONDS;

    session->expires = life > 0 ? drover_now() + life : 0;
    /* Where all tokens are short they must last some time all the same. */
    session->margin = was_short && life < 2 * MARGIN_MILLISECONDS ? life / 2 : MARGIN_MILLISECONDS;
    session->lifetime = life;
}

/* Nova may have moved since the catalog was read last. */
static void
compare_compute(struct session *session)
{
    g_autofree char *url = endpoint_find(session->cloud->settings, session->catalog,
                                         SERVICE_COMPUTE, session_project(session));

    if (g_strcmp0(url, session->compute_endpoint) == 0)
        return;
    session->microversion = -1;
    g_clear_pointer(&session->discovery, drover_http_request_free);
}

/* FALSE when there is no sense in the answer. */
static gboolean
take_token(struct session *session, const struct drover_http_request *call)
{
    const char *secret = drover_http_header(call, "X-Subject-Token");
    json_t *answer = answer_of(call);
    json_t *token = json_object_get(answer, "token");
    json_t *catalog = json_object_get(token, "catalog"); /* a login without a scope has none */
    gboolean makes_sense =
        secret != NULL && json_is_object(token) && (catalog == NULL || json_is_array(catalog));

    if (makes_sense) {
        g_free(session->token);
        g_free(session->project_id);
        json_decref(session->catalog);
        session->token = g_strdup(secret);
        session->project_id =
            g_strdup(json_string_value(json_object_get(json_object_get(token, "project"), "id")));
        session->catalog = json_incref(catalog);
        session->generation++;
        session->failures = 0;
        take_expiry(session, token);
        compare_compute(session);
    }
    json_decref(answer);
    return makes_sense;
}

/* The address of version 3 that was found may be none, or not any more. */
static void
doubt_login_url(struct session *session)
{
    if (!credentials_url_is_v3(settings_auth(session->cloud->settings, "auth_url")))
        g_clear_pointer(&session->login_url, g_free);
}

static void
end_login(struct session *session)
{
    drover_http_request_free(session->login);
    session->login = NULL;
    session->redirections = 0;
    tell(session);
}

/* Where the answer leads to; NULL: nowhere, or in a circle. */
static char *
next_address(struct session *session, const struct drover_http_request *call)
{
    char *url = redirection_of(call);

    if (url != NULL && ++session->redirections <= MOST_REDIRECTIONS)
        return url;
    g_free(url);
    return NULL;
}

static void log_in_at(struct session *session, const char *url);

static void
on_login(struct drover_http_request *call, void *data)
{
    struct session *session = data;
    g_autofree char *next = next_address(session, call);

    if (next != NULL) {
        log_in_at(session, next);
        return;
    }
    if (drover_http_status(call) == 404)
        doubt_login_url(session);
    if (drover_http_failure(call) != 0) {
        note_failed_call(session, call, "the login at the cloud failed");
    } else if (!take_token(session, call)) {
        note_failure(session, DROVER_FAILURE_OTHER, "the login at the cloud failed",
                     "the answer has no token");
        doubt_login_url(session);
    } else {
        drover_provider_log(session->cloud->provider, DROVER_DEBUG, "Logged in at %s",
                            session->login_url);
    }
    end_login(session);
}

static gboolean
is_usable(const struct session *session)
{
    return session->token != NULL && (session->expires == 0 || drover_now() < session->expires);
}

static void
log_in_at(struct session *session, const char *url)
{
    json_t *body = credentials_request(session->cloud->settings);
    char *text = json_dumps(body, JSON_COMPACT);

    drover_http_request_free(session->login);
    session->login = drover_http_request_new(session->cloud->shared_http, "POST", url);
    drover_http_request_set_header(session->login, "Accept", "application/json");
    drover_http_request_set_json(session->login, text);
    drover_http_request_set_idempotent(session->login, 1);
    if (is_usable(session))
        drover_http_request_set_number(session->login, DROVER_HTTP_LIMIT, RENEWAL_MILLISECONDS);
    drover_http_request_start(session->login, on_login, session);
    free(text);
    json_decref(body);
}

static void
log_in(struct session *session)
{
    g_autofree char *url = g_strconcat(session->login_url, "/auth/tokens", NULL);

    log_in_at(session, url);
}

/* Whether it may be another answer at another time. */
static gboolean
is_passing(const struct drover_http_request *call)
{
    int status = drover_http_status(call);

    return status == 0 || status == 408 || status == 413 || status == 429 || status >= 500;
}

static void ask_for_versions_at(struct session *session, const char *url);

/* Without a list of versions the usual address is tried. */
static void
on_versions(struct drover_http_request *call, void *data)
{
    struct session *session = data;
    const char *auth_url = settings_auth(session->cloud->settings, "auth_url");
    g_autofree char *next = next_address(session, call);
    json_t *answer;

    if (next != NULL) {
        ask_for_versions_at(session, next);
        return;
    }
    if (is_passing(call)) {
        note_failed_call(session, call, "the login at the cloud failed");
        end_login(session);
        return;
    }
    answer = answer_of(call);
    session->login_url = credentials_v3_url(auth_url, answer);
    json_decref(answer);
    session->redirections = 0;
    if (session->login_url != NULL) {
        log_in(session);
        return;
    }
    note_failure(session, DROVER_FAILURE_AUTH, "the login at the cloud failed",
                 "auth_url is that of version 2 of Keystone, which is not supported");
    end_login(session);
}

static void
ask_for_versions_at(struct session *session, const char *url)
{
    drover_http_request_free(session->login);
    session->login = drover_http_request_new(session->cloud->shared_http, "GET", url);
    drover_http_request_set_header(session->login, "Accept", "application/json");
    drover_http_request_start(session->login, on_versions, session);
}

static void
begin_login(struct session *session)
{
    const char *auth_url = settings_auth(session->cloud->settings, "auth_url");

    session->redirections = 0;
    if (session->login_url == NULL && credentials_url_is_v3(auth_url))
        session->login_url = credentials_v3_url(auth_url, NULL);
    if (session->login_url != NULL)
        log_in(session);
    else
        ask_for_versions_at(session, auth_url);
}

/* ---- Nova's versions ---- */

static gboolean
needs_no_token(const struct session *session)
{
    return g_strcmp0(settings_method(session->cloud->settings), "none") == 0;
}

/* `answer` may be NULL: a cloud that does not tell has what all have. */
static void
take_versions(struct session *session, const json_t *answer)
{
    g_autoptr(GError) error = NULL;

    session->microversion = endpoint_choose_microversion(session->cloud->settings, answer, &error);
    session->guessed_until = answer == NULL ? drover_now() + GUESS_MILLISECONDS : 0;
    if (session->microversion < 0)
        note_failure(session, DROVER_FAILURE_PERMANENT, "Nova cannot be used", error->message);
}

static void
judge_versions(struct session *session, const struct drover_http_request *call)
{
    json_t *answer = answer_of(call);
    int status = drover_http_status(call);

    /* One that is refused on each new token is refused for good. */
    if (status == 401 && session_refused(session, SERVICE_COMPUTE, session->generation))
        session_refused_again(session, SERVICE_COMPUTE);
    else if (status == 401 || is_passing(call))
        note_failed_call(session, call, "Nova does not tell its versions");
    else if (status >= 400)
        take_versions(session, NULL);
    else if (endpoint_version(answer) != NULL)
        take_versions(session, answer);
    else
        note_failure(session, DROVER_FAILURE_OTHER, "Nova does not tell its versions",
                     "the answer makes no sense");
    json_decref(answer);
}

static void discover_at(struct session *session, const char *url);

static void
on_discovery(struct drover_http_request *call, void *data)
{
    struct session *session = data;
    g_autofree char *next = next_address(session, call);

    if (next != NULL) {
        discover_at(session, next);
        return;
    }
    judge_versions(session, call);
    drover_http_request_free(session->discovery);
    session->discovery = NULL;
    session->redirections = 0;
    tell(session);
}

static void
discover_at(struct session *session, const char *url)
{
    drover_http_request_free(session->discovery);
    session->discovery = drover_http_request_new(session->cloud->shared_http, "GET", url);
    drover_http_request_set_header(session->discovery, "Accept", "application/json");
    drover_http_request_set_limiter(session->discovery, session->cloud->limiters[SERVICE_COMPUTE]);
    if (session->token != NULL)
        drover_http_request_set_header(session->discovery, "X-Auth-Token", session->token);
    drover_http_request_start(session->discovery, on_discovery, session);
}

static void
fix_version(struct session *session)
{
    const char *wish =
        settings_of_service(session->cloud->settings, SERVICE_COMPUTE, "default_microversion");

    session->microversion = MAX(endpoint_microversion(wish), 1);
    session->guessed_until = 0;
}

static void
discover(struct session *session)
{
    char *url = endpoint_find(session->cloud->settings, session->catalog, SERVICE_COMPUTE,
                              session_project(session));
    g_autofree char *versions = NULL;

    g_free(session->compute_endpoint);
    session->compute_endpoint = url;
    g_free(session->compute_url);
    if (endpoint_compute_is_fixed(session->cloud->settings)) {
        session->compute_url = g_strdup(url);
        fix_version(session);
        return;
    }
    session->compute_url = endpoint_of_compute(url, &versions);
    session->redirections = 0;
    discover_at(session, versions);
}

void
session_doubt_version(struct session *session, int microversion)
{
    if (session->microversion == microversion && session->discovery == NULL)
        session->microversion = -1;
}

/* ---- What calls need ---- */

static enum session_state
need_token(struct session *session)
{
    int64_t now = drover_now();

    if (needs_no_token(session) ||
        (is_usable(session) && (session->expires == 0 || now + session->margin < session->expires)))
        return SESSION_READY;
    if (session->login != NULL)
        return SESSION_WAIT;
    if (now < session->not_before)
        return is_usable(session) ? SESSION_READY : SESSION_FAILED;
    begin_login(session);
    return SESSION_WAIT;
}

static enum session_state
need_version(struct session *session)
{
    int64_t now = drover_now();

    if (session->microversion >= 0 && (session->guessed_until == 0 || now < session->guessed_until))
        return SESSION_READY;
    if (session->discovery == NULL && now < session->not_before)
        return SESSION_FAILED;
    if (session->discovery == NULL) {
        session->microversion = -1;
        discover(session);
    }
    return session->microversion >= 0 ? SESSION_READY : SESSION_WAIT;
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

static enum session_state
need(struct session *session, enum service service)
{
    enum session_state state = need_token(session);

    g_clear_pointer(&session->missing, g_free);
    if (state != SESSION_READY)
        return state;
    if (session_has(session, service))
        return service == SERVICE_COMPUTE ? need_version(session) : SESSION_READY;
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
    return session->missing != NULL ? DROVER_FAILURE_NOT_FOUND : session->failure;
}

const char *
session_message(const struct session *session)
{
    return session->missing != NULL ? session->missing : session->message;
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
session_refused(struct session *session, enum service service, unsigned generation)
{
    int64_t pause = FIRST_PAUSE_MILLISECONDS << MIN(session->refusals[service], 6u);
    int64_t now = drover_now();

    if (needs_no_token(session))
        return FALSE;
    if (generation != session->generation || session->login != NULL || session->token == NULL)
        return TRUE;
    if (session->refusals[service] > 0 &&
        now < session->forced[service] + MIN(pause, LONGEST_PAUSE_MILLISECONDS))
        return FALSE;
    session->forced[service] = now;
    drop_token(session);
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
