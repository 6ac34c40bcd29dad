/*
 * What the client library's threads hand to the core loop: answers to operations, and events. They
 * are delivered in batches, in the order in which they came. For handle.c, session.c and
 * operation.c only.
 *
 *     operation begins ─► expected ─┐ the library answers
 *                                   ├──────────────────────► queue ─► delivered on the core loop
 *     event ────────────────────────┘
 *
 * Posting is for every thread, all else for the core loop.
 */
#pragma once

#include <glib.h>

typedef struct _DroverMailbox DroverMailbox;

typedef struct _DroverMessage DroverMessage;
struct _DroverMessage {
    void (*deliver)(DroverMessage *message); /* on the core loop; frees the message */
    gpointer owner;                          /* for the use of `deliver` */
    int rc;                                  /* of an operation */
    /* The mailbox's own. */
    GList link; /* of the list that it is in; data points to the message itself */
    gboolean expected;
};

/* Delivers on the default main context. */
DroverMailbox *drover_mailbox_new(void);
/* Must be empty, and nothing expected. */
void drover_mailbox_free(DroverMailbox *mailbox);

/*
 * The message is the answer to an operation that begins now. `rc` is what it will say when nobody
 * ever answers.
 */
void drover_mailbox_expect(DroverMailbox *mailbox, DroverMessage *message, int rc);
void drover_mailbox_post(DroverMailbox *mailbox, DroverMessage *message);

/* Delivers what is there. FALSE when nothing was. */
gboolean drover_mailbox_deliver(DroverMailbox *mailbox);
/* Delivers what comes until no answer is expected any more, or for so long (monotonic time). */
void drover_mailbox_deliver_expected(DroverMailbox *mailbox, gint64 deadline);
/* The same without delivering: answers stay in the queue, in their order. */
void drover_mailbox_await_expected(DroverMailbox *mailbox, gint64 deadline);
/* Posts all that is expected; for when no thread of the library is left that could answer. */
void drover_mailbox_give_up_expected(DroverMailbox *mailbox);

/* How many answers are still to come, and how many messages wait to be delivered. */
guint drover_mailbox_expected(DroverMailbox *mailbox);
guint drover_mailbox_waiting(DroverMailbox *mailbox);
/* How many batches were delivered so far. */
guint64 drover_mailbox_batches(const DroverMailbox *mailbox);
