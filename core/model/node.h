/*
 * A node: /nodepool/nodes/<id>, one machine or one slot of a machine. See record.h.
 */
#pragma once

#include "model/record.h"
#include "model/resources.h"

#define DROVER_NODES_PATH "/nodepool/nodes"

typedef enum {
    DROVER_NODE_INIT,
    DROVER_NODE_BUILDING,
    DROVER_NODE_TESTING,
    DROVER_NODE_READY,
    DROVER_NODE_IN_USE,
    DROVER_NODE_USED,
    DROVER_NODE_HOLD,
    DROVER_NODE_DELETING,
    DROVER_NODE_FAILED,
    DROVER_NODE_ABORTED,
    DROVER_NODE_DELETED,
    DROVER_NODE_UNKNOWN, /* a state of some later version: somebody else's, never touched */
} DroverNodeState;

#define DROVER_NO_SLOT (-1)

typedef struct {
    grefcount references;
    char *id;
    DroverNodeState state;
    double state_time, created_time; /* seconds since the epoch; 0: unknown */
    /* Shared by many nodes; NULL when unset. */
    GRefString *provider, *pool, *launcher, *username, *tenant_name, *requestor, *az;
    GRefString **labels; /* NULL-ended, never NULL */
    char *allocated_to;  /* id of the request that owns it */
    char *hostname, *interface_ip;
    char *external_id;          /* one that is an object as its JSON text */
    DroverResources *resources; /* what it uses; NULL when unset */
    int port;                   /* 22 when unset; 0 when it is an object with access data */
    int slot;                   /* DROVER_NO_SLOT */
    gint64 hold_expiration;     /* seconds after state_time; 0: none */
    char *user_data;            /* what its user keeps with it; NULL when unset or no text */
    char *backing_node;         /* whose slot it is, of a metastatic provider; else NULL */
    int backing_slot;           /* DROVER_NO_SLOT */
    GBytes *record;
    gint32 version;
} DroverNode;

/* NULL with DROVER_ERROR_MALFORMED when it is no node record. An unknown state is none. */
DroverNode *drover_node_decode(const char *id, GBytes *data, gint32 version, GError **error);
DroverNode *drover_node_ref(DroverNode *node);
void drover_node_unref(DroverNode *node);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DroverNode, drover_node_unref)

/* The record as a JSON object with every field present, to be changed. */
json_t *drover_node_record(const DroverNode *node);
/*
 * Of a backing node, one in use that a provider cuts into slots, who that is, as its user data
 * says: "NodePool:<driver>:<provider>". NULL when it is none. Free with g_free.
 */
char *drover_node_backing_owner(const DroverNode *node);
/* A new node's record: state, state_time and created_time set, everything else unset. */
json_t *drover_node_new_record(DroverNodeState state);
void drover_node_record_set_state(json_t *record, DroverNodeState state);
/* Owned by the request from now on. */
void drover_node_record_allocate(json_t *record, const char *request_id, const char *tenant_name,
                                 const char *requestor);

/* Sets every field that the object has. A port is written under its old name too. */
void drover_node_record_merge(json_t *record, const json_t *changes);

const char *drover_node_state_name(DroverNodeState state);
gboolean drover_node_has_label(const DroverNode *node, const char *label);
/* Ready and nobody's. */
gboolean drover_node_is_free(const DroverNode *node);

/* Paths; free with g_free. */
char *drover_node_path(const char *id);
char *drover_node_lock_path(const char *id);
