/* All checks of one driver. */
#pragma once

#include "check/subject.h"

/*
 * Runs them one after the other, in processes of their own, and prints the report. Returns how many
 * failed. `wish->name` and `wish->config` are filled in here; a file without an option of the
 * driver's is made when there is none.
 */
guint drover_check_run(const DroverCheckWish *wish, gboolean json);
