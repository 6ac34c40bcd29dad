/* What is said of processes that have ended. */
#pragma once

/*
 * How a process came to its end, as the end of a sentence about it: "was ended by signal 6
 * (Aborted)", "ended with status 5". `status` as waitpid() gives it. Free with g_free.
 */
char *drover_process_describe_end(int status);
