/*
 * Machines of the fake cloud by the test driver, as the launcher loads and runs it: made, shown,
 * found again, removed.
 */
#include <string.h>

#include "fixture.h"

static void
assert_json(const json_t *value, const char *expected)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS);

    g_assert_cmpstr(text, ==, expected);
    free(text);
}

static void delete (Provider *provider, const char *external_id)
{
    g_autoptr(Work) work = work_run(provider, DROVER_TASK_MACHINE_DELETE, external_id);

    assert_done(work);
    cloud_assert_empty();
}

/* The same in both styles. */
static void
test_create_and_delete(gconstpointer style)
{
    g_autoptr(Provider) provider = provider_open(style, "'tags': {'of-label': 'yes'}");
    g_autoptr(Work) work = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    json_t *state = cloud_ask("state");
    const json_t *machine = json_array_get(json_object_get(state, "machines"), 0);
    const char *id = json_string_value(json_object_get(machine, "id"));

    assert_done(work);
    g_assert_cmpuint(work->ids->len, ==, 1);
    g_assert_cmpstr(work_id(work), ==, id);
    assert_field(work, "external_id", id);
    assert_field(
        work, "interface_ip",
        json_string_value(json_object_get(json_object_get(machine, "addresses"), "public_ipv4")));
    g_assert_nonnull(json_object_get(work->fields, "private_ipv4"));
    assert_field(work, "public_ipv6", "");
    assert_field(work, "az", "az1");
    /* The host says what it knows of the image itself. */
    g_assert_null(json_object_get(work->fields, "username"));
    assert_json(work->resources, "{\"cores\":1,\"instances\":1,\"ram\":1024}");
    assert_json(json_object_get(machine, "tags"),
                "{\"nodepool_node_id\":\"0000000001\",\"nodepool_provider_name\":\"p1\","
                "\"of-label\":\"yes\"}");
    g_assert_cmpstr(json_string_value(json_object_get(machine, "name")), ==, "np0000000001");
    json_decref(state);
    delete (provider, work_id(work));
}

/* The id is shown while the machine boots, for as long as that takes. */
static void
test_early_id(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autoptr(Work) work = NULL;

    cloud_tell("settings", "'active_after': 3600");
    work = work_begin(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    work_wait_id(work, 1);
    g_assert_false(work->done);
    cloud_tell("clock", "'advance': 3600");
    work_wait(work);
    assert_done(work);
    delete (provider, work_id(work));
}

/* What the cloud says of the connection counts, also that there is none of something. */
static void
test_connection_of_the_cloud(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autoptr(Work) work = NULL;

    cloud_fault("'method': 'POST', 'machine': {'address': '127.0.0.1', 'port': 2222, "
                "'connection': {'username': null, 'shell_type': 'cmd'}}");
    work = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    assert_done(work);
    assert_field(work, "interface_ip", "127.0.0.1");
    g_assert_true(json_is_null(json_object_get(work->fields, "username")));
    assert_field(work, "shell_type", "cmd");
    g_assert_cmpint(json_integer_value(json_object_get(work->fields, "connection_port")), ==, 2222);
    delete (provider, work_id(work));
}

static void
test_console(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, "'console-log': true");
    g_autoptr(Provider) without = provider_open(NULL, "'console-log': false");
    g_autoptr(Work) work = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    g_autoptr(Work) shown = work_run(provider, DROVER_TASK_MACHINE_CONSOLE, work_id(work));
    g_autoptr(Work) hidden = work_run(without, DROVER_TASK_MACHINE_CONSOLE, work_id(work));

    assert_done(shown);
    g_assert_cmpstr(shown->text, ==, "first line\nsecond line\n");
    assert_done(hidden);
    g_assert_cmpstr(hidden->text, ==, "");
    delete (provider, work_id(work));
}

/* ---- Many at once ---- */

/* Those of the whole process. */
static guint
count_threads(void)
{
    g_autoptr(GDir) folder = g_dir_open("/proc/self/task", 0, NULL);
    guint count = 0;

    while (g_dir_read_name(folder) != NULL)
        count++;
    return count;
}

static void
test_hundred_launches(gconstpointer style)
{
    enum { LAUNCHES = 100 };
    g_autoptr(Provider) provider = provider_open(style, NULL);
    g_autoptr(GPtrArray) launches = g_ptr_array_new_with_free_func((GDestroyNotify)work_free);
    guint threads = count_threads();

    cloud_tell("settings", "'active_after': 0.02, 'limits': {'instances': -1}");
    for (guint i = 0; i < LAUNCHES; i++)
        g_ptr_array_add(launches, work_begin(provider, DROVER_TASK_MACHINE_CREATE, NULL));
    for (guint i = 0; i < LAUNCHES; i++) {
        work_wait(launches->pdata[i]);
        assert_done(launches->pdata[i]);
        /* libcurl looks names up on a thread of its own, for a moment. */
        g_assert_cmpuint(count_threads(), <=, threads + 10);
    }
    g_assert_cmpuint(cloud_count("machines"), ==, LAUNCHES);
}

/* ---- Labels and zones ---- */

static void
test_label_ready(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autoptr(Work) there = work_run(provider, DROVER_TASK_LABEL_READY, NULL);
    g_autoptr(Provider) other = provider_open(NULL, NULL);
    g_autoptr(Work) missing = NULL;

    assert_done(there);
    cloud_tell("settings", "'cloud_images': []");
    missing = work_run(other, DROVER_TASK_LABEL_READY, NULL);
    assert_failed(missing, DROVER_FAILURE_NOT_FOUND, "there is no image plain");
}

static void
test_zones(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autoptr(Work) zones = work_run(provider, DROVER_TASK_ZONE_LIST, NULL);
    g_autoptr(Work) refused = NULL;
    g_autoptr(Work) new_zones = NULL;

    assert_done(zones);
    g_assert_cmpuint(json_array_size(zones->items), ==, 2);
    cloud_tell("settings", "'zones': ['az3']");
    refused = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    assert_failed(refused, DROVER_FAILURE_OTHER, "there is no zone az1");
    new_zones = work_run(provider, DROVER_TASK_ZONE_LIST, NULL);
    g_assert_cmpuint(json_array_size(new_zones->items), ==, 1);
    g_assert_cmpstr(json_string_value(json_object_get(json_array_get(new_zones->items, 0), "id")),
                    ==, "az3");
}

/* ---- Quota ---- */

static double
amount(const json_t *resources, const char *name)
{
    return json_number_value(json_object_get(resources, name));
}

static void
test_quota(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, "'flavor': 'large'");
    g_autoptr(Work) cost = work_run(provider, DROVER_TASK_QUOTA_LABEL, NULL);
    g_autoptr(Work) limits = NULL;
    g_autoptr(Work) machine = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    g_autoptr(Work) usage = work_run(provider, DROVER_TASK_QUOTA_USAGE, NULL);
    const json_t *item = json_array_get(usage->items, 0);

    assert_json(cost->resources, "{\"cores\":4,\"instances\":1,\"ram\":8192}");
    cloud_tell("settings", "'limits': {'cores': 8, 'instances': -1}");
    limits = work_run(provider, DROVER_TASK_QUOTA_LIMITS, NULL);
    assert_done(limits);
    g_assert_cmpfloat(amount(limits->resources, "cores"), ==, 8);
    g_assert_cmpfloat(amount(limits->resources, "ram"), ==, 1000000);
    g_assert_cmpuint(json_array_size(usage->items), ==, 1);
    g_assert_cmpstr(json_string_value(json_object_get(item, "id")), ==, work_id(machine));
    g_assert_nonnull(strstr(json_string_value(json_object_get(item, "tags")),
                            "\"nodepool_node_id\":\"0000000001\""));
    assert_json(json_object_get(item, "resources"), "{\"cores\":4,\"instances\":1,\"ram\":8192}");
    delete (provider, work_id(machine));
}

static void
test_unknown_flavor(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, "'flavor': 'enormous'");
    g_autoptr(Work) cost = work_run(provider, DROVER_TASK_QUOTA_LABEL, NULL);
    g_autoptr(Work) machine = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);

    assert_failed(cost, DROVER_FAILURE_PERMANENT, "there is no flavor enormous");
    assert_failed(machine, DROVER_FAILURE_PERMANENT, "there is no flavor enormous");
}

/* ---- Resources ---- */

static void
test_resources(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    static const char *const kinds[] = {"instance", "address", "volume"};
    g_autoptr(Work) list = NULL;

    cloud_make("volumes", "'size': 3, 'tags': {'a': 'b'}");
    cloud_make("addresses", "");
    cloud_make("machines", "'name': 'x', 'flavor': 'small', 'image': 'plain'");
    list = work_run(provider, DROVER_TASK_RESOURCE_LIST, NULL);
    assert_done(list);
    g_assert_cmpuint(json_array_size(list->items), ==, G_N_ELEMENTS(kinds));
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
        const json_t *item = json_array_get(list->items, i);

        g_assert_cmpstr(json_string_value(json_object_get(item, "kind")), ==, kinds[i]);
        remove_resource(provider, kinds[i], json_string_value(json_object_get(item, "id")));
    }
    g_assert_cmpstr(json_string_value(json_object_get(json_array_get(list->items, 2), "tags")), ==,
                    "{\"a\":\"b\"}");
    cloud_assert_empty();
}

/* ---- Deleting ---- */

static void
test_delete_what_is_gone(gconstpointer unused)
{
    static const char *const ids[] = {"machine-999999", "no such id", "../machines/1?x=%2F",
                                      "{\"server\":\"machine-999999\",\"volume\":\"volume-9\"}"};
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autoptr(Work) nonsense = work_run(provider, DROVER_TASK_MACHINE_DELETE, "{\"x\":1}");

    for (guint i = 0; i < G_N_ELEMENTS(ids); i++) {
        g_autoptr(Work) work = work_run(provider, DROVER_TASK_MACHINE_DELETE, ids[i]);

        assert_done(work);
    }
    assert_failed(nonsense, DROVER_FAILURE_NOT_FOUND, "no external id");
}

static void
test_delete_twice_at_once(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autoptr(Work) machine = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    g_autoptr(Work) one = work_begin(provider, DROVER_TASK_MACHINE_DELETE, work_id(machine));
    g_autoptr(Work) other = work_begin(provider, DROVER_TASK_MACHINE_DELETE, work_id(machine));

    work_wait(one);
    work_wait(other);
    assert_done(one);
    assert_done(other);
    cloud_assert_empty();
}

/* It is listed for ever, as a machine that is gone. */
static void
test_deleted_and_listed(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autoptr(Work) machine = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    g_autoptr(Work) removal = NULL;
    g_autoptr(Work) list = NULL;
    g_autoptr(Work) usage = NULL;

    cloud_fault("'method': 'DELETE', 'delete': 'deleted'");
    removal = work_run(provider, DROVER_TASK_MACHINE_DELETE, work_id(machine));
    assert_done(removal);
    list = work_run(provider, DROVER_TASK_RESOURCE_LIST, NULL);
    usage = work_run(provider, DROVER_TASK_QUOTA_USAGE, NULL);
    g_assert_cmpuint(json_array_size(list->items), ==, 0);
    g_assert_cmpuint(json_array_size(usage->items), ==, 0);
    g_assert_cmpuint(cloud_count("machines"), ==, 1);
}

static void
test_delete_fails(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autoptr(Work) machine = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    g_autoptr(Work) refused = NULL;
    g_autoptr(Work) broken = NULL;

    cloud_fault("'method': 'DELETE', 'status': 409, 'body': 'it is locked'");
    refused = work_run(provider, DROVER_TASK_MACHINE_DELETE, work_id(machine));
    assert_failed(refused, DROVER_FAILURE_OTHER, "it is locked");
    cloud_fault("'method': 'DELETE', 'delete': 'error'");
    broken = work_run(provider, DROVER_TASK_MACHINE_DELETE, work_id(machine));
    assert_failed(broken, DROVER_FAILURE_OTHER, "went to an error state");
    cloud_tell("faults", "'faults': []");
    delete (provider, work_id(machine));
}

int
main(int argc, char **argv)
{
    static const CloudTest tests[] = {
        {"/testcloud/create-and-delete", test_create_and_delete, NULL},
        {"/testcloud/FT-12-create-and-delete-blocking", test_create_and_delete,
         "'style': 'blocking'"},
        {"/testcloud/early-id", test_early_id, NULL},
        {"/testcloud/FT-12-hundred-launches", test_hundred_launches, NULL},
        {"/testcloud/FT-12-hundred-launches-blocking", test_hundred_launches,
         "'style': 'blocking'"},
        {"/testcloud/SM-59-connection-of-the-cloud", test_connection_of_the_cloud, NULL},
        {"/testcloud/console", test_console, NULL},
        {"/testcloud/label-ready", test_label_ready, NULL},
        {"/testcloud/SM-50-zones", test_zones, NULL},
        {"/testcloud/quota", test_quota, NULL},
        {"/testcloud/SM-24-unknown-flavor", test_unknown_flavor, NULL},
        {"/testcloud/resources", test_resources, NULL},
        {"/testcloud/SM-38-delete-what-is-gone", test_delete_what_is_gone, NULL},
        {"/testcloud/delete-twice-at-once", test_delete_twice_at_once, NULL},
        {"/testcloud/SM-39-deleted-and-listed", test_deleted_and_listed, NULL},
        {"/testcloud/delete-fails", test_delete_fails, NULL},
        {NULL, NULL, NULL},
    };

    return cloud_run_tests(argc, argv, tests);
}
