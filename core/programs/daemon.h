/*
 * The background: a process of its own session, with working directory /, umask 022, no core files,
 * and no open files. To be begun before there are threads, and before anything is opened.
 */
#pragma once

#include <glib.h>

/*
 * Takes the pid file (see pid-file.h), and returns TRUE in the daemon. The process that called it
 * stays until the daemon is ready and then exits with 0, or with 1 when the daemon ends before.
 * FALSE with an error, in the process that called it, when there is no daemon.
 */
gboolean drover_daemon_begin(const char *pid_file, GError **error);
/* The start went well. Until now the standard streams were the starting process's. */
void drover_daemon_ready(void);
/* Removes the pid file. Does nothing in the foreground. */
void drover_daemon_end(void);
