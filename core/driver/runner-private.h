/* What runner.c and task.c share. Not for other files. */
#pragma once

#include <drover/host.h>

#include "driver/runner.h"

/* Calls into the driver are marked, so that one that never comes back is seen. */
void drover_runner_enter(DroverRunner *runner);
void drover_runner_leave(DroverRunner *runner);

const struct drover_driver *drover_runner_driver(const DroverRunner *runner);
/* The driver's own object; NULL unless the provider is open. Provider's thread. */
void *drover_runner_self(const DroverRunner *runner);
GMainContext *drover_runner_context(const DroverRunner *runner);
/* A task has ended. Provider's thread. */
void drover_runner_task_ended(DroverRunner *runner, DroverTask *task);
/* Its answer was delivered. Core loop. */
void drover_runner_task_delivered(DroverRunner *runner, DroverTask *task);

/* Runs `func` once on the loop of a context (NULL: the core loop's), in the order of the calls. */
void drover_runner_post(GMainContext *context, GSourceFunc func, gpointer data,
                        GDestroyNotify destroy);
void drover_runner_log(const DroverRunner *runner, enum drover_log_level level, const char *node_id,
                       const char *text);

/* ---- Tasks ---- */

DroverTask *drover_task_new(DroverRunner *runner, DroverTaskKind kind, const DroverTaskInput *input,
                            DroverTaskFunc done, DroverTaskIdFunc id_known, gpointer user_data);
DroverRunner *drover_task_runner(const DroverTask *task);
DroverTask *drover_task_ref(DroverTask *task);
void drover_task_unref(gpointer task);
/* Provider's thread. */
void drover_task_begin(DroverTask *task);
void drover_task_cancel_here(DroverTask *task);
