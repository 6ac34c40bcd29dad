/*
 * Making room in a full pool: the node that has been ready for the longest, and is nobody's, gives
 * way to what is asked for. One at a time: while a node of the pool is being deleted there will be
 * room anyway.
 */
#pragma once

#include "launcher/cluster/cluster.h"
#include "launcher/cluster/stock.h"

/* Marks one node for deletion, unless it is in somebody's hands by then. */
void drover_make_room(DroverCluster *cluster, DroverStock *stock);
