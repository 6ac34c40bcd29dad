/*
 * A provider under test, and a host that steps its operations one call at a time, so that each can
 * be cancelled, written out or called without need at any step. All on one thread, which is the
 * provider's.
 *
 * What the driver does wrong on the way is kept: the first mistake counts.
 */
#pragma once

#include <drover/host.h>
#include <glib.h>
#include <jansson.h>

#include "check/subject.h"

typedef struct _DroverBench DroverBench;
typedef struct _DroverWork DroverWork;
typedef enum drover_step (*DroverWorkFunc)(void *self, struct drover_operation *op);

/* Opens and starts a provider. NULL when the driver refuses; the current check has failed then. */
DroverBench *drover_bench_open(DroverSubject *subject, const char *provider);
/* Stops and closes it. All its work has ended. */
void drover_bench_close(DroverBench *bench);
/* Looks on for a while: a driver that was closed says and does nothing any more. */
void drover_bench_watch(DroverBench *bench, guint milliseconds);
/* Frees the host's part too, and all works with it. */
void drover_bench_free(DroverBench *bench);

void *drover_bench_self(const DroverBench *bench);
/* What was wrong with it, until now; NULL: nothing. */
const char *drover_bench_mistake(const DroverBench *bench);
void drover_bench_complain(DroverBench *bench, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* ---- Work: one operation. It is the bench's. ---- */

/* How it is driven, beside the ordinary way. */
typedef enum {
    DROVER_WORK_PLAIN = 0,
    DROVER_WORK_NEEDLESS = 1 << 0, /* each step once more without need */
} DroverWorkManner;

/* `saved`: it goes on from there; NULL: begins. The driver may refuse: it has ended then. */
DroverWork *drover_work_new(DroverBench *bench, const char *function, DroverWorkFunc step,
                            const struct drover_operation_input *input, const char *saved);
void drover_work_set_manner(DroverWork *work, guint manner);
/* One step, due or not; nothing when it has ended. */
void drover_work_step(DroverWork *work);
/* Waits until the next step is due, and does it. */
void drover_work_step_when_due(DroverWork *work);
/* Steps it to its end. */
void drover_work_finish(DroverWork *work);
/* Cancels it, and steps it once; then it wants to be finished. */
void drover_work_cancel(DroverWork *work);
/* Steps all works of the bench to their ends, side by side. */
void drover_bench_finish(DroverBench *bench);
/* The host forgets it, as a process that is killed does: its state is released. */
void drover_work_drop(DroverWork *work);

gboolean drover_work_has_ended(const DroverWork *work);
gboolean drover_work_is_ok(const DroverWork *work);
/* When it is not ok. */
enum drover_failure drover_work_failure(const DroverWork *work);
const char *drover_work_message(const DroverWork *work);
/* NULL until it is known; an object as its text. */
const char *drover_work_external_id(const DroverWork *work);
const char *drover_work_text(const DroverWork *work);
/* Of json_t objects {"kind", "id", fields..., "resources": {}} */
const GPtrArray *drover_work_items(const DroverWork *work);
const json_t *drover_work_resources(const DroverWork *work);
/* What operation_save() gave after the last step, or NULL. */
const char *drover_work_saved(const DroverWork *work);
guint drover_work_steps(const DroverWork *work);
