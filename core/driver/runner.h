/*
 * A runner is one provider at work: a driver, the provider's configuration, and the thread on which
 * every call into that driver is made. All functions here are called on the core loop and return at
 * once; answers arrive on the core loop (the default main context) too.
 *
 *     core loop   submit / cancel ----->  provider's thread: step, step, ... driver code
 *                 callback        <-----  done, failed, external id known
 */
#pragma once

#include <drover/host.h>
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
    DROVER_TASK_LABEL_READY, /* ok: yes */
    DROVER_TASK_ZONE_LIST,
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

/* What another process needs to go on has changed; NULL: none could. */
typedef void (*DroverTaskSavedFunc)(const char *saved, gpointer user_data);

/* What the driver is told; copied by submit. Unknown parts are NULL. */
typedef struct {
    const char *node_id, *external_id, *pool, *label;
    const struct drover_value *pool_config, *label_config; /* live until `done` was called */
    const char *const *inputs;                             /* name, value, name, value, ..., NULL */
    const char *saved; /* go on from there, instead of beginning */
    DroverTaskSavedFunc saved_changed;
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
/* An external id became known, or another one, while the task still runs; an object as JSON text.
 */
typedef void (*DroverTaskIdFunc)(const char *external_id, gpointer user_data);

/*
 * Called once, unless the runner is closed before. `error` is NULL when the provider is ready for
 * tasks; else its code is DROVER_ERROR_CONFIG for what will not go away by itself. It is to be
 * closed in either case. `machines` holds DroverMachine for a driver
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

/* The driver has called an API: once for each try, on the core loop. `status` 0: no answer. */
typedef void (*DroverRunnerCalledFunc)(const DroverRunner *runner, const char *method,
                                       const char *url, int status, gint64 milliseconds,
                                       gpointer user_data);
/* Before it is opened. `user_data` lives as long as the core loop runs. */
void drover_runner_set_called(DroverRunner *runner, DroverRunnerCalledFunc called,
                              gpointer user_data);

/* The driver has removed `count` things at the cloud that nobody used, on the core loop. `what` is
 * a word that a metric can be called, in the plural. */
typedef void (*DroverRunnerCleanedFunc)(const DroverRunner *runner, const char *what, guint32 count,
                                        gpointer user_data);
/* Before it is opened. `user_data` lives as long as the core loop runs. */
void drover_runner_set_cleaned(DroverRunner *runner, DroverRunnerCleanedFunc cleaned,
                               gpointer user_data);

/*
 * The provider has become unhealthy, `problem` is one sentence why; or healthy again, then it is
 * NULL. It is unhealthy while a call into its driver takes longer than the configuration's
 * "driver-timeout" allows. Not called any more once the runner is closed.
 */
typedef void (*DroverRunnerHealthFunc)(const DroverRunner *runner, const char *problem,
                                       gpointer user_data);
/* Before it is opened. */
void drover_runner_set_health(DroverRunner *runner, DroverRunnerHealthFunc health,
                              gpointer user_data);
/* Why it is unhealthy now; NULL: it is not. */
const char *drover_runner_problem(const DroverRunner *runner);

/* Starts the thread, opens and starts the provider. */
void drover_runner_open(DroverRunner *runner, DroverRunnerOpenFunc opened, gpointer user_data);
/* A newer configuration of the same provider is about to start. */
void drover_runner_idle(DroverRunner *runner);

/*
 * No new task is accepted; those under way are cancelled if `cancel`, else finished. When the last
 * has ended the driver is closed, the thread ends, `closed` (may be NULL) is called, and the runner
 * is freed. A driver that never returns holds up nothing but its own thread: `closed` is then never
 * called, and the process can end all the same.
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
/* What it is doing in the driver's own words, or NULL; how far an upload is, in bytes. */
const char *drover_task_status(const DroverTask *task);
void drover_task_progress(const DroverTask *task, guint64 *done, guint64 *total);

/* ---- News for the driver, which may pass unheard ---- */

/* A node's record is gone. */
void drover_runner_node_deleted(DroverRunner *runner, const char *node_id);
/* A ready node was given to a request. */
void drover_runner_node_reused(DroverRunner *runner, const char *node_id, const char *request_id);
/* A machine was made and could not be reached. */
void drover_runner_scan_failed(DroverRunner *runner, const char *label, const char *external_id);

/* ---- Backing: see drover/driver.h ---- */

/* The driver wants something; on the core loop. `call` is valid until it returns. */
typedef void (*DroverRunnerBackingFunc)(const struct drover_backing_call *call, gpointer user_data);
/* Once it is opened; calls that were made before are heard then. NULL: nobody listens any more. */
void drover_runner_set_backing(DroverRunner *runner, DroverRunnerBackingFunc backing,
                               gpointer user_data);
/* Takes the facts over. */
void drover_runner_backing_event(DroverRunner *runner, enum drover_backing_event event,
                                 struct drover_value *facts);

/* How long the driver has not come back from its present call, in milliseconds; 0: it is idle. */
gint64 drover_runner_blocked_for(const DroverRunner *runner);
guint drover_runner_tasks(const DroverRunner *runner);
