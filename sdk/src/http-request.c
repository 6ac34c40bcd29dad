/* Requests: filling them, and reading the answer. */
#include <string.h>

#include "http-private.h"
#include "limit-private.h"

void
drover_http_header_free(gpointer data)
{
    HttpHeader *header = data;

    g_free(header->name);
    g_free(header->value);
    g_free(header);
}

struct drover_http_request *
drover_http_request_new(struct drover_http *http, const char *method, const char *url)
{
    static const char *const harmless[] = {"GET", "HEAD", "OPTIONS", "PUT", "DELETE", NULL};
    struct drover_http_request *request = g_new0(struct drover_http_request, 1);

    http->references++;
    request->http = http;
    request->method = g_strdup(method);
    request->url = g_string_new(url);
    request->headers = g_ptr_array_new_with_free_func(drover_http_header_free);
    for (int i = 0; i < HTTP_NUMBERS; i++)
        request->numbers[i] = -1;
    request->idempotent = g_strv_contains(harmless, method);
    request->fd = -1;
    request->answer = g_string_new(NULL);
    request->answer_headers = g_ptr_array_new_with_free_func(drover_http_header_free);
    return request;
}

void
drover_http_request_free(struct drover_http_request *request)
{
    if (request == NULL)
        return;
    drover_http_stop(request);
    g_free(request->method);
    g_string_free(request->url, TRUE);
    g_ptr_array_unref(request->headers);
    g_clear_pointer(&request->body, g_bytes_unref);
    if (request->form != NULL)
        g_string_free(request->form, TRUE);
    g_free(request->path);
    drover_limiter_free(request->limiter);
    g_free(request->mistake);
    g_string_free(request->answer, TRUE);
    g_ptr_array_unref(request->answer_headers);
    g_free(request->message);
    drover_http_unref(request->http);
    g_free(request);
}

void
drover_http_set_mistake(struct drover_http_request *request, const char *format, ...)
{
    va_list arguments;

    if (request->mistake != NULL)
        return;
    va_start(arguments, format);
    request->mistake = g_strdup_vprintf(format, arguments);
    va_end(arguments);
}

/* ---- Address and headers ---- */

/* "name=value", escaped, after `separator`. */
static void
append_pair(GString *text, const char *separator, const char *name, const char *value)
{
    g_string_append(text, separator);
    g_string_append_uri_escaped(text, name, NULL, FALSE);
    g_string_append_c(text, '=');
    g_string_append_uri_escaped(text, value, NULL, FALSE);
}

void
drover_http_request_add_query(struct drover_http_request *request, const char *name,
                              const char *value)
{
    append_pair(request->url, strchr(request->url->str, '?') != NULL ? "&" : "?", name, value);
}

const char *
drover_http_request_url(const struct drover_http_request *request)
{
    return request->url->str;
}

const HttpHeader *
drover_http_find_header(const GPtrArray *headers, const char *name)
{
    for (guint i = headers->len; i > 0; i--) {
        const HttpHeader *header = headers->pdata[i - 1];

        if (g_ascii_strcasecmp(header->name, name) == 0)
            return header;
    }
    return NULL;
}

void
drover_http_request_set_header(struct drover_http_request *request, const char *name,
                               const char *value)
{
    const HttpHeader *earlier = drover_http_find_header(request->headers, name);
    HttpHeader *header;

    if (*name == '\0' || strpbrk(name, " :;\r\n") != NULL) {
        drover_http_set_mistake(request, "a header has a name that cannot be");
        return;
    }
    if (value != NULL && strpbrk(value, "\r\n") != NULL) {
        drover_http_set_mistake(request, "the value of header %s has a line break in it", name);
        return;
    }
    if (earlier != NULL)
        g_ptr_array_remove(request->headers, (gpointer)earlier);
    header = g_new(HttpHeader, 1);
    *header = (HttpHeader){.name = g_strdup(name), .value = g_strdup(value)};
    g_ptr_array_add(request->headers, header);
}

/* ---- Body ---- */

void
drover_http_request_set_body(struct drover_http_request *request, const char *type,
                             const void *data, size_t length)
{
    g_clear_pointer(&request->body, g_bytes_unref);
    request->body = g_bytes_new(data, length);
    if (type != NULL)
        drover_http_request_set_header(request, "Content-Type", type);
}

void
drover_http_request_set_json(struct drover_http_request *request, const char *text)
{
    drover_http_request_set_body(request, "application/json", text, strlen(text));
}

void
drover_http_request_add_form(struct drover_http_request *request, const char *name,
                             const char *value)
{
    if (request->form == NULL)
        request->form = g_string_new(NULL);
    append_pair(request->form, request->form->len > 0 ? "&" : "", name, value);
    drover_http_request_set_body(request, "application/x-www-form-urlencoded", request->form->str,
                                 request->form->len);
}

void
drover_http_request_set_file(struct drover_http_request *request, const char *type,
                             const char *path, uint64_t offset, uint64_t length)
{
    g_free(request->path);
    request->path = g_strdup(path);
    request->offset = offset;
    request->length = length;
    if (type != NULL)
        drover_http_request_set_header(request, "Content-Type", type);
}

/* ---- How it is made ---- */

void
drover_http_request_set_limiter(struct drover_http_request *request, struct drover_limiter *limiter)
{
    if (limiter != NULL)
        drover_limiter_ref(limiter);
    drover_limiter_free(request->limiter);
    request->limiter = limiter;
}

void
drover_http_request_set_idempotent(struct drover_http_request *request, int idempotent)
{
    request->idempotent = idempotent != 0;
}

void
drover_http_request_set_prepare(struct drover_http_request *request,
                                int (*prepare)(struct drover_http_request *request,
                                               unsigned attempt, void *data),
                                void *data)
{
    request->prepare = prepare;
    request->prepare_data = data;
}

void
drover_http_wake(struct drover_http_request *request, void *op)
{
    drover_operation_wake(op);
}

/* ---- The answer ---- */

int
drover_http_request_is_done(const struct drover_http_request *request)
{
    return request->state == HTTP_DONE;
}

void
drover_http_progress(const struct drover_http_request *request, uint64_t *sent, uint64_t *received)
{
    *sent = request->sent;
    *received = request->received;
}

int
drover_http_failure(const struct drover_http_request *request)
{
    return request->failure;
}

const char *
drover_http_message(const struct drover_http_request *request)
{
    return request->message;
}

enum drover_step
drover_http_fail(const struct drover_http_request *request, struct drover_operation *op)
{
    if (request->retry_after > 0)
        drover_operation_retry_after(op, request->retry_after);
    return drover_operation_fail(op, (enum drover_failure)request->failure, "%s", request->message);
}

int
drover_http_status(const struct drover_http_request *request)
{
    return request->status;
}

const char *
drover_http_body(const struct drover_http_request *request, size_t *length)
{
    if (length != NULL)
        *length = request->answer->len;
    return request->answer->str;
}

const char *
drover_http_header(const struct drover_http_request *request, const char *name)
{
    const HttpHeader *header = drover_http_find_header(request->answer_headers, name);

    return header != NULL ? header->value : NULL;
}

uint32_t
drover_http_retry_after(const struct drover_http_request *request)
{
    return request->retry_after;
}

unsigned
drover_http_tries(const struct drover_http_request *request)
{
    return request->tries;
}
