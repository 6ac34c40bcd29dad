/*
 * Images of the fake cloud by the test driver: uploaded from a file, in spite of faults, cancelled,
 * taken up, listed, used, removed.
 */
#include <string.h>

#include "fixture.h"
#include "image-file.h"
#include "interruption.h"

#define POST "'method': 'POST', 'path': 'images', "
#define PUT  "'method': 'PUT', 'path': 'images', "
#define TAGS "{\"nodepool_build_id\": \"b1\", \"nodepool_upload_id\": \"0000000001\"}"

static ImageFile file;

/* `inputs` has room for 11. */
static const char *const *
set_inputs(const char **inputs, const char *path, const char *sha256)
{
    const char *const all[] = {"path",     path,   "name",   "image-of-ours",
                               "sha256",   sha256, "format", "raw",
                               "metadata", TAGS,   NULL};

    memcpy(inputs, all, sizeof(all));
    return inputs;
}

static Work *
upload_begin(Provider *provider)
{
    const char *inputs[11];

    return work_begin_with(provider, DROVER_TASK_IMAGE_UPLOAD, NULL,
                           set_inputs(inputs, file.path, file.checksum), NULL);
}

static Work *
upload(Provider *provider)
{
    Work *work = upload_begin(provider);

    work_wait(work);
    return work;
}

/* The cloud has the image, whole, once, ready and tagged. */
static void
assert_uploaded(const Work *work)
{
    json_t *state = cloud_ask("state");
    const json_t *images = json_object_get(state, "images");
    const json_t *image = json_array_get(images, 0);

    assert_done(work);
    g_assert_cmpuint(json_array_size(images), ==, 1);
    g_assert_cmpstr(json_string_value(json_object_get(image, "id")), ==, work_id(work));
    g_assert_cmpstr(json_string_value(json_object_get(image, "state")), ==, "READY");
    g_assert_cmpstr(json_string_value(json_object_get(image, "sha256")), ==, file.checksum);
    g_assert_cmpint(json_integer_value(json_object_get(image, "received")), ==, IMAGE_FILE_SIZE);
    g_assert_cmpstr(
        json_string_value(json_object_get(json_object_get(image, "tags"), "nodepool_build_id")), ==,
        "b1");
    json_decref(state);
}

static void
delete_image(Provider *provider, const char *external_id)
{
    g_autoptr(Work) removal = work_run(provider, DROVER_TASK_IMAGE_DELETE, external_id);
    g_autoptr(Work) again = work_run(provider, DROVER_TASK_IMAGE_DELETE, external_id);

    assert_done(removal);
    assert_done(again);
    cloud_assert_empty();
}

/* ---- Uploading ---- */

/* In both styles, and in spite of a fault in the middle of it. */
static void
test_upload(gconstpointer style)
{
    g_autoptr(Provider) provider = provider_open(style, NULL);
    g_autoptr(Work) work = upload(provider);

    assert_uploaded(work);
    g_assert_cmpuint(work->ids->len, ==, 1);
    g_assert_cmpuint(work->progress_done, ==, IMAGE_FILE_SIZE);
    g_assert_cmpuint(work->progress_total, ==, IMAGE_FILE_SIZE);
    delete_image(provider, work_id(work));
}

static void
test_fault_on_the_way(gconstpointer rule)
{
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autoptr(Work) work = NULL;

    cloud_fault(rule);
    work = upload(provider);
    assert_uploaded(work);
    g_assert_cmpuint(cloud_requests("PUT", "/images"), ==, 2);
    delete_image(provider, work_id(work));
}

typedef struct {
    const char *rule;
    enum drover_failure failure;
    const char *text;
} Refusal;

static const Refusal refused = {POST "'status': 413, 'body': 'over quota'", DROVER_FAILURE_QUOTA,
                                "over quota"};
static const Refusal checksum = {PUT "'upload': 'checksum'", DROVER_FAILURE_BROKEN,
                                 "ERROR: the checksum"};
static const Refusal killed = {PUT "'upload': 'killed'", DROVER_FAILURE_BROKEN, "KILLED: killed"};
static const Refusal bad_data = {PUT "'status': 400, 'body': 'no image'", DROVER_FAILURE_OTHER,
                                 "no image"};

static void
test_upload_fails(gconstpointer data)
{
    const Refusal *refusal = data;
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autoptr(Work) work = NULL;

    cloud_fault(refusal->rule);
    work = upload(provider);
    assert_failed(work, refusal->failure, refusal->text);
    if (work_id(work) != NULL)
        delete_image(provider, work_id(work));
}

static void
test_wrong_checksum(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    const char *inputs[11];
    g_autoptr(Work) work = work_begin_with(provider, DROVER_TASK_IMAGE_UPLOAD, NULL,
                                           set_inputs(inputs, file.path, "0123"), NULL);

    work_wait(work);
    assert_failed(work, DROVER_FAILURE_BROKEN, "checksum");
    delete_image(provider, work_id(work));
}

static void
test_no_file(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    const char *inputs[11];
    g_autoptr(Work) work = work_begin_with(provider, DROVER_TASK_IMAGE_UPLOAD, NULL,
                                           set_inputs(inputs, "/nowhere/image.raw", NULL), NULL);

    work_wait(work);
    assert_failed(work, DROVER_FAILURE_OTHER, "/nowhere/image.raw cannot be read");
    delete_image(provider, work_id(work));
}

/* ---- While it is sent ---- */

typedef struct {
    const Work *work;
    guint64 done, total;
} Progress;

static gboolean
has_begun(gpointer user_data)
{
    Progress *progress = user_data;

    if (progress->work->task != NULL)
        drover_task_progress(progress->work->task, &progress->done, &progress->total);
    return progress->done > 0 || progress->work->done;
}

/* The cloud says nothing yet, but some of the file is on its way, and that is shown. */
static void
test_progress(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autoptr(Work) work = NULL;
    Progress progress = {.work = NULL};
    gint64 deadline = g_get_monotonic_time() + LONGEST_WAIT * G_TIME_SPAN_MILLISECOND;

    cloud_fault(PUT "'times': 1, 'never': 'before'");
    progress.work = work = upload_begin(provider);
    cloud_wait_requests("PUT", "/images", 1);
    while (!has_begun(&progress)) {
        g_assert_cmpint(g_get_monotonic_time(), <, deadline);
        g_main_context_iteration(NULL, FALSE);
    }
    g_assert_false(work->done);
    g_assert_cmpuint(progress.done, <=, IMAGE_FILE_SIZE);
    g_assert_cmpuint(progress.total, ==, IMAGE_FILE_SIZE);
    drover_task_cancel(work->task);
    work_wait(work);
    assert_failed(work, DROVER_FAILURE_OTHER, "cancelled");
    cloud_assert_empty();
}

typedef struct {
    const char *rule, *method;
} Moment;

static const Moment asked = {POST "'delay': 0.5", "POST"};
static const Moment being_sent = {PUT "'delay': 30", "PUT"};
static const Moment saving = {PUT "'upload': 'stuck'", "GET"};

static void
test_cancelled(gconstpointer data)
{
    const Moment *moment = data;
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autoptr(Work) work = NULL;

    cloud_fault(moment->rule);
    work = upload_begin(provider);
    cloud_wait_requests(moment->method, "/images", 1);
    drover_task_cancel(work->task);
    work_wait(work);
    assert_failed(work, DROVER_FAILURE_OTHER, "cancelled");
    cloud_assert_empty();
}

/* ---- Taking up ---- */

static const Interruption of_uploads[] = {
    {.rule = POST "'never': 'after'", .method = "POST", .saved = "{\"upload\":{\"image\":null}}"},
    {.rule = POST "'never': 'before'", .method = "POST", .saved = "{\"upload\":{\"image\":null}}"},
    {.rule = PUT "'never': 'before'",
     .method = "PUT",
     .saved = "{\"upload\":{\"image\":\"image-000001\"}}"},
    {.rule = PUT "'never': 'after'",
     .method = "PUT",
     .carried_out = TRUE,
     .saved = "{\"upload\":{\"image\":\"image-000001\"}}"},
    {.rule = "'method': 'GET', 'never': 'before'",
     .method = "GET",
     .saved = "{\"upload\":{\"image\":\"image-000001\"}}"},
};

static void
test_taken_up(gconstpointer data)
{
    Interruption interruption = *(const Interruption *)data;
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    const char *inputs[11];
    g_autoptr(Work) work = NULL;

    interruption.kind = DROVER_TASK_IMAGE_UPLOAD;
    interruption.path = "/images";
    interruption.inputs = set_inputs(inputs, file.path, file.checksum);
    interrupt(&interruption);
    work = interruption_take_up(&interruption, provider);
    work_wait(work);
    assert_uploaded(work);
    delete_image(provider, work_id(work));
}

/* ---- A cloud that notices late that data have ended in the middle ---- */

static const Interruption cut = {
    .kind = DROVER_TASK_IMAGE_UPLOAD,
    .path = "/images",
    .rule = PUT "'times': 1, 'upload': 'cut'",
    .method = "PUT",
    .saved = "{\"upload\":{\"image\":\"image-000001\"}}",
};

/* It goes on showing the image as one that is being saved, however often it is asked, and takes no
 * other data. Once it has noticed, they are sent again. */
static void
see_it_notice(Provider *provider, Work *work)
{
    cloud_wait_requests("GET", "/images", 2);
    g_assert_false(work->done);
    cloud_tell("clock", "'advance': 1000");
    work_wait(work);
    assert_uploaded(work);
    delete_image(provider, work_id(work));
}

static void
test_killed_in_the_middle(gconstpointer unused)
{
    Interruption interruption = cut;
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    const char *inputs[11];
    g_autoptr(Work) work = NULL;

    cloud_tell("settings", "'forget_after': 1000");
    interruption.inputs = set_inputs(inputs, file.path, file.checksum);
    interrupt(&interruption);
    work = interruption_take_up(&interruption, provider);
    see_it_notice(provider, work);
}

static void
test_cut_in_the_middle(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autoptr(Work) work = NULL;

    cloud_tell("settings", "'forget_after': 1000");
    cloud_fault(cut.rule);
    work = upload_begin(provider);
    see_it_notice(provider, work);
}

/* ---- What images are for ---- */

static void
test_list(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autoptr(Work) work = upload(provider);
    g_autoptr(Work) list = work_run(provider, DROVER_TASK_IMAGE_LIST, NULL);
    const json_t *own = json_array_get(list->items, 1);

    assert_done(list);
    g_assert_cmpuint(json_array_size(list->items), ==, 2); /* one is there for everybody */
    g_assert_cmpstr(json_string_value(json_object_get(own, "id")), ==, work_id(work));
    g_assert_cmpstr(json_string_value(json_object_get(own, "name")), ==, "image-of-ours");
    g_assert_nonnull(strstr(json_string_value(json_object_get(own, "tags")),
                            "\"nodepool_upload_id\":\"0000000001\""));
}

/* Among the resources are only those that this account has. */
static void
test_as_resource(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autoptr(Work) work = upload(provider);
    g_autoptr(Work) list = work_run(provider, DROVER_TASK_RESOURCE_LIST, NULL);

    g_assert_cmpuint(json_array_size(list->items), ==, 1);
    remove_resource(provider, "image", work_id(work));
    cloud_assert_empty();
}

static void
test_machine_of_it(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, "'diskimage': 'img', 'cloud-image': null");
    g_autoptr(Work) image = upload(provider);
    const char *const inputs[] = {"hostname", "np1", "image", work_id(image), NULL};
    g_autoptr(Work) machine =
        work_begin_with(provider, DROVER_TASK_MACHINE_CREATE, NULL, inputs, NULL);
    g_autoptr(Work) without = NULL;
    g_autoptr(Work) ready = work_run(provider, DROVER_TASK_LABEL_READY, NULL);

    work_wait(machine);
    assert_done(machine);
    assert_done(ready);
    /* The host says what it knows of the image itself. */
    g_assert_null(json_object_get(machine->fields, "username"));
    without = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    assert_failed(without, DROVER_FAILURE_PERMANENT, "no image");
}

int
main(int argc, char **argv)
{
    static const CloudTest tests[] = {
        {"/testcloud/SM-64-upload", test_upload, NULL},
        {"/testcloud/FT-12-upload-blocking", test_upload, "'style': 'blocking'"},
        {"/testcloud/upload-dropped", test_fault_on_the_way, PUT "'times': 1, 'drop': 'before'"},
        {"/testcloud/upload-answer-dropped", test_fault_on_the_way,
         PUT "'times': 1, 'drop': 'after'"},
        {"/testcloud/upload-503", test_fault_on_the_way, PUT "'times': 1, 'status': 503"},
        {"/testcloud/SM-64-upload-refused", test_upload_fails, &refused},
        {"/testcloud/SM-64-upload-checksum", test_upload_fails, &checksum},
        {"/testcloud/SM-64-upload-killed", test_upload_fails, &killed},
        {"/testcloud/SM-64-upload-bad-data", test_upload_fails, &bad_data},
        {"/testcloud/wrong-checksum", test_wrong_checksum, NULL},
        {"/testcloud/no-file", test_no_file, NULL},
        {"/testcloud/progress", test_progress, NULL},
        {"/testcloud/SM-64-cancelled-asked", test_cancelled, &asked},
        {"/testcloud/SM-64-cancelled-sent", test_cancelled, &being_sent},
        {"/testcloud/SM-64-cancelled-saving", test_cancelled, &saving},
        {"/testcloud/FT-14-upload-asked", test_taken_up, &of_uploads[0]},
        {"/testcloud/FT-14-upload-not-heard", test_taken_up, &of_uploads[1]},
        {"/testcloud/FT-14-upload-sent", test_taken_up, &of_uploads[2]},
        {"/testcloud/FT-14-upload-sent-and-heard", test_taken_up, &of_uploads[3]},
        {"/testcloud/FT-14-upload-saving", test_taken_up, &of_uploads[4]},
        {"/testcloud/FT-14-upload-cut-and-noticed-late", test_killed_in_the_middle, NULL},
        {"/testcloud/upload-cut-and-noticed-late", test_cut_in_the_middle, NULL},
        {"/testcloud/image-list", test_list, NULL},
        {"/testcloud/image-as-resource", test_as_resource, NULL},
        {"/testcloud/machine-of-it", test_machine_of_it, NULL},
        {NULL, NULL, NULL},
    };
    int status;

    image_file_make(&file, "image.raw", G_CHECKSUM_SHA256);
    status = cloud_run_tests(argc, argv, tests);
    image_file_remove(&file);
    return status;
}
