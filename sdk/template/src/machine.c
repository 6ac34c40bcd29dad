/*
 * Machines of My Cloud, each operation as a state machine that never waits:
 *
 *     machine_create:  asked ──────► booting ──┬─► done
 *                      POST          GET ◄─────┘ not up yet: again in a while
 *
 * A step starts a call, says that it wants to be woken when the answer is there, and returns
 * DROVER_RUNNING. It may be called earlier than that: then it finds that the call is not done.
 */
#include "mycloud.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#define LOOK_AGAIN 500 /* milliseconds between two looks at a machine that boots */

/* ---- The state of an operation ---- */

struct work {
    struct drover_http_request *call; /* under way or answered; NULL: none */
    char *id;                         /* the machine's; NULL: it is not known to exist */
    int64_t began, look_again;        /* drover_now() */
};

/* Called when the operation has ended, however it has: a call that is under way is given up. */
static void
release(void *state)
{
    struct work *work = state;

    drover_http_request_free(work->call);
    free(work->id);
    free(work);
}

static struct work *
work_of(struct drover_operation *op)
{
    struct work *work = drover_operation_state(op);

    if (work == NULL) {
        work = calloc(1, sizeof(*work));
        if (work == NULL)
            abort();
        work->began = drover_now();
        drover_operation_set_state(op, work, release);
    }
    return work;
}

/* ---- Calls ---- */

/* `id` may be NULL, and `body`, which is taken over. The operation is woken by the answer. */
static enum drover_step
call(struct cloud *cloud, struct drover_operation *op, const char *method, const char *id,
     json_t *body)
{
    struct work *work = work_of(op);
    char *escaped = id != NULL ? drover_http_escape(id) : NULL;
    char *url = NULL;

    if (asprintf(&url, "%s/machines%s%s", cloud->url, id != NULL ? "/" : "",
                 id != NULL ? escaped : "") < 0)
        abort();
    drover_http_request_free(work->call);
    work->call = drover_http_request_new(cloud->http, method, url);
    free(url);
    free(escaped);
    if (cloud->token != NULL)
        drover_http_request_set_header(work->call, "X-Token", cloud->token);
    if (body != NULL) {
        char *text = json_dumps(body, JSON_COMPACT);

        drover_http_request_set_json(work->call, text);
        free(text);
        json_decref(body);
    }
    drover_operation_call_after(op, DROVER_WHEN_WOKEN);
    drover_http_request_start(work->call, drover_http_wake, op);
    return DROVER_RUNNING;
}

/* The answer; NULL when it is no JSON. To be released with json_decref(). */
static json_t *
answer_of(const struct work *work)
{
    size_t length;
    const char *body = drover_http_body(work->call, &length);

    return json_loadb(body, length, 0, NULL);
}

/*
 * What went wrong, in a class that the host can act on: it waits after QUOTA, tries elsewhere after
 * CAPACITY, gives a label up after PERMANENT. drover_http_fail() knows the usual statuses, and each
 * cloud has its own ways of saying that it is full.
 */
static enum drover_step
fail(const struct work *work, struct drover_operation *op)
{
    if (drover_http_status(work->call) == 409)
        return drover_operation_fail(op, DROVER_FAILURE_QUOTA, "the account has no room left");
    return drover_http_fail(work->call, op);
}

/* ---- Creating ---- */

static enum drover_step
ask_for_machine(struct cloud *cloud, struct drover_operation *op)
{
    const struct drover_value *label = drover_operation_label_config(op);
    const char *tags = drover_operation_input(op, "tags");

    drover_operation_set_status(op, "asking for a machine");
    /* The tags go with the very first call: by them a machine is found when its answer is lost. */
    return call(cloud, op, "POST", NULL,
                json_pack("{s:s?, s:s, s:o}", "name", drover_operation_input(op, "hostname"),
                          "size", drover_value_get_string(label, "size", "small"), "tags",
                          json_loads(tags != NULL ? tags : "{}", 0, NULL)));
}

static enum drover_step
look_at_machine(struct cloud *cloud, struct drover_operation *op)
{
    drover_operation_set_status(op, "waiting for it to be up");
    return call(cloud, op, "GET", work_of(op)->id, NULL);
}

/* From here on the host knows the machine, and deletes it when anything goes wrong. */
static enum drover_step
take_id(struct cloud *cloud, struct drover_operation *op)
{
    struct work *work = work_of(op);
    json_t *answer = answer_of(work);
    const char *id = json_string_value(json_object_get(answer, "id"));

    if (id != NULL) {
        work->id = strdup(id);
        drover_operation_set_string(op, "external_id", id);
    }
    json_decref(answer);
    if (id == NULL)
        return drover_operation_fail(op, DROVER_FAILURE_OTHER, "the cloud gives no id");
    return look_at_machine(cloud, op);
}

static void
show_machine(struct drover_operation *op, const json_t *machine)
{
    const struct drover_value *label = drover_operation_label_config(op);
    const char *address = json_string_value(json_object_get(machine, "address"));

    drover_operation_set_string(op, "interface_ip", address);
    drover_operation_set_string(op, "public_ipv4", address);
    drover_operation_set_string(op, "connection_type", "ssh");
    drover_operation_set_integer(op, "connection_port", 22);
    drover_operation_set_string(op, "username", drover_value_get_string(label, "username", "zuul"));
    drover_operation_set_resource(op, "instances", 1);
}

static enum drover_step
judge_machine(struct cloud *cloud, struct drover_operation *op)
{
    struct work *work = work_of(op);
    json_t *machine = answer_of(work);
    const char *state = json_string_value(json_object_get(machine, "state"));
    enum drover_step step = DROVER_RUNNING;

    if (state == NULL)
        step = drover_operation_fail(op, DROVER_FAILURE_OTHER, "the cloud's answer has no state");
    else if (strcmp(state, "error") == 0)
        step = drover_operation_fail(op, DROVER_FAILURE_BROKEN, "the machine does not work");
    else if (strcmp(state, "up") == 0) {
        show_machine(op, machine);
        step = DROVER_DONE;
    } else if (drover_now() - work->began > cloud->boot_timeout * 1000)
        step = drover_operation_fail(op, DROVER_FAILURE_TIMEOUT, "the machine is not up in time");
    json_decref(machine);
    if (step == DROVER_RUNNING) {
        drover_http_request_free(work->call);
        work->call = NULL;
        work->look_again = drover_now() + LOOK_AGAIN;
        drover_operation_call_after(op, LOOK_AGAIN);
    }
    return step;
}

/*
 * A machine that was asked for is waited for even when nobody wants it any more: only the answer
 * says which one it is. What has an id the host deletes.
 */
enum drover_step
machine_create(void *self, struct drover_operation *op)
{
    struct cloud *cloud = self;
    struct work *work = work_of(op);
    int unwanted = drover_operation_cancelled(op) && (work->call == NULL || work->id != NULL);

    if (unwanted)
        return drover_operation_fail(op, DROVER_FAILURE_OTHER, "cancelled");
    if (work->call == NULL && work->id == NULL)
        return ask_for_machine(cloud, op);
    if (work->call == NULL && drover_now() < work->look_again) {
        drover_operation_call_after(op, (uint32_t)(work->look_again - drover_now()));
        return DROVER_RUNNING; /* called without need */
    }
    if (work->call == NULL)
        return look_at_machine(cloud, op);
    if (!drover_http_request_is_done(work->call))
        return DROVER_RUNNING;
    if (drover_http_failure(work->call) != 0)
        return fail(work, op);
    return work->id == NULL ? take_id(cloud, op) : judge_machine(cloud, op);
}

/* ---- Deleting, listing: one call each ---- */

/* One that does not exist is NOT_FOUND, which the host takes for done. */
enum drover_step
machine_delete(void *self, struct drover_operation *op)
{
    struct work *work = work_of(op);

    if (work->call == NULL)
        return call(self, op, "DELETE", drover_operation_external_id(op), NULL);
    if (!drover_http_request_is_done(work->call))
        return DROVER_RUNNING;
    return drover_http_failure(work->call) != 0 ? fail(work, op) : DROVER_DONE;
}

/* Everything of the account, with the tags that it was made with: so the host finds what leaked. */
enum drover_step
machine_list(void *self, struct drover_operation *op)
{
    struct work *work = work_of(op);
    json_t *answer;
    const json_t *machine;
    size_t i;

    if (work->call == NULL)
        return call(self, op, "GET", NULL, NULL);
    if (!drover_http_request_is_done(work->call))
        return DROVER_RUNNING;
    if (drover_http_failure(work->call) != 0)
        return fail(work, op);
    answer = answer_of(work);
    json_array_foreach(json_object_get(answer, "machines"), i, machine)
    {
        char *tags = json_dumps(json_object_get(machine, "tags"), JSON_COMPACT);

        drover_operation_add_item(op, "machine", json_string_value(json_object_get(machine, "id")));
        drover_operation_set_string(op, "tags", tags);
        free(tags);
    }
    json_decref(answer);
    return DROVER_DONE;
}

/* ---- For all operations ---- */

/* The step sees that it is cancelled. */
void
operation_cancel(void *self, struct drover_operation *op)
{
    drover_operation_wake(op);
}

/*
 * What another process needs to go on with a machine: its id. As long as there is none the launch
 * cannot be taken up; the host then finds by the tags what was made.
 */
char *
operation_save(void *self, struct drover_operation *op)
{
    const struct work *work = drover_operation_state(op);

    return work != NULL && work->id != NULL ? strdup(work->id) : NULL;
}

int
operation_resume(void *self, struct drover_operation *op, const char *saved)
{
    if (saved[0] == '\0')
        return -1;
    work_of(op)->id = strdup(saved);
    drover_operation_set_string(op, "external_id", saved);
    return 0;
}
