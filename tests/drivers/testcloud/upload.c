#include "upload.h"

#include "call.h"
#include "list.h"
#include "making.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PROGRESS_MILLISECONDS 200

struct upload {
    struct making making;
    uint64_t size; /* of the file */
    int is_whole;  /* the cloud has said that it has all data */
    int64_t since; /* what the cloud had shown before says nothing */
};

static enum drover_step send(struct making *making, struct drover_operation *op);

static const char *
image_of(const struct making *making)
{
    return making->objects.ids[OBJECT_IMAGE];
}

/* ---- The image ---- */

static void
take(struct making *making, struct drover_operation *op, const char *id)
{
    objects_set(&making->objects, OBJECT_IMAGE, id);
    drover_operation_set_string(op, "external_id", id);
}

static enum drover_step
asked(struct making *making, struct drover_operation *op)
{
    enum drover_step step;
    char *id = making_hear(making, op, OBJECT_IMAGE, &step);

    if (id != NULL) {
        take(making, op, id);
        making->stage = send;
    }
    free(id);
    return step;
}

static enum drover_step
ask(struct making *making, struct drover_operation *op)
{
    static const char *const inputs[] = {"name", "format", "md5", "sha256"};
    const char *metadata = drover_operation_input(op, "metadata");
    json_t *image = json_object();

    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        if (drover_operation_input(op, inputs[i]) != NULL)
            json_object_set_new(image, inputs[i],
                                json_string(drover_operation_input(op, inputs[i])));
    if (metadata != NULL)
        json_object_set_new(image, "tags", json_loads(metadata, 0, NULL));
    drover_operation_set_status(op, "image");
    return making_call(making, op, call_new(making->cloud, "POST", "/images", image), asked);
}

/* ---- Waiting for it ---- */

/*
 * The cloud forgets data that ended in the middle, and then waits for them again: as soon as it
 * notices that who sent them, a process that was killed or a connection that broke, is gone.
 */
static enum drover_step
judge(struct making *making, struct drover_operation *op, const json_t *image)
{
    const struct upload *upload = (const struct upload *)making;
    const char *state = json_string_value(json_object_get(image, "state"));
    const char *fault = json_string_value(json_object_get(image, "fault"));

    if (state != NULL && strcmp(state, "READY") == 0)
        return DROVER_DONE;
    if (state != NULL && strcmp(state, "QUEUED") == 0 && !upload->is_whole) {
        making->stage = send;
        return DROVER_RUNNING;
    }
    if (fault != NULL)
        return drover_operation_fail(op, DROVER_FAILURE_BROKEN, "image %s is in state %s: %s",
                                     image_of(making), state != NULL ? state : "unknown", fault);
    return list_wait(making->cloud->images, op);
}

static enum drover_step
wait_until_saved(struct making *making, struct drover_operation *op)
{
    const struct upload *upload = (struct upload *)making;
    const json_t *images, *image;
    enum drover_step step = list_get_after(making->cloud->images, op, upload->since, &images);

    if (step != DROVER_DONE)
        return step;
    drover_operation_set_status(op, "saving");
    image = list_find(images, "id", image_of(making));
    if (image == NULL)
        return drover_operation_fail(op, DROVER_FAILURE_BROKEN, "image %s is gone",
                                     image_of(making));
    return judge(making, op, image);
}

/* ---- Its data ---- */

/* A conflict: the image has data of an earlier try, whose answer was lost, or a part of them. */
static enum drover_step
sent(struct making *making, struct drover_operation *op)
{
    struct upload *upload = (struct upload *)making;
    uint64_t moved, received;

    drover_http_progress(making->call, &moved, &received);
    drover_operation_set_progress(op, moved, upload->size);
    if (!drover_http_request_is_done(making->call)) {
        drover_operation_call_after(op, PROGRESS_MILLISECONDS);
        return DROVER_RUNNING;
    }
    if (call_failure(making->call) != 0 && drover_http_status(making->call) != 409)
        return call_fail(making->call, op);
    upload->is_whole = call_failure(making->call) == 0;
    upload->since = drover_now();
    making->stage = wait_until_saved;
    return DROVER_RUNNING;
}

static enum drover_step
send(struct making *making, struct drover_operation *op)
{
    struct upload *upload = (struct upload *)making;
    const char *file = drover_operation_input(op, "path");
    char *path = call_path("/images", image_of(making), "/data");
    struct drover_http_request *call = call_new(making->cloud, "PUT", path, NULL);
    struct stat about;

    free(path);
    upload->size = stat(file, &about) == 0 ? (uint64_t)about.st_size : 0;
    drover_operation_set_status(op, "sending");
    drover_http_request_set_file(call, "application/octet-stream", file, 0, UINT64_MAX);
    /* It may take as long as it likes while it moves at all. */
    drover_http_request_set_number(call, DROVER_HTTP_TRY_LIMIT, 0);
    drover_http_request_set_number(call, DROVER_HTTP_LIMIT, 0);
    return making_call(making, op, call, sent);
}

/* ---- Being taken up ---- */

/* An image that was asked for by a process that has not lived to hear the answer. */
static enum drover_step
seek(struct making *making, struct drover_operation *op)
{
    const char *name = drover_operation_input(op, "name");
    const json_t *images, *image;
    enum drover_step step = list_get_after(making->cloud->images, op, making->resumed, &images);

    if (step != DROVER_DONE)
        return step;
    image = name != NULL ? list_find(images, "name", name) : NULL;
    if (image != NULL)
        take(making, op, json_string_value(json_object_get(image, "id")));
    making->stage = image != NULL ? wait_until_saved : ask;
    return DROVER_RUNNING;
}

/* ---- Beginning, saving, taking up ---- */

static struct upload *
begin(struct cloud *cloud, struct drover_operation *op)
{
    struct upload *upload = making_new(sizeof *upload, &upload_kind, cloud, op);

    upload->making.asked = asked;
    upload->making.stage = ask;
    return upload;
}

static json_t *
save(const struct work *work)
{
    const struct making *making = (const struct making *)work;

    if (making->cancelled != 0)
        return NULL;
    return json_pack("{s:s?}", "image", image_of(making));
}

static int
resume(struct cloud *cloud, struct drover_operation *op, const json_t *saved)
{
    const char *id = json_string_value(json_object_get(saved, "image"));
    struct upload *upload = begin(cloud, op);

    upload->making.resumed = upload->since = drover_now();
    upload->making.stage = id != NULL ? wait_until_saved : seek;
    if (id != NULL)
        take(&upload->making, op, id);
    return 0;
}

const struct work_kind upload_kind = {
    .name = "upload", .cleans = 1, .save = save, .resume = resume};

enum drover_step
upload_image(struct cloud *cloud, struct drover_operation *op)
{
    struct upload *upload = drover_operation_state(op);

    if (upload == NULL)
        upload = begin(cloud, op);
    return making_run(&upload->making, op);
}
