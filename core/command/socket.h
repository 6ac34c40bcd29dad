/*
 * The socket of a program's commands: a unix stream socket at a path of its own, for its account
 * alone (mode 0600).
 */
#pragma once

#include <gio/gio.h>

/*
 * A listening socket that does not block. What a process that died left at the path is replaced;
 * DROVER_ERROR_BUSY when somebody listens there, or the path is no socket.
 */
GSocket *drover_command_listen(const char *path, GError **error);

/*
 * Connects without waiting; the socket does not block. DROVER_ERROR_NOT_FOUND when nobody listens
 * there, DROVER_ERROR_BUSY when too many others are waiting to be let in.
 */
GSocket *drover_command_connect(const char *path, GError **error);
