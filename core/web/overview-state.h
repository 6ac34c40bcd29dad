/*
 * What the overview shows, as server-sent events: all of it, and what has changed since it was
 * looked at last.
 *
 *     data: {"now": SECONDS, "nodes": [...], "requests": [...], ...}
 *
 *     event: change
 *     data: {"now": SECONDS, "nodes": {"set": [...], "gone": [ID, ...]}, ...}
 *
 * In a change, members that have not changed are missing. Of lists whose elements have an id there
 * are the elements that are new or differ, and the ids of those that are no more; all other
 * members are whole.
 */
#pragma once

#include "launcher/launcher.h"

typedef struct _DroverOverviewState DroverOverviewState;

/* The launcher lives longer. */
DroverOverviewState *drover_overview_state_new(DroverLauncher *launcher);
void drover_overview_state_free(DroverOverviewState *state);

/* Looks again. The event that tells what has changed; NULL: nothing has. A new reference. */
GBytes *drover_overview_state_look(DroverOverviewState *state);
/*
 * The event that tells all, as it was when it was looked at last; after it come the changes. A new
 * reference; who asks within the same second gets the same bytes.
 */
GBytes *drover_overview_state_whole(DroverOverviewState *state);
