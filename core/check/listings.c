/* Operations that only ask the cloud something. */
#include "check/groups.h"
#include "check/operations.h"

/* Asks for nothing but success. */
static void
check_plain(DroverSubject *subject, DroverBench *bench, const char *function, DroverWorkFunc step,
            const struct drover_operation_input *input)
{
    DroverWork *work = drover_check_try(subject, bench, function, step, input);

    if (work != NULL && drover_check_judge(subject, bench, work) &&
        drover_work_items(work)->len > 0)
        drover_subject_ok(subject, "%u items", drover_work_items(work)->len);
}

static void
check_label(DroverSubject *subject, DroverBench *bench, const char *function, DroverWorkFunc step)
{
    struct drover_operation_input input = {0};
    DroverCheckLabel label;

    if (step != NULL && !drover_check_find_label(subject, &label))
        return;
    if (step != NULL) {
        input.pool = label.pool->name;
        input.label = label.label;
        input.pool_config = label.pool->values;
        input.label_config = label.values;
    }
    check_plain(subject, bench, function, step, &input);
}

static void
run(DroverSubject *subject)
{
    const struct drover_operation_input nothing = {.pool = NULL};
    const struct drover_driver *driver;
    DroverBench *bench;

    drover_subject_begin(subject, "label-ready");
    bench = drover_check_open(subject);
    if (bench == NULL)
        return;
    driver = subject->driver;
    check_label(subject, bench, "label_ready", driver->label_ready);
    drover_subject_begin(subject, "zone-list");
    check_plain(subject, bench, "zone_list", driver->zone_list, &nothing);
    drover_subject_begin(subject, "quota-limits");
    check_plain(subject, bench, "quota_limits", driver->quota_limits, &nothing);
    drover_subject_begin(subject, "quota-label");
    check_label(subject, bench, "quota_label", driver->quota_label);
    drover_subject_begin(subject, "quota-usage");
    check_plain(subject, bench, "quota_usage", driver->quota_usage, &nothing);
    drover_subject_begin(subject, "resource-list");
    check_plain(subject, bench, "resource_list", driver->resource_list, &nothing);
    drover_check_close(subject, bench);
}

static const char *const checks[] = {"label-ready", "zone-list",   "quota-limits",
                                     "quota-label", "quota-usage", "resource-list",

                                     NULL};
const DroverCheckGroup drover_listing_checks = {checks, run};
