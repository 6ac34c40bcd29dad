/* What session.c and operation.c share. Not for other files. */
#pragma once

#include "zk/operation.h"

/* One thing that the client library's threads hand to the core loop. */
typedef struct _DroverMessage DroverMessage;
struct _DroverMessage {
    GList link; /* data points to the message itself */
    DroverSession *session;
    void (*deliver)(DroverMessage *message); /* on the core loop; frees the message */
};

void drover_session_post(DroverSession *session, DroverMessage *message);

/* Every operation is counted from its call to its answer. */
void drover_session_begin_operation(DroverSession *session);
void drover_session_end_operation(DroverSession *session);

/* NULL unless connected: nothing is begun while suspended. */
zhandle_t *drover_session_handle(DroverSession *session);
/* The full path, chroot included. */
char *drover_session_full_path(const DroverSession *session, const char *path);
const char *drover_session_strip_chroot(const DroverSession *session, const char *path);
const struct ACL_vector *drover_session_acl(const DroverSession *session);
DroverSessionCounters *drover_session_count(DroverSession *session);
void drover_session_notify_write(DroverSession *session, const char *path, GBytes *data,
                                 gint32 version, gint64 mzxid);
