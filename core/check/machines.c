/* Machines: made, listed, looked at, deleted. */
#include <string.h>

#include "base/json.h"
#include "check/groups.h"
#include "check/operations.h"

typedef struct {
    DroverSubject *subject;
    DroverBench *bench;
    DroverCheckLabel label;
    DroverWork *machine; /* the one that was made; NULL: none */
} Trial;

/* Also of what failed as it should. */
static void
say_mistake(Trial *trial)
{
    if (drover_bench_mistake(trial->bench) != NULL)
        drover_subject_fail(trial->subject, "%s", drover_bench_mistake(trial->bench));
}

static void
check_create(Trial *trial, guint manner)
{
    DroverWork *work = drover_check_create(trial->subject, trial->bench, &trial->label, NULL);

    drover_work_set_manner(work, manner);
    drover_work_finish(work);
    if (drover_work_is_ok(work) && drover_work_external_id(work) == NULL)
        drover_subject_fail(trial->subject, "machine_create() is done and gives no external_id");
    if (drover_check_judge(trial->subject, trial->bench, work) &&
        drover_work_external_id(work) != NULL)
        drover_subject_ok(trial->subject, "%s, %u steps", drover_work_external_id(work),
                          drover_work_steps(work));
    trial->machine = drover_work_external_id(work) != NULL ? work : NULL;
}

/* What was made is found again by its tags. */
static void
check_listed(Trial *trial, const char *function, DroverWorkFunc step)
{
    const struct drover_operation_input input = {.pool = NULL};
    DroverWork *work = drover_check_try(trial->subject, trial->bench, function, step, &input);
    gboolean found = FALSE;

    if (work == NULL || !drover_check_judge(trial->subject, trial->bench, work))
        return;
    for (guint i = 0; i < drover_work_items(work)->len; i++)
        found |= drover_check_is_ours(drover_work_items(work)->pdata[i]);
    if (!found)
        drover_subject_fail(trial->subject,
                            "%s() does not list the machine that was made, with its tags",
                            function);
}

/* Of the kind that the driver's own listing has. */
static void
check_delete_unknown_resource(Trial *trial)
{
    const struct drover_driver *driver = trial->subject->driver;
    const struct drover_operation_input nothing = {.pool = NULL};
    struct drover_operation_input input = {.external_id = "drover-driver-check-no-such-resource"};
    const char *inputs[] = {"kind", NULL, NULL};
    DroverWork *work;

    if (driver->resource_list != NULL) {
        work =
            drover_work_new(trial->bench, "resource_list", driver->resource_list, &nothing, NULL);
        drover_work_finish(work);
        if (drover_work_items(work)->len > 0)
            inputs[1] = drover_json_string(drover_work_items(work)->pdata[0], "kind");
    }
    input.inputs = inputs;
    work = drover_check_try(trial->subject, trial->bench, "resource_delete",
                            driver->resource_delete, &input);
    if (work != NULL && drover_work_failure(work) != DROVER_FAILURE_NOT_FOUND)
        drover_check_judge(trial->subject, trial->bench, work);
    say_mistake(trial);
}

static void
check_console(Trial *trial)
{
    const struct drover_operation_input input = {.node_id = "0000000001",
                                                 .external_id =
                                                     drover_work_external_id(trial->machine),
                                                 .pool = trial->label.pool->name,
                                                 .label = trial->label.label,
                                                 .pool_config = trial->label.pool->values,
                                                 .label_config = trial->label.values};
    DroverWork *work = drover_check_try(trial->subject, trial->bench, "machine_console",
                                        trial->subject->driver->machine_console, &input);

    if (work != NULL)
        drover_check_judge(trial->subject, trial->bench, work);
}

/* The failure of a deletion is said by what is called. */
static void
check_delete(Trial *trial, const char *external_id)
{
    drover_check_delete(trial->subject, trial->bench, external_id);
    say_mistake(trial);
}

static void
check_made(Trial *trial)
{
    DroverSubject *subject = trial->subject;
    const char *id = drover_work_external_id(trial->machine);

    drover_subject_begin(subject, "resource-listed");
    /* Those of other providers are not its own. */
    if ((subject->driver->capabilities & DROVER_CAN_BACKING) != 0)
        drover_subject_skip(subject, "its machines are those of other providers");
    else
        check_listed(trial, "resource_list", subject->driver->resource_list);
    drover_subject_begin(subject, "resource-delete-unknown");
    check_delete_unknown_resource(trial);
    drover_subject_begin(subject, "usage-listed");
    check_listed(trial, "quota_usage", subject->driver->quota_usage);
    drover_subject_begin(subject, "console");
    check_console(trial);
    drover_subject_begin(subject, "delete");
    check_delete(trial, id);
    drover_subject_begin(subject, "delete-again");
    check_delete(trial, id);
    drover_subject_begin(subject, "delete-unknown");
    check_delete(trial, "drover-driver-check-no-such-machine");
    drover_subject_begin(subject, "needless-steps");
    check_create(trial, DROVER_WORK_NEEDLESS);
    if (trial->machine != NULL)
        check_delete(trial, drover_work_external_id(trial->machine));
}

static void
run(DroverSubject *subject)
{
    Trial trial = {.subject = subject};

    drover_subject_begin(subject, "create");
    trial.bench = drover_check_open(subject);
    if (trial.bench == NULL)
        return;
    if (subject->driver->machine_create == NULL)
        drover_subject_skip(subject, "the driver makes no machines");
    else if (drover_check_find_label(subject, &trial.label))
        check_create(&trial, DROVER_WORK_PLAIN);
    if (trial.machine != NULL)
        check_made(&trial);
    drover_check_close(subject, trial.bench);
}

static const char *const checks[] = {
    "create", "resource-listed", "resource-delete-unknown", "usage-listed",   "console",
    "delete", "delete-again",    "delete-unknown",          "needless-steps", NULL};
const DroverCheckGroup drover_machine_checks = {checks, run};
