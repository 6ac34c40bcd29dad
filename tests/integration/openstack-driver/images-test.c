/*
 * Images by the OpenStack driver: uploaded from a file, in spite of faults, cancelled, listed,
 * removed. Nothing is left of what fails.
 */
#include <string.h>

#include "openstack.h"

#define POST "'method': 'POST', 'path': '/image/v2/images$', "
#define PUT  "'method': 'PUT', 'path': '/image/v2/images/', "
#define TAGS                                                                                       \
    "{\"nodepool_build_id\": \"b1\", \"nodepool_upload_id\": \"0000000001\", "                     \
    "\"nodepool_provider_name\": \"p1\", \"key\": \"top\", \"other\": \"x\"}"

static ImageFile file;

static Work *
upload_begin(Provider *provider, const char *path, const char *md5)
{
    const char *const inputs[] = {"path",   path,    "name",     "img-1", "md5", md5,
                                  "format", "qcow2", "metadata", TAGS,    NULL};

    return work_begin_with(provider, DROVER_TASK_IMAGE_UPLOAD, NULL, inputs, NULL);
}

static Work *
upload(Provider *provider)
{
    Work *work = upload_begin(provider, file.path, file.checksum);

    work_wait(work);
    return work;
}

static void
assert_property(const char *name, const char *expected)
{
    json_t *state = cloud_ask("state");
    const json_t *image = json_array_get(json_object_get(state, "images"), 0);

    g_assert_cmpstr(json_string_value(json_object_get(json_object_get(image, "properties"), name)),
                    ==, expected);
    json_decref(state);
}

static void
assert_uploaded(const Work *work)
{
    g_autofree char *id = openstack_first("images", "id");
    g_autofree char *status = openstack_first("images", "status");
    g_autofree char *visibility = openstack_first("images", "visibility");

    assert_done(work);
    g_assert_cmpuint(cloud_count("images"), ==, 1);
    g_assert_cmpstr(id, ==, work_id(work));
    g_assert_cmpstr(status, ==, "active");
    g_assert_cmpstr(visibility, ==, "private");
}

/* ---- Uploading ---- */

static void
test_upload(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, "'meta': {'key': 'own', 'n': 5}");
    g_autoptr(Work) work = upload(provider);
    g_autoptr(Work) removal = NULL;
    g_autoptr(Work) again = NULL;

    assert_uploaded(work);
    g_assert_cmpuint(work->ids->len, ==, 1);
    g_assert_cmpuint(work->progress_done, ==, IMAGE_FILE_SIZE);
    g_assert_cmpuint(work->progress_total, ==, IMAGE_FILE_SIZE);
    assert_property("key", "own");
    assert_property("other", "x");
    assert_property("n", "5");
    assert_property("vm_mode", "hvm");
    assert_property("nodepool_upload_id", "0000000001");
    openstack_assert_understood();
    removal = work_run(provider, DROVER_TASK_IMAGE_DELETE, work_id(work));
    again = work_run(provider, DROVER_TASK_IMAGE_DELETE, work_id(work));
    assert_done(removal);
    assert_done(again);
    g_assert_cmpuint(cloud_count("images"), ==, 0);
}

static void
test_busy(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autoptr(Work) work = NULL;

    cloud_fault(POST "'times': 2, 'status': 503, 'body': 'busy'");
    work = upload(provider);
    assert_uploaded(work);
    g_assert_cmpuint(cloud_requests("POST", "/image/v2/images"), ==, 3);
}

static void
test_import(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autoptr(Work) work = NULL;

    cloud_tell("settings", "'direct_upload': false");
    work = upload(provider);
    assert_uploaded(work);
    openstack_assert_understood();
}

/* ---- Failing ---- */

typedef struct {
    const char *rule;
    enum drover_failure failure;
    const char *text;
} Refusal;

static const Refusal quota = {POST "'status': 403, 'body': 'over quota'", DROVER_FAILURE_QUOTA,
                              "over quota"};
static const Refusal cut = {PUT "'drop': 'before'", DROVER_FAILURE_OTHER, "/file"};
static const Refusal too_large = {PUT "'status': 413, 'body': 'image storage quota'",
                                  DROVER_FAILURE_QUOTA, "quota"};
static const Refusal checksum = {PUT "'upload': 'checksum'", DROVER_FAILURE_BROKEN, "checksum"};
static const Refusal killed = {PUT "'upload': 'killed'", DROVER_FAILURE_BROKEN, "state killed"};

static void
test_failure(gconstpointer data)
{
    const Refusal *refusal = data;
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autoptr(Work) work = NULL;

    cloud_fault(refusal->rule);
    work = upload(provider);
    assert_failed(work, refusal->failure, refusal->text);
    g_assert_cmpuint(cloud_count("images"), ==, 0);
}

static void
test_late(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open("'image-upload-timeout': 1", NULL);
    g_autoptr(Work) work = NULL;

    cloud_fault(PUT "'upload': 'stuck'");
    work = upload(provider);
    assert_failed(work, DROVER_FAILURE_TIMEOUT, "image-upload-timeout");
    g_assert_cmpuint(cloud_count("images"), ==, 0);
}

static void
test_no_file(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autoptr(Work) work = upload_begin(provider, "/nowhere/image.qcow2", NULL);

    work_wait(work);
    assert_failed(work, DROVER_FAILURE_OTHER, "no file");
    g_assert_cmpuint(cloud_requests("POST", "/image"), ==, 0);
}

static const char *const asked[] = {POST "'delay': 0.5", "POST"};
static const char *const sending[] = {PUT "'delay': 30", "PUT"};
static const char *const saving[] = {PUT "'upload': 'stuck'", "PUT"};

static void
test_cancelled(gconstpointer data)
{
    const char *const *moment = data;
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autoptr(Work) work = NULL;

    cloud_fault(moment[0]);
    work = upload_begin(provider, file.path, NULL);
    cloud_wait_requests(moment[1], "/image/v2/images", 1);
    drover_task_cancel(work->task);
    work_wait(work);
    assert_failed(work, DROVER_FAILURE_OTHER, "cancelled");
    g_assert_cmpuint(cloud_count("images"), ==, 0);
}

/* ---- Taken up from a process that was killed ---- */

/* What is left of an upload that fails as the rule wants: the image, since it cannot be removed. */
static char *
leave_behind(Provider *provider, const char *rule)
{
    g_autoptr(Work) work = NULL;

    cloud_tell("faults", "'faults': [{%s}, {'method': 'DELETE', 'status': 409}]", rule);
    work = upload(provider);
    g_assert_false(work->ok);
    cloud_tell("faults", "'faults': []");
    return g_strdup(work_id(work));
}

static Work *
take_up(Provider *provider, const char *id, const char *more)
{
    const char *const inputs[] = {"path",   file.path, "name",     "img-1", "md5", file.checksum,
                                  "format", "qcow2",   "metadata", TAGS,    NULL};
    g_autofree char *saved = g_strdup_printf("{\"upload\": {\"image\": \"%s\"%s}}", id, more);

    return work_begin_with(provider, DROVER_TASK_IMAGE_UPLOAD, NULL, inputs, saved);
}

/* Glance shows the image as one that is being saved until it notices that nobody sends any more. */
static void
test_noticed_late(gconstpointer where)
{
    g_autofree char *rule = g_strdup_printf("'path': '/%s$', 'upload': 'cut'", (const char *)where);
    gboolean stages = strcmp(where, "stage") == 0;
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autofree char *id = NULL;
    g_autoptr(Work) work = NULL;

    cloud_tell("settings", "'forget_after': 1000, 'direct_upload': %s", stages ? "false" : "true");
    id = leave_behind(provider, rule);
    work = take_up(provider, id, stages ? ", \"can_import\": true" : "");
    cloud_wait_requests("GET", "/image/v2/images/", 2);
    g_assert_false(work->done);
    cloud_tell("clock", "'advance': 1000");
    work_wait(work);
    assert_uploaded(work);
    openstack_assert_understood();
}

/* All was sent, and nobody had asked for the import. */
static void
test_not_imported(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autofree char *id = NULL;
    g_autoptr(Work) work = NULL;

    cloud_tell("settings", "'direct_upload': false");
    id = leave_behind(provider, "'path': '/import$', 'status': 500");
    work = take_up(provider, id, ", \"can_import\": true, \"imports\": true, \"whole\": true");
    work_wait(work);
    assert_uploaded(work);
    openstack_assert_understood();
}

/* ---- Listing ---- */

static void
test_lists(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autoptr(Work) work = upload(provider);
    g_autoptr(Work) list = work_run(provider, DROVER_TASK_IMAGE_LIST, NULL);
    g_autoptr(Work) resources = work_run(provider, DROVER_TASK_RESOURCE_LIST, NULL);
    const json_t *own = json_array_get(list->items, 0);

    g_assert_cmpuint(json_array_size(list->items), ==, 1);
    g_assert_cmpuint(json_array_size(resources->items), ==, 1);
    g_assert_cmpstr(json_string_value(json_object_get(own, "name")), ==, "img-1");
    g_assert_nonnull(strstr(json_string_value(json_object_get(own, "tags")),
                            "\"nodepool_upload_id\":\"0000000001\""));
    remove_resource(provider, "image", work_id(work));
    g_assert_cmpuint(cloud_count("images"), ==, 0);
}

static void
assert_listed(Provider *provider, DroverTaskKind kind, guint count)
{
    g_autoptr(Work) list = work_run(provider, kind, NULL);

    assert_done(list);
    g_assert_cmpuint(json_array_size(list->items), ==, count);
}

/* What is gone when it is asked for is not listed, however short ago it was listed. */
static void
test_listed_anew(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autoptr(Work) machine = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    g_autoptr(Work) image = upload(provider);

    assert_done(machine);
    assert_listed(provider, DROVER_TASK_RESOURCE_LIST, 2);
    assert_listed(provider, DROVER_TASK_QUOTA_USAGE, 1);
    cloud_tell("change", "'kind': 'server', 'id': '%s', 'fields': null", work_id(machine));
    assert_listed(provider, DROVER_TASK_QUOTA_USAGE, 0);
    cloud_tell("change", "'kind': 'image', 'id': '%s', 'fields': null", work_id(image));
    assert_listed(provider, DROVER_TASK_RESOURCE_LIST, 0);
}

int
main(int argc, char **argv)
{
    static const CloudTest tests[] = {
        {"/openstack-driver/OS-60-upload", test_upload, NULL},
        {"/openstack-driver/OS-61-busy", test_busy, NULL},
        {"/openstack-driver/import", test_import, NULL},
        {"/openstack-driver/upload-over-quota", test_failure, &quota},
        {"/openstack-driver/OS-62-cut", test_failure, &cut},
        {"/openstack-driver/upload-too-large", test_failure, &too_large},
        {"/openstack-driver/OS-63-checksum", test_failure, &checksum},
        {"/openstack-driver/upload-killed", test_failure, &killed},
        {"/openstack-driver/upload-late", test_late, NULL},
        {"/openstack-driver/upload-without-file", test_no_file, NULL},
        {"/openstack-driver/upload-cancelled-when-asked", test_cancelled, asked},
        {"/openstack-driver/upload-cancelled-while-sending", test_cancelled, sending},
        {"/openstack-driver/upload-cancelled-while-saving", test_cancelled, saving},
        {"/openstack-driver/taken-up/upload-cut-and-noticed-late", test_noticed_late, "file"},
        {"/openstack-driver/taken-up/staging-cut-and-noticed-late", test_noticed_late, "stage"},
        {"/openstack-driver/taken-up/upload-not-imported", test_not_imported, NULL},
        {"/openstack-driver/images-listed", test_lists, NULL},
        {"/openstack-driver/SM-44-listed-anew", test_listed_anew, NULL},
        {NULL, NULL, NULL},
    };

    return openstack_run_tests_with_image(argc, argv, tests, &file);
}
