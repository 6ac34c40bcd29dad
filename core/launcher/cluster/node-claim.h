/*
 * Writing a node that nobody has locked, on the strength of what the cluster's cache shows: the
 * change is done only if that is still true.
 */
#pragma once

#include "launcher/cluster/cluster.h"
#include "zk/change.h"

/* Adds to the change: the node's lock is claimed, its record set at the node's version. */
void drover_node_claim(DroverCluster *cluster, DroverChange *change, const DroverNode *node,
                       const json_t *record);
