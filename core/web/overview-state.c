#include "web/overview-state.h"

#include <string.h>

#include "launcher/cluster/host-name.h"

#define MOST_NODES    1000
#define MOST_REQUESTS 200
#define FRESH_SECONDS 1

struct _DroverOverviewState {
    DroverLauncher *launcher;
    json_t *head;      /* all but nodes and requests; NULL: not looked yet */
    GHashTable *nodes; /* those that are shown: id -> DroverNode */
    json_t *requests;  /* id -> object */
    GBytes *whole;     /* or NULL */
    gint64 made;       /* the whole; monotonic */
};

/* ---- Objects ---- */

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
request_object(DroverLauncher *launcher, const DroverRequest *request)
{
    return json_pack(
        "{s:s, s:s, s:I, s:s?, s:s?, s:o, s:f, s:o}", "id", request->id, "state",
        drover_request_state_name(request->state), "relative_priority", request->relative_priority,
        "requestor", request->requestor, "tenant", request->tenant_name, "labels",
        drover_json_from_strings((const char *const *)request->labels), "since",
        request->state_time, "verdicts", drover_launcher_explain(launcher, request->id));
}

/* ---- The head ---- */

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

        json_array_append_new(list, json_pack("{s:s?, s:s?, s:s?, s:b, s:s?, s:s?}", "host",
                                              pool->hostname, "provider", pool->provider_name,
                                              "pool", pool->name, "paused", pool->paused, "version",
                                              pool->version, "problem", pool->problem));
    }
    return list;
}

static void
count(json_t *counts, const char *name)
{
    json_object_set_new(counts, name, json_integer(drover_json_integer(counts, name, 0) + 1));
}

static json_t *
member_object(json_t *object, const char *name)
{
    json_t *member = json_object_get(object, name);

    if (member == NULL)
        json_object_set_new(object, name, member = json_object());
    return member;
}

/* Of all nodes, also those that are not listed: provider -> pool -> state -> how many. */
static json_t *
node_counts(DroverCluster *cluster)
{
    json_t *counts = json_object();
    DroverCacheIter iter;
    gpointer object;

    drover_cache_iter_init(&iter, drover_cluster_nodes(cluster));
    while (drover_cache_iter_next(&iter, NULL, &object)) {
        const DroverNode *node = object;
        json_t *pools = member_object(counts, node->provider != NULL ? node->provider : "");

        count(member_object(pools, node->pool != NULL ? node->pool : ""),
              drover_node_state_name(node->state));
    }
    return counts;
}

static json_t *
head_object(DroverLauncher *launcher)
{
    static const char *const restless[] = {"counters", "uptime"};
    DroverCluster *cluster = drover_launcher_cluster(launcher);
    json_t *head = drover_launcher_status(launcher);

    for (guint i = 0; i < G_N_ELEMENTS(restless); i++)
        json_object_del(head, restless[i]);
    json_object_set_new(head, "host", drover_json_from_string(drover_host_name()));
    json_object_set_new(head, "registered", registered_list(cluster));
    json_object_set_new(head, "limits", limit_object(drover_launcher_config(launcher)));
    json_object_set_new(head, "counts", node_counts(cluster));
    json_object_set_new(head, "nodes_in_all",
                        json_integer(drover_cache_size(drover_cluster_nodes(cluster))));
    return head;
}

static void
look_at_head(DroverOverviewState *state, json_t *change)
{
    json_t *head = head_object(state->launcher), *value;
    const char *key;

    json_object_foreach(head, key, value)
    {
        if (!json_equal(value, json_object_get(state->head, key)))
            json_object_set(change, key, value);
    }
    json_decref(state->head);
    state->head = head;
}

/* ---- Lists whose elements have ids ---- */

typedef struct {
    json_t *set, *gone;
} Difference;

/* Nothing, when there is none. Takes its members over. */
static void
add_difference(json_t *change, const char *name, Difference difference)
{
    json_t *both = json_pack("{s:o, s:o}", "set", difference.set, "gone", difference.gone);

    if (json_array_size(difference.set) + json_array_size(difference.gone) > 0)
        json_object_set(change, name, both);
    json_decref(both);
}

/* What is shown stays so, in order that little changes; others where there is room. */
static void
look_at_nodes(DroverOverviewState *state, json_t *change)
{
    DroverCluster *cluster = drover_launcher_cluster(state->launcher);
    Difference difference = {json_array(), json_array()};
    DroverCacheIter all;
    GHashTableIter shown;
    gpointer id, node;

    g_hash_table_iter_init(&shown, state->nodes);
    while (g_hash_table_iter_next(&shown, &id, &node)) {
        const DroverNode *now = drover_cluster_node(cluster, id);

        if (now == node)
            continue;
        json_array_append_new(now != NULL ? difference.set : difference.gone,
                              now != NULL ? node_object(now) : json_string(id));
        if (now != NULL)
            g_hash_table_iter_replace(&shown, drover_node_ref((DroverNode *)now));
        else
            g_hash_table_iter_remove(&shown);
    }
    drover_cache_iter_init(&all, drover_cluster_nodes(cluster));
    while (g_hash_table_size(state->nodes) < MOST_NODES &&
           drover_cache_iter_next(&all, NULL, &node)) {
        if (g_hash_table_contains(state->nodes, ((DroverNode *)node)->id))
            continue;
        json_array_append_new(difference.set, node_object(node));
        g_hash_table_insert(state->nodes, g_strdup(((DroverNode *)node)->id),
                            drover_node_ref(node));
    }
    add_difference(change, "nodes", difference);
}

/* Those that wait: id -> object. */
static json_t *
waiting_requests(DroverLauncher *launcher)
{
    const GPtrArray *requests = drover_cluster_requests(drover_launcher_cluster(launcher));
    json_t *found = json_object();

    for (guint i = 0; json_object_size(found) < MOST_REQUESTS && i < requests->len; i++) {
        const DroverRequest *request = requests->pdata[i];

        if (request->state == DROVER_REQUEST_REQUESTED || request->state == DROVER_REQUEST_PENDING)
            json_object_set_new(found, request->id, request_object(launcher, request));
    }
    return found;
}

static void
look_at_requests(DroverOverviewState *state, json_t *change)
{
    json_t *requests = waiting_requests(state->launcher), *value;
    Difference difference = {json_array(), json_array()};
    const char *id;

    json_object_foreach(requests, id, value)
    {
        if (!json_equal(value, json_object_get(state->requests, id)))
            json_array_append(difference.set, value);
    }
    json_object_foreach(state->requests, id, value)
    {
        if (json_object_get(requests, id) == NULL)
            json_array_append_new(difference.gone, json_string(id));
    }
    json_decref(state->requests);
    state->requests = requests;
    add_difference(change, "requests", difference);
}

/* ---- Events ---- */

/* Adds the time to the object. */
static GBytes *
event_of(const char *type, json_t *object)
{
    g_autofree char *text = NULL;
    char *event;

    json_object_set_new(object, "now", json_real(drover_record_now()));
    text = drover_json_text(object);
    event = g_strconcat(type, "data: ", text, "\n\n", NULL);
    return g_bytes_new_take(event, strlen(event));
}

GBytes *
drover_overview_state_look(DroverOverviewState *state)
{
    g_autoptr(json_t) change = json_object();

    look_at_head(state, change);
    look_at_nodes(state, change);
    look_at_requests(state, change);
    if (json_object_size(change) == 0)
        return NULL;
    g_clear_pointer(&state->whole, g_bytes_unref);
    return event_of("event: change\n", change);
}

static GBytes *
whole_of(const DroverOverviewState *state)
{
    g_autoptr(json_t) whole = json_copy(state->head);
    json_t *nodes = json_array(), *requests = json_array(), *request;
    GHashTableIter iter;
    gpointer node;
    const char *id;

    g_hash_table_iter_init(&iter, state->nodes);
    while (g_hash_table_iter_next(&iter, NULL, &node))
        json_array_append_new(nodes, node_object(node));
    json_object_foreach(state->requests, id, request)
    {
        json_array_append(requests, request);
    }
    json_object_set_new(whole, "nodes", nodes);
    json_object_set_new(whole, "requests", requests);
    return event_of("", whole);
}

GBytes *
drover_overview_state_whole(DroverOverviewState *state)
{
    gint64 now = g_get_monotonic_time();

    if (state->whole != NULL && now - state->made > FRESH_SECONDS * G_USEC_PER_SEC)
        g_clear_pointer(&state->whole, g_bytes_unref);
    if (state->whole == NULL) {
        state->whole = whole_of(state);
        state->made = now;
    }
    return g_bytes_ref(state->whole);
}

/* ---- Life ---- */

DroverOverviewState *
drover_overview_state_new(DroverLauncher *launcher)
{
    DroverOverviewState *state = g_new0(DroverOverviewState, 1);

    state->launcher = launcher;
    state->nodes =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)drover_node_unref);
    state->requests = json_object();
    return state;
}

void
drover_overview_state_free(DroverOverviewState *state)
{
    json_decref(state->head);
    g_hash_table_unref(state->nodes);
    json_decref(state->requests);
    if (state->whole != NULL)
        g_bytes_unref(state->whole);
    g_free(state);
}
