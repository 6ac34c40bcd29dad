/*
 * Everything that the driver does, while members of the cloud's answers have other values than they
 * can have, drawn at random: whatever comes of it, it ends, and nothing of it is left. The first
 * seed may be given as DROVER_TEST_SEED, how many there are as DROVER_TEST_SEEDS.
 */
#include <stdlib.h>

#include "openstack.h"

#include "support/wait.h"

/* Of work that waits for what does not come. */
#define PATIENCE_MILLISECONDS 3000
#define TAGS                                                                                       \
    "{\"nodepool_build_id\": \"b1\", \"nodepool_upload_id\": \"1\", "                              \
    "\"nodepool_provider_name\": \"p1\"}"

static ImageFile file;

static guint
number(const char *variable, guint otherwise)
{
    const char *text = g_getenv(variable);

    return text != NULL && *text != '\0' ? (guint)strtoul(text, NULL, 10) : otherwise;
}

/* As long as it has sense to wait; then it is cancelled, and ends. */
static Work *
endure(Work *work)
{
    if (!test_wait_for(&work->done, PATIENCE_MILLISECONDS))
        drover_task_cancel(work->task);
    work_wait(work);
    return work;
}

static Work *
upload(Provider *provider)
{
    const char *const inputs[] = {"path",   file.path, "name",     "img-1", "md5", file.checksum,
                                  "format", "qcow2",   "metadata", TAGS,    NULL};

    return endure(work_begin_with(provider, DROVER_TASK_IMAGE_UPLOAD, NULL, inputs, NULL));
}

static void
do_all(Provider *provider)
{
    static const DroverTaskKind questions[] = {DROVER_TASK_LABEL_READY,   DROVER_TASK_ZONE_LIST,
                                               DROVER_TASK_QUOTA_LIMITS,  DROVER_TASK_QUOTA_LABEL,
                                               DROVER_TASK_RESOURCE_LIST, DROVER_TASK_QUOTA_USAGE,
                                               DROVER_TASK_IMAGE_LIST};
    g_autoptr(Work) image = NULL;
    g_autoptr(Work) machine = NULL;

    for (gsize i = 0; i < G_N_ELEMENTS(questions); i++)
        work_free(endure(work_begin(provider, questions[i], NULL)));
    image = upload(provider);
    machine = endure(work_begin(provider, DROVER_TASK_MACHINE_CREATE, NULL));
    if (work_id(machine) == NULL)
        return;
    work_free(endure(work_begin(provider, DROVER_TASK_MACHINE_CONSOLE, work_id(machine))));
    work_free(endure(work_begin(provider, DROVER_TASK_MACHINE_DELETE, work_id(machine))));
}

/* What is left of work that failed is found by its tags. */
static void
remove_what_is_left(Provider *provider)
{
    g_autoptr(Work) list = work_run(provider, DROVER_TASK_RESOURCE_LIST, NULL);
    size_t index;
    json_t *item;

    assert_done(list);
    json_array_foreach(list->items, index, item)
    {
        remove_resource(provider, json_string_value(json_object_get(item, "kind")),
                        json_string_value(json_object_get(item, "id")));
    }
    g_assert_cmpuint(cloud_count("servers"), ==, 0);
    g_assert_cmpuint(cloud_count("images"), ==, 0);
}

static void
test_seed(guint seed)
{
    g_autoptr(Provider) provider = NULL;

    cloud_tell("reset", "%s", "");
    cloud_tell("settings", "'networks': [{'name': 'inner'}, {'name': 'outer', 'external': true}], "
                           "'router': {'external': 'outer', 'networks': ['inner']}, 'zones': "
                           "['az1'], 'page': 2");
    cloud_tell("make", "'kind': 'server', 'count': 3");
    cloud_tell("faults", "'faults': [{'garbage': 'mutated', 'probability': 0.3, 'seed': %u}]",
               seed);
    provider = provider_open("'clean-floating-ips': true",
                             "'networks': ['inner'], 'boot-from-volume': true");
    do_all(provider);
    cloud_tell("faults", "'faults': []");
    cloud_tell("settings", "'page': 1000");
    g_test_message("seed %u: %u servers are left", seed, cloud_count("servers"));
    provider_close(provider);
    provider =
        provider_open("'clean-floating-ips': true", NULL); /* what it was told is forgotten */
    remove_what_is_left(provider);
}

static void
test_mutated(gconstpointer unused)
{
    guint first = number("DROVER_TEST_SEED", 1), count = number("DROVER_TEST_SEEDS", 3);

    for (guint seed = first; seed < first + count; seed++)
        test_seed(seed);
}

int
main(int argc, char **argv)
{
    static const CloudTest tests[] = {
        {"/openstack-nonsense/mutated", test_mutated, NULL},
        {NULL, NULL, NULL},
    };

    return openstack_run_tests_with_image(argc, argv, tests, &file);
}
