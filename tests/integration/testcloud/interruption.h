/*
 * Work of another process that is killed in the middle, while the cloud keeps it waiting.
 */
#pragma once

#include "fixture.h"

typedef struct {
    DroverTaskKind kind;
    const char *options, *label, *external_id;
    const char *const *inputs; /* as of work_begin_with() */
    const char *rule;          /* keeps it waiting */
    const char *method, *path; /* the request that shows that it waits */
    gboolean carried_out;      /* it is, by the cloud, and only nobody hears of it */
    const char *saved;         /* what it must have saved by then */
} Interruption;

/* Runs it up to there, and kills it. The cloud has no faults any more then. */
void interrupt(const Interruption *interruption);
/* Goes on in this process from what was saved. */
Work *interruption_take_up(const Interruption *interruption, Provider *provider);
