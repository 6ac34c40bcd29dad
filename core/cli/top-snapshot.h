/*
 * The cluster at one moment, as `drover top` shows it:
 *
 *     {"time": seconds since the epoch, "launchers": hosts that have pools,
 *      "nodes": how many, "states": [{"state", "count", "ages": [n, ..], "oldest": seconds}],
 *      "pools": [{"provider", "pool", "registered", "paused", "nodes": {state: n}, "waiting",
 *                 "used": {resource: amount}, "limits": {"pool": {..}, "provider": {..}}}],
 *      "requests": [{"id", "state", "age", "labels", "requestor", "by", "verdict", "why"}]}
 *
 * `ages` counts nodes by how long they have been in their state, see drover_top_ages. Requests are
 * those that are neither fulfilled nor failed, in the order in which they are served.
 */
#pragma once

#include "cli/mirror.h"

typedef struct {
    const char *name;
    double below; /* seconds */
} DroverTopAge;
#define DROVER_TOP_AGES 5
extern const DroverTopAge drover_top_ages[DROVER_TOP_AGES];

/* New reference. */
json_t *drover_top_snapshot(const DroverMirror *mirror);

/* How full the pool is: the largest part of a limit that is used; 0 without limits. */
double drover_top_fullness(const json_t *pool);
