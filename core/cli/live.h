/*
 * A command that goes on until somebody ends it: SIGINT, SIGTERM or SIGHUP, a reader that has gone
 * away, drover_live_end(), or a connection that is not there for longer than --connect-timeout.
 *
 * Output is queued and written when the reader takes it, so a reader that is slow never keeps the
 * command from being ended, nor the session from being kept alive.
 */
#pragma once

#include "cli/command.h"

typedef struct _DroverLive DroverLive;

/*
 * `connection` is told of each change of it; may be NULL. Everything is called on the main loop.
 * From here on SIGPIPE is ignored.
 */
DroverLive *drover_live_new(DroverCli *cli,
                            void (*connection)(DroverSessionState state, gpointer user_data),
                            gpointer user_data);
void drover_live_free(DroverLive *live);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DroverLive, drover_live_free)

/* Queues a text for standard output, as it is. */
void drover_live_write(DroverLive *live, const char *text, gsize length);
/* Bytes that nobody has taken yet. */
gsize drover_live_queued(const DroverLive *live);

/* Until the end. Returns the exit status, 0 for an end that somebody asked for. */
int drover_live_run(DroverLive *live);
/* What is queued is still written, unless that would mean waiting. */
void drover_live_end(DroverLive *live, int status);
