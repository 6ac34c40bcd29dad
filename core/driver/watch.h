/*
 * Watches over the calls into one provider's driver: how long the present one takes, and whether
 * the provider is healthy. It is not while a call has taken longer than the limit, which is seen
 * within a second, nor while there is trouble of another kind.
 */
#pragma once

#include <drover/driver.h>
#include <glib.h>

typedef struct _DroverWatch DroverWatch;

/* How long a call may take, in seconds: as the provider's configuration says, or else as is usual
 * for a driver that says that it blocks, or that does not. */
guint drover_watch_limit(const struct drover_driver *driver, const struct drover_value *config);

DroverWatch *drover_watch_new(void);
void drover_watch_free(DroverWatch *watch);

/* ---- The provider's thread: around each call. May be nested. ---- */

/* `function` is a constant string. */
void drover_watch_enter(DroverWatch *watch, const char *function);
/* How long the call took, in milliseconds; -1: the driver is still in an outer one. */
gint64 drover_watch_leave(DroverWatch *watch);
gboolean drover_watch_is_inside(const DroverWatch *watch);
/* The function of the outermost call. */
const char *drover_watch_function(const DroverWatch *watch);

/* ---- Any thread ---- */

/* How long the present call has been taking, in milliseconds; 0: there is none. */
gint64 drover_watch_blocked_for(const DroverWatch *watch);

/* ---- The core loop ---- */

/* Tells of each change of drover_watch_problem(). `limit` is in seconds. */
void drover_watch_begin(DroverWatch *watch, guint limit, void (*changed)(gpointer user_data),
                        gpointer user_data);
void drover_watch_end(DroverWatch *watch);
/* NULL: it is over. */
void drover_watch_set_trouble(DroverWatch *watch, const char *trouble);
/* One sentence, which is the same as long as the problem is; NULL: healthy. */
const char *drover_watch_problem(const DroverWatch *watch);
