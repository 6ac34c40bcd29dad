/*
 * Backing records: what the driver knows of each backing node, or of one that was asked for. All
 * changes of records happen here.
 *
 *     requested ─► has a node ─► failed, over its age or idle ─► empty: released ─► gone
 */
#pragma once

#include <drover/driver.h>
#include <glib.h>
#include <jansson.h>

struct record {
    char *label; /* of the nodes on it */
    guint slots;
    char **occupants; /* the id of the node that has each slot; NULL: free */
    gboolean failed;  /* gets no new nodes */
    gboolean releasing;
    gboolean gone;     /* its backing node is not ours any more */
    int64_t launched;  /* when it was asked for: seconds since the epoch */
    int64_t last_used; /* drover_now() */
    uint64_t ticket;   /* 0: it was there when the provider started */
    char *node;        /* NULL: it is still asked for */
    json_t *fields;    /* of the node */
};

struct metastatic {
    struct drover_provider *provider;
    const struct drover_value *config;
    GPtrArray *records;    /* oldest first */
    GHashTable *creations; /* id of a node -> struct creation, see create.h */
    gboolean listed, idle;
    uint64_t last_ticket;
};

/* Asks for a backing node of a label. */
struct record *record_request(struct metastatic *self, const struct drover_value *label);
/* One that is there; NULL when its user data tells no label. */
struct record *record_take(struct metastatic *self, const char *node, const char *user_data);
void record_remove(struct metastatic *self, struct record *record);
void record_free(gpointer record);

/* Each NULL when there is none. */
struct record *record_of_node(const struct metastatic *self, const char *node);
struct record *record_of_ticket(const struct metastatic *self, uint64_t ticket);
/* The first with room for a node of the label. */
struct record *record_with_room(struct metastatic *self, const char *label);
/* The one that has a slot of the node. */
struct record *record_of_occupant(const struct metastatic *self, const char *node_id);

/* What is said of a backing node anew. */
void record_update(struct record *record, const char *user_data, const struct drover_value *fields);

/* ---- Slots ---- */

#define NO_SLOT (-1)

/* The lowest free one is the node's; its number. */
guint record_occupy(struct metastatic *self, struct record *record, const char *node_id);
/* A slot is the node's, as it is written down. */
void record_note_occupant(struct metastatic *self, struct record *record, guint slot,
                          const char *node_id);
/* All slots that the node has but one of `kept`, which may be NULL. */
void record_vacate(struct metastatic *self, const char *node_id, const struct record *kept,
                   guint slot);

/* ---- Its end ---- */

/* It gets no new nodes any more, in this process or another. */
void record_fail(struct metastatic *self, struct record *record, const char *reason);
void record_note_gone(struct metastatic *self, struct record *record);
/* Releases it if it is time. It may be gone when this returns. */
void record_look(struct metastatic *self, struct record *record);
void record_look_at_all(struct metastatic *self);
