/*
 * How a snapshot looks: as a plain text, and on a screen of some size.
 */
#pragma once

#include <glib.h>
#include <jansson.h>

typedef enum {
    DROVER_TOP_POOLS,
    DROVER_TOP_REQUESTS,
    DROVER_TOP_PANES,
} DroverTopPane;

/* What keys change. */
typedef struct {
    guint rows, columns; /* of the screen */
    DroverTopPane pane;  /* that keys are for */
    guint offsets[DROVER_TOP_PANES], sorts[DROVER_TOP_PANES];
    gboolean paused, connected, help;
} DroverTopView;

/* The tables, one below the other, of any width. Free with g_free. */
char *drover_top_text(const json_t *snapshot);

/*
 * A screen: a terminal's codes and all of its rows. `snapshot` may be NULL: nothing is known yet.
 * Offsets that are too large are corrected. Free with g_free.
 */
char *drover_top_screen(const json_t *snapshot, DroverTopView *view);

/* How many orders the pane has. */
guint drover_top_sorts(DroverTopPane pane);
/* About as many rows as a page has. */
guint drover_top_page(const DroverTopView *view);
