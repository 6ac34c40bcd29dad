#include "answer.h"

#define MOST_REDIRECTIONS 30

json_t *
answer_json(const struct drover_http_request *request)
{
    size_t length;
    const char *body = drover_http_body(request, &length);

    return json_loadb(body, length, 0, NULL);
}

gboolean
answer_is_redirection(const struct drover_http_request *request)
{
    int status = drover_http_status(request);

    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

char *
answer_redirection(const struct drover_http_request *request, unsigned *count)
{
    const char *location = drover_http_header(request, "Location");

    if (!answer_is_redirection(request) || location == NULL || ++*count > MOST_REDIRECTIONS)
        return NULL;
    return g_uri_resolve_relative(drover_http_request_url(request), location, G_URI_FLAGS_ENCODED,
                                  NULL);
}

gboolean
answer_is_passing(const struct drover_http_request *request)
{
    int status = drover_http_status(request);

    return status == 0 || status == 408 || status == 413 || status == 429 || status >= 500;
}
