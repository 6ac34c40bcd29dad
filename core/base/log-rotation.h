/* The names of log files that were put aside, and when that is due; as Python's logging does it. */
#pragma once

#include "base/log-handler.h"

/* FILE becomes FILE.1, that becomes FILE.2, and so on; `backups` stay. */
void drover_log_rotate_by_number(const char *path, guint backups);
/* FILE becomes FILE.<begin of the time that ended with `turn`>; the oldest are removed. */
void drover_log_rotate_by_time(const char *path, const DroverLogRotation *rotation, gint64 turn);
/* When a file that was begun at `begin` (seconds since 1970) is put aside. */
gint64 drover_log_next_turn(const DroverLogRotation *rotation, gint64 begin);
