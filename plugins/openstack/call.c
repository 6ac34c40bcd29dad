#include "call.h"

#include <string.h>

#include "answer.h"
#include "fault.h"
#include "session.h"

/* Without a byte of a file moving. */
#define FILE_STALL_MILLISECONDS 120000

struct call {
    struct cloud *cloud;
    enum service service;
    char *method, *path, *body, *file;
    GPtrArray *query; /* name, value, ... */
    char *whole_query;
    gboolean own, shared;

    struct drover_http_request *request; /* the present one, or the last */
    unsigned generation;                 /* of the token that it has */
    int microversion;                    /* that it has, of Nova */
    gboolean repeated, negotiated_anew;
    unsigned redirections;
    GSource *soon; /* to end it without a request */

    void (*done)(struct call *call, void *data);
    void *data;
    gboolean is_done;
    int failure;
    char *message, *words;
    json_t *answer;
};

static void advance(void *data);

/* ---- Life ---- */

struct call *
call_new(struct cloud *cloud, enum service service, const char *method, const char *path,
         json_t *body)
{
    struct call *call = g_new0(struct call, 1);

    call->cloud = cloud;
    call->service = service;
    call->method = g_strdup(method);
    call->path = g_strdup(path);
    call->query = g_ptr_array_new_with_free_func(g_free);
    if (body != NULL)
        call->body = json_dumps(body, JSON_COMPACT);
    json_decref(body);
    return call;
}

void
call_free(struct call *call)
{
    if (call == NULL)
        return;
    session_leave(call->cloud->session, call);
    drover_http_request_free(call->request);
    if (call->soon != NULL) {
        g_source_destroy(call->soon);
        g_source_unref(call->soon);
    }
    g_ptr_array_unref(call->query);
    g_free(call->whole_query);
    g_free(call->method);
    g_free(call->path);
    free(call->body);
    g_free(call->file);
    g_free(call->message);
    g_free(call->words);
    json_decref(call->answer);
    g_free(call);
}

void
call_add_query(struct call *call, const char *name, const char *value)
{
    g_ptr_array_add(call->query, g_strdup(name));
    g_ptr_array_add(call->query, g_strdup(value));
}

void
call_set_shared(struct call *call)
{
    call->shared = TRUE;
}

void
call_set_own(struct call *call)
{
    call->own = TRUE;
}

void
call_set_query(struct call *call, const char *query)
{
    g_free(call->whole_query);
    call->whole_query = g_strdup(query);
}

void
call_set_file(struct call *call, const char *path)
{
    g_free(call->file);
    call->file = g_strdup(path);
}

char *
call_path(const char *collection, const char *id, const char *rest)
{
    char *escaped = drover_http_escape(id);
    char *path = g_strdup_printf("%s/%s%s", collection, escaped, rest);

    free(escaped);
    return path;
}

/* ---- The end ---- */

static void
end(struct call *call)
{
    call->is_done = TRUE;
    call->done(call, call->data);
}

static void
set_failure(struct call *call, int failure, const char *message)
{
    call->failure = failure;
    call->message = g_strdup(message);
}

static gboolean
on_soon(gpointer data)
{
    struct call *call = data;

    g_clear_pointer(&call->soon, g_source_unref);
    end(call);
    return G_SOURCE_REMOVE;
}

/* The caller does not expect the end before call_start() has returned. */
static void
end_soon(struct call *call)
{
    set_failure(call, (int)session_failure(call->cloud->session),
                session_message(call->cloud->session));
    call->soon = g_idle_source_new();
    g_source_set_callback(call->soon, on_soon, call, NULL);
    g_source_attach(call->soon, g_main_context_get_thread_default());
}

static void
note_failure(struct call *call)
{
    const char *said = drover_http_message(call->request);
    g_autofree char *message = NULL;

    call->words = fault_words(drover_http_body(call->request, NULL));
    message =
        g_strdup_printf("%s%s%s", said != NULL ? said : "the call failed",
                        call->words != NULL ? ": " : "", call->words != NULL ? call->words : "");
    set_failure(call,
                (int)fault_of_call(drover_http_status(call->request), call->words,
                                   (enum drover_failure)drover_http_failure(call->request)),
                message);
}

/* ---- Answers ---- */

static void send_to(struct call *call, const char *url);

static void
note_request_id(const struct call *call)
{
    const char *id = drover_http_header(call->request, "x-openstack-request-id");

    if (id == NULL)
        id = drover_http_header(call->request, "x-compute-request-id");
    if (id != NULL)
        drover_provider_log(call->cloud->provider, DROVER_DEBUG, "%s %s: request %s", call->method,
                            call->path, id);
}

/* FALSE: it leads nowhere else. */
static gboolean
follow(struct call *call)
{
    g_autofree char *url = answer_redirection(call->request, &call->redirections);

    if (url == NULL)
        return FALSE;
    drover_http_request_free(call->request);
    call->request = NULL;
    send_to(call, url);
    return TRUE;
}

static void
repeat(struct call *call)
{
    drover_http_request_free(call->request);
    call->request = NULL;
    advance(call);
}

/* FALSE: the token was refused for good. */
static gboolean
repeat_with_new_token(struct call *call)
{
    if (call->repeated || !session_refused(call->cloud->session, call->service, call->generation)) {
        session_refused_again(call->cloud->session, call->service);
        return FALSE;
    }
    call->repeated = TRUE;
    repeat(call);
    return TRUE;
}

/* Another release of Nova runs than the one that told its versions. FALSE: that was heard before.
 */
static gboolean
repeat_with_new_version(struct call *call)
{
    if (call->negotiated_anew || call->service != SERVICE_COMPUTE)
        return FALSE;
    call->negotiated_anew = TRUE;
    session_doubt_version(call->cloud->session, call->microversion);
    repeat(call);
    return TRUE;
}

static void
on_answer(struct drover_http_request *request, void *data)
{
    struct call *call = data;
    int status = drover_http_status(request);

    note_request_id(call);
    if (status == 401 && repeat_with_new_token(call))
        return;
    if (status == 406 && repeat_with_new_version(call))
        return;
    if (follow(call))
        return;
    if (status > 0 && status < 400)
        session_accepted(call->cloud->session, call->service);
    if (answer_is_redirection(request))
        set_failure(call, DROVER_FAILURE_OTHER,
                    "the cloud redirects a call in a circle, or nowhere");
    else if (drover_http_failure(request) != 0)
        note_failure(call);
    end(call);
}

/* ---- Sending ---- */

static void
set_headers(struct call *call)
{
    const char *token = session_token(call->cloud->session);

    drover_http_request_set_header(call->request, "Accept", "application/json");
    if (token != NULL)
        drover_http_request_set_header(call->request, "X-Auth-Token", token);
    if (call->service == SERVICE_COMPUTE) {
        g_autofree char *version = g_strdup_printf("2.%d", call->microversion);
        g_autofree char *with_name = g_strconcat("compute ", version, NULL);

        drover_http_request_set_header(call->request, "OpenStack-API-Version", with_name);
        drover_http_request_set_header(call->request, "X-OpenStack-Nova-API-Version", version);
    }
}

static void
set_body(struct call *call)
{
    if (call->body != NULL)
        drover_http_request_set_json(call->request, call->body);
    if (call->file == NULL)
        return;
    drover_http_request_set_file(call->request, "application/octet-stream", call->file, 0,
                                 UINT64_MAX);
    drover_http_request_set_number(call->request, DROVER_HTTP_TRY_LIMIT, 0);
    drover_http_request_set_number(call->request, DROVER_HTTP_LIMIT, 0);
    drover_http_request_set_number(call->request, DROVER_HTTP_STALL_LIMIT, FILE_STALL_MILLISECONDS);
    drover_http_request_set_idempotent(call->request, 0);
}

static void
send_to(struct call *call, const char *url)
{
    struct cloud *cloud = call->cloud;

    call->request =
        drover_http_request_new(call->shared ? cloud->shared_http : cloud->http, call->method, url);
    call->generation = session_generation(call->cloud->session);
    call->microversion = session_microversion(call->cloud->session);
    set_headers(call);
    set_body(call);
    drover_http_request_set_limiter(call->request, call->cloud->limiters[call->service]);
    drover_http_request_start(call->request, on_answer, call);
}

static void
append_query(GString *url, const char *name, const char *value)
{
    char *escaped = drover_http_escape(value);

    g_string_append_printf(url, "%c%s=%s", strchr(url->str, '?') == NULL ? '?' : '&', name,
                           escaped);
    free(escaped);
}

/* Free with g_free(). */
static char *
url_of(struct call *call)
{
    g_autofree char *base = session_url(call->cloud->session, call->service);
    const char *project = session_project(call->cloud->session);
    GString *url = g_string_new(base);

    g_string_append(url, call->path);
    if (call->whole_query != NULL)
        g_string_append_printf(url, "?%s", call->whole_query);
    for (guint i = 0; call->whole_query == NULL && i + 1 < call->query->len; i += 2)
        append_query(url, call->query->pdata[i], call->query->pdata[i + 1]);
    if (call->own && project != NULL && call->whole_query == NULL)
        append_query(url, "project_id", project);
    return g_string_free(url, FALSE);
}

/* Goes on as far as it can. */
static void
advance(void *data)
{
    struct call *call = data;
    g_autofree char *url = NULL;

    switch (session_need(call->cloud->session, call->service)) {
    case SESSION_WAIT:
        session_wait(call->cloud->session, advance, call);
        return;
    case SESSION_FAILED:
        end_soon(call);
        return;
    case SESSION_READY:
        break;
    }
    url = url_of(call);
    send_to(call, url);
}

void
call_start(struct call *call, void (*done)(struct call *call, void *data), void *data)
{
    call->done = done;
    call->data = data;
    advance(call);
}

static void
wake(struct call *call, void *op)
{
    drover_operation_wake(op);
}

void
call_start_for(struct call *call, struct drover_operation *op)
{
    drover_operation_call_after(op, DROVER_WHEN_WOKEN);
    call_start(call, wake, op);
}

/* ---- Reading ---- */

gboolean
call_is_done(const struct call *call)
{
    return call->is_done;
}

int
call_failure(const struct call *call)
{
    return call->failure;
}

const char *
call_message(const struct call *call)
{
    return call->message;
}

const char *
call_words(const struct call *call)
{
    return call->words;
}

int
call_status(const struct call *call)
{
    return call->request != NULL ? drover_http_status(call->request) : 0;
}

const json_t *
call_answer(struct call *call)
{
    if (call->answer == NULL && call->request != NULL)
        call->answer = answer_json(call->request);
    return json_is_object(call->answer) ? call->answer : NULL;
}

const char *
call_header(const struct call *call, const char *name)
{
    return call->request != NULL ? drover_http_header(call->request, name) : NULL;
}

gboolean
call_found_nothing(const struct call *call)
{
    return call->failure == DROVER_FAILURE_NOT_FOUND && call->request != NULL;
}

gboolean
call_has_no_service(const struct call *call)
{
    return call->failure == DROVER_FAILURE_NOT_FOUND && call->request == NULL;
}

uint64_t
call_sent(const struct call *call)
{
    uint64_t sent = 0, received;

    if (call->request != NULL)
        drover_http_progress(call->request, &sent, &received);
    return sent;
}

enum drover_step
call_fail_as(const struct call *call, struct drover_operation *op, enum drover_failure failure)
{
    gboolean has_no_service = failure == DROVER_FAILURE_NOT_FOUND && call->request == NULL;
    enum drover_step step = drover_operation_fail(
        op, has_no_service ? DROVER_FAILURE_PERMANENT : failure, "%s", call->message);

    if (call->request != NULL && drover_http_retry_after(call->request) > 0)
        drover_operation_retry_after(op, drover_http_retry_after(call->request));
    return step;
}

enum drover_step
call_fail(const struct call *call, struct drover_operation *op)
{
    return call_fail_as(call, op, (enum drover_failure)call->failure);
}
