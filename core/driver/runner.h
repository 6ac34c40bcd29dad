/*
 * A runner is one provider at work: a driver, the provider's configuration, and the thread on which
 * every call into that driver is made. All functions here are called on the core loop and return at
 * once; answers arrive on the core loop (the default main context) too.
 *
 *     core loop   submit / cancel ----->  provider's thread: step, step, ... driver code
 *                 callback        <-----  done, failed, external id known
 */
#pragma once

#include <drover/driver.h>
#include <glib.h>
#include <jansson.h>

typedef struct _DroverRunner DroverRunner;
typedef struct _DroverTask DroverTask;

/* One machine of an inventory. Values live as long as the runner. */
typedef struct {
    char *pool;
    const struct drover_value *config; /* the machine's own section */
    guint slots;
} DroverMachine;

typedef enum {
    DROVER_TASK_MACHINE_CREATE,
    DROVER_TASK_MACHINE_DELETE,
    DROVER_TASK_MACHINE_CONSOLE,
    DROVER_TASK_SLOT_REGISTER,
    DROVER_TASK_SLOT_CHECK,
    DROVER_TASK_QUOTA_LIMITS,
    DROVER_TASK_QUOTA_LABEL,
    DROVER_TASK_QUOTA_USAGE,
    DROVER_TASK_RESOURCE_LIST,
    DROVER_TASK_RESOURCE_DELETE,
    DROVER_TASK_IMAGE_UPLOAD,
    DROVER_TASK_IMAGE_DELETE,
    DROVER_TASK_IMAGE_LIST,
} DroverTaskKind;

/* What the driver is told; copied by submit. Unknown parts are NULL. */
typedef struct {
    const char *node_id, *external_id, *pool, *label;
    const struct drover_value *pool_config, *label_config; /* live as long as the runner */
    const char *const *inputs;                             /* name, value, name, value, ..., NULL */
} DroverTaskInput;

/* What the driver answered; valid during the callback. */
typedef struct {
    gboolean ok;
    enum drover_failure failure; /* when not ok */
    const char *message;         /* when not ok: a sentence for people */
    gint64 retry_after;          /* milliseconds, with RATE_LIMITED; else 0 */
    json_t *fields;    /* node record fields that were set, "host_keys" a list; an object */
    json_t *resources; /* name -> number; an object */
    GPtrArray *items;  /* of json_t objects {"kind", "id", fields..., "resources": {}} */
    const char *text;
} DroverTaskResult;

typedef void (*DroverTaskFunc)(const DroverTaskResult *result, gpointer user_data);
/* An external id became known while the task still runs. */
typedef void (*DroverTaskIdFunc)(const char *external_id, gpointer user_data);

/*
 * `error` is NULL when the provider is ready for tasks. `machines` holds DroverMachine for a driver
 * with an inventory; owned by the runner.
 */
typedef void (*DroverRunnerOpenFunc)(DroverRunner *runner, const GPtrArray *machines,
                                     const GError *error, gpointer user_data);
typedef void (*DroverRunnerClosedFunc)(gpointer user_data);

/* `driver` lives longer; `config` is copied. */
DroverRunner *drover_runner_new(const struct drover_driver *driver, const char *name,
                                const struct drover_value *config);
const char *drover_runner_name(const DroverRunner *runner);
gboolean drover_runner_can(const DroverRunner *runner, enum drover_capability capability);

/* Starts the thread, opens and starts the provider. */
void drover_runner_open(DroverRunner *runner, DroverRunnerOpenFunc opened, gpointer user_data);
void drover_runner_idle(DroverRunner *runner);

/*
 * No new task is accepted; those under way are cancelled if `cancel`, else finished. When the last
 * has ended the driver is closed, the thread ends, `closed` is called, and the runner is freed. A
 * driver that never returns holds up nothing but its own thread.
 */
void drover_runner_close(DroverRunner *runner, gboolean cancel, DroverRunnerClosedFunc closed,
                         gpointer user_data);

/*
 * Begins a task. `done` is called exactly once, never before this returns, also after a cancel and
 * also when the driver has no such function (DROVER_FAILURE_PERMANENT). `id_known` may be NULL.
 * The task is the runner's; the pointer is valid until `done` returns.
 */
DroverTask *drover_runner_submit(DroverRunner *runner, DroverTaskKind kind,
                                 const DroverTaskInput *input, DroverTaskFunc done,
                                 DroverTaskIdFunc id_known, gpointer user_data);
void drover_task_cancel(DroverTask *task);

/* How long the driver has not come back from its present call, in milliseconds; 0: it is idle. */
gint64 drover_runner_blocked_for(const DroverRunner *runner);
guint drover_runner_tasks(const DroverRunner *runner);
