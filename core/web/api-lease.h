/*
 * Leases: a request of a client that has vanished is given back. Until when it stays at least is
 * written in the request itself (requestor_data: lease_until, seconds since the epoch), and, once
 * its client has asked about it, in a znode of its own,
 *
 *     /drover/leases/<request id>   {"until": SECONDS}
 *
 * since requests are written under their locks. So any launcher may lengthen it, and any launcher
 * ends it, also after all of them were started again. Core loop only.
 */
#pragma once

#include "config/config.h"
#include "launcher/cluster/cluster.h"
#include "zk/change.h"

typedef struct _DroverApiLeases DroverApiLeases;

/* Begins to look after the leases of all requests. The cluster lives longer. */
DroverApiLeases *drover_api_leases_new(DroverCluster *cluster);
void drover_api_leases_free(DroverApiLeases *leases);

/* Into the record of a new request, if the client's requests have leases. */
void drover_api_lease_begin(json_t *record, const DroverTokenConfig *client);
/*
 * Its client has asked about the request, or waits for it: from now on it stays for so many
 * seconds, if it has a lease. Written when a third of them is over, not each time.
 */
void drover_api_lease_renew(DroverApiLeases *leases, const DroverRequest *request, gint64 seconds);
/* Gives the request, its machines and its lease back, see drover_request_give_back(). */
void drover_api_lease_give_back(const DroverApiLeases *leases, const DroverRequest *request,
                                DroverChangeFunc done, gpointer user_data);
