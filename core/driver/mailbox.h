/*
 * A mailbox takes messages from every thread and handles them on the loop of one main context, in
 * the order in which they were posted.
 */
#pragma once

#include <glib.h>

typedef struct _DroverMailbox DroverMailbox;
typedef void (*DroverMailboxFunc)(gpointer data);

/* `context`: NULL is the core loop's. */
DroverMailbox *drover_mailbox_new(GMainContext *context);
void drover_mailbox_unref(DroverMailbox *mailbox);

/* Any thread. `destroy` (may be NULL) is called after `func`, or instead of it. */
void drover_mailbox_post(DroverMailbox *mailbox, DroverMailboxFunc func, gpointer data,
                         GDestroyNotify destroy);

/* Drops what was not handled, and whatever is posted from now on. On the loop's thread, or when the
 * loop does not run any more. */
void drover_mailbox_close(DroverMailbox *mailbox);
