/* Nodes in Nodepool's columns, as a table and as the objects that the status pages have too. */
#pragma once

#include "cli/command.h"

/* {key: value} of all columns, in their order; NULL for a record that is none. New reference. */
json_t *drover_node_object(const DroverRecord *znode);

/* Elements are DroverRecord, with their locks. `detail`: all columns. */
void drover_node_table_print(DroverCli *cli, const GPtrArray *records, gboolean detail);
