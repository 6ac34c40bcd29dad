#include "nova.h"

#include "answer.h"
#include "endpoint.h"

/* How long a version is used that was not told but guessed. */
#define GUESS_MILLISECONDS 300000

static const char what[] = "Nova does not tell its versions";

struct nova {
    struct cloud *cloud;
    const struct login *login;
    struct trouble *trouble;
    gboolean (*refused)(void *data);
    void (*ended)(void *data);
    void *data;

    struct drover_http_request *request;
    unsigned redirections;
    int microversion;      /* -1: not known */
    int64_t guessed_until; /* 0: Nova has told it */
    char *endpoint, *url;  /* as it was found, and what is used */
};

/* ---- Life ---- */

struct nova *
nova_new(struct cloud *cloud, const struct login *login, struct trouble *trouble,
         gboolean (*refused)(void *data), void (*ended)(void *data), void *data)
{
    struct nova *nova = g_new0(struct nova, 1);

    nova->cloud = cloud;
    nova->login = login;
    nova->trouble = trouble;
    nova->refused = refused;
    nova->ended = ended;
    nova->data = data;
    nova->microversion = -1;
    return nova;
}

static void
forget(struct nova *nova)
{
    g_clear_pointer(&nova->request, drover_http_request_free);
    nova->microversion = -1;
    nova->guessed_until = 0;
}

void
nova_reset(struct nova *nova)
{
    forget(nova);
    g_clear_pointer(&nova->endpoint, g_free);
    g_clear_pointer(&nova->url, g_free);
}

void
nova_free(struct nova *nova)
{
    nova_reset(nova);
    g_free(nova);
}

/* ---- Its versions ---- */

/* `answer` may be NULL: a cloud that does not tell has what all have. */
static void
take_versions(struct nova *nova, const json_t *answer)
{
    g_autoptr(GError) error = NULL;

    nova->microversion = endpoint_choose_microversion(nova->cloud->settings, answer, &error);
    nova->guessed_until = answer == NULL ? drover_now() + GUESS_MILLISECONDS : 0;
    if (nova->microversion < 0)
        trouble_note(nova->trouble, DROVER_FAILURE_PERMANENT, "Nova cannot be used",
                     error->message);
}

static void
take_answer(struct nova *nova, const struct drover_http_request *request)
{
    json_t *answer = answer_json(request);

    if (drover_http_status(request) >= 400)
        take_versions(nova, NULL);
    else if (endpoint_version(answer) != NULL)
        take_versions(nova, answer);
    else
        trouble_note(nova->trouble, DROVER_FAILURE_OTHER, what, "the answer makes no sense");
    json_decref(answer);
}

static void ask_at(struct nova *nova, const char *url);

static void
on_versions(struct drover_http_request *request, void *data)
{
    struct nova *nova = data;
    gboolean is_refused = drover_http_status(request) == 401;
    g_autofree char *next = answer_redirection(request, &nova->redirections);

    if (next != NULL) {
        ask_at(nova, next);
        return;
    }
    /* One that is refused on each new token is refused for good. */
    if (!is_refused && !answer_is_passing(request))
        take_answer(nova, request);
    else if (!is_refused || !nova->refused(nova->data))
        trouble_note_request(nova->trouble, request, what);
    g_clear_pointer(&nova->request, drover_http_request_free);
    nova->ended(nova->data);
}

static void
ask_at(struct nova *nova, const char *url)
{
    const char *token = login_token(nova->login);

    drover_http_request_free(nova->request);
    nova->request = drover_http_request_new(nova->cloud->shared_http, "GET", url);
    drover_http_request_set_header(nova->request, "Accept", "application/json");
    drover_http_request_set_limiter(nova->request, nova->cloud->limiters[SERVICE_COMPUTE]);
    if (token != NULL)
        drover_http_request_set_header(nova->request, "X-Auth-Token", token);
    drover_http_request_start(nova->request, on_versions, nova);
}

static int
wanted_microversion(const struct settings *settings)
{
    const char *wish = settings_of_service(settings, SERVICE_COMPUTE, "default_microversion");

    return MAX(endpoint_microversion(wish), 1);
}

void
nova_discover(struct nova *nova, const char *endpoint)
{
    g_autofree char *versions = NULL;

    nova_reset(nova);
    nova->endpoint = g_strdup(endpoint);
    if (endpoint_compute_is_fixed(nova->cloud->settings)) {
        nova->url = g_strdup(endpoint);
        nova->microversion = wanted_microversion(nova->cloud->settings);
        return;
    }
    nova->url = endpoint_of_compute(endpoint, &versions);
    nova->redirections = 0;
    ask_at(nova, versions);
}

/* ---- What is known ---- */

void
nova_note_endpoint(struct nova *nova, const char *endpoint)
{
    if (g_strcmp0(endpoint, nova->endpoint) != 0)
        forget(nova);
}

void
nova_doubt(struct nova *nova, int microversion)
{
    if (nova->microversion == microversion && nova->request == NULL)
        nova->microversion = -1;
}

gboolean
nova_is_known(const struct nova *nova)
{
    return nova->microversion >= 0 &&
           (nova->guessed_until == 0 || drover_now() < nova->guessed_until);
}

gboolean
nova_is_under_way(const struct nova *nova)
{
    return nova->request != NULL;
}

const char *
nova_url(const struct nova *nova)
{
    return nova->url;
}

int
nova_microversion(const struct nova *nova)
{
    return nova->microversion;
}
