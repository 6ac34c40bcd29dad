/*
 * The state folder: what one process leaves to its successor on the same host. Holds a lock file,
 * so that there is only ever one holder, and the session's identity, which is a secret (mode 0600).
 */
#pragma once

#include <glib.h>

#define DROVER_SESSION_PASSWORD_SIZE 16

typedef struct {
    gint64 id; /* 0: none */
    guint8 password[DROVER_SESSION_PASSWORD_SIZE];
    char holder[17]; /* 16 hex digits */
} DroverSessionIdentity;

/*
 * Creates the folder when missing and takes its lock; the lock ends with the process or the close
 * of the descriptor that is returned. -1 with DROVER_ERROR_BUSY when another process holds it.
 */
int drover_state_lock(const char *directory, GError **error);

/* FALSE when there is none, or it is unusable (which is logged), or for another `cluster`. */
gboolean drover_state_load(const char *directory, const char *cluster,
                           DroverSessionIdentity *identity);
gboolean drover_state_save(const char *directory, const char *cluster,
                           const DroverSessionIdentity *identity, GError **error);
void drover_state_forget(const char *directory);
