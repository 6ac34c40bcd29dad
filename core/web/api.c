#include "web/api.h"

#include <string.h>

#include "cli/request-view.h"
#include "web/api-lease.h"
#include "web/api-limits.h"
#include "web/api-order.h"
#include "web/openapi.h"
#include "zk/change.h"
#include "zk/operation.h"

#define ROOT         "/api/"
#define DESCRIPTION  "/api/v1/openapi.json"
#define REQUESTS     "/api/v1/requests"
#define JSON_TYPE    "application/json"
#define BEARER       "Bearer "
#define MOST_WAIT    60 /* seconds */
#define MOST_WAITING 200
#define LOOK_PERIOD  50 /* milliseconds, while somebody waits */

/* Somebody waits for the end of a request. */
typedef struct {
    DroverHttpExchange *exchange;
    char *id;
    gint64 deadline;
    gint64 lease, renewal; /* seconds; when it is due, monotonic */
} Waiting;

/* A write is under way. */
typedef struct {
    DroverHttpExchange *exchange;
    json_t *record;        /* of a new request; or NULL */
    DroverApiClaim *claim; /* likewise */
} Writing;

struct _DroverApi {
    DroverLauncher *launcher;
    DroverApiLimits *limits;
    DroverApiLeases *leases;
    GPtrArray *waiting; /* of Waiting */
    guint timer;
};

/* ---- Answers ---- */

static void
answer_json(DroverHttpExchange *exchange, guint status, json_t *value)
{
    char *text = drover_json_text(value);
    g_autoptr(GBytes) body = g_bytes_new_take(text, strlen(text));

    json_decref(value);
    drover_http_add_header(exchange, "Cache-Control", "no-store");
    drover_http_answer(exchange, status, JSON_TYPE, body);
}

static void
refuse(DroverHttpExchange *exchange, guint status, const char *why)
{
    answer_json(exchange, status, json_pack("{s:o}", "error", drover_json_from_string(why)));
}

static void
refuse_method(DroverHttpExchange *exchange, const char *allow)
{
    drover_http_add_header(exchange, "Allow", allow);
    refuse(exchange, 405, "the method is not allowed here");
}

/* ---- Clients ---- */

/* Takes as long whether or where they differ. */
static gboolean
is_same_secret(const char *a, const char *b)
{
    g_autofree char *left = g_compute_checksum_for_string(G_CHECKSUM_SHA256, a, -1);
    g_autofree char *right = g_compute_checksum_for_string(G_CHECKSUM_SHA256, b, -1);
    guint difference = 0;

    for (gsize i = 0; left[i] != '\0'; i++)
        difference |= (guint)(left[i] ^ right[i]);
    return difference == 0;
}

/* Who asks; NULL: nobody known. */
static const DroverTokenConfig *
find_client(const DroverApi *api, DroverHttpExchange *exchange)
{
    const GPtrArray *tokens = drover_launcher_config(api->launcher)->tokens;
    const char *header = drover_http_header(exchange, "Authorization");
    const DroverTokenConfig *client = NULL;

    if (header == NULL || g_ascii_strncasecmp(header, BEARER, strlen(BEARER)) != 0)
        return NULL;
    for (guint i = 0; i < tokens->len; i++) {
        const DroverTokenConfig *token = tokens->pdata[i];

        if (is_same_secret(token->token, header + strlen(BEARER)))
            client = token;
    }
    return client;
}

static gboolean
is_of_client(const DroverRequest *request, const DroverTokenConfig *client)
{
    g_autofree char *requestor = drover_api_requestor(client);

    return g_strcmp0(request->requestor, requestor) == 0;
}

/* The client's own request; NULL: there is none of that id. */
static const DroverRequest *
find_request(const DroverApi *api, const DroverTokenConfig *client, const char *id)
{
    const DroverRequest *request =
        drover_cluster_request(drover_launcher_cluster(api->launcher), id);

    return request != NULL && is_of_client(request, client) ? request : NULL;
}

/* ---- Showing ---- */

static json_t *
describe(const DroverApi *api, const DroverRequest *request)
{
    g_autoptr(GPtrArray) nodes =
        drover_api_nodes_of(drover_launcher_cluster(api->launcher), request);

    return drover_request_details(request, nodes);
}

static void
list_requests(DroverApi *api, DroverHttpExchange *exchange, const DroverTokenConfig *client)
{
    const GPtrArray *requests = drover_cluster_requests(drover_launcher_cluster(api->launcher));
    json_t *list = json_array();

    for (guint i = 0; i < requests->len; i++) {
        if (!is_of_client(requests->pdata[i], client))
            continue;
        drover_api_lease_renew(api->leases, requests->pdata[i], client->lease);
        json_array_append_new(list, describe(api, requests->pdata[i]));
    }
    answer_json(exchange, 200, list);
}

/* ---- Waiting ---- */

static gboolean
is_over(const DroverRequest *request)
{
    return request->state == DROVER_REQUEST_FULFILLED || request->state == DROVER_REQUEST_FAILED;
}

static void
show_request(DroverApi *api, DroverHttpExchange *exchange, const DroverRequest *request)
{
    if (request == NULL)
        refuse(exchange, 404, "there is no such request of yours");
    else
        answer_json(exchange, 200, describe(api, request));
}

static void
free_waiting(gpointer data)
{
    Waiting *waiting = data;

    g_free(waiting->id);
    g_free(waiting);
}

/* Who waits is there. */
static void
renew(const DroverApi *api, Waiting *waiting, const DroverRequest *request, gint64 now)
{
    if (request == NULL || waiting->lease == 0 || now < waiting->renewal)
        return;
    drover_api_lease_renew(api->leases, request, waiting->lease);
    waiting->renewal = now + waiting->lease * G_USEC_PER_SEC / 3;
}

static gboolean
on_look(gpointer user_data)
{
    DroverApi *api = user_data;
    DroverCluster *cluster = drover_launcher_cluster(api->launcher);
    gint64 now = g_get_monotonic_time();

    for (guint i = api->waiting->len; i > 0; i--) {
        Waiting *waiting = api->waiting->pdata[i - 1];
        const DroverRequest *request = drover_cluster_request(cluster, waiting->id);
        gboolean gone = request == NULL && drover_cluster_is_complete(cluster);

        renew(api, waiting, request, now);
        if (!gone && now < waiting->deadline && (request == NULL || !is_over(request)))
            continue;
        show_request(api, waiting->exchange, request);
        g_ptr_array_remove_index(api->waiting, i - 1);
    }
    if (api->waiting->len > 0)
        return G_SOURCE_CONTINUE;
    api->timer = 0;
    return G_SOURCE_REMOVE;
}

/* Seconds that the client would wait for the end; 0: it would not. */
static guint
patience_of(DroverHttpExchange *exchange)
{
    const char *text = drover_http_parameter(exchange, "wait");
    guint64 seconds;

    if (text == NULL || !g_ascii_string_to_unsigned(text, 10, 0, MOST_WAIT, &seconds, NULL))
        return 0;
    return (guint)seconds;
}

static void
get_request(DroverApi *api, DroverHttpExchange *exchange, const DroverTokenConfig *client,
            const DroverRequest *request)
{
    guint patience = patience_of(exchange);
    Waiting *waiting;

    if (request != NULL)
        drover_api_lease_renew(api->leases, request, client->lease);
    if (request == NULL || is_over(request) || patience == 0 || api->waiting->len >= MOST_WAITING) {
        show_request(api, exchange, request);
        return;
    }
    waiting = g_new0(Waiting, 1);
    waiting->exchange = exchange;
    waiting->id = g_strdup(request->id);
    waiting->lease = client->lease;
    waiting->deadline = g_get_monotonic_time() + patience * G_USEC_PER_SEC;
    g_ptr_array_add(api->waiting, waiting);
    if (api->timer == 0)
        api->timer = g_timeout_add(LOOK_PERIOD, on_look, api);
}

/* ---- Writing ---- */

static void
free_writing(Writing *writing)
{
    json_decref(writing->record);
    g_free(writing);
}

static void
refuse_outcome(DroverHttpExchange *exchange, DroverChangeOutcome outcome)
{
    static const struct {
        DroverChangeOutcome outcome;
        guint status;
        const char *text;
    } texts[] = {
        {DROVER_CHANGE_BUSY, 409, "a node is locked: somebody uses it"},
        {DROVER_CHANGE_CONFLICT, 409, "it changed meanwhile: look again"},
        {DROVER_CHANGE_GONE, 409, "it changed meanwhile: look again"},
        {DROVER_CHANGE_UNKNOWN, 503, "ZooKeeper did not answer: look whether it was done"},
    };

    for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
        if (texts[i].outcome == outcome) {
            refuse(exchange, texts[i].status, texts[i].text);
            return;
        }
    refuse(exchange, 500, drover_change_outcome_name(outcome));
}

static void
on_created(const DroverChangeResult *result, gpointer user_data)
{
    Writing *writing = user_data;
    const char *id =
        result->outcome == DROVER_CHANGE_DONE ? strrchr(result->created[0], '/') + 1 : NULL;

    drover_api_claim_settle(writing->claim, id);
    if (id != NULL) {
        g_autofree char *place = g_strconcat(REQUESTS "/", id, NULL);

        drover_http_add_header(writing->exchange, "Location", place);
        answer_json(writing->exchange, 201,
                    json_pack("{s:s, s:s, s:O}", "id", id, "state", "requested", "event_id",
                              json_object_get(writing->record, "event_id")));
    } else {
        refuse_outcome(writing->exchange, result->outcome);
    }
    free_writing(writing);
}

/* One that was submitted before, and the answer got lost. */
static const DroverRequest *
find_event(const DroverApi *api, const DroverTokenConfig *client, const char *event)
{
    const GPtrArray *requests = drover_cluster_requests(drover_launcher_cluster(api->launcher));

    for (guint i = 0; i < requests->len; i++) {
        const DroverRequest *request = requests->pdata[i];

        if (g_strcmp0(request->event_id, event) == 0 && is_of_client(request, client))
            return request;
    }
    return NULL;
}

static void
submit(DroverApi *api, DroverHttpExchange *exchange, const DroverApiOrder *order,
       DroverApiClaim *claim)
{
    DroverSession *session = drover_cluster_session(drover_launcher_cluster(api->launcher));
    g_autofree char *path = g_strdup_printf(DROVER_REQUESTS_PATH "/%03d-", order->priority);
    g_autoptr(GBytes) data = drover_record_bytes(order->record);
    DroverChange *change = drover_change_new(session);
    Writing *writing = g_new0(Writing, 1);

    writing->exchange = exchange;
    writing->record = json_incref(order->record);
    writing->claim = claim;
    drover_change_create(change, path, data, ZOO_SEQUENCE);
    drover_change_commit(change, on_created, writing);
}

static void
create_request(DroverApi *api, DroverHttpExchange *exchange, const DroverTokenConfig *client)
{
    g_auto(DroverApiOrder) order = {0};
    g_auto(GStrv) labels = NULL;
    g_autoptr(GError) error = NULL;
    const DroverRequest *present;
    DroverApiClaim *claim;
    gsize length;
    const char *foreign, *text = drover_http_body(exchange, &length);

    if (!drover_api_order_read(&order, text, length, client, &error)) {
        refuse(exchange, 400, error->message);
        return;
    }
    present = find_event(api, client, drover_json_string(order.record, "event_id"));
    if (present != NULL) {
        drover_api_lease_renew(api->leases, present, client->lease);
        answer_json(exchange, 200, describe(api, present));
        return;
    }
    labels = drover_json_strings(order.record, "node_types");
    foreign = drover_api_limits_find_foreign(client, (const char *const *)labels);
    if (foreign != NULL) {
        g_autofree char *why = g_strdup_printf("the label %s is not yours to ask for", foreign);

        refuse(exchange, 403, why);
        return;
    }
    claim = drover_api_limits_claim(api->limits, client, g_strv_length(labels));
    if (claim == NULL)
        refuse(exchange, 429, "your requests would have too many machines: give some back");
    else
        submit(api, exchange, &order, claim);
}

static void
on_given_back(const DroverChangeResult *result, gpointer user_data)
{
    Writing *writing = user_data;

    if (result->outcome == DROVER_CHANGE_DONE)
        drover_http_answer(writing->exchange, 204, NULL, NULL);
    else
        refuse_outcome(writing->exchange, result->outcome);
    free_writing(writing);
}

static void
give_back_request(DroverApi *api, DroverHttpExchange *exchange, const DroverRequest *request)
{
    Writing *writing;

    if (request == NULL) {
        show_request(api, exchange, NULL);
        return;
    }
    writing = g_new0(Writing, 1);
    writing->exchange = exchange;
    drover_api_lease_give_back(api->leases, request, on_given_back, writing);
}

/* ---- Paths ---- */

gboolean
drover_api_has(const char *path)
{
    return g_str_has_prefix(path, ROOT);
}

static void
answer_description(DroverHttpExchange *exchange)
{
    g_autoptr(GBytes) body = g_bytes_new_static(drover_openapi, drover_openapi_size);

    drover_http_answer_tagged(exchange, JSON_TYPE, body);
}

static void
answer_requests(DroverApi *api, DroverHttpExchange *exchange, const DroverTokenConfig *client)
{
    if (strcmp(drover_http_method(exchange), "GET") == 0)
        list_requests(api, exchange, client);
    else if (strcmp(drover_http_method(exchange), "POST") == 0)
        create_request(api, exchange, client);
    else
        refuse_method(exchange, "GET, HEAD, POST");
}

static void
answer_request(DroverApi *api, DroverHttpExchange *exchange, const DroverTokenConfig *client)
{
    const char *id = drover_http_path(exchange) + strlen(REQUESTS "/");
    const DroverRequest *request = find_request(api, client, id);

    if (strcmp(drover_http_method(exchange), "GET") == 0)
        get_request(api, exchange, client, request);
    else if (strcmp(drover_http_method(exchange), "DELETE") == 0)
        give_back_request(api, exchange, request);
    else
        refuse_method(exchange, "GET, HEAD, DELETE");
}

static void
answer_client(DroverApi *api, DroverHttpExchange *exchange, const DroverTokenConfig *client)
{
    const char *path = drover_http_path(exchange);

    if (!drover_cluster_is_complete(drover_launcher_cluster(api->launcher))) {
        drover_http_add_header(exchange, "Retry-After", "1");
        refuse(exchange, 503, "the launcher is not connected to ZooKeeper, or still reading");
    } else if (strcmp(path, REQUESTS) == 0) {
        answer_requests(api, exchange, client);
    } else if (g_str_has_prefix(path, REQUESTS "/")) {
        answer_request(api, exchange, client);
    } else {
        refuse(exchange, 404, "there is nothing here");
    }
}

void
drover_api_answer(DroverApi *api, DroverHttpExchange *exchange)
{
    const DroverTokenConfig *client = find_client(api, exchange);

    if (drover_launcher_config(api->launcher)->tokens->len == 0) {
        refuse(exchange, 404, "no client is configured");
    } else if (strcmp(drover_http_path(exchange), DESCRIPTION) == 0) {
        answer_description(exchange);
    } else if (client == NULL) {
        drover_http_add_header(exchange, "WWW-Authenticate", "Bearer realm=\"drover\"");
        refuse(exchange, 401, "a token is needed: Authorization: Bearer TOKEN");
    } else {
        answer_client(api, exchange, client);
    }
}

/* ---- Life ---- */

DroverApi *
drover_api_new(DroverLauncher *launcher)
{
    DroverApi *api = g_new0(DroverApi, 1);

    api->launcher = launcher;
    api->limits = drover_api_limits_new(drover_launcher_cluster(launcher));
    api->leases = drover_api_leases_new(drover_launcher_cluster(launcher));
    api->waiting = g_ptr_array_new_with_free_func(free_waiting);
    return api;
}

void
drover_api_free(DroverApi *api)
{
    g_clear_handle_id(&api->timer, g_source_remove);
    for (guint i = 0; i < api->waiting->len; i++)
        refuse(((const Waiting *)api->waiting->pdata[i])->exchange, 503,
               "the launcher is about to stop");
    g_ptr_array_unref(api->waiting);
    drover_api_leases_free(api->leases);
    drover_api_limits_free(api->limits);
    g_free(api);
}
