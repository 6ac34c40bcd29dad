/*
 * A handle of the client library: a connection to one of the servers, and the session on it. There
 * are two ways to be rid of it: with its session, or without. For session.c only; all functions are
 * for the core loop.
 */
#pragma once

#include <zookeeper/zookeeper.h>

#include "zk/mailbox.h"
#include "zk/state-file.h"

typedef struct _DroverZkHandle DroverZkHandle;

typedef struct {
    const char *servers;                   /* "a:1,b:2", without a chroot */
    int timeout;                           /* milliseconds, as asked for */
    const DroverSessionIdentity *identity; /* its session is taken up, unless its id is 0 */
    const char *digest;                    /* "user:password", or NULL */
    DroverMailbox *mailbox;
} DroverZkHandleOptions;

/* On the core loop, never after the handle's end. `path` is the library's, chroot included. */
typedef void (*DroverZkHandleEvent)(int type, int state, const char *path, gpointer user_data);

/* Begins to connect. NULL, with errno, when none of the servers has an address. */
DroverZkHandle *drover_zk_handle_new(const DroverZkHandleOptions *options,
                                     DroverZkHandleEvent event, gpointer user_data);
/* Ends the session too, if the handle is connected. */
void drover_zk_handle_close(DroverZkHandle *handle);
/* The session stays as it is at the servers. */
void drover_zk_handle_leave(DroverZkHandle *handle);

zhandle_t *drover_zk_handle_library(const DroverZkHandle *handle);
