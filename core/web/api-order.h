/* What a client of the API asks for: a JSON object, checked. */
#pragma once

#include <jansson.h>

#include "config/config.h"
#include "launcher/cluster/cluster.h"

#define DROVER_API_REQUESTOR "api:" /* begins the requestors of all clients */

typedef struct {
    json_t *record; /* of the new request */
    int priority;
} DroverApiOrder;

/* FALSE with DROVER_ERROR_MALFORMED. `client` is who asks. */
gboolean drover_api_order_read(DroverApiOrder *order, const char *text, gsize length,
                               const DroverTokenConfig *client, GError **error);
void drover_api_order_clear(DroverApiOrder *order);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DroverApiOrder, drover_api_order_clear)

/* The requestor of the client's requests. Free with g_free. */
char *drover_api_requestor(const DroverTokenConfig *client);
/* Nodes of the request that there are; elements are const DroverNode, borrowed from the cache. */
GPtrArray *drover_api_nodes_of(DroverCluster *cluster, const DroverRequest *request);
