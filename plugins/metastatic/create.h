/*
 * Making a node: it gets a slot, which is written down when the backing node is there.
 *
 *     find ─► wait for the backing node ─► assign ─► assigned: done
 *      ▲                │ failed             │ refused
 *      │                ▼                    │
 *      │          the attempt fails          │
 *      └─────────────────────────────────────┘
 */
#pragma once

#include "record.h"

struct creation {
    enum { FIND, WAIT, ASSIGN, ASSIGNED, LOST } state;
    struct metastatic *self;
    struct drover_operation *op;
    char *node_id;
    struct record *record; /* with WAIT, ASSIGN and ASSIGNED */
    guint slot;
    char *reason; /* with LOST */
};

enum drover_step create_step(void *self, struct drover_operation *op);

/* The node's slot is asked for, now that the backing node is there. */
void creation_assign(struct creation *creation);
/* Those that are about the record. */
void creations_begin(struct metastatic *self, struct record *record);
void creations_lose(struct metastatic *self, struct record *record, const char *reason);
