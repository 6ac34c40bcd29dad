#include "web/traffic.h"

enum { CONNECTIONS, STREAMS, CUT, N_FAMILIES };

static const DroverMetricSpec families[N_FAMILIES] = {
    [CONNECTIONS] = {.name = "drover_http_connections",
                     .type = DROVER_METRIC_GAUGE,
                     .help = "Connections of HTTP clients.",
                     .labels = {"listener"}},
    [STREAMS] = {.name = "drover_http_streams",
                 .type = DROVER_METRIC_GAUGE,
                 .help = "Clients that are told what happens, among the connections.",
                 .labels = {"listener"}},
    [CUT] = {.name = "drover_http_cut_connections_total",
             .type = DROVER_METRIC_COUNTER,
             .help = "Connections that were ended: slow requests, to make room, answers not read.",
             .labels = {"listener", "reason"}},
};

static const char *const reasons[DROVER_HTTP_N_CUTS] = {
    [DROVER_HTTP_CUT_SLOW] = "slow",
    [DROVER_HTTP_CUT_ROOM] = "room",
    [DROVER_HTTP_CUT_UNREAD] = "unread",
};

static void
count(DroverMetrics *metrics, const char *name, const DroverHttpServer *server)
{
    DroverHttpCounts counts;

    if (server == NULL)
        return;
    counts = drover_http_server_counts(server);
    drover_metrics_set(metrics, CONNECTIONS, DROVER_LABELS(name), counts.connections);
    drover_metrics_set(metrics, STREAMS, DROVER_LABELS(name), counts.streams);
    for (guint i = 0; i < DROVER_HTTP_N_CUTS; i++)
        drover_metrics_set(metrics, CUT, DROVER_LABELS(name, reasons[i]), (double)counts.cut[i]);
}

void
drover_traffic_write(const DroverListeners *listeners, DroverExposition form, GString *text)
{
    g_autoptr(DroverMetrics) metrics = drover_metrics_new(families, N_FAMILIES);

    count(metrics, "metrics", listeners->metrics);
    count(metrics, "status", listeners->status);
    drover_metrics_write(metrics, form, text);
}
