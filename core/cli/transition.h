/*
 * One thing that happened to a node or a node request, as an object:
 *
 *     {"time": seconds since the epoch, "kind": "node" or "request", "id": ..,
 *      "old": state, null when it is new, "new": state, null when it is gone,
 *      "labels": [..], "provider": .., "pool": .., "request": id, "nodes": [ids],
 *      "by": who did it, as far as known, "why": a sentence}
 *
 * Members are always there, and null when unknown. The states are the same when something else
 * happened that matters: a node was allocated, a request was declined by one more pool.
 */
#pragma once

#include "cli/mirror.h"

/* A record that cannot be read counts as a state. */
#define DROVER_STATE_BROKEN "broken"

/* NULL when nothing happened that is told. New reference. */
json_t *drover_transition_of_node(const DroverMirror *mirror, const char *id, const DroverNode *old,
                                  const DroverNode *now);
json_t *drover_transition_of_request(const DroverMirror *mirror, const char *id,
                                     const DroverRequest *old, const DroverRequest *now);

/* One line without its newline; free with g_free. `colours`: with a terminal's codes. */
char *drover_transition_text(const json_t *transition, gboolean colours);
