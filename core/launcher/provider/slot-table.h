/*
 * Which node stands in which slot of which machine. Built from the nodes that exist each time it is
 * needed, and never trusted afterwards: ZooKeeper is the only state.
 *
 *     machine (name, username, port)   slot 0: node 17    slot 1: (empty)   | beyond: node 9
 *     unknown machine                                                      | node 23
 */
#pragma once

#include "model/node.h"

/* What tells machines apart. Strings are borrowed. */
typedef struct {
    const char *name, *username;
    int port;
} DroverMachineIdentity;

typedef struct {
    DroverMachineIdentity identity;
    guint slots;
} DroverSlotMachine;

typedef struct {
    GPtrArray *places; /* one for each slot: const DroverNode, or NULL when empty */
    GPtrArray *excess; /* const DroverNode beyond the configured slots */
} DroverSlotRow;

typedef struct {
    DroverSlotRow *rows; /* one for each machine, in the order given */
    guint n_rows;
    GPtrArray *unknown; /* const DroverNode of machines that are not configured */
} DroverSlotTable;

/*
 * `nodes` are const DroverNode, all of one provider; those that are building or being deleted take
 * no place. Nodes of older versions without a slot number fill empty places.
 */
DroverSlotTable *drover_slot_table_new(const DroverSlotMachine *machines, guint n_machines,
                                       const GPtrArray *nodes);
void drover_slot_table_free(DroverSlotTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DroverSlotTable, drover_slot_table_free)

gboolean drover_machine_identity_is_of(const DroverMachineIdentity *identity,
                                       const DroverNode *node);
