/* Images: listed, uploaded, deleted. */
#include <string.h>

#include "check/groups.h"
#include "check/operations.h"

#define NAME "drover-driver-check"

static void
check_list(DroverSubject *subject, DroverBench *bench)
{
    const struct drover_operation_input nothing = {.pool = NULL};
    DroverWork *work =
        drover_check_try(subject, bench, "image_list", subject->driver->image_list, &nothing);

    if (work != NULL && drover_check_judge(subject, bench, work))
        drover_subject_ok(subject, "%u items", drover_work_items(work)->len);
}

/* To its end: NOT_FOUND is as good as done. */
static void
delete_image(DroverSubject *subject, DroverBench *bench, const char *external_id)
{
    const struct drover_operation_input input = {.external_id = external_id};
    DroverWork *work =
        drover_work_new(bench, "image_delete", subject->driver->image_delete, &input, NULL);

    drover_work_finish(work);
    if (drover_work_failure(work) != DROVER_FAILURE_NOT_FOUND)
        drover_check_judge(subject, bench, work);
}

static char *
digest(GChecksumType type, const char *path)
{
    g_autoptr(GMappedFile) file = g_mapped_file_new(path, FALSE, NULL);

    return file != NULL
               ? g_compute_checksum_for_data(type, (const guchar *)g_mapped_file_get_contents(file),
                                             g_mapped_file_get_length(file))
               : NULL;
}

static void
check_upload(DroverSubject *subject, DroverBench *bench)
{
    const char *path = subject->wish->image;
    const char *dot = path != NULL ? strrchr(path, '.') : NULL;
    g_autofree char *sha256 = path != NULL ? digest(G_CHECKSUM_SHA256, path) : NULL;
    g_autofree char *md5 = path != NULL ? digest(G_CHECKSUM_MD5, path) : NULL;
    const char *const inputs[] = {
        "path", path, "format",   dot != NULL ? dot + 1 : "raw", "name", NAME, "sha256", sha256,
        "md5",  md5,  "metadata", "{\"" NAME "\": \"1\"}",       NULL};
    const struct drover_operation_input input = {.label = NAME, .inputs = inputs};
    DroverWork *work;

    if (path == NULL) {
        drover_subject_skip(subject, "no image was given, see --image");
        return;
    }
    work = drover_work_new(bench, "image_upload", subject->driver->image_upload, &input, NULL);
    drover_work_finish(work);
    if (drover_check_judge(subject, bench, work) && drover_work_external_id(work) == NULL)
        drover_subject_fail(subject, "image_upload() is done and gives no external_id");
    if (drover_work_external_id(work) != NULL)
        delete_image(subject, bench, drover_work_external_id(work));
}

static void
run(DroverSubject *subject)
{
    DroverBench *bench;

    drover_subject_begin(subject, "image-list");
    bench = drover_check_open(subject);
    if (bench == NULL)
        return;
    if ((subject->driver->capabilities & DROVER_CAN_IMAGES) == 0) {
        drover_subject_skip(subject, "the driver has no images");
    } else {
        check_list(subject, bench);
        drover_subject_begin(subject, "image-upload");
        check_upload(subject, bench);
        drover_subject_begin(subject, "image-delete-unknown");
        delete_image(subject, bench, NAME "-no-such-image");
    }
    drover_check_close(subject, bench);
}

static const char *const checks[] = {"image-list", "image-upload", "image-delete-unknown", NULL};
const DroverCheckGroup drover_image_checks = {checks, run};
