#include "create.h"

#include "call.h"
#include "list.h"
#include "machine.h"
#include "options.h"
#include "removal.h"

#include <stdlib.h>
#include <string.h>

/*
 * After a cancel: how long a call may take that is under way, and how long everything. What is left
 * then has tags by which the host finds it.
 */
#define GRACE_MILLISECONDS 2000
#define CLEAN_MILLISECONDS 5000

struct creation {
    struct cloud *cloud;
    enum stage {
        ASK,     /* for the next object */
        ASKED,   /* the answer is to come */
        BOOT,    /* until the list says that the machine is up */
        CHECK,   /* whether the machine is missing in the list alone */
        CHECKED, /* the answer is to come */
        CLEAN,   /* cancelled: what was made is to go */
    } stage;
    enum object_kind kind; /* of the object in work */
    struct objects objects;
    struct drover_http_request *call;
    int64_t made;      /* when the machine existed */
    int was_listed;    /* the machine */
    int64_t cancelled; /* when; 0: not */
    struct removal *removal;
};

static void
release(void *state)
{
    struct creation *creation = state;

    drover_http_request_free(creation->call);
    removal_free(creation->removal);
    objects_clear(&creation->objects);
    free(creation);
}

static struct creation *
begin(struct cloud *cloud, struct drover_operation *op)
{
    const struct drover_value *label = drover_operation_label_config(op);
    struct creation *creation = calloc(1, sizeof *creation);

    if (creation == NULL)
        abort();
    creation->cloud = cloud;
    creation->objects.plain = drover_value_length(drover_value_get(label, "extra-objects")) == 0;
    drover_operation_set_state(op, creation, release);
    return creation;
}

/* ---- Asking for objects ---- */

static json_t *
description(const struct creation *creation, struct drover_operation *op)
{
    const char *server = creation->objects.ids[OBJECT_SERVER];
    json_t *tags = machine_tags(op);

    switch (creation->kind) {
    case OBJECT_VOLUME:
        return json_pack("{s:o, s:s, s:i}", "tags", tags, "machine", server, "size", VOLUME_GB);
    case OBJECT_ADDRESS:
        return json_pack("{s:o, s:s}", "tags", tags, "machine", server);
    default:
        return machine_description(creation->cloud, op, tags);
    }
}

static enum drover_step
ask(struct creation *creation, struct drover_operation *op)
{
    const struct object_form *form = &object_forms[creation->kind];
    json_t *wanted = description(creation, op);

    if (wanted == NULL)
        return drover_operation_fail(op, DROVER_FAILURE_PERMANENT,
                                     "the label has no image that the cloud knows");
    drover_operation_set_status(op, form->member);
    drover_http_request_free(creation->call);
    creation->call = call_begin(creation->cloud, op, "POST", form->collection, wanted);
    creation->stage = ASKED;
    return DROVER_RUNNING;
}

/* A flavor or an image that is not there: the label cannot work. */
static enum drover_step
fail_refused(struct creation *creation, struct drover_operation *op)
{
    enum drover_step step;
    char *message;

    if (drover_http_status(creation->call) == 400)
        list_expire(creation->cloud->zones);
    if (call_failure(creation->call) != DROVER_FAILURE_NOT_FOUND)
        return call_fail(creation->call, op);
    message = call_message(creation->call);
    step = drover_operation_fail(op, DROVER_FAILURE_PERMANENT, "%s", message);
    free(message);
    return step;
}

static void
choose_next(struct creation *creation, struct drover_operation *op)
{
    const struct drover_value *label = drover_operation_label_config(op);
    int kind = creation->kind;

    do
        kind++;
    while (kind < OBJECT_KINDS && !label_wants_extra(label, object_forms[kind].member));
    if (kind < OBJECT_KINDS)
        creation->kind = (enum object_kind)kind;
    creation->stage = kind < OBJECT_KINDS ? ASK : BOOT;
}

static enum drover_step
asked(struct creation *creation, struct drover_operation *op)
{
    const char *id;
    json_t *answer;

    if (!drover_http_request_is_done(creation->call))
        return DROVER_RUNNING;
    if (call_failure(creation->call) != 0)
        return fail_refused(creation, op);
    answer = call_answer(creation->call);
    id = json_string_value(
        json_object_get(json_object_get(answer, object_forms[creation->kind].kind), "id"));
    if (id != NULL) {
        objects_set(&creation->objects, creation->kind, id);
        objects_show(&creation->objects, op);
    }
    json_decref(answer);
    if (id == NULL)
        return call_fail_for_nonsense(creation->call, op);
    if (creation->kind == OBJECT_SERVER)
        creation->made = drover_now();
    choose_next(creation, op);
    return DROVER_RUNNING;
}

/* ---- Waiting for the machine ---- */

static enum drover_step
judge(struct creation *creation, struct drover_operation *op, const json_t *machine)
{
    switch (machine_state(machine)) {
    case MACHINE_UP:
        return machine_show(creation->cloud, op, machine);
    case MACHINE_BROKEN:
        return machine_fail(op, machine);
    case MACHINE_BOOTS:
        break;
    }
    return list_wait(creation->cloud->machines, op);
}

static enum drover_step
fail_vanished(const struct creation *creation, struct drover_operation *op)
{
    return drover_operation_fail(op, DROVER_FAILURE_BROKEN, "machine %s is gone",
                                 creation->objects.ids[OBJECT_SERVER]);
}

static enum drover_step
boot(struct creation *creation, struct drover_operation *op)
{
    struct list *list = creation->cloud->machines;
    const json_t *machines, *machine;
    enum drover_step step = list_get(list, op, &machines);

    if (step != DROVER_DONE)
        return step;
    drover_operation_set_status(op, "booting");
    machine = list_find(machines, "id", creation->objects.ids[OBJECT_SERVER]);
    if (machine != NULL) {
        creation->was_listed = 1;
        return judge(creation, op, machine);
    }
    if (!list_is_after(list, creation->made))
        return list_wait(list, op);
    creation->stage = CHECK;
    return DROVER_RUNNING;
}

/* A list may show a time when the machine had not been made yet. */
static enum drover_step
check(struct creation *creation, struct drover_operation *op)
{
    char *path = call_path("/machines", creation->objects.ids[OBJECT_SERVER], "");

    drover_http_request_free(creation->call);
    creation->call = call_begin(creation->cloud, op, "GET", path, NULL);
    creation->stage = CHECKED;
    free(path);
    return DROVER_RUNNING;
}

static enum drover_step
checked(struct creation *creation, struct drover_operation *op)
{
    enum drover_step step;
    json_t *answer;

    if (!drover_http_request_is_done(creation->call))
        return DROVER_RUNNING;
    if (call_failure(creation->call) == DROVER_FAILURE_NOT_FOUND)
        return fail_vanished(creation, op);
    if (call_failure(creation->call) != 0)
        return call_fail(creation->call, op);
    creation->stage = BOOT;
    answer = call_answer(creation->call);
    step = judge(creation, op, json_object_get(answer, "machine"));
    json_decref(answer);
    return step;
}

/* ---- Cancelling ---- */

/* What is being made cannot be removed before it has a name. */
static int
must_wait_for_answer(const struct creation *creation, struct drover_operation *op)
{
    int64_t left = creation->cancelled + GRACE_MILLISECONDS - drover_now();

    if (creation->stage != ASKED || drover_http_request_is_done(creation->call) || left <= 0)
        return 0;
    drover_operation_call_after(op, (uint32_t)left);
    return 1;
}

static enum drover_step
clean(struct creation *creation, struct drover_operation *op)
{
    int64_t left = creation->cancelled + CLEAN_MILLISECONDS - drover_now();
    enum drover_step step;

    if (left <= 0)
        return drover_operation_fail(op, DROVER_FAILURE_OTHER,
                                     "cancelled: not all was removed in time");
    if (creation->removal == NULL)
        creation->removal = removal_new(creation->cloud, &creation->objects);
    step = removal_step(creation->removal, op);
    if (step == DROVER_RUNNING)
        drover_operation_call_after(op, (uint32_t)left);
    return step != DROVER_DONE ? step
                               : drover_operation_fail(op, DROVER_FAILURE_OTHER, "cancelled");
}

static enum drover_step
cancel(struct creation *creation, struct drover_operation *op)
{
    enum drover_step step;

    if (creation->cancelled == 0)
        creation->cancelled = drover_now();
    if (must_wait_for_answer(creation, op))
        return DROVER_RUNNING;
    if (creation->stage == ASKED && drover_http_request_is_done(creation->call)) {
        step = asked(creation, op);
        if (step != DROVER_RUNNING && objects_are_none(&creation->objects))
            return step;
    }
    creation->stage = CLEAN;
    return DROVER_RUNNING;
}

/* ---- All together ---- */

enum drover_step
create_machine(struct cloud *cloud, struct drover_operation *op)
{
    static enum drover_step (*const steps[])(struct creation *, struct drover_operation *) = {
        [ASK] = ask,     [ASKED] = asked,     [BOOT] = boot,
        [CHECK] = check, [CHECKED] = checked, [CLEAN] = clean,
    };
    struct creation *creation = drover_operation_state(op);
    enum drover_step step;
    enum stage before;

    if (creation == NULL)
        creation = begin(cloud, op);
    do {
        int cancelled = drover_operation_cancelled(op) && creation->stage != CLEAN;

        before = creation->stage;
        step = cancelled ? cancel(creation, op) : steps[before](creation, op);
    } while (step == DROVER_RUNNING && creation->stage != before);
    return step;
}
