#include "removal.h"

#include "call.h"
#include "list.h"

#include <stdlib.h>
#include <string.h>

/* For what a cancelled operation has to clean. */
#define CLEAN_MILLISECONDS 5000

struct removal {
    struct work work;
    struct cloud *cloud;
    struct objects objects; /* those that are left */
    enum stage {
        ASK,     /* for the removal of the next object */
        ASKED,   /* the answer is to come */
        WAIT,    /* until the list has the machine no more */
        CHECK,   /* whether the machine is missing in the list alone */
        CHECKED, /* the answer is to come */
    } stage;
    enum object_kind kind; /* of the object in work */
    struct drover_http_request *call;
    int64_t asked; /* when the cloud had agreed to remove it */
};

struct removal *
removal_new(struct cloud *cloud, const struct objects *objects)
{
    struct removal *removal = work_allocate(sizeof *removal);

    removal->work.kind = &removal_kind;
    removal->cloud = cloud;
    objects_copy(&removal->objects, objects);
    return removal;
}

void
removal_free(struct removal *removal)
{
    if (removal == NULL)
        return;
    drover_http_request_free(removal->call);
    objects_clear(&removal->objects);
    free(removal);
}

/* ---- Steps ---- */

static void
call(struct removal *removal, struct drover_operation *op, const char *method, enum stage next)
{
    char *path =
        call_path(object_forms[removal->kind].collection, removal->objects.ids[removal->kind], "");

    drover_http_request_free(removal->call);
    removal->call = call_begin(removal->cloud, op, method, path, NULL);
    removal->stage = next;
    free(path);
}

/* The last one that was made is the first to go. */
static enum drover_step
ask(struct removal *removal, struct drover_operation *op)
{
    int kind = OBJECT_KINDS - 1;

    while (kind >= 0 && removal->objects.ids[kind] == NULL)
        kind--;
    if (kind < 0)
        return DROVER_DONE;
    removal->kind = (enum object_kind)kind;
    drover_operation_set_status(op, "deleting");
    call(removal, op, "DELETE", ASKED);
    return DROVER_RUNNING;
}

static void
is_gone(struct removal *removal)
{
    free(removal->objects.ids[removal->kind]);
    removal->objects.ids[removal->kind] = NULL;
    removal->stage = ASK;
}

static enum drover_step
asked(struct removal *removal, struct drover_operation *op)
{
    int failure;

    if (!drover_http_request_is_done(removal->call))
        return DROVER_RUNNING;
    failure = call_failure(removal->call);
    if (failure == DROVER_FAILURE_NOT_FOUND)
        is_gone(removal);
    else if (failure != 0)
        return call_fail(removal->call, op);
    else if (removal->kind == OBJECT_SERVER) {
        removal->stage = WAIT;
        removal->asked = drover_now();
    } else {
        is_gone(removal);
    }
    return DROVER_RUNNING;
}

/* A machine that is DELETED may be listed for ever. */
static enum drover_step
judge(struct removal *removal, struct drover_operation *op, const json_t *machine)
{
    const char *state = json_string_value(json_object_get(machine, "state"));

    if (state != NULL && strcmp(state, "DELETED") == 0)
        is_gone(removal);
    else if (state != NULL && strcmp(state, "ERROR") == 0)
        return drover_operation_fail(op, DROVER_FAILURE_OTHER,
                                     "machine %s went to an error state instead of away",
                                     removal->objects.ids[removal->kind]);
    else
        return list_wait(removal->cloud->machines, op);
    return DROVER_RUNNING;
}

static enum drover_step
wait_for_list(struct removal *removal, struct drover_operation *op)
{
    const json_t *machines, *machine;
    enum drover_step step = list_get(removal->cloud->machines, op, &machines);

    if (step != DROVER_DONE)
        return step;
    drover_operation_set_status(op, "waiting for deletion");
    if (!list_is_after(removal->cloud->machines, removal->asked))
        return list_wait(removal->cloud->machines, op);
    machine = list_find(machines, "id", removal->objects.ids[removal->kind]);
    if (machine != NULL)
        return judge(removal, op, machine);
    removal->stage = CHECK;
    return DROVER_RUNNING;
}

/* A list may show a time when the machine had not been made yet. */
static enum drover_step
check(struct removal *removal, struct drover_operation *op)
{
    call(removal, op, "GET", CHECKED);
    return DROVER_RUNNING;
}

static enum drover_step
checked(struct removal *removal, struct drover_operation *op)
{
    enum drover_step step = DROVER_RUNNING;
    json_t *answer;
    int failure;

    if (!drover_http_request_is_done(removal->call))
        return DROVER_RUNNING;
    failure = call_failure(removal->call);
    if (failure == DROVER_FAILURE_NOT_FOUND) {
        is_gone(removal);
        return DROVER_RUNNING;
    }
    if (failure != 0)
        return call_fail(removal->call, op);
    removal->stage = WAIT;
    answer = call_answer(removal->call);
    step = judge(removal, op, json_object_get(answer, "machine"));
    json_decref(answer);
    return step;
}

enum drover_step
removal_step(struct removal *removal, struct drover_operation *op)
{
    static enum drover_step (*const steps[])(struct removal *, struct drover_operation *) = {
        [ASK] = ask, [ASKED] = asked, [WAIT] = wait_for_list, [CHECK] = check, [CHECKED] = checked,
    };
    enum drover_step step;
    enum stage before;

    do {
        before = removal->stage;
        step = steps[before](removal, op);
    } while (step == DROVER_RUNNING && removal->stage != before);
    return step;
}

enum drover_step
removal_step_cancelled(struct removal **removal, struct cloud *cloud, struct drover_operation *op,
                       const struct objects *objects, int64_t since)
{
    int64_t left = since + CLEAN_MILLISECONDS - drover_now();
    enum drover_step step;

    if (left <= 0)
        return drover_operation_fail(op, DROVER_FAILURE_OTHER,
                                     "cancelled: not all was removed in time");
    if (*removal == NULL)
        *removal = removal_new(cloud, objects);
    step = removal_step(*removal, op);
    if (step == DROVER_RUNNING)
        drover_operation_call_after(op, (uint32_t)left);
    if (step == DROVER_DONE)
        return drover_operation_fail(op, DROVER_FAILURE_OTHER, "cancelled");
    return step;
}

/* ---- As operations ---- */

static void
release(void *state)
{
    removal_free(state);
}

static json_t *
save(const struct work *work)
{
    const struct removal *removal = (const struct removal *)work;

    return objects_json(&removal->objects);
}

static int
resume(struct cloud *cloud, struct drover_operation *op, const json_t *saved)
{
    struct objects objects = {.plain = 0};
    int outcome = objects_read_json(&objects, saved);

    if (outcome == 0)
        drover_operation_set_state(op, removal_new(cloud, &objects), release);
    objects_clear(&objects);
    return outcome;
}

const struct work_kind removal_kind = {.name = "delete", .save = save, .resume = resume};

static enum drover_step
remove_objects(struct cloud *cloud, struct drover_operation *op, const struct objects *objects)
{
    struct removal *removal = drover_operation_state(op);

    if (removal == NULL) {
        removal = removal_new(cloud, objects);
        drover_operation_set_state(op, removal, release);
    }
    return removal_step(removal, op);
}

enum drover_step
delete_machine(struct cloud *cloud, struct drover_operation *op)
{
    const char *external_id = drover_operation_external_id(op);
    struct objects objects = {.plain = 0};
    enum drover_step step;

    if (objects_read(&objects, external_id) != 0)
        return drover_operation_fail(op, DROVER_FAILURE_NOT_FOUND,
                                     "\"%s\" is no external id of this driver",
                                     external_id != NULL ? external_id : "");
    step = remove_objects(cloud, op, &objects);
    objects_clear(&objects);
    return step;
}

static enum drover_step
remove_one(struct cloud *cloud, struct drover_operation *op, enum object_kind kind)
{
    struct objects objects = {.plain = 0};
    enum drover_step step;

    objects_set(&objects, kind, drover_operation_external_id(op));
    step = remove_objects(cloud, op, &objects);
    objects_clear(&objects);
    return step;
}

enum drover_step
delete_resource(struct cloud *cloud, struct drover_operation *op)
{
    const char *kind = drover_operation_input(op, "kind");

    for (int i = 0; kind != NULL && i < OBJECT_KINDS; i++)
        if (strcmp(kind, object_forms[i].resource) == 0)
            return remove_one(cloud, op, (enum object_kind)i);
    return drover_operation_fail(op, DROVER_FAILURE_NOT_FOUND, "there are no resources of kind %s",
                                 kind != NULL ? kind : "");
}

enum drover_step
delete_image(struct cloud *cloud, struct drover_operation *op)
{
    return remove_one(cloud, op, OBJECT_IMAGE);
}
