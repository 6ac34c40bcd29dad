/*
 * What the test servers share: ports, child processes that cannot outlive the test, waiting.
 */
#pragma once

#include <glib.h>
#include <sys/types.h>

/*
 * A free TCP port of 127.0.0.1, below the range from which the kernel serves outgoing connections:
 * nobody takes it by chance while the server that uses it is down for a restart.
 */
guint16 test_free_port(void);

/*
 * Starts a program with its output and errors appended to the file `log` (NULL: those of the test).
 * It is killed when the thread that started it ends. The caller reaps it: test_process_end().
 */
gboolean test_process_start(const char *const *argv, const char *log, pid_t *pid, GError **error);

/* The same, with pipes to its input and from its output; errors go where the test's go. */
gboolean test_process_start_with_pipes(const char *const *argv, int *input, int *output, pid_t *pid,
                                       GError **error);

/* Sends `signal` (0: none), waits for the end, and sets the id to 0. Returns the wait status. */
int test_process_end(pid_t *pid, int signal);

/* TRUE, and the id set to 0, when the process has ended by itself. */
gboolean test_process_has_ended(pid_t *pid);

/* Runs a program to its end. An error holds what it wrote. */
gboolean test_process_run(const char *const *argv, GError **error);

/* A new folder for temporary files; free with g_free after test_folder_remove(). */
char *test_folder_make(void);
/* Removes a folder with everything in it. NULL is allowed. */
void test_folder_remove(const char *folder);
