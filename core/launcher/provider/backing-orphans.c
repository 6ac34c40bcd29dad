#include <string.h>

#include "launcher/provider/backing-private.h"

/* Whose backing node it is; NULL: it is none. Free with g_free. */
static char *
provider_of(const DroverNode *node)
{
    g_autofree char *owner = drover_node_backing_owner(node);
    g_auto(GStrv) words = owner != NULL ? g_strsplit(owner, ":", 3) : NULL;

    if (words == NULL)
        return NULL;
    return g_strv_length(words) == 3 && strcmp(words[0], "NodePool") == 0 ? g_strdup(words[2])
                                                                          : NULL;
}

static gboolean
is_known(DroverCluster *cluster, const DroverConfig *config, const char *provider)
{
    const GPtrArray *pools = drover_cluster_pools(cluster);

    for (guint i = 0; i < pools->len; i++) {
        const DroverComponent *pool = pools->pdata[i];

        if (g_strcmp0(pool->provider_name, provider) == 0)
            return TRUE;
    }
    return drover_config_find_provider(config, provider) != NULL;
}

static void
add(GHashTable *orphans, const char *provider, const char *id)
{
    GPtrArray *ids = g_hash_table_lookup(orphans, provider);

    if (ids == NULL) {
        ids = g_ptr_array_new_with_free_func(g_free);
        g_hash_table_insert(orphans, g_strdup(provider), ids);
    }
    g_ptr_array_add(ids, g_strdup(id));
}

static void
report(const char *provider, GPtrArray *ids)
{
    g_autofree char *list = NULL;

    g_ptr_array_add(ids, NULL);
    list = g_strjoinv(", ", (char **)ids->pdata);
    drover_log(DROVER_LOG_WARNING,
               &(DroverLogSubject){.logger = DROVER_BACKING_LOGGER, .provider = provider},
               "No launcher has the provider %s, whose backing nodes stay locked: %s", provider,
               list);
}

void
drover_backing_report_orphans(DroverCluster *cluster, const DroverConfig *config)
{
    g_autoptr(GHashTable) orphans =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_ptr_array_unref);
    GHashTableIter orphan;
    DroverCacheIter iter;
    const char *id;
    gpointer provider, value;

    drover_cache_iter_init(&iter, drover_cluster_nodes(cluster));
    while (drover_cache_iter_next(&iter, &id, &value)) {
        g_autofree char *owner = provider_of(value);

        if (owner != NULL && !is_known(cluster, config, owner))
            add(orphans, owner, id);
    }
    g_hash_table_iter_init(&orphan, orphans);
    while (g_hash_table_iter_next(&orphan, &provider, &value))
        report(provider, value);
}
