/* Nodes in Nodepool's columns, as a table and as the objects that the status pages have too. */
#pragma once

#include "cli/command.h"

/* Elements are DroverRecord, with their locks. `detail`: all columns. */
void drover_node_table_print(DroverCli *cli, const GPtrArray *records, gboolean detail);
