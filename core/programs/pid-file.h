/*
 * The pid file of a daemon: it keeps a second one from starting, and tells service managers whom to
 * signal. It holds the decimal pid and a newline.
 */
#pragma once

#include <glib.h>

/*
 * Creates the file for this process. A file whose process does not exist any more is removed; one
 * of a living process, or with anything else in it, is waited for for so many seconds. FALSE with
 * an error when it is still there then, or cannot be created.
 */
gboolean drover_pid_file_take(const char *path, guint seconds, GError **error);
/* Writes this process's pid into a file that its parent took. */
gboolean drover_pid_file_inherit(const char *path, GError **error);
/* Removes the file if it is this process's. */
void drover_pid_file_remove(const char *path);
