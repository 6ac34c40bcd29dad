#include "launcher/cluster/model-version.h"

#include "base/log.h"

#define LOGGER "ComponentRegistry"

/* Pools are in the cluster's own cache. */
static const char *const kinds[] = {DROVER_LAUNCHERS_PATH, DROVER_COMPONENTS_PATH "/builder"};

struct _DroverModelVersion {
    DroverCluster *cluster;
    gint64 own, minimum;
    gboolean known; /* it was told */
    DroverCache *components[G_N_ELEMENTS(kinds)];
};

static gpointer
decode(const char *name, GBytes *data, gint32 version, gpointer user_data)
{
    return drover_component_decode(data, NULL);
}

static gboolean
is_complete(const DroverModelVersion *model)
{
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++)
        if (model->components[i] == NULL || !drover_cache_is_complete(model->components[i]))
            return FALSE;
    return drover_cluster_is_complete(model->cluster);
}

static gint64
find_minimum(const DroverModelVersion *model)
{
    const GPtrArray *pools = drover_cluster_pools(model->cluster);
    gint64 minimum = model->own;

    for (guint i = 0; i < pools->len; i++)
        minimum = MIN(minimum, ((const DroverComponent *)pools->pdata[i])->model_api);
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
        DroverCacheIter iter;
        gpointer component;

        drover_cache_iter_init(&iter, model->components[i]);
        while (drover_cache_iter_next(&iter, NULL, &component))
            minimum = MIN(minimum, ((DroverComponent *)component)->model_api);
    }
    return minimum;
}

void
drover_model_version_note_pools(DroverModelVersion *model)
{
    gint64 minimum;

    if (!is_complete(model))
        return;
    minimum = find_minimum(model);
    if (model->known && minimum == model->minimum)
        return;
    if (model->known && minimum < model->minimum)
        drover_log_for(DROVER_LOG_ERROR, LOGGER,
                       "System minimum data model version fell from %" G_GINT64_FORMAT
                       " to %" G_GINT64_FORMAT ": a component older than the system was started",
                       model->minimum, minimum);
    else
        drover_log_for(DROVER_LOG_INFO, LOGGER,
                       "System minimum data model version %" G_GINT64_FORMAT
                       "; this component %" G_GINT64_FORMAT,
                       minimum, model->own);
    model->known = TRUE;
    model->minimum = minimum;
}

static void
on_changed(DroverCache *cache, const char *name, gpointer old, gpointer new_object,
           gpointer user_data)
{
    drover_model_version_note_pools(user_data);
}

static void
on_completed(DroverCache *cache, gboolean complete, gpointer user_data)
{
    drover_model_version_note_pools(user_data);
}

DroverModelVersion *
drover_model_version_new(DroverCluster *cluster, gint64 own)
{
    static const DroverCacheClass klass = {.decode = decode,
                                           .free = (GDestroyNotify)drover_component_free,
                                           .changed = on_changed,
                                           .completed = on_completed};
    DroverModelVersion *model = g_new0(DroverModelVersion, 1);

    model->cluster = cluster;
    model->own = own;
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++)
        model->components[i] =
            drover_cache_new(drover_cluster_session(cluster), kinds[i], &klass, model);
    return model;
}

void
drover_model_version_free(DroverModelVersion *model)
{
    if (model == NULL)
        return;
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++)
        drover_cache_free(model->components[i]);
    g_free(model);
}

gint64
drover_model_version_minimum(const DroverModelVersion *model)
{
    return model->known ? model->minimum : MIN(model->own, 0);
}
