#include "login.h"

#include "answer.h"
#include "credentials.h"

/* A token that ends within this time is renewed before it is used. Should Keystone not answer for
 * so long, the old one is used as long as it lasts. */
#define MARGIN_MILLISECONDS  120000
#define RENEWAL_MILLISECONDS 20000

static const char what[] = "the login at the cloud failed";

struct login {
    struct cloud *cloud;
    struct trouble *trouble;
    void (*ended)(void *data);
    void *data;

    struct drover_http_request *request; /* for versions, or for a token */
    unsigned redirections;
    char *url; /* of Keystone's version 3, once known */

    char *token, *project;
    json_t *catalog;
    int64_t expires, lifetime; /* monotonic milliseconds; 0: never */
    int64_t margin;
    unsigned generation;
};

/* ---- Life ---- */

struct login *
login_new(struct cloud *cloud, struct trouble *trouble, void (*ended)(void *data), void *data)
{
    struct login *login = g_new0(struct login, 1);

    login->cloud = cloud;
    login->trouble = trouble;
    login->ended = ended;
    login->data = data;
    return login;
}

void
login_reset(struct login *login)
{
    g_clear_pointer(&login->request, drover_http_request_free);
    g_clear_pointer(&login->url, g_free);
    g_clear_pointer(&login->token, g_free);
    g_clear_pointer(&login->project, g_free);
    g_clear_pointer(&login->catalog, json_decref);
}

void
login_free(struct login *login)
{
    login_reset(login);
    g_free(login);
}

static void
end(struct login *login)
{
    g_clear_pointer(&login->request, drover_http_request_free);
    login->ended(login->data);
}

/* ---- The token ---- */

static void
take_expiry(struct login *login, const json_t *token)
{
    int64_t life = credentials_life(token);
    gboolean was_short = login->lifetime > 0 && login->lifetime < 2 * MARGIN_MILLISECONDS;

    login->expires = life > 0 ? drover_now() + life : 0;
    /* Where all tokens are short they must last some time all the same. */
    login->margin = was_short && life < 2 * MARGIN_MILLISECONDS ? life / 2 : MARGIN_MILLISECONDS;
    login->lifetime = life;
}

static void
take(struct login *login, const char *secret, const json_t *token)
{
    const json_t *project = json_object_get(token, "project");

    g_free(login->token);
    g_free(login->project);
    json_decref(login->catalog);
    login->token = g_strdup(secret);
    login->project = g_strdup(json_string_value(json_object_get(project, "id")));
    login->catalog = json_incref(json_object_get(token, "catalog"));
    login->generation++;
    take_expiry(login, token);
    trouble_clear(login->trouble);
}

/* FALSE when there is no sense in the answer. */
static gboolean
take_token(struct login *login, const struct drover_http_request *request)
{
    const char *secret = drover_http_header(request, "X-Subject-Token");
    json_t *answer = answer_json(request);
    const json_t *token = json_object_get(answer, "token");
    const json_t *catalog = json_object_get(token, "catalog"); /* without a scope there is none */
    gboolean makes_sense =
        secret != NULL && json_is_object(token) && (catalog == NULL || json_is_array(catalog));

    if (makes_sense)
        take(login, secret, token);
    json_decref(answer);
    return makes_sense;
}

/* The address of version 3 that was found may be none, or not any more. */
static void
doubt_url(struct login *login)
{
    if (!credentials_url_is_v3(settings_auth(login->cloud->settings, "auth_url")))
        g_clear_pointer(&login->url, g_free);
}

static void ask_for_token_at(struct login *login, const char *url);

static void
on_token(struct drover_http_request *request, void *data)
{
    struct login *login = data;
    g_autofree char *next = answer_redirection(request, &login->redirections);

    if (next != NULL) {
        ask_for_token_at(login, next);
        return;
    }
    if (drover_http_status(request) == 404)
        doubt_url(login);
    if (drover_http_failure(request) != 0) {
        trouble_note_request(login->trouble, request, what);
    } else if (!take_token(login, request)) {
        trouble_note(login->trouble, DROVER_FAILURE_OTHER, what, "the answer has no token");
        doubt_url(login);
    } else {
        drover_provider_log(login->cloud->provider, DROVER_DEBUG, "Logged in at %s", login->url);
    }
    end(login);
}

static void
ask_for_token_at(struct login *login, const char *url)
{
    json_t *body = credentials_request(login->cloud->settings);
    char *text = json_dumps(body, JSON_COMPACT);

    drover_http_request_free(login->request);
    login->request = drover_http_request_new(login->cloud->shared_http, "POST", url);
    drover_http_request_set_header(login->request, "Accept", "application/json");
    drover_http_request_set_json(login->request, text);
    drover_http_request_set_idempotent(login->request, 1);
    if (login_is_usable(login))
        drover_http_request_set_number(login->request, DROVER_HTTP_LIMIT, RENEWAL_MILLISECONDS);
    drover_http_request_start(login->request, on_token, login);
    free(text);
    json_decref(body);
}

static void
ask_for_token(struct login *login)
{
    g_autofree char *url = g_strconcat(login->url, "/auth/tokens", NULL);

    login->redirections = 0;
    ask_for_token_at(login, url);
}

/* ---- Keystone's versions ---- */

static void ask_for_versions_at(struct login *login, const char *url);

/* Without a list of versions the usual address is tried. */
static void
take_versions(struct login *login, const struct drover_http_request *request)
{
    json_t *answer = answer_json(request);

    login->url = credentials_v3_url(settings_auth(login->cloud->settings, "auth_url"), answer);
    json_decref(answer);
    if (login->url != NULL) {
        ask_for_token(login);
        return;
    }
    trouble_note(login->trouble, DROVER_FAILURE_AUTH, what,
                 "auth_url is that of version 2 of Keystone, which is not supported");
    end(login);
}

static void
on_versions(struct drover_http_request *request, void *data)
{
    struct login *login = data;
    g_autofree char *next = answer_redirection(request, &login->redirections);

    if (next != NULL) {
        ask_for_versions_at(login, next);
    } else if (answer_is_passing(request)) {
        trouble_note_request(login->trouble, request, what);
        end(login);
    } else {
        take_versions(login, request);
    }
}

static void
ask_for_versions_at(struct login *login, const char *url)
{
    drover_http_request_free(login->request);
    login->request = drover_http_request_new(login->cloud->shared_http, "GET", url);
    drover_http_request_set_header(login->request, "Accept", "application/json");
    drover_http_request_start(login->request, on_versions, login);
}

void
login_begin(struct login *login)
{
    const char *auth_url = settings_auth(login->cloud->settings, "auth_url");

    if (login->url == NULL && credentials_url_is_v3(auth_url))
        login->url = credentials_v3_url(auth_url, NULL);
    if (login->url != NULL) {
        ask_for_token(login);
        return;
    }
    login->redirections = 0;
    ask_for_versions_at(login, auth_url);
}

/* ---- What there is ---- */

gboolean
login_is_under_way(const struct login *login)
{
    return login->request != NULL;
}

gboolean
login_is_needless(const struct login *login)
{
    return g_strcmp0(settings_method(login->cloud->settings), "none") == 0;
}

static gboolean
lasts(const struct login *login, int64_t milliseconds)
{
    return login->token != NULL &&
           (login->expires == 0 || drover_now() + milliseconds < login->expires);
}

gboolean
login_is_usable(const struct login *login)
{
    return lasts(login, 0);
}

gboolean
login_is_fresh(const struct login *login)
{
    return lasts(login, login->margin);
}

const char *
login_token(const struct login *login)
{
    return login->token;
}

const char *
login_project(const struct login *login)
{
    return login->project != NULL ? login->project
                                  : settings_auth(login->cloud->settings, "project_id");
}

const json_t *
login_catalog(const struct login *login)
{
    return login->catalog;
}

unsigned
login_generation(const struct login *login)
{
    return login->generation;
}

void
login_drop_token(struct login *login)
{
    g_clear_pointer(&login->token, g_free);
}
