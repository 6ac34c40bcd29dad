/* What Python's argparse, and so Nodepool's users' scripts, know and GOption does not. */
#pragma once

#include <glib.h>

/*
 * A copy of the words in which "-cFILE" is "-c FILE", and a long option that is the beginning of
 * exactly one option is that option. `options` is one or more arrays of entries, ended by NULL.
 * With `leading` everything from the first word on that is no option stays as it is. The first word
 * is the program's or command's name. Free with g_strfreev.
 */
char **drover_arguments_expand(const char *const *words, const GOptionEntry *const *options,
                               gboolean leading);
