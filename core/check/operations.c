#include "check/operations.h"

#include <string.h>

#include "base/json.h"
#include "check/groups.h"
#include "driver/tags.h"

/* What is heard of a driver so long after it was closed is too late. */
#define QUIET_MILLISECONDS 100

#define MARK "drover-driver-check"

/* ---- The provider ---- */

DroverBench *
drover_check_open(DroverSubject *subject)
{
    if (subject->driver == NULL && !drover_subject_load(subject))
        return NULL;
    if (subject->provider == NULL && !drover_subject_configure(subject))
        return NULL;
    return drover_bench_open(subject, subject->provider->name);
}

static gboolean
judge_bench(DroverSubject *subject, const DroverBench *bench)
{
    const char *mistake = drover_bench_mistake(bench);

    if (mistake != NULL)
        drover_subject_fail(subject, "%s", mistake);
    return mistake == NULL;
}

void
drover_check_close(DroverSubject *subject, DroverBench *bench)
{
    drover_bench_close(bench);
    drover_bench_watch(bench, QUIET_MILLISECONDS);
    judge_bench(subject, bench);
    drover_bench_free(bench);
}

gboolean
drover_check_judge(DroverSubject *subject, DroverBench *bench, const DroverWork *work)
{
    if (!judge_bench(subject, bench))
        return FALSE;
    if (!drover_work_is_ok(work))
        drover_subject_fail(subject, "%s", drover_work_message(work));
    return drover_work_is_ok(work);
}

/* ---- The label ---- */

/* A label of a disk image is no use without the image. */
static gboolean
take_label(const DroverSubject *subject, const DroverPoolConfig *pool,
           const struct drover_value *values, DroverCheckLabel *label)
{
    const char *name = drover_value_get_string(values, "name", NULL);
    const char *wanted = subject->wish->label;

    if (name == NULL || (wanted != NULL && strcmp(name, wanted) != 0) ||
        (wanted == NULL && drover_value_get(values, "diskimage") != NULL))
        return FALSE;
    *label = (DroverCheckLabel){pool, name, values};
    return TRUE;
}

gboolean
drover_check_find_label(DroverSubject *subject, DroverCheckLabel *label)
{
    const GPtrArray *pools = subject->provider->pools;

    for (guint i = 0; i < pools->len; i++) {
        const DroverPoolConfig *pool = pools->pdata[i];
        const struct drover_value *labels = drover_value_get(pool->values, "labels");

        for (gsize j = 0; j < drover_value_length(labels); j++)
            if (take_label(subject, pool, drover_value_item(labels, j), label))
                return TRUE;
    }
    drover_subject_skip(subject, "the configuration has no label of the provider's%s%s",
                        subject->wish->label != NULL ? " called " : " that needs no disk image",
                        subject->wish->label != NULL ? subject->wish->label : "");
    return FALSE;
}

/* ---- Machines ---- */

static char *
tags_of(const char *node_id, const char *pool, const char *provider)
{
    g_autofree char *usual = drover_tags_of_node(node_id, pool, provider);
    g_autoptr(json_t) tags = drover_tags_parse(usual);

    json_object_set_new(tags, MARK, json_string("1"));
    return drover_json_text(tags);
}

gboolean
drover_check_is_ours(const json_t *item)
{
    g_autoptr(json_t) tags = drover_tags_parse(drover_json_string(item, "tags"));

    return json_object_get(tags, MARK) != NULL;
}

DroverWork *
drover_check_create(DroverSubject *subject, DroverBench *bench, const DroverCheckLabel *label,
                    const char *saved)
{
    static guint last;
    g_autofree char *node_id = g_strdup_printf("%010u", ++last);
    g_autofree char *hostname = g_strdup_printf("np%s", node_id);
    g_autofree char *tags = tags_of(node_id, label->pool->name, subject->provider->name);
    const char *const inputs[] = {"hostname", hostname, "tags", tags, NULL};
    const struct drover_operation_input input = {.node_id = node_id,
                                                 .pool = label->pool->name,
                                                 .label = label->label,
                                                 .pool_config = label->pool->values,
                                                 .label_config = label->values,
                                                 .inputs = inputs};

    drover_subject_go_on(subject);
    return drover_work_new(bench, "machine_create", subject->driver->machine_create, &input, saved);
}

DroverWork *
drover_check_delete(DroverSubject *subject, DroverBench *bench, const char *external_id)
{
    const struct drover_operation_input input = {.node_id = "0000000001",
                                                 .external_id = external_id};
    DroverWork *work =
        drover_work_new(bench, "machine_delete", subject->driver->machine_delete, &input, NULL);

    drover_subject_go_on(subject);
    drover_work_finish(work);
    if (!drover_work_is_ok(work) && drover_work_failure(work) != DROVER_FAILURE_NOT_FOUND)
        drover_subject_fail(subject, "machine_delete() of %s: %s", external_id,
                            drover_work_message(work));
    return work;
}

void
drover_check_remove(DroverSubject *subject, DroverBench *bench, DroverWork *work)
{
    if (drover_work_external_id(work) != NULL)
        drover_check_delete(subject, bench, drover_work_external_id(work));
}

/* ---- Others ---- */

DroverWork *
drover_check_try(DroverSubject *subject, DroverBench *bench, const char *function,
                 DroverWorkFunc step, const struct drover_operation_input *input)
{
    DroverWork *first, *other;

    if (step == NULL) {
        drover_subject_skip(subject, "the driver has no %s()", function);
        return NULL;
    }
    first = drover_work_new(bench, function, step, input, NULL);
    drover_work_finish(first);
    drover_subject_go_on(subject);
    other = drover_work_new(bench, function, step, input, NULL);
    drover_work_set_manner(other, DROVER_WORK_NEEDLESS);
    drover_work_finish(other);
    drover_subject_go_on(subject);
    other = drover_work_new(bench, function, step, input, NULL);
    drover_work_step(other);
    drover_work_cancel(other);
    drover_work_finish(other);
    return first;
}
