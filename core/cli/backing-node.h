/*
 * Nodes that another provider has cut into slots, as `drover delete --force` has them given back.
 * The provider's lock is not a program's, so nobody waits for it: what is written rests on the
 * lock's contender and on the version of the record.
 */
#pragma once

#include "cli/command.h"
#include "model/node.h"

/* `contenders` are those of its lock. A new string, the contender's path, when the node is one and
 * the lock is that of its owner; else NULL. */
char *drover_cli_backing_contender(DroverCli *cli, const DroverNode *node,
                                   const char *const *contenders);

/*
 * It gets no new nodes, and is given back when it is empty; `at_once`: with the nodes that are on
 * it. Prints its record and says which these are. The exit status.
 */
int drover_cli_give_backing_back(DroverCli *cli, const DroverNode *node, const char *contender,
                                 gboolean at_once);
