#include "create.h"

#include "call.h"
#include "list.h"
#include "machine.h"
#include "making.h"
#include "options.h"

#include <stdlib.h>
#include <string.h>

struct creation {
    struct making making;
    enum object_kind kind; /* of the object in work */
    int64_t made;          /* when the machine existed */
};

static enum drover_step ask(struct making *making, struct drover_operation *op);
static enum drover_step boot(struct making *making, struct drover_operation *op);

static const char *
server_of(const struct making *making)
{
    return making->objects.ids[OBJECT_SERVER];
}

/* ---- Asking for objects ---- */

static json_t *
description(const struct creation *creation, struct drover_operation *op)
{
    const char *server = server_of(&creation->making);
    json_t *tags = machine_tags(op);

    switch (creation->kind) {
    case OBJECT_VOLUME:
        return json_pack("{s:o, s:s, s:i}", "tags", tags, "machine", server, "size", VOLUME_GB);
    case OBJECT_ADDRESS:
        return json_pack("{s:o, s:s}", "tags", tags, "machine", server);
    default:
        return machine_description(creation->making.cloud, op, tags);
    }
}

/* The machine comes first, then what the label wants beside it, then the machine has to boot. */
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
    creation->making.stage = kind < OBJECT_KINDS ? ask : boot;
}

static void
take(struct creation *creation, struct drover_operation *op, const char *id)
{
    objects_set(&creation->making.objects, creation->kind, id);
    objects_show(&creation->making.objects, op);
    drover_operation_log(op, DROVER_INFO, "%s %s is made", object_forms[creation->kind].member, id);
    if (creation->kind == OBJECT_SERVER)
        creation->made = drover_now();
    choose_next(creation, op);
}

/* What the label names is not there: it can never work. */
static enum drover_step
fail_for_label(struct making *making, struct drover_operation *op)
{
    char *message = call_message(making->call);
    enum drover_step step = drover_operation_fail(op, DROVER_FAILURE_PERMANENT, "%s", message);

    free(message);
    return step;
}

static enum drover_step
asked(struct making *making, struct drover_operation *op)
{
    struct creation *creation = (struct creation *)making;
    enum drover_step step;
    char *id = making_hear(making, op, creation->kind, &step);

    if (id != NULL)
        take(creation, op, id);
    else if (step == DROVER_FAILED && drover_http_status(making->call) == 400)
        list_expire(making->cloud->zones);
    else if (step == DROVER_FAILED && call_failure(making->call) == DROVER_FAILURE_NOT_FOUND)
        step = fail_for_label(making, op);
    free(id);
    return step;
}

static enum drover_step
ask(struct making *making, struct drover_operation *op)
{
    const struct creation *creation = (struct creation *)making;
    const struct object_form *form = &object_forms[creation->kind];
    json_t *wanted = description(creation, op);

    if (wanted == NULL)
        return drover_operation_fail(op, DROVER_FAILURE_PERMANENT, "the label has no image");
    drover_operation_set_status(op, form->member);
    return making_call(making, op, call_new(making->cloud, "POST", form->collection, wanted),
                       asked);
}

/* ---- Waiting for the machine ---- */

static enum drover_step
judge(const struct making *making, struct drover_operation *op, const json_t *machine)
{
    switch (machine_state(machine)) {
    case MACHINE_UP:
        return machine_show(op, machine);
    case MACHINE_BROKEN:
        return machine_fail(op, machine);
    case MACHINE_BOOTS:
        break;
    }
    return list_wait(making->cloud->machines, op);
}

static enum drover_step
checked(struct making *making, struct drover_operation *op)
{
    enum drover_step step;
    json_t *answer;

    if (!drover_http_request_is_done(making->call))
        return DROVER_RUNNING;
    if (call_failure(making->call) == DROVER_FAILURE_NOT_FOUND)
        return drover_operation_fail(op, DROVER_FAILURE_BROKEN, "machine %s is gone",
                                     server_of(making));
    if (call_failure(making->call) != 0)
        return call_fail(making->call, op);
    making->stage = boot;
    answer = call_answer(making->call);
    step = judge(making, op, json_object_get(answer, "machine"));
    json_decref(answer);
    return step;
}

/* A list may show a time when the machine had not been made yet. */
static enum drover_step
check(struct making *making, struct drover_operation *op)
{
    char *path = call_path("/machines", server_of(making), "");
    struct drover_http_request *call = call_new(making->cloud, "GET", path, NULL);

    free(path);
    return making_call(making, op, call, checked);
}

static enum drover_step
boot(struct making *making, struct drover_operation *op)
{
    const struct creation *creation = (struct creation *)making;
    const json_t *machines, *machine;
    enum drover_step step = list_get(making->cloud->machines, op, &machines);

    if (step != DROVER_DONE)
        return step;
    drover_operation_set_status(op, "booting");
    machine = list_find(machines, "id", server_of(making));
    if (machine != NULL)
        return judge(making, op, machine);
    if (list_is_after(making->cloud->machines, creation->made))
        return check(making, op);
    return list_wait(making->cloud->machines, op);
}

/* ---- Being taken up ---- */

/* Nothing else has these tags; what belongs to a machine also says to which one. */
static int
is_ours(const struct creation *creation, const struct drover_operation *op, const json_t *object)
{
    const char *node =
        json_string_value(json_object_get(json_object_get(object, "tags"), "nodepool_node_id"));
    const char *machine = json_string_value(json_object_get(object, "machine"));

    if (node == NULL || strcmp(node, drover_operation_node_id(op)) != 0 || !machine_exists(object))
        return 0;
    return creation->kind == OBJECT_SERVER ||
           (machine != NULL && strcmp(machine, server_of(&creation->making)) == 0);
}

/*
 * The process that asked for an object has not lived to hear the answer. When the cloud had heard
 * the question, the object is in its list.
 */
static enum drover_step
seek(struct making *making, struct drover_operation *op)
{
    struct creation *creation = (struct creation *)making;
    const json_t *objects;
    enum drover_step step =
        list_get_after(objects_list(making->cloud, creation->kind), op, making->resumed, &objects);
    size_t index;
    json_t *object;

    if (step != DROVER_DONE)
        return step;
    making->stage = ask;
    json_array_foreach(objects, index, object) if (is_ours(creation, op, object))
    {
        take(creation, op, json_string_value(json_object_get(object, "id")));
        break;
    }
    return DROVER_RUNNING;
}

/* ---- Beginning, saving, taking up ---- */

static struct creation *
begin(struct cloud *cloud, struct drover_operation *op)
{
    const struct drover_value *label = drover_operation_label_config(op);
    struct creation *creation = making_new(sizeof *creation, &creation_kind, cloud, op);

    creation->making.asked = asked;
    creation->making.stage = ask;
    creation->making.objects.plain =
        drover_value_length(drover_value_get(label, "extra-objects")) == 0;
    return creation;
}

/* {"objects": what there is, "next": what is asked for, if anything} */
static json_t *
save(const struct work *work)
{
    const struct creation *creation = (const struct creation *)work;
    making_stage stage = creation->making.stage;
    int asks = stage == ask || stage == asked || stage == seek;

    if (creation->making.cancelled != 0)
        return NULL;
    return json_pack("{s:o?, s:s?}", "objects", objects_json(&creation->making.objects), "next",
                     asks ? object_forms[creation->kind].member : NULL);
}

static int
resume(struct cloud *cloud, struct drover_operation *op, const json_t *saved)
{
    const char *next = json_string_value(json_object_get(saved, "next"));
    const json_t *objects = json_object_get(saved, "objects");
    struct creation *creation = begin(cloud, op);
    struct making *making = &creation->making;

    making->resumed = creation->made = drover_now();
    making->stage = next != NULL ? seek : boot;
    for (int i = 0; next != NULL && i < OBJECT_KINDS; i++)
        if (strcmp(object_forms[i].member, next) == 0)
            creation->kind = (enum object_kind)i;
    if (json_is_null(objects))
        return next != NULL && creation->kind == OBJECT_SERVER ? 0 : -1;
    if (objects_read_json(&making->objects, objects) != 0 || server_of(making) == NULL)
        return -1;
    objects_show(&making->objects, op);
    return 0;
}

const struct work_kind creation_kind = {
    .name = "create", .cleans = 1, .save = save, .resume = resume};

enum drover_step
create_machine(struct cloud *cloud, struct drover_operation *op)
{
    struct creation *creation = drover_operation_state(op);

    if (creation == NULL)
        creation = begin(cloud, op);
    return making_run(&creation->making, op);
}
