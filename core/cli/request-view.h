/* One node request and its machines, for people. */
#pragma once

#include "cli/command.h"
#include "model/node.h"
#include "model/request.h"

/* NULL for a record that is none. */
DroverRequest *drover_request_from_record(const DroverRecord *record);
/* NULL when it does not exist. */
DroverRequest *drover_request_read(DroverStore *store, const char *id);
DroverNode *drover_request_read_node(DroverStore *store, const char *id);

/* The request, and of a fulfilled one how to reach each machine and give them back. */
void drover_request_print(DroverCli *cli, const DroverRequest *request);
