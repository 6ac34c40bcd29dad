/*
 * What each client of the API may have: only some labels, only so many nodes. What was submitted
 * counts at once, though the caches show it a moment later. Core loop only.
 */
#pragma once

#include "config/config.h"
#include "launcher/cluster/cluster.h"

typedef struct _DroverApiLimits DroverApiLimits;
/* A request that is being submitted. */
typedef struct _DroverApiClaim DroverApiClaim;

/* The cluster lives longer. */
DroverApiLimits *drover_api_limits_new(DroverCluster *cluster);
/* Claims that are not settled yet still are to be. */
void drover_api_limits_free(DroverApiLimits *limits);

/* The first label that the client may not ask for; NULL: it may ask for all. */
const char *drover_api_limits_find_foreign(const DroverTokenConfig *client,
                                           const char *const *labels);
/* NULL when the client would have too many nodes. */
DroverApiClaim *drover_api_limits_claim(DroverApiLimits *limits, const DroverTokenConfig *client,
                                        guint nodes);
/* It has got an id; or NULL: it does not exist. */
void drover_api_claim_settle(DroverApiClaim *claim, const char *id);
