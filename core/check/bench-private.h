/* What bench.c, work.c and work-answer.c share. Not for other files. */
#pragma once

#include "check/bench.h"

struct _DroverBench {
    DroverSubject *subject;
    GMainContext *context;
    struct drover_provider *provider;
    void *self;
    GPtrArray *works;
    char *problem; /* why it could not be opened, in the driver's words */
    gint closed;   /* atomic: nothing is to be heard of the driver any more */
    GMutex lock;   /* of the mistake, which any thread may make */
    char *mistake;
    GPtrArray *answers;  /* of backing, to come or made */
    guint backing_nodes; /* that were made up */
};

struct _DroverWork {
    DroverBench *bench;
    struct drover_operation *op; /* NULL once ended */
    const char *function;        /* its name */
    DroverWorkFunc step;
    guint manner, steps;
    gint64 due; /* when to step it, in microseconds; -1: when it is woken */
    gboolean said_when;
    gint woken; /* atomic */
    gboolean failed, ok, over;
    enum drover_failure failure; /* 0: none was said */
    char *message, *external_id, *saved;
    json_t *fields, *resources;
    GPtrArray *items;
    GString *text;
};

/* Around each call into the driver: one that takes long is a mistake. */
gint64 drover_bench_enter(void);
void drover_bench_leave(DroverBench *bench, gint64 entered, const char *function);
/* A text of the driver's, which may hold no secret. `function` and `place` say where it came from.
 * Any thread. */
void drover_bench_hear(DroverBench *bench, const char *function, const char *place,
                       const char *text);
/* A line of its log, of a provider or an operation. Any thread. */
void drover_bench_hear_log(DroverBench *bench, const char *function, enum drover_log_level level,
                           const char *text);
void drover_work_free(gpointer work);

/* ---- backing.c ---- */

/* The driver wants something; see struct drover_provider_host. */
void drover_bench_on_backing(void *bench, const struct drover_backing_call *call);
void drover_bench_begin_backing(DroverBench *bench);
void drover_bench_end_answer(gpointer source);

/* What the driver says of the operation; the data is the work. */
extern const struct drover_operation_host drover_work_answers;
