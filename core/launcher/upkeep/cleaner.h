/*
 * The cleaner puts right what nobody else is there to put right: what a launcher that died left
 * behind, and nodes that are over their age. It runs once the caches are complete, and again a
 * while after each run has ended.
 *
 *                      ┌ stale request locks ─────► deleted
 *                      ├ leaked resources ────────► deleted, when seen in two runs
 *                      ├ lost requests ───────────► requested again, their nodes freed
 *     timer ─► a run ──┼ nodes over their age ────► deleting ─► the deleter
 *                      ├ empty node records ──────► deleted
 *                      └ orphaned init nodes ─────► deleting ─► the deleter
 *
 * The tasks do not depend on each other: one that fails, or one object that cannot be cleaned, is
 * logged and stops nothing. What somebody else has locked is left for a later run. Core loop only.
 */
#pragma once

#include "config/config.h"
#include "launcher/machine/deleter.h"

typedef struct _DroverCleaner DroverCleaner;

/* `interval`: seconds from the end of a run to the next one. */
DroverCleaner *drover_cleaner_new(DroverCluster *cluster, DroverConfig *config, guint interval,
                                  DroverFindManager find_manager, gpointer user_data);
/* Before the cluster. What is under way is answered later, and changes nothing more. */
void drover_cleaner_free(DroverCleaner *cleaner);

void drover_cleaner_set_config(DroverCleaner *cleaner, DroverConfig *config);
/* News: the caches are complete. */
void drover_cleaner_note_complete(DroverCleaner *cleaner);
/* Something is there to be cleaned: the next run begins now, or when the present one has ended. */
void drover_cleaner_hurry(DroverCleaner *cleaner);
