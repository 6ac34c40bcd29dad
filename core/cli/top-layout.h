/*
 * The columns of `drover top` in the room that there is: as wide as what they say, then cut as far
 * as they may be, then left out by their rank.
 */
#pragma once

#include "cli/top-cells.h"

#define DROVER_TOP_MOST_COLUMNS 12

/* Of each column; 0: there is no room for it. */
typedef struct {
    guint widths[DROVER_TOP_MOST_COLUMNS];
} DroverTopLayout;

/* For all objects of the list, with a blank between two columns. */
DroverTopLayout drover_top_layout(const DroverTopColumn *columns, const json_t *list, guint room);
/* Free with g_free. */
char *drover_top_header(const DroverTopColumn *columns, const DroverTopLayout *layout);
char *drover_top_line(const DroverTopColumn *columns, const DroverTopLayout *layout,
                      const json_t *object);
/* So much of the text as fits, and blanks. `sign`: what a cut text ends with, "" for nothing. */
void drover_top_append_fitting(GString *line, const char *text, guint width, gboolean right,
                               const char *sign);
