#include "call.h"

#include "work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Making them ---- */

char *
call_path(const char *collection, const char *id, const char *rest)
{
    char *escaped = drover_http_escape(id);
    char *path = NULL;

    if (asprintf(&path, "%s/%s%s", collection, escaped, rest) < 0)
        abort();
    free(escaped);
    return path;
}

struct drover_http_request *
call_new(struct cloud *cloud, const char *method, const char *path, json_t *body)
{
    struct drover_http_request *call;
    char *url = NULL;

    if (asprintf(&url, "%s%s", cloud->url, path) < 0)
        abort();
    call = drover_http_request_new(cloud->http, method, url);
    free(url);
    if (cloud->token != NULL)
        drover_http_request_set_header(call, "X-Token", cloud->token);
    if (body != NULL) {
        char *text = json_dumps(body, JSON_COMPACT);

        drover_http_request_set_json(call, text);
        free(text);
        json_decref(body);
    }
    return call;
}

void
call_start(struct cloud *cloud, struct drover_http_request *call, struct drover_operation *op)
{
    if (cloud->blocks) {
        drover_http_request_run(call);
        return;
    }
    drover_operation_call_after(op, DROVER_WHEN_WOKEN);
    drover_http_request_start(call, drover_http_wake, op);
}

struct drover_http_request *
call_begin(struct cloud *cloud, struct drover_operation *op, const char *method, const char *path,
           json_t *body)
{
    struct drover_http_request *call = call_new(cloud, method, path, body);

    call_start(cloud, call, op);
    return call;
}

struct single_call {
    struct work work;
    struct drover_http_request *call;
};

static void
release(void *state)
{
    struct single_call *single = state;

    drover_http_request_free(single->call);
    free(single);
}

struct drover_http_request *
call_of_operation(struct cloud *cloud, struct drover_operation *op, const char *path)
{
    struct single_call *single = drover_operation_state(op);

    if (single == NULL) {
        single = work_allocate(sizeof *single);
        single->call = call_begin(cloud, op, "GET", path, NULL);
        drover_operation_set_state(op, single, release);
    }
    return single->call;
}

/* ---- What they answer ---- */

json_t *
call_answer(const struct drover_http_request *call)
{
    size_t length;
    const char *body = drover_http_body(call, &length);
    json_t *answer = json_loadb(body, length, 0, NULL);

    if (json_is_object(answer))
        return answer;
    json_decref(answer);
    return NULL;
}

/* What the cloud says of a refusal; release `answer` afterwards. */
static const char *
own_words(json_t *answer)
{
    const char *words =
        json_string_value(json_object_get(json_object_get(answer, "error"), "message"));

    return words != NULL ? words : "";
}

int
call_failure(const struct drover_http_request *call)
{
    static const struct {
        int status;
        const char *words;
        enum drover_failure failure;
    } meanings[] = {
        {403, "quota", DROVER_FAILURE_QUOTA},
        {409, "quota", DROVER_FAILURE_QUOTA},
        {413, "quota", DROVER_FAILURE_QUOTA},
        {503, "no capacity", DROVER_FAILURE_CAPACITY},
    };
    int failure = drover_http_failure(call);
    json_t *answer = call_answer(call);
    const char *words = own_words(answer);

    for (size_t i = 0; failure != 0 && i < sizeof meanings / sizeof *meanings; i++)
        if (meanings[i].status == drover_http_status(call) &&
            strcasestr(words, meanings[i].words) != NULL)
            failure = meanings[i].failure;
    json_decref(answer);
    return failure;
}

char *
call_message(const struct drover_http_request *call)
{
    const char *message = drover_http_message(call);
    json_t *answer = call_answer(call);
    const char *words = own_words(answer);
    char *text = NULL;

    if (asprintf(&text, "%s%s%s", message != NULL ? message : "", *words != '\0' ? ": " : "",
                 words) < 0)
        abort();
    json_decref(answer);
    return text;
}

enum drover_step
call_fail(const struct drover_http_request *call, struct drover_operation *op)
{
    char *message = call_message(call);
    enum drover_step step =
        drover_operation_fail(op, (enum drover_failure)call_failure(call), "%s", message);

    if (drover_http_retry_after(call) > 0)
        drover_operation_retry_after(op, drover_http_retry_after(call));
    free(message);
    return step;
}

enum drover_step
call_fail_for_nonsense(const struct drover_http_request *call, struct drover_operation *op)
{
    return drover_operation_fail(op, DROVER_FAILURE_OTHER, "%s: the answer makes no sense",
                                 drover_http_request_url(call));
}
