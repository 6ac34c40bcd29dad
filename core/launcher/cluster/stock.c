#include "launcher/cluster/stock.h"

#include <string.h>

typedef struct {
    DroverNode *node;
    gboolean reserved, unusable;
} Item;

struct _DroverStock {
    grefcount references;
    gboolean about_to_shrink;
    char *provider, *pool;
    GHashTable *items;   /* id -> Item */
    GHashTable *leaving; /* id -> DroverNode: their machines are about to be gone */
};

static void
item_free(gpointer data)
{
    Item *item = data;

    drover_node_unref(item->node);
    g_free(item);
}

DroverStock *
drover_stock_new(const char *provider, const char *pool)
{
    DroverStock *stock = g_new0(DroverStock, 1);

    g_ref_count_init(&stock->references);
    stock->provider = g_strdup(provider);
    stock->pool = g_strdup(pool);
    stock->items = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, item_free);
    stock->leaving =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)drover_node_unref);
    return stock;
}

/* Nobody uses it any more, nor ever will. */
static gboolean
is_leaving(const DroverNode *node)
{
    switch (node->state) {
    case DROVER_NODE_USED:
    case DROVER_NODE_FAILED:
    case DROVER_NODE_ABORTED:
    case DROVER_NODE_DELETING:
    case DROVER_NODE_DELETED:
        return TRUE;
    default:
        return FALSE;
    }
}

DroverStock *
drover_stock_ref(DroverStock *stock)
{
    g_ref_count_inc(&stock->references);
    return stock;
}

void
drover_stock_unref(DroverStock *stock)
{
    if (!g_ref_count_dec(&stock->references))
        return;
    g_hash_table_unref(stock->items);
    g_hash_table_unref(stock->leaving);
    g_free(stock->provider);
    g_free(stock->pool);
    g_free(stock);
}

void
drover_stock_note(DroverStock *stock, const char *id, const DroverNode *node)
{
    Item *item = g_hash_table_lookup(stock->items, id);

    gboolean ours = node != NULL && g_strcmp0(node->provider, stock->provider) == 0 &&
                    g_strcmp0(node->pool, stock->pool) == 0;

    if (ours && is_leaving(node))
        g_hash_table_replace(stock->leaving, g_strdup(id), drover_node_ref((DroverNode *)node));
    else
        g_hash_table_remove(stock->leaving, id);
    if (!ours || !drover_node_is_free(node)) {
        g_hash_table_remove(stock->items, id);
        return;
    }
    if (item == NULL) {
        item = g_new0(Item, 1);
        g_hash_table_insert(stock->items, g_strdup(id), item);
    } else {
        drover_node_unref(item->node);
    }
    item->node = drover_node_ref((DroverNode *)node);
}

static gboolean
is_offered(const Item *item)
{
    return !item->reserved && !item->unusable;
}

GHashTable *
drover_stock_count(const DroverStock *stock)
{
    GHashTable *counts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    GHashTableIter iter;
    gpointer value;

    g_hash_table_iter_init(&iter, stock->items);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const Item *item = value;

        for (GRefString **label = item->node->labels; is_offered(item) && *label != NULL; label++) {
            gint count = GPOINTER_TO_INT(g_hash_table_lookup(counts, *label));
            g_hash_table_insert(counts, g_strdup(*label), GINT_TO_POINTER(count + 1));
        }
    }
    return counts;
}

DroverNode *
drover_stock_reserve(DroverStock *stock, const char *label, const char *zone)
{
    Item *best = NULL;
    GHashTableIter iter;
    gpointer value;

    g_hash_table_iter_init(&iter, stock->items);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        Item *item = value;

        if (is_offered(item) && drover_node_has_label(item->node, label) &&
            (zone == NULL || g_strcmp0(item->node->az, zone) == 0) &&
            (best == NULL || strcmp(item->node->id, best->node->id) < 0))
            best = item;
    }
    if (best == NULL)
        return NULL;
    best->reserved = TRUE;
    return drover_node_ref(best->node);
}

void
drover_stock_release(DroverStock *stock, const char *id)
{
    Item *item = g_hash_table_lookup(stock->items, id);

    if (item != NULL)
        item->reserved = FALSE;
}

void
drover_stock_set_usable(DroverStock *stock, const char *id, gboolean usable)
{
    Item *item = g_hash_table_lookup(stock->items, id);

    if (item != NULL)
        item->unusable = !usable;
}

const DroverNode *
drover_stock_oldest(const DroverStock *stock)
{
    const DroverNode *oldest = NULL;
    GHashTableIter iter;
    gpointer value;

    g_hash_table_iter_init(&iter, stock->items);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const Item *item = value;

        if (is_offered(item) && (oldest == NULL || item->node->state_time < oldest->state_time))
            oldest = item->node;
    }
    return oldest;
}

gboolean
drover_stock_is_shrinking(const DroverStock *stock, guint seconds)
{
    double now = drover_record_now();
    GHashTableIter iter;
    gpointer node;

    if (stock->about_to_shrink)
        return TRUE;
    g_hash_table_iter_init(&iter, stock->leaving);
    while (g_hash_table_iter_next(&iter, NULL, &node))
        if (now - ((DroverNode *)node)->state_time < seconds)
            return TRUE;
    return FALSE;
}

void
drover_stock_set_shrinking(DroverStock *stock, gboolean about_to)
{
    stock->about_to_shrink = about_to;
}

void
drover_stock_set_all_usable(DroverStock *stock)
{
    GHashTableIter iter;
    gpointer value;

    g_hash_table_iter_init(&iter, stock->items);
    while (g_hash_table_iter_next(&iter, NULL, &value))
        ((Item *)value)->unusable = FALSE;
}
