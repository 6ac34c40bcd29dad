/* The threads of this process, for the dump. */
#pragma once

#include <glib.h>

/*
 * A line for each: "Thread: ID NAME d: FLAG, STATE", where FLAG is True for those that do not keep
 * the process alive, and STATE is the kernel's letter. Free with g_strfreev.
 */
char **threads_describe(void);
