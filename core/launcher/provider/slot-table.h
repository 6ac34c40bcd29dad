/*
 * Which node stands in which slot of which machine, for the nodes of one provider. It is told of
 * each node that changes; ZooKeeper is the only state.
 *
 *     machine (name, username, port)   slot 0: node 17    slot 1: (empty)   | beyond: node 9
 *     unknown machine                                                      | node 23
 *
 * Nodes that are building or being deleted take no place.
 */
#pragma once

#include "model/node.h"

#define DROVER_NO_MACHINE (-1)

/* What tells machines apart. Strings are borrowed. */
typedef struct {
    const char *name, *username;
    int port;
} DroverMachineIdentity;

typedef struct {
    DroverMachineIdentity identity;
    guint slots;
} DroverSlotMachine;

typedef struct _DroverSlotTable DroverSlotTable;

/* The machines live longer. */
DroverSlotTable *drover_slot_table_new(const DroverSlotMachine *machines, guint n_machines);
void drover_slot_table_free(DroverSlotTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DroverSlotTable, drover_slot_table_free)

/* A node of the provider changed, or is gone (NULL). */
void drover_slot_table_note(DroverSlotTable *table, const char *id, const DroverNode *node);

/* Index of the machine that a node stands for, or DROVER_NO_MACHINE. */
int drover_slot_table_machine_of(const DroverSlotTable *table, const DroverNode *node);
/* The same of a node that the table was told of; DROVER_NO_MACHINE, too, when it was not. */
int drover_slot_table_find(const DroverSlotTable *table, const char *id);

/* What stands at one machine; valid until the next note. */
typedef struct {
    GPtrArray *places; /* one for each slot: const DroverNode, or NULL when empty */
    GPtrArray *excess; /* const DroverNode beyond the configured slots */
} DroverSlotRow;

/* The same nodes always give the same row. Those of older versions without a slot number fill
 * empty places. */
DroverSlotRow *drover_slot_table_row(const DroverSlotTable *table, guint machine);
void drover_slot_row_free(DroverSlotRow *row);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DroverSlotRow, drover_slot_row_free)

/* const DroverNode of machines that are not configured. Free with unref. */
GPtrArray *drover_slot_table_unknown(const DroverSlotTable *table);
