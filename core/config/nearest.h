/* Suggestions for misspelt names. */
#pragma once

#include <glib.h>

/* The candidate (char*) that is most like `name`, or NULL when none is like it. Not owned. */
const char *drover_nearest(const char *name, const GPtrArray *candidates);

/*
 * The end of a message about an unknown name: "; did you mean X?", or "; known are X, Y and 3
 * more", or "; there are none". Free with g_free.
 */
char *drover_suggestion(const char *name, const GPtrArray *candidates);
