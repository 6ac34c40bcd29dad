#include "web/api-limits.h"

#include <string.h>

#include "web/api-order.h"

#define MOST_SECONDS 30 /* until the caches show a request, or it was gone before they did */

struct _DroverApiClaim {
    DroverApiLimits *limits; /* NULL: they are gone, and the claim is its own */
    char *requestor;
    char *id; /* NULL: ZooKeeper has not answered */
    guint nodes;
    gint64 settled; /* monotonic */
};

struct _DroverApiLimits {
    DroverCluster *cluster;
    GPtrArray *claims; /* of DroverApiClaim, that the caches do not show */
};

static void
free_claim(gpointer data)
{
    DroverApiClaim *claim = data;

    g_free(claim->requestor);
    g_free(claim->id);
    g_free(claim);
}

/* ---- Labels ---- */

const char *
drover_api_limits_find_foreign(const DroverTokenConfig *client, const char *const *labels)
{
    for (; client->labels != NULL && *labels != NULL; labels++)
        if (!g_strv_contains((const char *const *)client->labels, *labels))
            return *labels;
    return NULL;
}

/* ---- Nodes ---- */

static void
drop_what_is_shown(DroverApiLimits *limits)
{
    gint64 earliest = g_get_monotonic_time() - MOST_SECONDS * G_USEC_PER_SEC;

    for (guint i = limits->claims->len; i > 0; i--) {
        const DroverApiClaim *claim = limits->claims->pdata[i - 1];

        if (claim->id != NULL && (claim->settled < earliest ||
                                  drover_cluster_request(limits->cluster, claim->id) != NULL))
            g_ptr_array_remove_index_fast(limits->claims, i - 1);
    }
}

/* Of requests that may have nodes, or may come to have them. */
static gint64
count_nodes(const DroverApiLimits *limits, const char *requestor)
{
    const GPtrArray *requests = drover_cluster_requests(limits->cluster);
    gint64 count = 0;

    for (guint i = 0; i < requests->len; i++) {
        const DroverRequest *request = requests->pdata[i];

        if (g_strcmp0(request->requestor, requestor) == 0 &&
            request->state != DROVER_REQUEST_FAILED)
            count += g_strv_length(request->labels);
    }
    for (guint i = 0; i < limits->claims->len; i++) {
        const DroverApiClaim *claim = limits->claims->pdata[i];

        if (strcmp(claim->requestor, requestor) == 0)
            count += claim->nodes;
    }
    return count;
}

DroverApiClaim *
drover_api_limits_claim(DroverApiLimits *limits, const DroverTokenConfig *client, guint nodes)
{
    g_autofree char *requestor = drover_api_requestor(client);
    DroverApiClaim *claim;

    drop_what_is_shown(limits);
    if (client->max_nodes > 0 && count_nodes(limits, requestor) + nodes > client->max_nodes)
        return NULL;
    claim = g_new0(DroverApiClaim, 1);
    claim->limits = limits;
    claim->requestor = g_steal_pointer(&requestor);
    claim->nodes = nodes;
    g_ptr_array_add(limits->claims, claim);
    return claim;
}

void
drover_api_claim_settle(DroverApiClaim *claim, const char *id)
{
    claim->settled = g_get_monotonic_time();
    claim->id = g_strdup(id);
    if (claim->limits == NULL)
        free_claim(claim);
    else if (id == NULL)
        g_ptr_array_remove_fast(claim->limits->claims, claim);
}

/* ---- Life ---- */

DroverApiLimits *
drover_api_limits_new(DroverCluster *cluster)
{
    DroverApiLimits *limits = g_new0(DroverApiLimits, 1);

    limits->cluster = cluster;
    limits->claims = g_ptr_array_new_with_free_func(free_claim);
    return limits;
}

void
drover_api_limits_free(DroverApiLimits *limits)
{
    for (guint i = limits->claims->len; i > 0; i--) {
        DroverApiClaim *claim = limits->claims->pdata[i - 1];

        if (claim->id != NULL)
            continue;
        claim->limits = NULL;
        g_ptr_array_steal_index_fast(limits->claims, i - 1);
    }
    g_ptr_array_unref(limits->claims);
    g_free(limits);
}
