/* What all programs do alike. */
#pragma once

#include <glib.h>

/* One line on standard output; Nodepool's own under its names. */
void program_print_version(const char *program);
/* "PROGRAM: MESSAGE" on standard error. Returns 1, the exit status. */
int program_fail(const char *program, const char *message);
/*
 * Puts a logging configuration in force; what is wrong with it is printed on standard error. FALSE
 * when it cannot be used.
 */
gboolean program_use_log_config(const char *program, const char *path);
