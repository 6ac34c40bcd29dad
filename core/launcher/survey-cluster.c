#include "launcher/survey-private.h"

#define STATES  ((guint)DROVER_NODE_UNKNOWN) /* those that are counted */
#define NO_NAME "None"

/* How many nodes are in each state. */
typedef struct {
    guint counts[STATES];
    gboolean known; /* somebody offers it: zeros count, too */
} Tally;

typedef struct {
    Tally all;
    GHashTable *providers, *labels; /* name -> Tally */
    GHashTable *pools;              /* provider -> pool -> Tally */
} Census;

/* ---- Counting ---- */

static GHashTable *
tallies_new(void)
{
    return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
}

static Tally *
need_tally(GHashTable *tallies, const char *name)
{
    Tally *tally = g_hash_table_lookup(tallies, name);

    if (tally == NULL) {
        tally = g_new0(Tally, 1);
        g_hash_table_insert(tallies, g_strdup(name), tally);
    }
    return tally;
}

static Tally *
need_pool_tally(Census *census, const char *provider, const char *pool)
{
    GHashTable *tallies = g_hash_table_lookup(census->pools, provider);

    if (tallies == NULL) {
        tallies = tallies_new();
        g_hash_table_insert(census->pools, g_strdup(provider), tallies);
    }
    return need_tally(tallies, pool);
}

static void
count_node(Census *census, const DroverNode *node)
{
    const char *provider = node->provider != NULL ? node->provider : NO_NAME;

    if (node->state >= STATES)
        return;
    census->all.counts[node->state]++;
    need_tally(census->providers, provider)->counts[node->state]++;
    need_pool_tally(census, provider, node->pool != NULL ? node->pool : "")->counts[node->state]++;
    for (guint i = 0; node->labels[i] != NULL; i++)
        need_tally(census->labels, node->labels[i])->counts[node->state]++;
}

static void
note_offer(Census *census, const DroverComponent *pool)
{
    if (pool->provider_name == NULL)
        return;
    need_tally(census->providers, pool->provider_name)->known = TRUE;
    if (pool->name != NULL)
        need_pool_tally(census, pool->provider_name, pool->name)->known = TRUE;
    for (guint i = 0; pool->supported_labels != NULL && pool->supported_labels[i] != NULL; i++)
        need_tally(census->labels, pool->supported_labels[i])->known = TRUE;
}

static void
take_census(Census *census, DroverCluster *cluster)
{
    const GPtrArray *pools = drover_cluster_pools(cluster);
    DroverCacheIter iter;
    gpointer node;

    *census = (Census){.all = {.known = TRUE},
                       .providers = tallies_new(),
                       .labels = tallies_new(),
                       .pools = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
                                                      (GDestroyNotify)g_hash_table_unref)};
    drover_cache_iter_init(&iter, drover_cluster_nodes(cluster));
    while (drover_cache_iter_next(&iter, NULL, &node))
        count_node(census, node);
    for (guint i = 0; i < pools->len; i++)
        note_offer(census, pools->pdata[i]);
}

static void
clear_census(Census *census)
{
    g_hash_table_unref(census->providers);
    g_hash_table_unref(census->labels);
    g_hash_table_unref(census->pools);
}

/* ---- To the registry ---- */

static void
export_pools(DroverMetrics *metrics, const Census *census)
{
    GHashTableIter providers, pools;
    gpointer provider, tallies, pool, tally;

    drover_metrics_clear(metrics, DROVER_FAMILY_NODES);
    g_hash_table_iter_init(&providers, census->pools);
    while (g_hash_table_iter_next(&providers, &provider, &tallies)) {
        g_hash_table_iter_init(&pools, tallies);
        while (g_hash_table_iter_next(&pools, &pool, &tally))
            for (guint i = 0; i < STATES; i++)
                drover_metrics_set(metrics, DROVER_FAMILY_NODES,
                                   DROVER_LABELS(provider, pool, drover_node_state_name(i)),
                                   ((const Tally *)tally)->counts[i]);
    }
}

static void
export_labels(DroverMetrics *metrics, const Census *census)
{
    GHashTableIter iter;
    gpointer label, tally;

    drover_metrics_clear(metrics, DROVER_FAMILY_LABEL_NODES);
    g_hash_table_iter_init(&iter, census->labels);
    while (g_hash_table_iter_next(&iter, &label, &tally))
        for (guint i = 0; i < STATES; i++)
            drover_metrics_set(metrics, DROVER_FAMILY_LABEL_NODES,
                               DROVER_LABELS(label, drover_node_state_name(i)),
                               ((const Tally *)tally)->counts[i]);
}

static void
export_requests(DroverMetrics *metrics, DroverCluster *cluster)
{
    const GPtrArray *requests = drover_cluster_requests(cluster);

    for (DroverRequestState state = 0; state < DROVER_REQUEST_UNKNOWN; state++)
        drover_metrics_set(metrics, DROVER_FAMILY_NODE_REQUESTS,
                           DROVER_LABELS(drover_request_state_name(state)), 0);
    for (guint i = 0; i < requests->len; i++) {
        const DroverRequest *request = requests->pdata[i];

        if (request->state < DROVER_REQUEST_UNKNOWN)
            drover_metrics_add(metrics, DROVER_FAMILY_NODE_REQUESTS,
                               DROVER_LABELS(drover_request_state_name(request->state)), 1);
    }
}

static void
export_tenants(DroverMetrics *metrics, const DroverLauncher *launcher)
{
    drover_metrics_clear(metrics, DROVER_FAMILY_TENANT_USAGE);
    for (guint i = 0; i < launcher->config->tenants->len; i++) {
        const DroverTenantConfig *tenant = launcher->config->tenants->pdata[i];
        const DroverResources *usage = drover_usage_of_tenant(launcher->parts.usage, tenant->name);
        GHashTableIter iter;
        gpointer resource;

        g_hash_table_iter_init(&iter, tenant->limits);
        while (g_hash_table_iter_next(&iter, &resource, NULL))
            drover_metrics_set(metrics, DROVER_FAMILY_TENANT_USAGE,
                               DROVER_LABELS(tenant->name, resource),
                               drover_resources_get(usage, resource));
    }
}

/* ---- To statsd ---- */

typedef struct {
    DroverSurvey *survey;
    GHashTable *sent; /* this time */
} Sending;

static void
send_gauge(Sending *sending, char *key, guint value)
{
    drover_statsd_gauge_key(sending->survey->telemetry->statsd, key, value);
    g_hash_table_add(sending->sent, key);
}

/* `prefix` is NULL for all nodes. */
static void
send_tally(Sending *sending, const char *prefix, const char *name, const Tally *tally)
{
    for (guint i = 0; i < STATES; i++) {
        const char *state = drover_node_state_name(i);

        if (!tally->known && tally->counts[i] == 0)
            continue;
        send_gauge(sending,
                   prefix != NULL
                       ? drover_statsd_key("nodepool", prefix, name, "nodes", state, NULL)
                       : drover_statsd_key("nodepool.nodes", state, NULL),
                   tally->counts[i]);
    }
}

static void
send_tallies(Sending *sending, const char *prefix, GHashTable *tallies)
{
    GHashTableIter iter;
    gpointer name, tally;

    g_hash_table_iter_init(&iter, tallies);
    while (g_hash_table_iter_next(&iter, &name, &tally))
        send_tally(sending, prefix, name, tally);
}

static guint
count_addressable(DroverCluster *cluster, const DroverComponent *pool)
{
    const GPtrArray *requests = drover_cluster_requests(cluster);
    guint count = 0;

    for (guint i = 0; i < requests->len; i++) {
        const DroverRequest *request = requests->pdata[i];

        count += drover_component_supports(pool, (const char *const *)request->labels);
    }
    return count;
}

static void
count_addressables(Sending *sending, DroverCluster *cluster)
{
    DroverTelemetry *telemetry = sending->survey->telemetry;
    const GPtrArray *pools = drover_cluster_pools(cluster);

    drover_metrics_clear(telemetry->metrics, DROVER_FAMILY_ADDRESSABLE_REQUESTS);
    for (guint i = 0; i < pools->len; i++) {
        const DroverComponent *pool = pools->pdata[i];
        guint count;

        if (pool->name == NULL || pool->provider_name == NULL)
            continue;
        count = count_addressable(cluster, pool);
        drover_metrics_set(telemetry->metrics, DROVER_FAMILY_ADDRESSABLE_REQUESTS,
                           DROVER_LABELS(pool->provider_name, pool->name), count);
        send_gauge(sending,
                   drover_statsd_key("nodepool.provider", pool->provider_name, "pool", pool->name,
                                     "addressable_requests", NULL),
                   count);
    }
}

/* What is not there any more would keep its last value for ever. */
static void
send_final_zeros(Sending *sending)
{
    GHashTableIter iter;
    gpointer key;

    g_hash_table_iter_init(&iter, sending->survey->sent);
    while (g_hash_table_iter_next(&iter, &key, NULL))
        if (!g_hash_table_contains(sending->sent, key))
            drover_statsd_gauge_key(sending->survey->telemetry->statsd, key, 0);
}

/* ---- The whole ---- */

static GHashTable *
keys_new(void)
{
    return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

void
drover_survey_count_cluster(DroverSurvey *survey)
{
    DroverLauncher *launcher = survey->launcher;
    DroverMetrics *metrics = survey->telemetry->metrics;
    Sending sending = {survey, keys_new()};
    Census census;

    take_census(&census, launcher->cluster);
    export_pools(metrics, &census);
    export_labels(metrics, &census);
    export_requests(metrics, launcher->cluster);
    export_tenants(metrics, launcher);
    send_tally(&sending, NULL, NULL, &census.all);
    send_tallies(&sending, "provider", census.providers);
    send_tallies(&sending, "label", census.labels);
    count_addressables(&sending, launcher->cluster);
    clear_census(&census);
    send_final_zeros(&sending);
    g_hash_table_unref(survey->sent);
    survey->sent = sending.sent;
}

void
drover_survey_forget_cluster(DroverSurvey *survey)
{
    static const DroverFamily families[] = {
        DROVER_FAMILY_NODES, DROVER_FAMILY_LABEL_NODES, DROVER_FAMILY_ADDRESSABLE_REQUESTS,
        DROVER_FAMILY_NODE_REQUESTS, DROVER_FAMILY_TENANT_USAGE};

    for (guint i = 0; i < G_N_ELEMENTS(families); i++)
        drover_metrics_clear(survey->telemetry->metrics, families[i]);
    g_hash_table_remove_all(survey->sent);
}
