/* The HTTP client: what its requests have in common. */
#include "http-private.h"

#include "limit-private.h"

static const int64_t usual[HTTP_NUMBERS] = {
    [DROVER_HTTP_VERIFY] = 1,         [DROVER_HTTP_CONNECT_LIMIT] = 10000,
    [DROVER_HTTP_TRY_LIMIT] = 120000, [DROVER_HTTP_STALL_LIMIT] = 60000,
    [DROVER_HTTP_LIMIT] = 300000,     [DROVER_HTTP_TRIES] = 5,
    [DROVER_HTTP_PAUSE] = 1000,       [DROVER_HTTP_BODY_LIMIT] = 16 * 1024 * 1024,
    [DROVER_HTTP_CONNECTIONS] = 10,   [DROVER_HTTP_TRACE] = 0,
};

struct drover_http *
drover_http_new(struct drover_provider *provider)
{
    struct drover_http *http = g_new0(struct drover_http, 1);

    http->references = 1;
    http->provider = provider;
    memcpy(http->numbers, usual, sizeof(usual));
    g_queue_init(&http->waiting);
    return http;
}

void
drover_http_unref(struct drover_http *http)
{
    if (--http->references > 0)
        return;
    for (int i = 0; i < HTTP_TEXTS; i++)
        g_free(http->texts[i]);
    drover_limiter_free(http->limiter);
    g_clear_pointer(&http->engine, drover_http_engine_free);
    g_clear_pointer(&http->blocking_engine, drover_http_engine_free);
    g_free(http);
}

void
drover_http_free(struct drover_http *http)
{
    if (http != NULL)
        drover_http_unref(http);
}

int
drover_http_set_text(struct drover_http *http, enum drover_http_text setting, const char *text)
{
    if ((int)setting <= 0 || (int)setting >= HTTP_TEXTS)
        return -1;
    g_free(http->texts[setting]);
    http->texts[setting] = g_strdup(text);
    return 0;
}

static int
set_number(int64_t *numbers, enum drover_http_number setting, int64_t number)
{
    if ((int)setting <= 0 || (int)setting >= HTTP_NUMBERS || number < 0)
        return -1;
    numbers[setting] = number;
    return 0;
}

int
drover_http_set_number(struct drover_http *http, enum drover_http_number setting, int64_t number)
{
    return set_number(http->numbers, setting, number);
}

int
drover_http_request_set_number(struct drover_http_request *request, enum drover_http_number setting,
                               int64_t number)
{
    return set_number(request->numbers, setting, number);
}

int64_t
drover_http_number(const struct drover_http_request *request, enum drover_http_number setting)
{
    int64_t own = request->numbers[setting];

    return own >= 0 ? own : request->http->numbers[setting];
}

void
drover_http_set_limiter(struct drover_http *http, struct drover_limiter *limiter)
{
    if (limiter != NULL)
        drover_limiter_ref(limiter);
    drover_limiter_free(http->limiter);
    http->limiter = limiter;
}

HttpEngine *
drover_http_engine_for(struct drover_http *http, gboolean blocking)
{
    HttpEngine **engine = blocking ? &http->blocking_engine : &http->engine;

    if (*engine == NULL) {
        g_autoptr(GMainContext) context =
            blocking ? g_main_context_new() : g_main_context_ref_thread_default();

        *engine = drover_http_engine_new(context);
    }
    return *engine;
}

char *
drover_http_escape(const char *text)
{
    /* GLib allocates with malloc, so the driver can use free(). */
    return g_uri_escape_string(text, NULL, FALSE);
}
