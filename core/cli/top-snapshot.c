#include "cli/top-snapshot.h"

#include <math.h>
#include <string.h>

const DroverTopAge drover_top_ages[DROVER_TOP_AGES] = {
    {"<1m", 60}, {"<10m", 600}, {"<1h", 3600}, {"<1d", 86400}, {"older", INFINITY},
};

/* A pool while it is counted. */
typedef struct {
    const char *provider, *name;
    gboolean registered, paused;
    guint nodes[DROVER_NODE_UNKNOWN + 1];
    guint waiting;
    DroverResources *used;
    const json_t *limits; /* borrowed from its board */
} Pool;

typedef struct {
    guint count, ages[DROVER_TOP_AGES];
    double oldest; /* seconds */
} StateCount;

/* What is told of a request: the verdict that says most, and whose it is. */
typedef struct {
    guint rank;
    const json_t *verdict, *board;
} Word;

typedef struct {
    double now;
    GHashTable *pools;     /* provider and pool in one text -> Pool */
    GHashTable *words;     /* request id -> Word */
    GHashTable *launchers; /* host names */
    StateCount states[DROVER_NODE_UNKNOWN + 1];
    const DroverMirror *mirror;
} Count;

/* ---- Pools ---- */

static void
pool_free(gpointer data)
{
    drover_resources_unref(((Pool *)data)->used);
    g_free(data);
}

static Pool *
need_pool(Count *count, const char *provider, const char *name)
{
    g_autofree char *key = g_strconcat(provider, "\n", name, NULL);
    Pool *pool = g_hash_table_lookup(count->pools, key);

    if (pool == NULL) {
        pool = g_new0(Pool, 1);
        pool->provider = provider;
        pool->name = name;
        pool->used = drover_resources_new(0);
        g_hash_table_insert(count->pools, g_steal_pointer(&key), pool);
    }
    return pool;
}

static void
count_pools(Count *count)
{
    DroverCacheIter iter;
    gpointer object;

    drover_cache_iter_init(&iter, drover_mirror_cache(count->mirror, DROVER_MIRROR_POOLS));
    while (drover_cache_iter_next(&iter, NULL, &object)) {
        const DroverComponent *component = object;
        Pool *pool;

        if (component->provider_name == NULL || component->name == NULL)
            continue;
        pool = need_pool(count, component->provider_name, component->name);
        pool->registered = TRUE;
        pool->paused |= component->paused;
        if (component->hostname != NULL)
            g_hash_table_add(count->launchers, component->hostname);
    }
}

/* ---- Nodes ---- */

static void
count_state(StateCount *state, double age)
{
    guint i = 0;

    while (i < DROVER_TOP_AGES - 1 && age >= drover_top_ages[i].below)
        i++;
    state->count++;
    state->ages[i]++;
    state->oldest = MAX(state->oldest, age);
}

static void
count_nodes(Count *count)
{
    DroverCacheIter iter;
    gpointer object;

    drover_cache_iter_init(&iter, drover_mirror_cache(count->mirror, DROVER_MIRROR_NODES));
    while (drover_cache_iter_next(&iter, NULL, &object)) {
        const DroverNode *node = object;
        Pool *pool = need_pool(count, node->provider != NULL ? node->provider : "",
                               node->pool != NULL ? node->pool : "");

        count_state(&count->states[node->state], count->now - node->state_time);
        pool->nodes[node->state]++;
        if (node->resources != NULL)
            drover_resources_add(pool->used, node->resources);
        else
            drover_resources_set(pool->used, "instances",
                                 drover_resources_get(pool->used, "instances") + 1);
    }
}

/* ---- Decisions ---- */

/* What says most of a request is told; the better, the later. */
static const char *const verdict_order[] = {"decline", "yield", "defer", "serve", "wait", NULL};

static void
note_verdict(Count *count, const json_t *board, const json_t *verdict)
{
    const char *id = drover_json_string(verdict, "id");
    guint rank = drover_record_find_word(verdict_order, drover_json_string(verdict, "verdict"));
    Word *word = id != NULL ? g_hash_table_lookup(count->words, id) : NULL;

    if (id == NULL || verdict_order[rank] == NULL || (word != NULL && word->rank >= rank))
        return;
    word = g_new(Word, 1);
    *word = (Word){rank, verdict, board};
    g_hash_table_replace(count->words, (gpointer)id, word);
}

static gboolean
is_waiting(const json_t *verdict)
{
    const char *name = drover_json_string(verdict, "verdict");

    return g_strcmp0(name, "wait") == 0 || g_strcmp0(name, "defer") == 0;
}

static void
count_board(Count *count, const json_t *board)
{
    const char *provider = drover_json_string(board, "provider");
    const char *name = drover_json_string(board, "pool");
    Pool *pool;
    const json_t *verdict;
    size_t i;

    if (provider == NULL || name == NULL)
        return;
    pool = need_pool(count, provider, name);
    pool->limits = json_object_get(board, "limits");
    json_array_foreach(json_object_get(board, "requests"), i, verdict)
    {
        note_verdict(count, board, verdict);
        pool->waiting += is_waiting(verdict);
    }
}

static void
count_boards(Count *count)
{
    DroverCacheIter iter;
    gpointer board;

    drover_cache_iter_init(&iter, drover_mirror_cache(count->mirror, DROVER_MIRROR_BOARDS));
    while (drover_cache_iter_next(&iter, NULL, &board))
        count_board(count, board);
}

/* ---- Requests ---- */

static gboolean
has_pool(const DroverMirror *mirror, const DroverRequest *request)
{
    DroverCacheIter iter;
    gpointer pool;

    drover_cache_iter_init(&iter, drover_mirror_cache(mirror, DROVER_MIRROR_POOLS));
    while (drover_cache_iter_next(&iter, NULL, &pool))
        if (drover_component_supports(pool, (const char *const *)request->labels))
            return TRUE;
    return FALSE;
}

static void
explain(const Count *count, const DroverRequest *request, json_t *object)
{
    const Word *word = g_hash_table_lookup(count->words, request->id);
    const char *reason = word != NULL ? drover_json_string(word->verdict, "reason") : NULL;

    drover_record_set_string(object, "by",
                             word != NULL ? drover_json_string(word->board, "provider") : NULL);
    drover_record_set_string(object, "verdict",
                             word != NULL ? drover_json_string(word->verdict, "verdict") : NULL);
    if (word != NULL)
        drover_record_set_string(object, "why", reason);
    else if (!has_pool(count->mirror, request))
        drover_record_set_string(object, "why", "no registered pool has its labels");
    else
        drover_record_set_string(object, "why", "no pool has published a decision");
}

static json_t *
request_object(const Count *count, const DroverRequest *request)
{
    json_t *object = json_object();

    drover_record_set_string(object, "id", request->id);
    drover_record_set_string(object, "state", drover_request_state_name(request->state));
    json_object_set_new(object, "age", json_integer((gint64)(count->now - request->state_time)));
    json_object_set_new(object, "labels",
                        drover_json_from_strings((const char *const *)request->labels));
    drover_record_set_string(object, "requestor", request->requestor);
    explain(count, request, object);
    return object;
}

static gint
compare_requests(gconstpointer a, gconstpointer b)
{
    return drover_request_compare(*(const DroverRequest *const *)a,
                                  *(const DroverRequest *const *)b);
}

static json_t *
request_list(const Count *count)
{
    g_autoptr(GPtrArray) waiting = g_ptr_array_new();
    json_t *list = json_array();
    DroverCacheIter iter;
    gpointer object;

    drover_cache_iter_init(&iter, drover_mirror_cache(count->mirror, DROVER_MIRROR_REQUESTS));
    while (drover_cache_iter_next(&iter, NULL, &object)) {
        const DroverRequest *request = object;

        if (request->state == DROVER_REQUEST_REQUESTED || request->state == DROVER_REQUEST_PENDING)
            g_ptr_array_add(waiting, object);
    }
    g_ptr_array_sort(waiting, compare_requests);
    for (guint i = 0; i < waiting->len; i++)
        json_array_append_new(list, request_object(count, waiting->pdata[i]));
    return list;
}

/* ---- The whole ---- */

static json_t *
pool_object(const Pool *pool)
{
    json_t *nodes = json_object();

    for (DroverNodeState state = 0; state <= DROVER_NODE_UNKNOWN; state++)
        if (pool->nodes[state] > 0)
            json_object_set_new(nodes, drover_node_state_name(state),
                                json_integer(pool->nodes[state]));
    return json_pack("{s:o, s:o, s:b, s:b, s:o, s:i, s:o, s:o}", "provider",
                     drover_json_from_string(pool->provider), "pool",
                     drover_json_from_string(pool->name), "registered", pool->registered, "paused",
                     pool->paused, "nodes", nodes, "waiting", (int)pool->waiting, "used",
                     drover_resources_json(pool->used), "limits",
                     json_is_object(pool->limits) ? json_deep_copy(pool->limits) : json_object());
}

static gint
compare_keys(gconstpointer a, gconstpointer b)
{
    return strcmp(a, b);
}

static json_t *
pool_list(const Count *count)
{
    g_autoptr(GList) keys = g_list_sort(g_hash_table_get_keys(count->pools), compare_keys);
    json_t *list = json_array();

    for (const GList *key = keys; key != NULL; key = key->next)
        json_array_append_new(list, pool_object(g_hash_table_lookup(count->pools, key->data)));
    return list;
}

static json_t *
state_list(const Count *count)
{
    json_t *list = json_array();

    for (DroverNodeState state = 0; state <= DROVER_NODE_UNKNOWN; state++) {
        const StateCount *one = &count->states[state];
        json_t *ages = json_array();

        for (guint i = 0; i < DROVER_TOP_AGES; i++)
            json_array_append_new(ages, json_integer(one->ages[i]));
        if (one->count > 0)
            json_array_append_new(list,
                                  json_pack("{s:s, s:i, s:O, s:I}", "state",
                                            drover_node_state_name(state), "count", (int)one->count,
                                            "ages", ages, "oldest", (json_int_t)one->oldest));
        json_decref(ages);
    }
    return list;
}

json_t *
drover_top_snapshot(const DroverMirror *mirror)
{
    Count count = {.now = drover_record_now(), .mirror = mirror};
    json_t *snapshot;

    count.pools = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, pool_free);
    count.words = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
    count.launchers = g_hash_table_new(g_str_hash, g_str_equal);
    count_pools(&count);
    count_nodes(&count);
    count_boards(&count);
    snapshot = json_pack("{s:f, s:i, s:i, s:o, s:o, s:o}", "time", count.now, "launchers",
                         (int)g_hash_table_size(count.launchers), "nodes",
                         (int)drover_cache_size(drover_mirror_cache(mirror, DROVER_MIRROR_NODES)),
                         "states", state_list(&count), "pools", pool_list(&count), "requests",
                         request_list(&count));
    g_hash_table_unref(count.pools);
    g_hash_table_unref(count.words);
    g_hash_table_unref(count.launchers);
    return snapshot;
}

double
drover_top_fullness(const json_t *pool)
{
    const json_t *limits = json_object_get(json_object_get(pool, "limits"), "pool");
    const json_t *used = json_object_get(pool, "used");
    const char *resource;
    json_t *most;
    double fullness = 0;

    json_object_foreach((json_t *)limits, resource, most)
    {
        double part = drover_json_real(used, resource, 0) / MAX(json_number_value(most), 1);
        fullness = MAX(fullness, part);
    }
    return fullness;
}
