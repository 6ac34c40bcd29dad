/*
 * The registrar keeps the nodes of one provider's inventory equal to its machines: it registers the
 * empty slots, updates what the configuration changed, and removes what is configured no more.
 *
 *     machines (configuration) ─┐
 *                               ├─► slot table ─► reach, register, update, deregister
 *     nodes (cluster) ──────────┘
 *
 * Of all launchers that have the provider, only the one that holds the lock
 * /drover/inventory/<provider>/lock does this, and every write proves that it still holds it, so
 * there are never two nodes for one slot. It can be stepped at any time.
 */
#pragma once

#include "config/config.h"
#include "driver/runner.h"
#include "launcher/cluster/cluster.h"

typedef struct _DroverRegistrar DroverRegistrar;

/*
 * `machines` holds DroverMachine; they and the configuration live longer. Compares everything every
 * `sync_interval` seconds, in addition to the events that it is told of.
 */
DroverRegistrar *drover_registrar_new(DroverCluster *cluster, DroverRunner *runner,
                                      const DroverProviderConfig *config, const GPtrArray *machines,
                                      guint sync_interval);
/* Does what there is to do. Call it when the cluster or a node of the provider changed. */
void drover_registrar_step(DroverRegistrar *registrar);
/* A node changed, or is gone (NULL): the next step fills its slot. Those of others are ignored. */
void drover_registrar_note_node(DroverRegistrar *registrar, const char *id, const DroverNode *node);
/*
 * Takes a free node away whose machine does not answer. Needs no lock but the node's: whoever
 * registers the provider's machines finds the slot empty, and fills it when the machine is back.
 */
void drover_registrar_deregister(DroverRegistrar *registrar, const DroverNode *node);
/* The section of the machine that a node stands for; NULL when it is not configured. */
const struct drover_value *drover_registrar_machine(const DroverRegistrar *registrar,
                                                    const DroverNode *node);
/* Writes nothing more, and lets a successor have the lock. */
void drover_registrar_free(DroverRegistrar *registrar);
