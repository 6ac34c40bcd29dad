/*
 * Very many reads in few requests. What a read costs is the request, not the record: the server's
 * way through its queues, and the switches between the threads of both sides. Servers since
 * ZooKeeper 3.6 answer a hundred reads in one request ("multi-read"), which takes a tenth of the
 * time; the client library cannot ask for it. So this opens a connection of its own, with a session
 * of its own, to the server that the session is connected to, reads, and ends both:
 *
 *      session ──── client library ─────┐
 *                                       ├─► the same server, through the same relay with TLS
 *      drover_bulk_read() ── socket ────┘
 *
 * It knows as little of the protocol as this needs: no watches, no writes, no second attempt.
 * Whoever uses it reads one by one what it has not answered.
 */
#pragma once

#include "zk/operation.h"

typedef struct {
    const char *path;
    gboolean of_children; /* instead of its data; such an answer has no Stat */
    gpointer user_data;
} DroverBulkRead;

/*
 * Blocks, so it is for programs that have nothing else to do. Calls `done` for each read in turn,
 * before it returns. FALSE: for those that it was not called for there is no answer, because the
 * session is not connected, the server is too old or says nothing for `timeout` seconds, or the
 * connection broke.
 */
gboolean drover_bulk_read(DroverSession *session, const DroverBulkRead *reads, guint n_reads,
                          guint timeout, DroverReadFunc done, GError **error);
