/* What the end of a try means. */
#include <string.h>

#include "http-private.h"

/* What is asked for again when it does no harm. */
static const int passing_statuses[] = {408, 429, 500, 502, 503, 504, 509};
static const CURLcode passing_codes[] = {
    CURLE_COULDNT_RESOLVE_PROXY,
    CURLE_COULDNT_RESOLVE_HOST,
    CURLE_COULDNT_CONNECT,
    CURLE_OPERATION_TIMEDOUT,
    CURLE_SSL_CONNECT_ERROR,
    CURLE_GOT_NOTHING,
    CURLE_SEND_ERROR,
    CURLE_RECV_ERROR,
    CURLE_PARTIAL_FILE,
    CURLE_HTTP2,
    CURLE_HTTP2_STREAM,
    CURLE_WEIRD_SERVER_REPLY,
};

static const struct {
    int status;
    enum drover_failure failure;
} meanings[] = {
    {401, DROVER_FAILURE_AUTH},      {403, DROVER_FAILURE_AUTH},
    {404, DROVER_FAILURE_NOT_FOUND}, {410, DROVER_FAILURE_NOT_FOUND},
    {408, DROVER_FAILURE_TIMEOUT},   {429, DROVER_FAILURE_RATE_LIMITED},
};

static enum drover_failure
meaning_of_status(const struct drover_http_request *request)
{
    for (guint i = 0; i < G_N_ELEMENTS(meanings); i++)
        if (meanings[i].status == request->status)
            return meanings[i].failure;
    if (request->status == 503 && request->retry_after > 0)
        return DROVER_FAILURE_RATE_LIMITED;
    return DROVER_FAILURE_OTHER;
}

/* A cloud that names tomorrow is asked before that whether it means it. */
#define LONGEST_ASKED_SECONDS 600

/* Seconds or a date, as the server likes. */
static uint32_t
asked_pause(CURL *easy)
{
    curl_off_t seconds = 0;

    curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &seconds);
    return (uint32_t)CLAMP(seconds, 0, LONGEST_ASKED_SECONDS) * 1000;
}

static char *
reason(const struct drover_http_request *request, CURLcode code)
{
    if (request->too_large)
        return g_strdup_printf("the answer has more than %" G_GINT64_FORMAT " bytes",
                               drover_http_number(request, DROVER_HTTP_BODY_LIMIT));
    if (code == CURLE_READ_ERROR || code == CURLE_ABORTED_BY_CALLBACK)
        return g_strdup_printf("%s cannot be read any more", request->path);
    if (code != CURLE_OK)
        return g_strdup(request->curl_text[0] != '\0' ? request->curl_text
                                                      : curl_easy_strerror(code));
    return g_strdup_printf("answered %d", request->status);
}

static void
set_message(struct drover_http_request *request, CURLcode code)
{
    g_autofree char *url = drover_http_shown_url(request);
    g_autofree char *why = reason(request, code);
    g_autofree char *tries =
        request->tries > 1 ? g_strdup_printf(" (%u tries)", request->tries) : g_strdup("");

    g_free(request->message);
    request->message = g_strdup_printf("%s %s: %s%s", request->method, url, why, tries);
}

static void
drop_half_answer(struct drover_http_request *request)
{
    request->status = 0;
    g_string_truncate(request->answer, 0);
    g_ptr_array_set_size(request->answer_headers, 0);
}

void
drover_http_judge(struct drover_http_request *request, CURLcode code)
{
    long status = 0;

    curl_easy_getinfo(request->easy, CURLINFO_RESPONSE_CODE, &status);
    request->status = (int)status;
    request->retry_after = asked_pause(request->easy);
    request->failure = 0;
    g_clear_pointer(&request->message, g_free);
    if (code != CURLE_OK) {
        drop_half_answer(request);
        request->failure =
            code == CURLE_OPERATION_TIMEDOUT ? DROVER_FAILURE_TIMEOUT : DROVER_FAILURE_OTHER;
    } else if (request->status >= 400) {
        request->failure = meaning_of_status(request);
    }
    if (request->failure != 0)
        set_message(request, code);
}

gboolean
drover_http_is_worth_repeating(const struct drover_http_request *request, CURLcode code)
{
    if (request->failure == 0 || !request->idempotent ||
        request->tries >= drover_http_number(request, DROVER_HTTP_TRIES))
        return FALSE;
    if (code == CURLE_OK) {
        for (guint i = 0; i < G_N_ELEMENTS(passing_statuses); i++)
            if (passing_statuses[i] == request->status)
                return TRUE;
        return FALSE;
    }
    for (guint i = 0; i < G_N_ELEMENTS(passing_codes); i++)
        if (passing_codes[i] == code)
            return TRUE;
    return FALSE;
}
