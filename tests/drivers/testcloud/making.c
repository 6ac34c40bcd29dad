#include "making.h"

#include "call.h"
#include "removal.h"

#include <stdlib.h>
#include <string.h>

/* How long a call may take that is under way when the operation is cancelled. */
#define GRACE_MILLISECONDS 2000

static void
release(void *state)
{
    struct making *making = state;

    drover_http_request_free(making->call);
    removal_free(making->removal);
    objects_clear(&making->objects);
    free(making);
}

void *
making_new(size_t size, const struct work_kind *kind, struct cloud *cloud,
           struct drover_operation *op)
{
    struct making *making = work_allocate(size);

    making->work.kind = kind;
    making->cloud = cloud;
    drover_operation_set_state(op, making, release);
    return making;
}

/* ---- Calls ---- */

enum drover_step
making_call(struct making *making, struct drover_operation *op, struct drover_http_request *call,
            making_stage next)
{
    drover_http_request_free(making->call);
    making->call = call;
    making->stage = next;
    call_start(making->cloud, call, op);
    return DROVER_RUNNING;
}

char *
making_hear(struct making *making, struct drover_operation *op, enum object_kind kind,
            enum drover_step *step)
{
    json_t *answer;
    const char *id;
    char *copy;

    *step = DROVER_RUNNING;
    if (!drover_http_request_is_done(making->call))
        return NULL;
    if (call_failure(making->call) != 0) {
        *step = call_fail(making->call, op);
        return NULL;
    }
    answer = call_answer(making->call);
    id = json_string_value(
        json_object_get(json_object_get(answer, object_forms[kind].answer), "id"));
    copy = id != NULL ? strdup(id) : NULL;
    json_decref(answer);
    if (copy == NULL)
        *step = call_fail_for_nonsense(making->call, op);
    return copy;
}

/* ---- Cancelling ---- */

/* What is being made cannot be removed before it has a name. */
static int
must_hear_first(const struct making *making, struct drover_operation *op)
{
    int64_t left = making->cancelled + GRACE_MILLISECONDS - drover_now();

    if (making->stage != making->asked || drover_http_request_is_done(making->call) || left <= 0)
        return 0;
    drover_operation_call_after(op, (uint32_t)left);
    return 1;
}

static enum drover_step
remove_all(struct making *making, struct drover_operation *op)
{
    return removal_step_cancelled(&making->removal, making->cloud, op, &making->objects,
                                  making->cancelled);
}

static enum drover_step
cancel(struct making *making, struct drover_operation *op)
{
    if (making->cancelled == 0)
        making->cancelled = drover_now();
    if (must_hear_first(making, op))
        return DROVER_RUNNING;
    if (making->stage == making->asked)
        making->stage(making, op);
    drover_http_request_free(making->call);
    making->call = NULL;
    making->stage = remove_all;
    return DROVER_RUNNING;
}

enum drover_step
making_run(struct making *making, struct drover_operation *op)
{
    enum drover_step step;
    making_stage before;

    do {
        before = making->stage;
        if (drover_operation_cancelled(op) && before != remove_all)
            step = cancel(making, op);
        else
            step = before(making, op);
    } while (step == DROVER_RUNNING && making->stage != before);
    return step;
}
