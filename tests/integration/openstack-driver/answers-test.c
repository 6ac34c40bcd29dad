/*
 * Answers of the cloud that make no sense, come from somebody else, or do not come at all: nothing
 * is concluded from them, and nothing is left.
 */
#include <string.h>

#include "openstack.h"

#define PORTS     "'method': 'GET', 'path': '/network/v2.0/ports$', "
#define FLOATING  "'path': '/network/v2.0/floatingips"
#define SERVERS   "'path': '/compute/v2.1/servers"
#define IMAGES    "'path': '/image/v2/images"
#define AT_ROUTER "'networks': ['inner']"

static ImageFile file;

/* A cloud whose machines get floating IPs, of which Nova does not tell. */
static Provider *
provider_with_floating_ips(void)
{
    cloud_tell("settings", "'networks': [{'name': 'inner'}, {'name': 'outer', 'external': true}], "
                           "'router': {'external': 'outer', 'networks': ['inner']}, "
                           "'floating_shown_after': 1000");
    return provider_open(NULL, AT_ROUTER);
}

static void
forgive(void)
{
    cloud_tell("faults", "'faults': []");
}

static void
wait_for_servers(guint count)
{
    gint64 deadline = g_get_monotonic_time() + LONGEST_WAIT * G_TIME_SPAN_MILLISECOND;

    while (cloud_count("servers") != count)
        g_assert_cmpint(g_get_monotonic_time(), <, deadline);
}

static void
assert_all_removed(Provider *provider, const char *id)
{
    g_autoptr(Work) removal = work_run(provider, DROVER_TASK_MACHINE_DELETE, id);

    assert_done(removal);
    g_assert_cmpuint(cloud_count("servers"), ==, 0);
    g_assert_cmpuint(cloud_count("floatingips"), ==, 0);
}

/* ---- Lists ---- */

static const char *const torn[] = {
    "'status': 200, 'body': {'servers': [], 'servers_links': {'rel': 'next'}}",
    "'status': 200, 'body': {'servers': [], 'servers_links': [{'rel': 'next'}]}",
    "'status': 200, 'body': {'servers': [], 'servers_links': [{'rel': 'next', 'href': '/v2.1/'}]}",
    "'status': 200, 'body': {'servers': [], 'next': 17}",
    "'status': 200, 'body': {'servers': [{'id': null}]}",
    "'status': 200, 'body': {'servers': [17]}",
    "'status': 200, 'body': {'servers': {}}",
    "'status': 200, 'body': {'servers': [], 'servers_links': [{'rel': 'next', 'href': '?a=1'}]}",
    "'status': 404, 'body': {}",
    "'garbage': 'text'",
};

/* Of which it cannot be known that it is whole. */
static void
test_torn_list(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open("'port-cleanup-interval': 0", NULL);

    for (gsize i = 0; i < G_N_ELEMENTS(torn); i++) {
        g_autofree char *rule =
            g_strconcat("'method': 'GET', " SERVERS "/detail$', ", torn[i], NULL);
        g_autoptr(Work) work = NULL;

        cloud_fault(rule);
        work = work_run(provider, DROVER_TASK_RESOURCE_LIST, NULL);
        assert_failed(work, DROVER_FAILURE_OTHER, "the list of servers: ");
    }
}

/* ---- Limits ---- */

static const char *const no_numbers[] = {
    "'path': '/limits$', 'garbage': 'types'",
    "'path': '/compute/.*limits$', 'status': 200, 'body': {}",
    "'path': '/compute/.*limits$', 'status': 200, 'body': {'limits': {'absolute': null}}",
    ("'path': '/volume/.*limits$', 'status': 200, "
     "'body': {'limits': {'absolute': {'maxTotalVolumes': 3}}}"),
    "'path': '/volume/.*limits$', 'garbage': 'text'",
};

/* Neither no limit nor none at all. */
static void
test_limits(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, NULL);

    for (gsize i = 0; i < G_N_ELEMENTS(no_numbers); i++) {
        g_autoptr(Work) work = NULL;

        cloud_fault(no_numbers[i]);
        work = work_run(provider, DROVER_TASK_QUOTA_LIMITS, NULL);
        assert_failed(work, DROVER_FAILURE_OTHER, "the cloud's answer about its limits has no max");
    }
}

/* ---- Floating IPs ---- */

static void
test_ports_of_a_new_server(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_with_floating_ips();
    g_autoptr(Work) work = NULL;

    cloud_fault(PORTS "'garbage': 'text'");
    work = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    assert_failed(work, DROVER_FAILURE_OTHER, "ports makes no sense");
    forgive();
    assert_all_removed(provider, work_id(work));
}

/* The server stays as long as it is not known which floating IPs lead to it. */
static void
test_ports_of_an_old_server(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_with_floating_ips();
    g_autoptr(Work) work = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    g_autoptr(Work) removal = NULL;

    assert_done(work);
    cloud_fault(PORTS "'status': 200, 'body': {'ports': null}");
    removal = work_run(provider, DROVER_TASK_MACHINE_DELETE, work_id(work));
    assert_failed(removal, DROVER_FAILURE_OTHER, "ports makes no sense");
    g_assert_cmpuint(cloud_count("servers"), ==, 1);
    forgive();
    assert_all_removed(provider, work_id(work));
}

static void
test_forgotten_addresses(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_with_floating_ips();
    g_autoptr(Work) work = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);

    assert_done(work);
    cloud_tell("change", "'kind': 'server', 'id': '%s', 'fields': {'plugged': false}",
               work_id(work));
    assert_all_removed(provider, work_id(work));
}

/* The place in the list of what was deleted meanwhile is 404 for Neutron. */
static void
test_lost_place(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_with_floating_ips();
    g_autoptr(Work) work = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);

    assert_done(work);
    cloud_tell("make", "'kind': 'floatingip', 'count': 1");
    cloud_tell("make", "'kind': 'floatingip', 'count': 1, 'fields': {'project': 'other'}");
    cloud_tell("settings", "'page': 1");
    cloud_fault("'method': 'GET', " FLOATING "$', 'skip': 1, 'times': 1, 'status': 404");
    {
        g_autoptr(Work) removal = work_run(provider, DROVER_TASK_MACHINE_DELETE, work_id(work));

        assert_done(removal);
    }
    g_assert_cmpuint(cloud_count("servers"), ==, 0);
    g_assert_cmpuint(cloud_count("floatingips"), ==, 2);
}

static void
test_lost_delete(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_with_floating_ips();
    g_autoptr(Work) work = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);

    assert_done(work);
    cloud_fault("'method': 'DELETE', " FLOATING "/', 'times': 1, 'delete': 'lost'");
    assert_all_removed(provider, work_id(work));
    g_assert_cmpuint(cloud_requests("DELETE", "/network/v2.0/floatingips"), ==, 2);
}

static void
test_no_floating_ips_left(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_with_floating_ips();
    g_autoptr(Work) work = NULL;

    cloud_fault("'method': 'POST', " FLOATING "$', 'status': 409, "
                "'body': 'No more IP addresses available on network outer.'");
    work = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    assert_failed(work, DROVER_FAILURE_CAPACITY, "No more IP addresses");
    assert_all_removed(provider, work_id(work));
}

static void
test_cancelled_while_asked(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_with_floating_ips();
    g_autoptr(Work) work = NULL;

    cloud_fault("'method': 'POST', " FLOATING "$', 'delay': 0.5");
    work = work_begin(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    cloud_wait_requests("POST", "/network/v2.0/floatingips", 1);
    drover_task_cancel(work->task);
    work_wait(work);
    assert_failed(work, DROVER_FAILURE_OTHER, "cancelled");
    g_assert_cmpuint(cloud_count("servers"), ==, 0);
    g_assert_cmpuint(cloud_count("floatingips"), ==, 0);
}

/* Where no network has them, none is looked for. */
static void
test_no_source(gconstpointer unused)
{
    g_autoptr(Provider) provider = NULL;
    g_autoptr(Work) work = NULL;

    cloud_tell("settings", "'networks': [{'name': 'inner'}]");
    provider = provider_open(NULL, AT_ROUTER);
    work = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    assert_done(work);
    assert_all_removed(provider, work_id(work));
    g_assert_cmpuint(cloud_requests("GET", "/network/v2.0/ports"), ==, 0);
    g_assert_cmpuint(cloud_requests("GET", "/network/v2.0/floatingips"), ==, 0);
}

/* ---- Servers ---- */

typedef struct {
    const char *options, *label;
    enum drover_failure failure;
} Lost;

static const Lost lost[] = {
    {NULL, "'cloud-image': null, 'diskimage': 'd'", DROVER_FAILURE_NOT_FOUND},
    {"'cloud-images': [{'name': 'plain', 'image-id': 'lost'}]", NULL, DROVER_FAILURE_PERMANENT},
};

/* What was uploaded has a successor; what the configuration names has none. */
static void
test_lost_image(gconstpointer data)
{
    static const char *const inputs[] = {"hostname", "np0000000001", "image", "lost", NULL};
    const Lost *one = data;
    g_autoptr(Provider) provider = provider_open(one->options, one->label);
    g_autoptr(Work) work =
        work_begin_with(provider, DROVER_TASK_MACHINE_CREATE, NULL, inputs, NULL);

    work_wait(work);
    assert_failed(work, one->failure, "Can not find requested image");
    g_assert_cmpuint(cloud_requests("POST", "/compute/v2.1/servers"), ==, 2);
}

/* An answer to each create, but never one that says what was made. */
static void
test_create_without_an_id(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autoptr(Work) work = NULL;

    cloud_fault("'method': 'POST', " SERVERS "$', 'garbage': 'missing'");
    work = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    assert_done(work);
    g_assert_cmpuint(cloud_count("servers"), ==, 1);
    assert_all_removed(provider, work_id(work));
}

/* 404 from something that is not Nova: the list knows better. */
static void
test_not_found_by_mistake(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autoptr(Work) work = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    g_autoptr(Work) removal = NULL;
    guint lists;

    assert_done(work);
    cloud_fault("'method': 'DELETE', " SERVERS "/', 'status': 404, 'body': {}");
    removal = work_begin(provider, DROVER_TASK_MACHINE_DELETE, work_id(work));
    cloud_wait_requests("DELETE", "/compute/v2.1/servers", 1);
    lists = cloud_requests("GET", "/compute/v2.1/servers/detail");
    cloud_wait_requests("GET", "/compute/v2.1/servers/detail", lists + 2);
    g_assert_false(removal->done);
    cloud_tell("change", "'kind': 'server', 'id': '%s', 'fields': null", work_id(work));
    work_wait(removal);
    assert_done(removal);
}

/* A catalog without Nova does not tell that a server is gone. */
static void
test_catalog_without_nova(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autoptr(Work) work = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    g_autoptr(Work) removal = NULL;

    assert_done(work);
    cloud_tell("settings", "'services': ['network', 'image', 'identity']");
    cloud_tell("revoke", "%s", "");
    removal = work_run(provider, DROVER_TASK_MACHINE_DELETE, work_id(work));
    assert_failed(removal, DROVER_FAILURE_PERMANENT, "no public endpoint for the service compute");
    g_assert_cmpuint(cloud_count("servers"), ==, 1);
}

/* That the second server of a node cannot be deleted is no reason to give the first one up. */
static void
test_twin_that_stays(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open("'port-cleanup-interval': 0", NULL);
    g_autoptr(Work) first = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    g_autoptr(Work) second = NULL;
    g_autoptr(Work) round = NULL;

    assert_done(first);
    cloud_tell("settings", "'delete_after': 0");
    cloud_tell("faults",
               "'faults': [{'method': 'GET', " SERVERS "/detail$', 'lag': 12}, "
               "{'method': 'DELETE', " SERVERS "/', 'times': 1, 'status': 409, 'body': 'locked'}]");
    second = work_begin_with(provider, DROVER_TASK_MACHINE_CREATE, NULL, NULL, "{\"create\": {}}");
    work_wait(second);
    assert_done(second);
    g_assert_cmpuint(cloud_count("servers"), ==, 2);
    forgive();
    round = work_run(provider, DROVER_TASK_RESOURCE_LIST, NULL);
    assert_done(round);
    cloud_wait_requests("DELETE", "/compute/v2.1/servers", 2);
    wait_for_servers(1);
    assert_all_removed(provider, work_id(second));
}

/* ---- Images ---- */

typedef struct {
    const char *rule;
    guint puts; /* of the data */
} Upload;

static const Upload uploads[] = {
    {"'method': 'PUT', " IMAGES "/', 'times': 1, 'status': 401", 2},
    {"'method': 'PUT', " IMAGES "/', 'times': 2, 'status': 503", 3},
    {"'method': 'GET', " IMAGES "/', 'times': 1, 'garbage': 'text'", 1},
    {"'method': 'GET', " IMAGES "/', 'times': 1, 'garbage': 'types'", 1},
};

static Work *
upload(Provider *provider)
{
    const char *const inputs[] = {"path",        file.path, "name",  "img-1", "md5",
                                  file.checksum, "format",  "qcow2", NULL};
    Work *work = work_begin_with(provider, DROVER_TASK_IMAGE_UPLOAD, NULL, inputs, NULL);

    work_wait(work);
    return work;
}

/* Faults that pass make no upload fail. */
static void
test_upload(gconstpointer data)
{
    const Upload *one = data;
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autoptr(Work) work = NULL;
    g_autofree char *status = NULL;

    cloud_fault(one->rule);
    work = upload(provider);
    status = openstack_first("images", "status");
    assert_done(work);
    g_assert_cmpuint(cloud_count("images"), ==, 1);
    g_assert_cmpstr(status, ==, "active");
    g_assert_cmpuint(cloud_requests("PUT", "/image/v2/images"), ==, one->puts);
}

/* Somebody else's, whose provider has the same name. */
static void
test_images_of_others(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autoptr(Work) list = NULL;

    cloud_tell("make", "'kind': 'image', 'fields': {'project': 'other', 'visibility': 'public', "
                       "'properties': {'nodepool_provider_name': 'p1'}}");
    list = work_run(provider, DROVER_TASK_RESOURCE_LIST, NULL);
    assert_done(list);
    g_assert_cmpuint(json_array_size(list->items), ==, 0);
}

/* What cannot be listed hides nothing else. */
static void
test_other_services_are_away(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open("'port-cleanup-interval': 1", NULL);
    g_autoptr(Work) work = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    g_autoptr(Work) list = NULL;

    assert_done(work);
    cloud_fault("'path': '/(network|image)/', 'status': 403");
    list = work_run(provider, DROVER_TASK_RESOURCE_LIST, NULL);
    assert_done(list);
    g_assert_cmpuint(json_array_size(list->items), ==, 1);
}

int
main(int argc, char **argv)
{
    static const CloudTest tests[] = {
        {"/openstack-answers/F-35-torn-list", test_torn_list, NULL},
        {"/openstack-answers/F-25-limits", test_limits, NULL},
        {"/openstack-answers/ports-of-a-new-server", test_ports_of_a_new_server, NULL},
        {"/openstack-answers/ports-of-an-old-server", test_ports_of_an_old_server, NULL},
        {"/openstack-answers/OS-32-forgotten-addresses", test_forgotten_addresses, NULL},
        {"/openstack-answers/F-35-lost-place", test_lost_place, NULL},
        {"/openstack-answers/OS-32-lost-delete", test_lost_delete, NULL},
        {"/openstack-answers/no-floating-ips-left", test_no_floating_ips_left, NULL},
        {"/openstack-answers/cancelled-while-asked", test_cancelled_while_asked, NULL},
        {"/openstack-answers/no-source-of-floating-ips", test_no_source, NULL},
        {"/openstack-answers/lost-upload", test_lost_image, &lost[0]},
        {"/openstack-answers/OS-26-lost-image", test_lost_image, &lost[1]},
        {"/openstack-answers/OS-42-create-without-an-id", test_create_without_an_id, NULL},
        {"/openstack-answers/not-found-by-mistake", test_not_found_by_mistake, NULL},
        {"/openstack-answers/catalog-without-nova", test_catalog_without_nova, NULL},
        {"/openstack-answers/OS-42-twin-that-stays", test_twin_that_stays, NULL},
        {"/openstack-answers/OS-10-upload-refused", test_upload, &uploads[0]},
        {"/openstack-answers/OS-61-upload-busy", test_upload, &uploads[1]},
        {"/openstack-answers/upload-without-status", test_upload, &uploads[2]},
        {"/openstack-answers/upload-with-another-status", test_upload, &uploads[3]},
        {"/openstack-answers/OS-70-images-of-others", test_images_of_others, NULL},
        {"/openstack-answers/other-services-are-away", test_other_services_are_away, NULL},
        {NULL, NULL, NULL},
    };

    return openstack_run_tests_with_image(argc, argv, tests, &file);
}
