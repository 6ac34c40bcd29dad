#include "launcher/cluster/stock.h"

#include <string.h>

typedef struct {
    DroverNode *node;
    gboolean reserved, unusable;
    gboolean offered; /* neither of these: it stands under its labels */
} Item;

struct _DroverStock {
    grefcount references;
    gboolean about_to_shrink;
    char *provider, *pool;
    GHashTable *items;   /* id -> Item */
    GHashTable *offers;  /* label -> GTree: id -> Item, the oldest first */
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
    stock->offers =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_tree_unref);
    stock->leaving =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)drover_node_unref);
    return stock;
}

/* ---- Life ---- */

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
    g_hash_table_unref(stock->offers);
    g_hash_table_unref(stock->items);
    g_hash_table_unref(stock->leaving);
    g_free(stock->provider);
    g_free(stock->pool);
    g_free(stock);
}

/* ---- What is offered ---- */

static void
put_under_label(DroverStock *stock, const char *label, Item *item)
{
    GTree *nodes = g_hash_table_lookup(stock->offers, label);

    if (nodes == NULL) {
        nodes = g_tree_new((GCompareFunc)strcmp);
        g_hash_table_insert(stock->offers, g_strdup(label), nodes);
    }
    g_tree_insert(nodes, item->node->id, item);
}

static void
take_from_label(DroverStock *stock, const char *label, const Item *item)
{
    GTree *nodes = g_hash_table_lookup(stock->offers, label);

    /* A node may have a label twice. */
    if (nodes == NULL)
        return;
    g_tree_remove(nodes, item->node->id);
    if (g_tree_nnodes(nodes) == 0)
        g_hash_table_remove(stock->offers, label);
}

static void
set_offered(DroverStock *stock, Item *item, gboolean offered)
{
    if (item->offered == offered)
        return;
    item->offered = offered;
    for (GRefString **label = item->node->labels; *label != NULL; label++) {
        if (offered)
            put_under_label(stock, *label, item);
        else
            take_from_label(stock, *label, item);
    }
}

static void
offer_if_free(DroverStock *stock, Item *item)
{
    set_offered(stock, item, !item->reserved && !item->unusable);
}

/* ---- News ---- */

static void
remove_item(DroverStock *stock, const char *id)
{
    Item *item = g_hash_table_lookup(stock->items, id);

    if (item == NULL)
        return;
    set_offered(stock, item, FALSE);
    g_hash_table_remove(stock->items, id);
}

static void
set_item(DroverStock *stock, const char *id, const DroverNode *node)
{
    Item *item = g_hash_table_lookup(stock->items, id);

    if (item == NULL) {
        item = g_new0(Item, 1);
        g_hash_table_insert(stock->items, g_strdup(id), item);
    } else {
        set_offered(stock, item, FALSE);
        drover_node_unref(item->node);
    }
    item->node = drover_node_ref((DroverNode *)node);
    offer_if_free(stock, item);
}

void
drover_stock_note(DroverStock *stock, const char *id, const DroverNode *node)
{
    gboolean ours = node != NULL && g_strcmp0(node->provider, stock->provider) == 0 &&
                    g_strcmp0(node->pool, stock->pool) == 0;

    if (ours && is_leaving(node))
        g_hash_table_replace(stock->leaving, g_strdup(id), drover_node_ref((DroverNode *)node));
    else
        g_hash_table_remove(stock->leaving, id);
    if (ours && drover_node_is_free(node))
        set_item(stock, id, node);
    else
        remove_item(stock, id);
}

/* ---- Giving nodes out ---- */

GHashTable *
drover_stock_count(const DroverStock *stock)
{
    GHashTable *counts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    GHashTableIter iter;
    gpointer label, nodes;

    g_hash_table_iter_init(&iter, stock->offers);
    while (g_hash_table_iter_next(&iter, &label, &nodes))
        g_hash_table_insert(counts, g_strdup(label), GINT_TO_POINTER(g_tree_nnodes(nodes)));
    return counts;
}

static Item *
find_offer(const DroverStock *stock, const char *label, const char *zone)
{
    GTree *nodes = g_hash_table_lookup(stock->offers, label);

    if (nodes == NULL)
        return NULL;
    for (GTreeNode *one = g_tree_node_first(nodes); one != NULL; one = g_tree_node_next(one)) {
        Item *item = g_tree_node_value(one);

        if (zone == NULL || g_strcmp0(item->node->az, zone) == 0)
            return item;
    }
    return NULL;
}

DroverNode *
drover_stock_reserve(DroverStock *stock, const char *label, const char *zone)
{
    Item *item = find_offer(stock, label, zone);

    if (item == NULL)
        return NULL;
    item->reserved = TRUE;
    offer_if_free(stock, item);
    return drover_node_ref(item->node);
}

void
drover_stock_release(DroverStock *stock, const char *id)
{
    Item *item = g_hash_table_lookup(stock->items, id);

    if (item == NULL)
        return;
    item->reserved = FALSE;
    offer_if_free(stock, item);
}

void
drover_stock_set_usable(DroverStock *stock, const char *id, gboolean usable)
{
    Item *item = g_hash_table_lookup(stock->items, id);

    if (item == NULL)
        return;
    item->unusable = !usable;
    offer_if_free(stock, item);
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

        if (item->offered && (oldest == NULL || item->node->state_time < oldest->state_time))
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
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        Item *item = value;

        item->unusable = FALSE;
        offer_if_free(stock, item);
    }
}
