#include "work.h"

#include "create.h"
#include "removal.h"
#include "upload.h"

#include <stdlib.h>

static const struct work_kind *const kinds[] = {&creation_kind, &removal_kind, &upload_kind};

void *
work_allocate(size_t size)
{
    void *memory = calloc(1, size);

    if (memory == NULL)
        abort();
    return memory;
}

/* ---- Steps ---- */

static int
has_to_clean(const struct drover_operation *op)
{
    const struct work *work = drover_operation_state(op);

    return work != NULL && work->kind != NULL && work->kind->cleans;
}

enum drover_step
work_run(struct cloud *cloud, struct drover_operation *op, work_step step)
{
    enum drover_step outcome;

    do {
        if (drover_operation_cancelled(op) && !has_to_clean(op))
            return drover_operation_fail(op, DROVER_FAILURE_OTHER, "cancelled");
        outcome = step(cloud, op);
    } while (cloud->blocks && outcome == DROVER_RUNNING);
    return outcome;
}

/* ---- Saving and taking up ---- */

/* {"create": {...}} */
char *
work_save(void *self, struct drover_operation *op)
{
    const struct cloud *cloud = self;
    const struct work *work = drover_operation_state(op);
    json_t *saved = NULL;
    char *text;

    if (cloud->resumes && work != NULL && work->kind != NULL)
        saved = work->kind->save(work);
    if (saved == NULL)
        return NULL;
    saved = json_pack("{s:o}", work->kind->name, saved);
    text = json_dumps(saved, JSON_COMPACT);
    json_decref(saved);
    return text;
}

int
work_resume(void *self, struct drover_operation *op, const char *saved)
{
    struct cloud *cloud = self;
    json_t *text = json_loads(saved, 0, NULL);
    int outcome = -1;

    for (size_t i = 0; cloud->resumes && i < sizeof kinds / sizeof *kinds; i++) {
        const json_t *of_kind = json_object_get(text, kinds[i]->name);

        if (of_kind != NULL)
            outcome = kinds[i]->resume(cloud, op, of_kind);
    }
    json_decref(text);
    return outcome;
}
