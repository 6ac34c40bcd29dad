#include "work.h"

#include "create.h"
#include "removal.h"
#include "upload.h"

static const struct work_kind *const kinds[] = {&creation_kind, &removal_kind, &upload_kind};

/* ---- Life ---- */

void *
work_new(struct cloud *cloud, const struct work_kind *kind)
{
    struct work *work = g_malloc0(kind->size);

    work->kind = kind;
    work->cloud = cloud;
    work->stage = kind->first;
    return work;
}

void
work_free(void *data)
{
    struct work *work = data;

    if (work == NULL)
        return;
    if (work->kind->clear != NULL)
        work->kind->clear(work);
    call_free(work->call);
    g_free(work);
}

/* ---- Steps ---- */

static enum drover_step
end_cancelled(struct work *work, struct drover_operation *op)
{
    return drover_operation_fail(op, DROVER_FAILURE_OTHER, "cancelled");
}

static void
notice_cancel(struct work *work, struct drover_operation *op)
{
    if (work->cancelled != 0 || !drover_operation_cancelled(op))
        return;
    work->cancelled = drover_now();
    work->stage = work->kind->cancelled != NULL ? work->kind->cancelled : end_cancelled;
}

enum drover_step
work_run(struct work *work, struct drover_operation *op)
{
    enum drover_step step;
    work_stage before;

    do {
        before = work->stage;
        step = before(work, op);
    } while (step == DROVER_RUNNING && work->stage != before);
    return step;
}

enum drover_step
work_step(struct cloud *cloud, struct drover_operation *op, const struct work_kind *kind)
{
    struct work *work = drover_operation_state(op);

    if (work == NULL) {
        work = work_new(cloud, kind);
        drover_operation_set_state(op, work, work_free);
    }
    notice_cancel(work, op);
    return work_run(work, op);
}

enum drover_step
work_call(struct work *work, struct drover_operation *op, struct call *call, work_stage next)
{
    call_free(work->call);
    work->call = call;
    work->stage = next;
    call_start_for(call, op);
    return DROVER_RUNNING;
}

static enum drover_step
pause_stage(struct work *work, struct drover_operation *op)
{
    int64_t left = work->until - drover_now();

    if (left > 0)
        drover_operation_call_after(op, (uint32_t)left);
    else
        work->stage = work->next;
    return DROVER_RUNNING;
}

enum drover_step
work_pause(struct work *work, struct drover_operation *op, int64_t milliseconds, work_stage next)
{
    work->until = drover_now() + milliseconds;
    work->next = next;
    work->stage = pause_stage;
    return DROVER_RUNNING;
}

int64_t
work_left(const struct work *work, int64_t milliseconds)
{
    return work->cancelled + milliseconds - drover_now();
}

/* ---- Saving and taking up: {"create": {...}} ---- */

char *
work_save(void *self, struct drover_operation *op)
{
    const struct work *work = drover_operation_state(op);
    json_t *saved = NULL;
    char *text;

    if (work != NULL && work->kind != NULL && work->kind->save != NULL && work->cancelled == 0)
        saved = work->kind->save(work);
    if (saved == NULL)
        return NULL;
    saved = json_pack("{s:o}", work->kind->name, saved);
    text = json_dumps(saved, JSON_COMPACT);
    json_decref(saved);
    return text;
}

static int
resume(struct cloud *cloud, struct drover_operation *op, const struct work_kind *kind,
       const json_t *saved)
{
    struct work *work = work_new(cloud, kind);

    drover_operation_set_state(op, work, work_free);
    return kind->resume(work, op, saved) ? 0 : -1;
}

int
work_resume(void *self, struct drover_operation *op, const char *saved)
{
    json_t *text = json_loads(saved, 0, NULL);
    int outcome = -1;

    for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++) {
        const json_t *of_kind = json_object_get(text, kinds[i]->name);

        if (of_kind != NULL)
            outcome = resume(self, op, kinds[i], of_kind);
    }
    json_decref(text);
    return outcome;
}
