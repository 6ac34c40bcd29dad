#include "launcher/request/pool-private.h"

/* Sentences are for people; who counts wants few words. */
static const char *
decline_word(const char *reason)
{
    static const struct {
        const char *start, *word;
    } words[] = {{"node type", "labels"},
                 {"pool is disabled", "disabled"},
                 {"it wants new nodes", "new_nodes"},
                 {"it would exceed quota", "quota"},
                 {"images are not available", "images"},
                 {"a node could not be launched", "launch"},
                 {"there is no room for standby", "standby"}};

    for (guint i = 0; i < G_N_ELEMENTS(words); i++)
        if (g_str_has_prefix(reason, words[i].start))
            return words[i].word;
    return "other";
}

void
drover_pool_count_decline(const DroverPool *pool, const char *reason)
{
    drover_telemetry_note_decline(pool->telemetry, pool->provider, pool->name,
                                  decline_word(reason));
}

void
drover_pool_count_fulfilled(const DroverPool *pool, const DroverRequest *request)
{
    drover_telemetry_note_request(pool->telemetry, pool->provider, pool->name, TRUE,
                                  request->created_time);
}

void
drover_pool_count_failed(const DroverPool *pool, const char *request_id)
{
    const DroverRequest *request = drover_cluster_request(pool->cluster, request_id);

    if (request != NULL && request->state == DROVER_REQUEST_FAILED)
        drover_telemetry_note_request(pool->telemetry, pool->provider, pool->name, FALSE,
                                      request->created_time);
}
