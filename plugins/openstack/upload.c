#include "upload.h"

#include <string.h>
#include <sys/stat.h>

#include "list.h"

#define PROGRESS_MILLISECONDS 500
#define POLL_MILLISECONDS     2000
/* A busy Glance is asked again so often, after pauses that grow. */
#define MOST_REPETITIONS     5
#define FIRST_PAUSE          500
#define HEAR_MILLISECONDS    2000
#define CLEAN_MILLISECONDS   10000
#define IMPORTED_BY_GLANCE   "glance-direct"
#define IMPORT_METHODS       "OpenStack-image-import-methods"
#define UPLOAD_LIMIT_SECONDS 3600

struct upload {
    struct work work;
    char *image; /* its id */
    uint64_t size;
    unsigned repetitions;
    gboolean can_import, imports;
    gboolean is_whole;  /* Glance has said that it has all data */
    gboolean has_asked; /* for the import, this process has */
    int64_t sent;       /* when all was sent, or this process took the work up */
    /* Why it fails once what was made is removed. */
    enum drover_failure failure;
    char *reason;
};

static enum drover_step ask(struct work *work, struct drover_operation *op);
static enum drover_step send(struct work *work, struct drover_operation *op);
static enum drover_step poll(struct work *work, struct drover_operation *op);

/* ---- Failing: nothing is left behind ---- */

static enum drover_step
fail_now(const struct upload *upload, struct drover_operation *op)
{
    return drover_operation_fail(op, upload->failure, "%s", upload->reason);
}

static enum drover_step
cleaned(struct work *work, struct drover_operation *op)
{
    const struct upload *upload = (const struct upload *)work;

    if (call_is_done(work->call))
        return fail_now(upload, op);
    if (work->cancelled != 0 && work_left(work, CLEAN_MILLISECONDS) <= 0)
        return fail_now(upload, op);
    if (work->cancelled != 0)
        drover_operation_call_after(op, (uint32_t)work_left(work, CLEAN_MILLISECONDS));
    return DROVER_RUNNING;
}

static enum drover_step
clean(struct upload *upload, struct drover_operation *op, enum drover_failure failure,
      const char *reason)
{
    g_autofree char *path = NULL;

    upload->failure = failure;
    g_free(upload->reason);
    upload->reason = g_strdup(reason);
    if (upload->image == NULL)
        return fail_now(upload, op);
    path = call_path("/images", upload->image, "");
    list_expire(upload->work.cloud, LIST_OWN_IMAGES);
    return work_call(&upload->work, op,
                     call_new(upload->work.cloud, SERVICE_IMAGE, "DELETE", path, NULL), cleaned);
}

static enum drover_step
clean_after_call(struct upload *upload, struct drover_operation *op)
{
    const struct call *call = upload->work.call;

    return clean(upload, op, (enum drover_failure)call_failure(call), call_message(call));
}

/* ---- A busy Glance ---- */

static gboolean
is_busy(const struct upload *upload)
{
    return call_status(upload->work.call) == 503 && upload->repetitions < MOST_REPETITIONS;
}

/* What was not done at all is asked for again. */
static enum drover_step
repeat(struct upload *upload, struct drover_operation *op, work_stage stage)
{
    return work_pause(&upload->work, op, FIRST_PAUSE << upload->repetitions++, stage);
}

/* ---- The image's record ---- */

static void
take(struct upload *upload, struct drover_operation *op, const char *id)
{
    upload->image = g_strdup(id);
    drover_operation_set_string(op, "external_id", id);
}

static enum drover_step
asked(struct work *work, struct drover_operation *op)
{
    struct upload *upload = (struct upload *)work;
    const char *id, *methods;

    if (!call_is_done(work->call))
        return DROVER_RUNNING;
    if (is_busy(upload))
        return repeat(upload, op, ask);
    if (call_failure(work->call) != 0)
        return call_fail(work->call, op);
    id = list_id(call_answer(work->call));
    if (id == NULL)
        return drover_operation_fail(op, DROVER_FAILURE_OTHER,
                                     "the cloud's answer about an image makes no sense");
    methods = call_header(work->call, IMPORT_METHODS);
    upload->can_import = methods != NULL && strstr(methods, IMPORTED_BY_GLANCE) != NULL;
    upload->repetitions = 0;
    take(upload, op, id);
    work->stage = send;
    return DROVER_RUNNING;
}

/* A new reference; NULL: none was given. */
static json_t *
metadata_of(const struct drover_operation *op)
{
    const char *text = drover_operation_input(op, "metadata");

    return text != NULL ? json_loads(text, 0, NULL) : NULL;
}

static json_t *
description(const struct cloud *cloud, struct drover_operation *op)
{
    json_t *metadata = metadata_of(op);
    json_t *image = upload_description(
        drover_operation_input(op, "name"), drover_operation_input(op, "format"), metadata,
        drover_value_get(drover_operation_label_config(op), "meta"), cloud->settings);
    static const char *const sums[] = {"md5", "sha256"};

    for (gsize i = 0; i < G_N_ELEMENTS(sums); i++) {
        g_autofree char *key = g_strconcat("owner_specified.openstack.", sums[i], NULL);

        if (drover_operation_input(op, sums[i]) != NULL)
            json_object_set_new(image, key, json_string(drover_operation_input(op, sums[i])));
    }
    json_decref(metadata);
    return image;
}

/* FALSE: there is no file. */
static gboolean
note_size(struct upload *upload, struct drover_operation *op)
{
    const char *path = drover_operation_input(op, "path");
    struct stat about;

    if (path == NULL || stat(path, &about) != 0)
        return FALSE;
    upload->size = (uint64_t)about.st_size;
    return TRUE;
}

static enum drover_step
ask(struct work *work, struct drover_operation *op)
{
    struct upload *upload = (struct upload *)work;

    if (!note_size(upload, op))
        return drover_operation_fail(op, DROVER_FAILURE_OTHER, "there is no file to upload");
    drover_operation_set_status(op, "asking");
    return work_call(
        work, op,
        call_new(work->cloud, SERVICE_IMAGE, "POST", "/images", description(work->cloud, op)),
        asked);
}

/* ---- Its data ---- */

/* Some clouds take data for an import only. */
static gboolean
must_import(const struct upload *upload)
{
    int status = call_status(upload->work.call);

    return upload->can_import && !upload->imports &&
           (status == 403 || status == 404 || status == 405);
}

static enum drover_step import(struct work *work, struct drover_operation *op);

static enum drover_step
imported(struct work *work, struct drover_operation *op)
{
    struct upload *upload = (struct upload *)work;

    if (!call_is_done(work->call))
        return DROVER_RUNNING;
    if (is_busy(upload))
        return repeat(upload, op, import);
    if (call_failure(work->call) != 0)
        return clean_after_call(upload, op);
    work->stage = poll;
    return DROVER_RUNNING;
}

static enum drover_step
import(struct work *work, struct drover_operation *op)
{
    struct upload *upload = (struct upload *)work;
    g_autofree char *path = call_path("/images", upload->image, "/import");
    json_t *body = json_pack("{s:{s:s}}", "method", "name", IMPORTED_BY_GLANCE);

    upload->has_asked = TRUE;
    return work_call(work, op, call_new(work->cloud, SERVICE_IMAGE, "POST", path, body), imported);
}

static enum drover_step
sent(struct work *work, struct drover_operation *op)
{
    struct upload *upload = (struct upload *)work;

    drover_operation_set_progress(op, call_sent(work->call), upload->size);
    if (!call_is_done(work->call)) {
        drover_operation_call_after(op, PROGRESS_MILLISECONDS);
        return DROVER_RUNNING;
    }
    if (call_failure(work->call) != 0 && must_import(upload)) {
        upload->imports = TRUE;
        work->stage = send;
        return DROVER_RUNNING;
    }
    if (is_busy(upload))
        return repeat(upload, op, send);
    if (call_failure(work->call) != 0)
        return clean_after_call(upload, op);
    upload->is_whole = TRUE;
    upload->sent = drover_now();
    upload->repetitions = 0;
    work->stage = upload->imports ? import : poll;
    return DROVER_RUNNING;
}

static enum drover_step
send(struct work *work, struct drover_operation *op)
{
    struct upload *upload = (struct upload *)work;
    g_autofree char *path =
        call_path("/images", upload->image, upload->imports ? "/stage" : "/file");
    struct call *call = call_new(work->cloud, SERVICE_IMAGE, "PUT", path, NULL);

    drover_operation_set_status(op, "sending");
    call_set_file(call, drover_operation_input(op, "path"));
    work_call(work, op, call, sent);
    drover_operation_call_after(op, PROGRESS_MILLISECONDS);
    return DROVER_RUNNING;
}

/* ---- Until it can be used ---- */

static gboolean
is_coming(const json_t *image)
{
    static const char *const states[] = {"queued", "saving", "uploading", "importing", NULL};
    const char *state = list_text(image, "status");

    return state != NULL && g_strv_contains(states, state);
}

static gboolean
is_late(const struct upload *upload)
{
    int64_t limit = drover_value_get_integer(upload->work.cloud->config, "image-upload-timeout",
                                             UPLOAD_LIMIT_SECONDS);

    return drover_now() > upload->sent + limit * 1000;
}

static enum drover_step
wait_or_give_up(struct upload *upload, struct drover_operation *op)
{
    if (is_late(upload))
        return clean(upload, op, DROVER_FAILURE_TIMEOUT,
                     "the image did not become active within image-upload-timeout");
    return work_pause(&upload->work, op, POLL_MILLISECONDS, poll);
}

/*
 * What Glance waits for, after a former process was killed; NULL: for nothing. It forgets data that
 * ended in the middle as soon as it notices that who sent them is gone, which may take a while.
 */
static work_stage
awaited(const struct upload *upload, const json_t *image)
{
    const char *state = list_text(image, "status");

    if (!upload->is_whole && g_strcmp0(state, "queued") == 0)
        return send;
    if (upload->is_whole && upload->imports && !upload->has_asked &&
        g_strcmp0(state, "uploading") == 0)
        return import;
    return NULL;
}

static enum drover_step
judge(struct upload *upload, struct drover_operation *op, const json_t *image)
{
    work_stage next = awaited(upload, image);
    const char *state = list_text(image, "status");
    g_autofree char *reason = NULL;

    if (next != NULL) {
        upload->work.stage = next;
        return DROVER_RUNNING;
    }
    if (state == NULL || is_coming(image))
        return wait_or_give_up(upload, op);
    if (strcmp(state, "active") != 0) {
        reason = g_strdup_printf("image %s went to state %s", upload->image, state);
        return clean(upload, op, DROVER_FAILURE_BROKEN, reason);
    }
    if (!upload_is_intact(image, drover_operation_input(op, "md5"),
                          drover_operation_input(op, "sha256")))
        return clean(upload, op, DROVER_FAILURE_BROKEN,
                     "the checksum of the image in the cloud is not that of the file");
    drover_operation_set_progress(op, upload->size, upload->size);
    return DROVER_DONE;
}

static enum drover_step
polled(struct work *work, struct drover_operation *op)
{
    struct upload *upload = (struct upload *)work;

    if (!call_is_done(work->call))
        return DROVER_RUNNING;
    if (call_found_nothing(work->call))
        return drover_operation_fail(op, DROVER_FAILURE_BROKEN, "image %s is gone", upload->image);
    if (call_failure(work->call) != 0)
        return wait_or_give_up(upload, op);
    return judge(upload, op, call_answer(work->call));
}

static enum drover_step
poll(struct work *work, struct drover_operation *op)
{
    const struct upload *upload = (struct upload *)work;
    g_autofree char *path = call_path("/images", upload->image, "");

    drover_operation_set_status(op, "saving");
    return work_call(work, op, call_new(work->cloud, SERVICE_IMAGE, "GET", path, NULL), polled);
}

/* ---- Being taken up ---- */

/* What was made for this very upload; NULL: nothing. */
static const json_t *
find_own(const struct drover_operation *op, const json_t *images)
{
    static const char *const marks[] = {"nodepool_build_id", "nodepool_upload_id"};
    json_t *metadata = metadata_of(op);
    const json_t *found = NULL;
    size_t index;
    json_t *image;

    json_array_foreach((json_t *)images, index, image)
    {
        gboolean fits =
            g_strcmp0(list_text(image, "name"), drover_operation_input(op, "name")) == 0;

        for (gsize i = 0; i < G_N_ELEMENTS(marks); i++)
            fits &= g_strcmp0(list_text(image, marks[i]), list_text(metadata, marks[i])) == 0;
        if (fits)
            found = image;
    }
    json_decref(metadata);
    return found;
}

/* An image that was asked for by a process that has not lived to hear the answer. */
static enum drover_step
seek(struct work *work, struct drover_operation *op)
{
    struct upload *upload = (struct upload *)work;
    const json_t *images, *image;
    enum drover_step step =
        list_await_after(work->cloud, LIST_OWN_IMAGES, op, upload->sent, &images);

    if (step != DROVER_DONE)
        return step;
    image = find_own(op, images);
    if (image != NULL)
        take(upload, op, list_text(image, "id"));
    work->stage = image != NULL ? poll : ask;
    return DROVER_RUNNING;
}

/* ---- Not wanted any more ---- */

static enum drover_step
cancelled(struct work *work, struct drover_operation *op)
{
    struct upload *upload = (struct upload *)work;
    int64_t left = work_left(work, HEAR_MILLISECONDS);
    const char *id;

    if (upload->image == NULL && work->call != NULL && !call_is_done(work->call) && left > 0) {
        drover_operation_call_after(op, (uint32_t)left);
        return DROVER_RUNNING;
    }
    if (upload->image == NULL && work->call != NULL && call_is_done(work->call) &&
        call_failure(work->call) == 0) {
        id = list_id(call_answer(work->call));
        if (id != NULL)
            take(upload, op, id);
    }
    return clean(upload, op, DROVER_FAILURE_OTHER, "cancelled");
}

/* ---- As work ---- */

static void
clear(struct work *work)
{
    struct upload *upload = (struct upload *)work;

    g_free(upload->image);
    g_free(upload->reason);
}

static json_t *
save(const struct work *work)
{
    const struct upload *upload = (const struct upload *)work;

    if (upload->reason != NULL)
        return NULL;
    return json_pack("{s:s*, s:b, s:b, s:b}", "image", upload->image, "can_import",
                     upload->can_import, "imports", upload->imports, "whole", upload->is_whole);
}

static gboolean
resume(struct work *work, struct drover_operation *op, const json_t *saved)
{
    struct upload *upload = (struct upload *)work;
    const char *id = list_text(saved, "image");

    upload->can_import = json_is_true(json_object_get(saved, "can_import"));
    upload->imports = json_is_true(json_object_get(saved, "imports"));
    upload->is_whole = json_is_true(json_object_get(saved, "whole"));
    upload->sent = drover_now();
    note_size(upload, op);
    if (id != NULL)
        take(upload, op, id);
    work->stage = id != NULL ? poll : seek;
    return TRUE;
}

const struct work_kind upload_kind = {.name = "upload",
                                      .size = sizeof(struct upload),
                                      .first = ask,
                                      .cancelled = cancelled,
                                      .save = save,
                                      .resume = resume,
                                      .clear = clear};

enum drover_step
upload_step(struct cloud *cloud, struct drover_operation *op)
{
    return work_step(cloud, op, &upload_kind);
}
