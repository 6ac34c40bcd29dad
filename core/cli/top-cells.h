/* What each column of `drover top` says of a state, a pool or a request; see top-snapshot.h. */
#pragma once

#include <glib.h>
#include <jansson.h>

typedef struct {
    const char *header; /* NULL ends an array of columns */
    char *(*cell)(const json_t *object);
    gboolean right;
    guint least; /* it may be cut to so many columns; 0: never */
    guint rank;  /* where there is no room, the highest goes first; 0 stays */
} DroverTopColumn;

extern const DroverTopColumn drover_top_state_columns[];
extern const DroverTopColumn drover_top_pool_columns[];
extern const DroverTopColumn drover_top_request_columns[];

double drover_top_sum_of_nodes(const json_t *pool);
