/*
 * What the log shows of requests. Only what is known to hold no secret: the address without the
 * values of its query, and the values of a few headers.
 */
#include <string.h>

#include "http-private.h"
#include "provider-private.h"

#define HIDDEN "..."

static const char *const shown_headers[] = {
    "accept",
    "accept-encoding",
    "age",
    "allow",
    "cache-control",
    "connection",
    "content-encoding",
    "content-length",
    "content-range",
    "content-type",
    "date",
    "etag",
    "expect",
    "expires",
    "host",
    "last-modified",
    "range",
    "retry-after",
    "server",
    "transfer-encoding",
    "user-agent",
    "vary",
    "via",
    "x-amzn-requestid",
    "x-compute-request-id",
    "x-goog-request-id",
    "x-openstack-request-id",
    "x-request-id",
    NULL,
};

/* ---- Addresses ---- */

static void
append_part(GString *text, CURLU *address, CURLUPart part, const char *before)
{
    char *value = NULL;

    if (curl_url_get(address, part, &value, 0) == CURLUE_OK)
        g_string_append_printf(text, "%s%s", before, value);
    curl_free(value);
}

/* "a=1&b=2" as "?a&b"; what has no name is hidden. */
static void
append_names(GString *text, CURLU *address)
{
    g_auto(GStrv) pairs = NULL;
    char *query = NULL;

    if (curl_url_get(address, CURLUPART_QUERY, &query, 0) != CURLUE_OK)
        return;
    pairs = g_strsplit(query, "&", -1);
    for (guint i = 0; pairs[i] != NULL; i++) {
        const char *end = strchr(pairs[i], '=');

        g_string_append_c(text, i == 0 ? '?' : '&');
        if (end != NULL)
            g_string_append_len(text, pairs[i], end - pairs[i]);
        else
            g_string_append(text, HIDDEN);
    }
    curl_free(query);
}

char *
drover_http_shown_url(const struct drover_http_request *request)
{
    GString *text = g_string_new(NULL);
    CURLU *address = curl_url();

    if (curl_url_set(address, CURLUPART_URL, request->url->str, CURLU_PATH_AS_IS) == CURLUE_OK) {
        append_part(text, address, CURLUPART_SCHEME, "");
        append_part(text, address, CURLUPART_HOST, "://");
        append_part(text, address, CURLUPART_PORT, ":");
        append_part(text, address, CURLUPART_PATH, "");
        append_names(text, address);
    } else {
        g_string_append(text, "an address that cannot be read");
    }
    curl_url_cleanup(address);
    return g_string_free(text, FALSE);
}

/* ---- Lines ---- */

static gboolean
is_traced(const struct drover_http_request *request)
{
    return request->http->provider != NULL && drover_http_number(request, DROVER_HTTP_TRACE) != 0;
}

static void
trace_headers(const struct drover_http_request *request, const GPtrArray *headers, char direction)
{
    for (guint i = 0; i < headers->len; i++) {
        const HttpHeader *header = headers->pdata[i];
        g_autofree char *name = g_ascii_strdown(header->name, -1);

        if (header->value != NULL)
            drover_provider_log(request->http->provider, DROVER_DEBUG, "%c %s: %s", direction,
                                header->name,
                                g_strv_contains(shown_headers, name) ? header->value : HIDDEN);
    }
}

void
drover_http_trace_begin(const struct drover_http_request *request)
{
    g_autofree char *url = NULL;

    if (!is_traced(request))
        return;
    url = drover_http_shown_url(request);
    drover_provider_log(request->http->provider, DROVER_DEBUG, "> %s %s", request->method, url);
    trace_headers(request, request->headers, '>');
}

void
drover_http_trace_end(const struct drover_http_request *request, CURLcode code)
{
    int64_t milliseconds = drover_now() - request->try_started;
    g_autofree char *url = NULL;

    if (request->http->provider == NULL)
        return;
    url = drover_http_shown_url(request);
    drover_provider_note_call(request->http->provider, request->method, url,
                              code == CURLE_OK ? request->status : 0, milliseconds);
    if (code == CURLE_OK)
        drover_provider_log(request->http->provider, DROVER_DEBUG,
                            "%s %s: %d, %" G_GSIZE_FORMAT " bytes, %" G_GINT64_FORMAT " ms, try %u",
                            request->method, url, request->status, request->answer->len,
                            milliseconds, request->tries);
    else
        drover_provider_log(request->http->provider, DROVER_DEBUG, "%s", request->message);
    if (is_traced(request))
        trace_headers(request, request->answer_headers, '<');
}
