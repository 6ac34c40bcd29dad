/*
 * Who wants to hear of a session: listeners of its state, and observers of parts of the tree. They
 * are called in the order in which they were added, and may come and go at any time, also while
 * they are called. For session.c only.
 */
#pragma once

#include "zk/session.h"

typedef struct _DroverSubscribers DroverSubscribers;

DroverSubscribers *drover_subscribers_new(void);
void drover_subscribers_free(DroverSubscribers *subscribers);

/* Each returns an id for removal, never 0. */
guint drover_subscribers_add_listener(DroverSubscribers *subscribers,
                                      DroverSessionListener listener, gpointer user_data);
guint drover_subscribers_add_observer(DroverSubscribers *subscribers, const char *root,
                                      const DroverSessionObserver *observer, gpointer user_data);
/* An id that is not known (any more) is ignored. */
void drover_subscribers_remove(DroverSubscribers *subscribers, guint id);

void drover_subscribers_tell_state(DroverSubscribers *subscribers, DroverSession *session,
                                   DroverSessionState state);
void drover_subscribers_tell_event(DroverSubscribers *subscribers, const char *path, int type);
void drover_subscribers_tell_write(DroverSubscribers *subscribers, const char *path, GBytes *data,
                                   gint32 version, gint64 mzxid);
