#include "launcher/cluster/usage.h"

/* Where one machine is counted, and as how much. */
typedef struct {
    GRefString *provider, *pool, *tenant; /* shared by many; NULL: not counted there */
    DroverResources *amount;
} Share;

typedef struct {
    DroverNode *node;
    Share share;
} Item;

struct _DroverUsagePromise {
    DroverUsage *usage;
    Share share;
};

struct _DroverUsage {
    DroverUsageCost cost;
    gpointer user_data;
    GHashTable *items; /* the node's id -> Item */
    /* name -> DroverResources; pools as "provider\npool" */
    GHashTable *providers, *pools, *tenants;
};

static char *
pool_key(const char *provider, const char *pool)
{
    return g_strconcat(provider, "\n", pool, NULL);
}

/* ---- Sums ---- */

static DroverResources *
sum_of(GHashTable *sums, const char *key)
{
    DroverResources *sum = g_hash_table_lookup(sums, key);

    if (sum == NULL) {
        sum = drover_resources_new(0);
        g_hash_table_insert(sums, g_strdup(key), sum);
    }
    return sum;
}

typedef void (*Change)(DroverResources *sum, const DroverResources *amount);

static void
change_sums(DroverUsage *usage, const Share *share, Change change)
{
    if (share->provider != NULL)
        change(sum_of(usage->providers, share->provider), share->amount);
    if (share->provider != NULL && share->pool != NULL) {
        g_autofree char *key = pool_key(share->provider, share->pool);
        change(sum_of(usage->pools, key), share->amount);
    }
    if (share->tenant != NULL)
        change(sum_of(usage->tenants, share->tenant), share->amount);
}

static GRefString *
shared(const char *text)
{
    return text != NULL ? g_ref_string_new_intern(text) : NULL;
}

static void
enter(DroverUsage *usage, Share *share, const char *provider, const char *pool, const char *tenant,
      const DroverResources *amount)
{
    share->provider = shared(provider);
    share->pool = shared(pool);
    share->tenant = shared(tenant);
    share->amount = amount != NULL ? drover_resources_ref(amount) : drover_resources_new(0);
    change_sums(usage, share, drover_resources_add);
}

static void
leave(DroverUsage *usage, Share *share)
{
    change_sums(usage, share, drover_resources_subtract);
    g_clear_pointer(&share->provider, g_ref_string_release);
    g_clear_pointer(&share->pool, g_ref_string_release);
    g_clear_pointer(&share->tenant, g_ref_string_release);
    drover_resources_unref(share->amount);
}

/* ---- Nodes ---- */

static void
item_free(gpointer data)
{
    Item *item = data;

    drover_node_unref(item->node);
    g_free(item);
}

static const DroverResources *
amount_of(const DroverUsage *usage, const DroverNode *node)
{
    if (node->resources != NULL)
        return node->resources;
    if (node->provider == NULL || node->pool == NULL || node->labels[0] == NULL)
        return NULL;
    return usage->cost(node->provider, node->pool, node->labels[0], usage->user_data);
}

static void
count(DroverUsage *usage, Item *item)
{
    const DroverNode *node = item->node;

    enter(usage, &item->share, node->provider, node->pool, node->tenant_name,
          amount_of(usage, node));
}

void
drover_usage_note(DroverUsage *usage, const char *id, const DroverNode *node)
{
    Item *item = g_hash_table_lookup(usage->items, id);

    if (item != NULL) {
        leave(usage, &item->share);
        g_hash_table_remove(usage->items, id);
    }
    if (node == NULL)
        return;
    item = g_new0(Item, 1);
    item->node = drover_node_ref((DroverNode *)node);
    g_hash_table_insert(usage->items, item->node->id, item);
    count(usage, item);
}

void
drover_usage_note_costs(DroverUsage *usage, const char *provider)
{
    GHashTableIter iter;
    gpointer value;

    g_hash_table_iter_init(&iter, usage->items);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        Item *item = value;

        if (item->node->resources != NULL || g_strcmp0(item->node->provider, provider) != 0)
            continue;
        leave(usage, &item->share);
        count(usage, item);
    }
}

/* ---- Promises ---- */

DroverUsagePromise *
drover_usage_promise(DroverUsage *usage, const char *provider, const char *pool, const char *tenant,
                     const DroverResources *cost)
{
    DroverUsagePromise *promise = g_new0(DroverUsagePromise, 1);

    promise->usage = usage;
    enter(usage, &promise->share, provider, pool, tenant, cost);
    return promise;
}

void
drover_usage_give_back(DroverUsagePromise *promise)
{
    if (promise == NULL)
        return;
    leave(promise->usage, &promise->share);
    g_free(promise);
}

/* ---- Questions ---- */

const DroverResources *
drover_usage_of_provider(DroverUsage *usage, const char *provider)
{
    return sum_of(usage->providers, provider);
}

const DroverResources *
drover_usage_of_pool(DroverUsage *usage, const char *provider, const char *pool)
{
    g_autofree char *key = pool_key(provider, pool);

    return sum_of(usage->pools, key);
}

const DroverResources *
drover_usage_of_tenant(DroverUsage *usage, const char *tenant)
{
    return sum_of(usage->tenants, tenant);
}

/* ---- Life ---- */

DroverUsage *
drover_usage_new(DroverUsageCost cost, gpointer user_data)
{
    DroverUsage *usage = g_new0(DroverUsage, 1);
    GDestroyNotify free_sum = (GDestroyNotify)drover_resources_unref;

    usage->cost = cost;
    usage->user_data = user_data;
    usage->items = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, item_free);
    usage->providers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_sum);
    usage->pools = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_sum);
    usage->tenants = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_sum);
    return usage;
}

void
drover_usage_free(DroverUsage *usage)
{
    GHashTableIter iter;
    gpointer value;

    if (usage == NULL)
        return;
    g_hash_table_iter_init(&iter, usage->items);
    while (g_hash_table_iter_next(&iter, NULL, &value))
        leave(usage, &((Item *)value)->share);
    g_hash_table_unref(usage->items);
    g_hash_table_unref(usage->providers);
    g_hash_table_unref(usage->pools);
    g_hash_table_unref(usage->tenants);
    g_free(usage);
}
