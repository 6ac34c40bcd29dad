/* Processes: how many files they may open, and what is said of those that have ended. */
#pragma once

#include <glib.h>

/*
 * How a process came to its end, as the end of a sentence about it: "was ended by signal 6
 * (Aborted)", "ended with status 5". `status` as waitpid() gives it. Free with g_free.
 */
char *drover_process_describe_end(int status);

/*
 * Lets this process open as many files as the system allows it, up to 65,536: the usual limit of
 * 1,024 is there for programs that use select(), which this is none of. Once, at the start.
 */
void drover_process_allow_files(void);
/*
 * A GSpawnChildSetupFunc: gives a child back the limit that this process was started with, since
 * nobody knows whether its program uses select().
 */
void drover_process_restore_files(gpointer unused);
