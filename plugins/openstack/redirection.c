#include "redirection.h"

gboolean
redirection_is(int status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

char *
redirection_of(const struct drover_http_request *request)
{
    const char *location = drover_http_header(request, "Location");

    if (!redirection_is(drover_http_status(request)) || location == NULL)
        return NULL;
    return g_uri_resolve_relative(drover_http_request_url(request), location, G_URI_FLAGS_ENCODED,
                                  NULL);
}
