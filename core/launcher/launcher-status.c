#include "launcher/launcher-private.h"

char *
drover_launcher_dump(DroverLauncher *launcher)
{
    const DroverSessionCounters *counters = drover_session_counters(launcher->session);

    return g_strdup_printf(
        "session 0x%" G_GINT64_MODIFIER "x, %s, %u nodes, %u requests, %u pools registered, "
        "%u providers, %u drivers running; reads %" G_GUINT64_FORMAT
        ", transactions %" G_GUINT64_FORMAT ", writes %" G_GUINT64_FORMAT
        ", events %" G_GUINT64_FORMAT ", batches %" G_GUINT64_FORMAT,
        (guint64)drover_session_id(launcher->session),
        drover_cluster_is_complete(launcher->cluster) ? "caches complete" : "caches not complete",
        drover_cache_size(drover_cluster_nodes(launcher->cluster)),
        drover_cluster_requests(launcher->cluster)->len,
        drover_cluster_pools(launcher->cluster)->len, launcher->managers->len,
        launcher->open_runners, counters->reads, counters->transactions, counters->writes,
        counters->events, counters->batches);
}
