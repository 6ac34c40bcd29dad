/* What session.c, operation.c and bulk.c share. Not for other files. */
#pragma once

#include "zk/mailbox.h"
#include "zk/operation.h"

/*
 * An operation begins: `message` is its answer, and the session its owner. It is delivered with
 * ZCLOSING when the handle ends without an answer of the library.
 */
void drover_session_expect(DroverSession *session, DroverMessage *message);
/* From any thread. */
void drover_session_post(DroverSession *session, DroverMessage *message);

/* NULL unless connected: nothing is begun while suspended. */
zhandle_t *drover_session_handle(DroverSession *session);
/* The full path, chroot included. */
char *drover_session_full_path(const DroverSession *session, const char *path);
const char *drover_session_strip_chroot(const DroverSession *session, const char *path);
/* "user:password", or NULL. */
const char *drover_session_digest(const DroverSession *session);
const struct ACL_vector *drover_session_acl(const DroverSession *session);
DroverSessionCounters *drover_session_count(DroverSession *session);
void drover_session_notify_write(DroverSession *session, const char *path, GBytes *data,
                                 gint32 version, gint64 mzxid);
