#include "web/probes.h"

#include <string.h>

#include "http/accept.h"

#define PLAIN_TEXT       "text/plain; charset=utf-8"
#define PROMETHEUS_TYPE  "text/plain; version=0.0.4; charset=utf-8"
#define OPENMETRICS_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"
#define OPENMETRICS_END  "# EOF\n"

static void
answer_with(DroverHttpExchange *exchange, const char *type, char *text)
{
    gsize length = strlen(text);
    g_autoptr(GBytes) body = g_bytes_new_take(text, length);

    drover_http_answer(exchange, 200, type, body);
}

static void
answer_live(DroverHttpExchange *exchange, const DroverProbes *probes)
{
    drover_http_answer(exchange, 200, NULL, NULL);
}

static void
answer_ready(DroverHttpExchange *exchange, const DroverProbes *probes)
{
    static const char *const ready[] = {"running", "paused", NULL};
    gboolean is_ready = g_strv_contains(ready, drover_launcher_state(probes->launcher));

    drover_http_answer(exchange, is_ready ? 200 : 503, NULL, NULL);
}

static void
answer_status(DroverHttpExchange *exchange, const DroverProbes *probes)
{
    answer_with(exchange, PLAIN_TEXT, g_ascii_strup(drover_launcher_state(probes->launcher), -1));
}

static void
answer_metrics(DroverHttpExchange *exchange, const DroverProbes *probes)
{
    static const char *const offers[] = {"text/plain", "application/openmetrics-text"};
    const char *accept = drover_http_header(exchange, "Accept");
    gboolean open = drover_http_choose(accept, offers, G_N_ELEMENTS(offers)) == 1;
    GString *text = g_string_new(NULL);
    DroverExposition form = open ? DROVER_EXPOSITION_OPENMETRICS : DROVER_EXPOSITION_PROMETHEUS;

    drover_launcher_write_metrics(probes->launcher, form, text);
    drover_traffic_write(probes->listeners, form, text);
    if (open)
        g_string_append(text, OPENMETRICS_END);
    answer_with(exchange, open ? OPENMETRICS_TYPE : PROMETHEUS_TYPE, g_string_free(text, FALSE));
}

void
drover_probes_answer(DroverHttpExchange *exchange, gpointer probes)
{
    static const struct {
        const char *path;
        void (*answer)(DroverHttpExchange *exchange, const DroverProbes *probes);
    } routes[] = {{"/metrics", answer_metrics},
                  {"/", answer_metrics},
                  {"/health/live", answer_live},
                  {"/health/ready", answer_ready},
                  {"/health/status", answer_status}};

    for (guint i = 0; i < G_N_ELEMENTS(routes); i++)
        if (strcmp(drover_http_path(exchange), routes[i].path) == 0) {
            routes[i].answer(exchange, probes);
            return;
        }
    drover_http_answer_text(exchange, 404, "Not found");
}
