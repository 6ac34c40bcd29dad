/*
 * Whether there is room for machines: what the cloud, the pool and the tenant may have, less what
 * is used. Reasons name the resource with its numbers: needed, used, limit.
 */
#pragma once

#include "launcher/provider/manager.h"
#include "launcher/request/decision.h"

/* `reason` is set unless it fits; free with g_free. */

/* One more machine of the label, now. */
DroverRoom drover_room_for_one(DroverManager *manager, const DroverPoolConfig *pool,
                               const char *label, char **reason);
/* All of the request's, if nothing else were there. */
DroverRoom drover_room_for_ever(DroverManager *manager, const DroverPoolConfig *pool,
                                const DroverRequest *request, char **reason);
/* The request's tenant, on all providers. `tenants` holds DroverTenantConfig. NEVER when the
 * request alone is too much. */
DroverRoom drover_room_of_tenant(DroverManager *manager, const DroverPoolConfig *pool,
                                 const GPtrArray *tenants, const DroverRequest *request,
                                 char **reason);

/*
 * {"pool": {resource: limit}, "provider": {...}}: what the pool may use, and what is known of what
 * the cloud lets all pools use. New reference.
 */
json_t *drover_room_limits(DroverManager *manager, const DroverPoolConfig *pool);

/* The images that the labels need are there. */
DroverRoom drover_room_for_images(DroverManager *manager, const DroverPoolConfig *pool,
                                  const char *const *labels, char **reason);
