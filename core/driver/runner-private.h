/* What runner.c and task.c share. Not for other files. */
#pragma once

#include <drover/host.h>

#include "driver/channel.h"
#include "driver/runner.h"

/* Any thread. A task keeps its runner. */
DroverRunner *drover_runner_ref(DroverRunner *runner);
void drover_runner_unref(DroverRunner *runner);

/*
 * Around each call into the driver, on the provider's thread: one that never comes back is seen,
 * and one that comes back late is logged under the name of its function. May be nested, by a driver
 * that runs the thread's main context itself.
 */
void drover_runner_enter(DroverRunner *runner, const char *function);
void drover_runner_leave(DroverRunner *runner);

const struct drover_driver *drover_runner_driver(const DroverRunner *runner);
/* Whether tasks can run now, and the driver's own object, which may be NULL. Provider's thread. */
gboolean drover_runner_is_open(const DroverRunner *runner);
void *drover_runner_self(const DroverRunner *runner);
GMainContext *drover_runner_context(const DroverRunner *runner);
/* A task has ended. Provider's thread. */
void drover_runner_task_ended(DroverRunner *runner, DroverTask *task);
/* Its answer was delivered. Core loop. */
void drover_runner_task_delivered(DroverRunner *runner, DroverTask *task);

/* Messages to the provider's thread and to the core loop. Any thread; `destroy` may be NULL. */
void drover_runner_tell_thread(DroverRunner *runner, DroverChannelFunc func, gpointer data,
                               GDestroyNotify destroy);
void drover_runner_tell_core(DroverRunner *runner, DroverChannelFunc func, gpointer data,
                             GDestroyNotify destroy);
/* Any thread. */
void drover_runner_log(const DroverRunner *runner, enum drover_log_level level, const char *node_id,
                       const char *text);

/* ---- calls.c ---- */

/* The driver has called an API; see struct drover_provider_host. `data` is the runner. */
void drover_runner_on_called(void *data, const char *method, const char *url, int status,
                             int64_t milliseconds);
/* On the core loop: tells whoever is interested. */
void drover_runner_tell_call(const DroverRunner *runner, const char *method, const char *url,
                             int status, gint64 milliseconds);

/* ---- backing.c ---- */

/* The driver wants something; see struct drover_provider_host. `data` is the runner. */
void drover_runner_on_backing(void *data, const struct drover_backing_call *call);
/* On the core loop: tells whoever listens. */
void drover_runner_tell_backing(const DroverRunner *runner, const struct drover_backing_call *call);

/* ---- cleaned.c ---- */

/* The driver has cleaned something; see struct drover_provider_host. `data` is the runner. */
void drover_runner_on_cleaned(void *data, const char *what, uint32_t count);
/* On the core loop: tells whoever is interested. */
void drover_runner_tell_cleaned(const DroverRunner *runner, const char *what, guint32 count);

/* ---- inventory.c ---- */

/* Of DroverMachine. */
GPtrArray *drover_inventory_new(void);
/* Lets the driver add its machines. FALSE when it fails. Provider's thread. */
gboolean drover_inventory_list(DroverRunner *runner, const struct drover_value *config,
                               GPtrArray *machines);

/* ---- Tasks ---- */

DroverTask *drover_task_new(DroverRunner *runner, DroverTaskKind kind, const DroverTaskInput *input,
                            DroverTaskFunc done, DroverTaskIdFunc id_known, gpointer user_data);
DroverRunner *drover_task_runner(const DroverTask *task);
DroverTask *drover_task_ref(DroverTask *task);
void drover_task_unref(gpointer task);
/* Provider's thread. */
void drover_task_begin(DroverTask *task);
void drover_task_cancel_here(DroverTask *task);
/* It never begins: the provider is closing. Core loop; the answer follows. */
void drover_task_refuse(DroverTask *task);
