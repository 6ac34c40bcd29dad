#include "web/web.h"

#include "base/log.h"
#include "web/api.h"
#include "web/overview.h"
#include "web/pages.h"
#include "web/probes.h"

#define LOGGER "WebApp"

struct _DroverWeb {
    DroverListeners listeners;
    DroverProbes probes;
    DroverPages *pages;
    DroverApi *api;
    DroverOverview *overview;
};

/* ---- Where to listen ---- */

/* The environment overrides the configuration, for containers. */
static int
metrics_port(const DroverConfig *config)
{
    const char *text = g_getenv("DROVER_PROMETHEUS_PORT");
    guint64 port;

    if (text != NULL && *text != '\0' &&
        g_ascii_string_to_unsigned(text, 10, 0, G_MAXUINT16, &port, NULL))
        return (int)port;
    return config->metrics_of_launcher.port;
}

static const char *
metrics_address(const DroverConfig *config)
{
    const char *text = g_getenv("DROVER_PROMETHEUS_ADDR");

    if (text != NULL && *text != '\0')
        return text;
    return config->metrics_of_launcher.address != NULL ? config->metrics_of_launcher.address
                                                       : "0.0.0.0";
}

static DroverHttpServer *
listen_at(const DroverHttpOptions *options, GError **error)
{
    DroverHttpServer *server = drover_http_server_new(options, error);

    if (server == NULL)
        g_prefix_error(error, "%s: ", options->name);
    else
        drover_log_for(DROVER_LOG_INFO, LOGGER, "%s: listening on %s port %u", options->name,
                       options->address, drover_http_server_port(server));
    return server;
}

static gboolean
begin_probes(DroverWeb *web, DroverLauncher *launcher, GError **error)
{
    const DroverConfig *config = drover_launcher_config(launcher);
    const DroverHttpOptions options = {.name = "Metrics",
                                       .address = metrics_address(config),
                                       .port = metrics_port(config),
                                       .allow = "GET, HEAD",
                                       .handler = drover_probes_answer,
                                       .user_data = &web->probes};

    if (options.port == DROVER_NO_PORT)
        return TRUE;
    web->listeners.metrics = listen_at(&options, error);
    if (web->listeners.metrics == NULL)
        return FALSE;
    drover_launcher_begin_survey(launcher);
    return TRUE;
}

/* The pages are only read. */
static void
answer_status(DroverHttpExchange *exchange, gpointer user_data)
{
    static const char *const methods[] = {"GET", "POST", NULL};
    const DroverWeb *web = user_data;

    if (drover_api_has(drover_http_path(exchange))) {
        drover_api_answer(web->api, exchange);
    } else if (!g_strv_contains(methods, drover_http_method(exchange))) {
        drover_http_add_header(exchange, "Allow", "GET, HEAD, POST");
        drover_http_answer_text(exchange, 405, "Method not allowed");
    } else if (!drover_overview_answer(web->overview, exchange)) {
        drover_pages_answer(exchange, web->pages);
    }
}

static gboolean
begin_status(DroverWeb *web, DroverLauncher *launcher, GError **error)
{
    const DroverConfig *config = drover_launcher_config(launcher);
    const DroverHttpOptions options = {.name = "Status pages",
                                       .address = config->webapp_address,
                                       .port = config->webapp_port,
                                       .allow = DROVER_API_METHODS,
                                       .headers = "Access-Control-Allow-Origin: *",
                                       .handler = answer_status,
                                       .user_data = web};

    web->listeners.status = listen_at(&options, error);
    return web->listeners.status != NULL;
}

/* ---- Life ---- */

DroverWeb *
drover_web_new(DroverLauncher *launcher, const DroverWebOptions *options, GError **error)
{
    DroverWeb *web = g_new0(DroverWeb, 1);
    gboolean status =
        !options->no_status && (options->status || drover_launcher_config(launcher)->webapp);

    web->probes = (DroverProbes){launcher, &web->listeners};
    web->pages = drover_pages_new(launcher);
    web->api = drover_api_new(launcher);
    web->overview = drover_overview_new(launcher);
    if (begin_probes(web, launcher, error) && (!status || begin_status(web, launcher, error)))
        return web;
    drover_web_free(web);
    return NULL;
}

void
drover_web_free(DroverWeb *web)
{
    if (web == NULL)
        return;
    drover_pages_free(web->pages);
    drover_api_free(web->api);
    drover_http_server_free(web->listeners.status);
    drover_overview_free(web->overview);
    drover_http_server_free(web->listeners.metrics);
    g_free(web);
}
