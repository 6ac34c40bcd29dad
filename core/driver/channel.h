/*
 * A channel takes messages from every thread to the loop of one main context, which handles them in
 * the order in which they were posted.
 */
#pragma once

#include <glib.h>

typedef struct _DroverChannel DroverChannel;
typedef void (*DroverChannelFunc)(gpointer data);

/* `context`: NULL is the core loop's. */
DroverChannel *drover_channel_new(GMainContext *context);
void drover_channel_unref(DroverChannel *channel);

/* Any thread. `destroy` (may be NULL) is called after `func`, or instead of it. */
void drover_channel_post(DroverChannel *channel, DroverChannelFunc func, gpointer data,
                         GDestroyNotify destroy);

/* Drops what was not handled, and whatever is posted from now on. On the loop's thread, or when the
 * loop does not run any more. */
void drover_channel_close(DroverChannel *channel);
