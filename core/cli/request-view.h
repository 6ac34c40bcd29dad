/* Node requests, and one of them with its machines, for people. */
#pragma once

#include "cli/command.h"
#include "model/node.h"
#include "model/request.h"

/* All requests, sorted by id; elements are DroverRequest. Records that are none are left out, with
 * a word on standard error. */
GPtrArray *drover_requests_read_all(DroverStore *store, GError **error);
/* DROVER_ERROR_NOT_FOUND when it does not exist. */
DroverRequest *drover_request_read(DroverStore *store, const char *id, DroverReadFlags flags,
                                   GError **error);
/* The nodes of the request that still exist; elements are DroverNode. */
GPtrArray *drover_request_read_nodes(DroverStore *store, const DroverRequest *request,
                                     GError **error);

/* The columns of request-list; and one row of them, {key: value}, a new reference. */
extern const DroverColumn drover_request_columns[];
json_t *drover_request_object(const DroverRequest *request);

/* All about it, and how to reach its machines; `nodes` holds those DroverNode that there are. New
 * reference. */
json_t *drover_request_details(const DroverRequest *request, const GPtrArray *nodes);

/*
 * Nodes of a fulfilled request are the requestor's. They are marked used and the request is deleted
 * in one transaction, so that nothing in between can leave a machine with nobody; a launcher sees
 * to the rest. A request that is not fulfilled has no nodes yet: it is only deleted, and whoever is
 * serving it gives up.
 */
void drover_request_give_back(DroverChange *change, const DroverRequest *request,
                              const GPtrArray *nodes);

/* Of those that wait to be looked at, in the order in which they are served: 1 is the next one; 0
 * when it does not wait for that, or nobody can tell. */
guint drover_request_position(DroverStore *store, const DroverRequest *request);

/*
 * Prints the request, and of a fulfilled one how to reach each machine and give them back. Returns
 * the exit status.
 */
int drover_request_print(DroverCli *cli, const DroverRequest *request);
