/* What remote.c, remote-process.c and remote-operation.c share. Not for other files. */
#pragma once

#include <drover/host.h>
#include <glib.h>
#include <jansson.h>

#include "driver/frames.h"
#include "driver/remote.h"
#include "driver/transport.h"

typedef enum {
    DROVER_REMOTE_DOWN,    /* waits for the next start */
    DROVER_REMOTE_OPENING, /* the process was told to open the provider */
    DROVER_REMOTE_UP,
} DroverRemoteState;

/* One provider whose driver is elsewhere. All of it is the provider's thread's. */
typedef struct {
    struct drover_provider *provider;
    const struct drover_driver *driver; /* the real one's table, whose functions are not called */
    char *path;
    GMainContext *context;
    guint limit; /* seconds that a call may take */

    /* The process. */
    DroverRemoteState state;
    GPid pid; /* 0: none */
    DroverFrames *frames;
    gint64 last_order;
    GQueue orders; /* of Order: not answered yet */
    gint64 since;  /* when the oldest of them became the oldest, monotonic */
    GSource *watch, *restart;
    gint64 started;
    guint pause;           /* before the next start, in milliseconds */
    gboolean idle, opened; /* said to the driver */
    char *problem;         /* why the opening failed */
    enum drover_failure failure;

    GPtrArray *values; /* see drover_transport_number() */
    GPtrArray *machines;
    GHashTable *operations; /* number -> RemoteOperation */
    gint64 last_operation;
} DroverRemote;

typedef struct {
    char *pool;
    gint64 config, slots;
} DroverRemoteMachine;

/* ---- remote-process.c ---- */

/* Starts the process and tells it to open the provider. FALSE with `problem` set. */
gboolean drover_remote_start(DroverRemote *remote);
/* Sends an order and takes it over. `function` is what the driver will be in, a constant string. */
void drover_remote_order(DroverRemote *remote, const char *order, const char *function,
                         gint64 operation, json_t *frame);
/* Waits until all orders are answered; else the process is killed and it is FALSE. */
gboolean drover_remote_settle(DroverRemote *remote);
/* Kills it, if it is there. What it ended with; free with g_free. */
char *drover_remote_kill(DroverRemote *remote);

/* ---- remote.c ---- */

/* The process has opened the provider, or failed to. */
void drover_remote_note_opened(DroverRemote *remote, const json_t *answer);
gboolean drover_remote_note_machine(DroverRemote *remote, const json_t *frame);

/* ---- remote-operation.c ---- */

/* Fills in the functions of operations that the real driver has. */
void drover_remote_fill_operations(struct drover_driver *table, const struct drover_driver *driver);
void drover_remote_operation_free(gpointer operation);
/* FALSE: the frame makes no sense. */
gboolean drover_remote_operation_said(DroverRemote *remote, const json_t *frame);
void drover_remote_operation_began(DroverRemote *remote, gint64 operation, const json_t *answer);
void drover_remote_operation_stepped(DroverRemote *remote, gint64 operation, const json_t *answer);
/* The process is gone, and why; or is there again. */
void drover_remote_operations_lost(DroverRemote *remote, const char *why);
void drover_remote_operations_resumed(DroverRemote *remote);
