/*
 * The program drover-driver-host, which has a driver in a process of its own: only to see whether
 * its file can be loaded, or to run a provider.
 */
#pragma once

#include <glib.h>

/*
 * Where it is: what the environment variable DROVER_DRIVER_HOST says, beside this program's own
 * file, or where it is installed. NULL when it is nowhere. Free with g_free.
 */
char *drover_helper_path(void);

/*
 * Loads the file in another process. FALSE when that one crashed, ended or did not come to an end
 * within 10 seconds; also a file that is no driver can be loaded without harm. Waits for it.
 * Without drover-driver-host nothing is tried. `reason` is half a sentence, to be freed.
 */
gboolean drover_helper_try_load(const char *path, char **reason);

/*
 * Starts it to have a driver; `name` is for people who look at processes. `fd` is the socket to it,
 * see transport.h; close it. End it with drover_helper_end().
 */
gboolean drover_helper_start(const char *name, GPid *pid, int *fd, GError **error);
/*
 * Waits a moment for a process whose socket is closed to end by itself, else kills it; FALSE then.
 * `status` as waitpid() gives it.
 */
gboolean drover_helper_end(GPid pid, int *status);

/* What the program writes to standard output when it has survived the file. */
#define DROVER_HELPER_SURVIVED "survived\n"
