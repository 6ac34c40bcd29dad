/*
 * What the parts of backing share; see backing.h.
 *
 *     backing.c          its life, news of nodes, what the driver says and hears
 *     backing-ticket.c   requests for backing nodes
 *     backing-wish.c     what is to be done with those there are
 *     backing-orphans.c  those of providers that nobody has
 */
#pragma once

#include "base/log.h"
#include "launcher/provider/backing.h"

#define DROVER_BACKING_LOGGER "Backing"

struct _DroverBacking {
    grefcount references; /* the owner, and every answer still to come */
    DroverParts *parts;   /* NULL once freed */
    DroverSession *session;
    DroverRunner *runner;
    char *provider, *owner;
    void (*wake)(gpointer user_data);
    gpointer user_data;
    gboolean began, listed;
    guint verifying;      /* locks that are being looked at */
    GHashTable *unseen;   /* ids of nodes at whose locks the look was lost */
    gboolean sweeping;    /* a withdrawal may have been lost */
    GHashTable *tickets;  /* number -> Ticket */
    GHashTable *claimed;  /* id of a backing node -> path of our contender */
    GHashTable *noted;    /* id of a backing node -> user data that the driver was told of */
    GHashTable *slots;    /* id of a node -> DroverBackingSlot */
    GHashTable *launches; /* id of a node -> Launch */
    GPtrArray *wishes;    /* of Wish */
};

typedef struct {
    char *backing_node;
    int slot;
} DroverBackingSlot;

typedef struct {
    char *pool;
    DroverBackingBindFunc bind;
    gpointer launch;
} DroverBackingLaunch;

DroverBacking *drover_backing_ref(DroverBacking *backing);
void drover_backing_unref(DroverBacking *backing);

/* Tells the driver; takes the facts over. */
void drover_backing_tell(DroverBacking *backing, enum drover_backing_event event, json_t *facts);
void drover_backing_tell_slot(DroverBacking *backing, enum drover_backing_event event,
                              const char *node_id, const char *backing_node, int slot);
/* What a driver learns of a backing node. */
json_t *drover_backing_fields(const DroverNode *node);
/* The node is the provider's. */
void drover_backing_take(DroverBacking *backing, const char *id, const char *contender);
/* It is not any more; the driver is told. */
void drover_backing_lose(DroverBacking *backing, const char *id);

/* ---- backing-ticket.c ---- */

void drover_backing_begin_ticket(DroverBacking *backing, guint64 number, const char *label,
                                 const char *user_data);
void drover_backing_withdraw_ticket(DroverBacking *backing, guint64 number);
void drover_backing_step_tickets(DroverBacking *backing);
void drover_backing_free_ticket(gpointer ticket);
/* Requests that an earlier process of this session, or an earlier object of the provider, left. */
void drover_backing_withdraw_left(DroverBacking *backing);

/* ---- backing-wish.c ---- */

void drover_backing_wish(DroverBacking *backing, const struct drover_backing_call *call,
                         const char *user_data);
void drover_backing_step_wishes(DroverBacking *backing);
void drover_backing_drop_wishes_of(DroverBacking *backing, const char *node_id);
void drover_backing_free_wish(gpointer wish);
