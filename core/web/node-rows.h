/*
 * The rows of the list of nodes. What is in a node's record is made into text once for each change
 * of it, since reading ten thousand records again each second would hold the core loop up; only its
 * age and its lock are looked up for each list. What is new is read in slices of a few
 * milliseconds. Rows that nobody has asked for in a minute are dropped.
 */
#pragma once

#include "cli/row-table.h"
#include "launcher/cluster/cluster.h"

typedef struct _DroverNodeRows DroverNodeRows;

/* The cluster lives longer. */
DroverNodeRows *drover_node_rows_new(DroverCluster *cluster);
void drover_node_rows_free(DroverNodeRows *rows);

/*
 * Reads on, for one slice; `node_id` not NULL: of that node alone. FALSE: there is more to read, or
 * a lock that is not known yet. `hurry`: unknown locks will do.
 */
gboolean drover_node_rows_prepare(DroverNodeRows *rows, const char *node_id, gboolean hurry);

/* The columns, up to one without a key. */
extern const DroverColumn drover_node_columns[];

/* When they are prepared: an array of objects, sorted by id. Free with g_free. */
char *drover_node_rows_json(DroverNodeRows *rows, const char *node_id);
/* The table; see drover_row_table_text() for the fields. */
char *drover_node_rows_text(DroverNodeRows *rows, const char *node_id, const char *fields);
