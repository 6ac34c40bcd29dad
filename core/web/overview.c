#include "web/overview.h"

#include <string.h>

#include "launcher/cluster/host-name.h"
#include "web/page.h"

#define PAGE_PATH   "/overview"
#define EVENTS_PATH "/overview/events"
#define POLICY                                                                                     \
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src "      \
    "'self'"
#define MOST_VIEWERS  32
#define MOST_NODES    1000
#define MOST_REQUESTS 200
#define REFRESH_TICKS 10 /* ages and states of what has no events */

struct _DroverOverview {
    DroverLauncher *launcher;
    GPtrArray *viewers; /* of DroverHttpStream */
    guint timer, ticks; /* while there are viewers */
    guint64 changes;    /* of the cluster, as sent last */
};

/* ---- What is told ---- */

static json_t *
node_object(const DroverNode *node)
{
    return json_pack("{s:s, s:s, s:s?, s:s?, s:o, s:s?, s:s?, s:f}", "id", node->id, "state",
                     drover_node_state_name(node->state), "provider", node->provider, "pool",
                     node->pool, "labels",
                     drover_json_from_strings((const char *const *)node->labels), "hostname",
                     node->hostname, "allocated_to", node->allocated_to, "since", node->state_time);
}

static json_t *
node_list(DroverCluster *cluster)
{
    json_t *list = json_array();
    DroverCacheIter iter;
    gpointer node;

    drover_cache_iter_init(&iter, drover_cluster_nodes(cluster));
    while (json_array_size(list) < MOST_NODES && drover_cache_iter_next(&iter, NULL, &node))
        json_array_append_new(list, node_object(node));
    return list;
}

static json_t *
need_object(json_t *object, const char *key)
{
    json_t *member = json_object_get(object, key);

    if (member == NULL) {
        member = json_object();
        json_object_set_new(object, key, member);
    }
    return member;
}

/* Of all nodes, also those that are not listed: provider -> pool -> state -> how many. */
static json_t *
node_counts(DroverCluster *cluster)
{
    json_t *counts = json_object();
    DroverCacheIter iter;
    gpointer item;

    drover_cache_iter_init(&iter, drover_cluster_nodes(cluster));
    while (drover_cache_iter_next(&iter, NULL, &item)) {
        const DroverNode *node = item;
        json_t *of_provider = need_object(counts, node->provider != NULL ? node->provider : "");
        json_t *of_pool = need_object(of_provider, node->pool != NULL ? node->pool : "");
        const char *state = drover_node_state_name(node->state);

        json_object_set_new(of_pool, state,
                            json_integer(drover_json_integer(of_pool, state, 0) + 1));
    }
    return counts;
}

static json_t *
request_object(DroverLauncher *launcher, const DroverRequest *request)
{
    return json_pack("{s:s, s:s, s:s?, s:s?, s:o, s:f, s:o}", "id", request->id, "state",
                     drover_request_state_name(request->state), "requestor", request->requestor,
                     "tenant", request->tenant_name, "labels",
                     drover_json_from_strings((const char *const *)request->labels), "since",
                     request->state_time, "verdicts",
                     drover_launcher_explain(launcher, request->id));
}

/* Those that wait. */
static json_t *
request_list(DroverLauncher *launcher)
{
    const GPtrArray *requests = drover_cluster_requests(drover_launcher_cluster(launcher));
    json_t *list = json_array();

    for (guint i = 0; json_array_size(list) < MOST_REQUESTS && i < requests->len; i++) {
        const DroverRequest *request = requests->pdata[i];

        if (request->state == DROVER_REQUEST_REQUESTED || request->state == DROVER_REQUEST_PENDING)
            json_array_append_new(list, request_object(launcher, request));
    }
    return list;
}

static json_t *
limit_value(int most)
{
    return most == DROVER_UNLIMITED ? json_null() : json_integer(MAX(most, 0));
}

/* The limits that the configuration of this launcher sets, by provider and pool. */
static json_t *
limit_object(const DroverConfig *config)
{
    json_t *limits = json_object();

    for (guint i = 0; i < config->providers->len; i++) {
        const DroverProviderConfig *provider = config->providers->pdata[i];
        json_t *pools = json_object();

        for (guint k = 0; k < provider->pools->len; k++) {
            const DroverPoolConfig *pool = provider->pools->pdata[k];

            json_object_set_new(pools, pool->name, limit_value(pool->max_servers));
        }
        json_object_set_new(limits, provider->name, pools);
    }
    return limits;
}

/* The pools of all launchers. */
static json_t *
registered_list(DroverCluster *cluster)
{
    const GPtrArray *pools = drover_cluster_pools(cluster);
    json_t *list = json_array();

    for (guint i = 0; i < pools->len; i++) {
        const DroverComponent *pool = pools->pdata[i];

        json_array_append_new(list,
                              json_pack("{s:s?, s:s?, s:s?, s:b, s:s?}", "host", pool->hostname,
                                        "provider", pool->provider_name, "pool", pool->name,
                                        "paused", pool->paused, "version", pool->version));
    }
    return list;
}

static GBytes *
event_of(DroverLauncher *launcher)
{
    DroverCluster *cluster = drover_launcher_cluster(launcher);
    g_autoptr(json_t) state = drover_launcher_status(launcher);
    g_autofree char *text = NULL;
    char *event;

    json_object_set_new(state, "host", drover_json_from_string(drover_host_name()));
    json_object_set_new(state, "now", json_real(drover_record_now()));
    json_object_set_new(state, "counts", node_counts(cluster));
    json_object_set_new(state, "registered", registered_list(cluster));
    json_object_set_new(state, "limits", limit_object(drover_launcher_config(launcher)));
    json_object_set_new(state, "nodes", node_list(cluster));
    json_object_set_new(state, "nodes_in_all",
                        json_integer(drover_cache_size(drover_cluster_nodes(cluster))));
    json_object_set_new(state, "requests", request_list(launcher));
    text = drover_json_text(state);
    event = g_strconcat("data: ", text, "\n\n", NULL);
    return g_bytes_new_take(event, strlen(event));
}

/* ---- Viewers ---- */

static gboolean
on_tick(gpointer user_data)
{
    DroverOverview *overview = user_data;
    guint64 changes = drover_cluster_changes(drover_launcher_cluster(overview->launcher));
    g_autoptr(GBytes) event = NULL;

    if (changes == overview->changes && ++overview->ticks % REFRESH_TICKS != 0)
        return G_SOURCE_CONTINUE;
    overview->changes = changes;
    event = event_of(overview->launcher);
    for (guint i = 0; i < overview->viewers->len; i++)
        drover_http_stream_send(overview->viewers->pdata[i], event);
    return G_SOURCE_CONTINUE;
}

static void
on_closed(DroverHttpStream *stream, gpointer user_data)
{
    DroverOverview *overview = user_data;

    g_ptr_array_remove_fast(overview->viewers, stream);
    if (overview->viewers->len == 0)
        g_clear_handle_id(&overview->timer, g_source_remove);
}

static void
answer_events(DroverOverview *overview, DroverHttpExchange *exchange)
{
    g_autoptr(GBytes) event = NULL;
    DroverHttpStream *stream;

    if (overview->viewers->len >= MOST_VIEWERS) {
        drover_http_add_header(exchange, "Retry-After", "10");
        drover_http_answer_text(exchange, 503, "Too many viewers");
        return;
    }
    drover_http_add_header(exchange, "Cache-Control", "no-store");
    stream = drover_http_answer_stream(exchange, "text/event-stream", on_closed, overview);
    g_ptr_array_add(overview->viewers, stream);
    event = event_of(overview->launcher);
    drover_http_stream_send(stream, event);
    if (overview->timer == 0)
        overview->timer = g_timeout_add(1000, on_tick, overview);
}

static void
answer_page(DroverHttpExchange *exchange)
{
    g_autoptr(GBytes) body = g_bytes_new_static(drover_page, drover_page_size);

    drover_http_add_header(exchange, "Content-Security-Policy", POLICY);
    drover_http_add_header(exchange, "Cache-Control", "no-cache");
    drover_http_answer(exchange, 200, "text/html; charset=UTF-8", body);
}

gboolean
drover_overview_answer(DroverOverview *overview, DroverHttpExchange *exchange)
{
    const char *path = drover_http_path(exchange);

    if (strcmp(path, PAGE_PATH) == 0)
        answer_page(exchange);
    else if (strcmp(path, EVENTS_PATH) == 0)
        answer_events(overview, exchange);
    else
        return FALSE;
    return TRUE;
}

/* ---- Life ---- */

DroverOverview *
drover_overview_new(DroverLauncher *launcher)
{
    DroverOverview *overview = g_new0(DroverOverview, 1);

    overview->launcher = launcher;
    overview->viewers = g_ptr_array_new();
    return overview;
}

void
drover_overview_free(DroverOverview *overview)
{
    g_ptr_array_unref(overview->viewers);
    g_free(overview);
}
