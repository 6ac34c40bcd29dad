/*
 * Images by the OpenStack driver, as the host of drivers would have them:
 *
 *     openstack-image upload FILE NAME METADATA    a file of format raw; METADATA: JSON
 *     openstack-image delete ID
 *     openstack-image list
 *
 * The cloud is "real" of the present clouds.yaml, the provider p1. Writes "id ID" as soon as there
 * is an image, "image RECORD" for each that is listed, and "done BYTES", what was sent, or "failed
 * WHY" at the end. SIGTERM cancels.
 */
#include <glib-unix.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "integration/testcloud/fixture.h"
#include "support/wait.h"

/* For files that are large. */
#define LIMIT_MILLISECONDS 300000

typedef struct {
    Work *work;
    guint shown;
} Show;

static json_t *
provider_section(void)
{
    return json_pack("{s:s, s:f, s:[{s:s}]}", "cloud", "real", "rate", 0.01, "cloud-images", "name",
                     "plain");
}

static const CloudKind kind = {
    .driver = "openstack",
    .directory = "drivers",
    .provider = provider_section,
    .label = "'name': 'l', 'cloud-image': 'plain', 'flavor-name': 'small'",
};

static char *
checksum(GChecksumType type, const char *path)
{
    g_autoptr(GMappedFile) file = g_mapped_file_new(path, FALSE, NULL);

    g_assert_nonnull(file);
    return g_compute_checksum_for_data(type, (const guchar *)g_mapped_file_get_contents(file),
                                       g_mapped_file_get_length(file));
}

static Work *
begin_upload(Provider *provider, const char *path, const char *name, const char *metadata)
{
    g_autofree char *md5 = checksum(G_CHECKSUM_MD5, path);
    g_autofree char *sha256 = checksum(G_CHECKSUM_SHA256, path);
    const char *const inputs[] = {"path", path,     "name", name,       "md5",    md5, "sha256",
                                  sha256, "format", "raw",  "metadata", metadata, NULL};

    return work_begin_with(provider, DROVER_TASK_IMAGE_UPLOAD, NULL, inputs, NULL);
}

static Work *
begin(Provider *provider, int argc, char **argv)
{
    if (argc == 5 && g_str_equal(argv[1], "upload"))
        return begin_upload(provider, argv[2], argv[3], argv[4]);
    if (argc == 3 && g_str_equal(argv[1], "delete"))
        return work_begin(provider, DROVER_TASK_IMAGE_DELETE, argv[2]);
    if (argc == 2 && g_str_equal(argv[1], "list"))
        return work_begin(provider, DROVER_TASK_IMAGE_LIST, NULL);
    return NULL;
}

static gboolean
on_signal(gpointer user_data)
{
    drover_task_cancel(((Work *)user_data)->task);
    return G_SOURCE_REMOVE;
}

static gboolean
show(gpointer user_data)
{
    Show *progress = user_data;
    const Work *work = progress->work;

    for (; progress->shown < work->ids->len; progress->shown++)
        printf("id %s\n", (char *)work->ids->pdata[progress->shown]);
    fflush(stdout);
    return work->done;
}

static void
show_end(const Work *work)
{
    size_t index;
    json_t *item;

    json_array_foreach(work->items, index, item)
    {
        char *text = json_dumps(item, JSON_COMPACT);

        printf("image %s\n", text);
        free(text);
    }
    if (work->ok)
        printf("done %" G_GUINT64_FORMAT "\n", work->progress_done);
    else
        printf("failed %s\n", work->message);
}

int
main(int argc, char **argv)
{
    g_autoptr(Provider) provider = NULL;
    g_autoptr(Work) work = NULL;
    Show progress = {.shown = 0};

    cloud_use(&kind, "");
    provider = provider_open(NULL, NULL);
    work = begin(provider, argc, argv);
    if (work == NULL)
        return 2;
    progress.work = work;
    g_unix_signal_add(SIGTERM, on_signal, work);
    if (!test_wait_until(show, &progress, LIMIT_MILLISECONDS))
        return 1;
    show_end(work);
    return work->ok ? 0 : 1;
}
