/*
 * Operations of the OpenStack driver that another process had begun: they go on from what that had
 * saved, and nothing is made twice. And what is cancelled cleans up.
 */
#include <string.h>

#include "openstack.h"

#include "support/process.h"

#define CREATE "'method': 'POST', 'path': '/compute/v2.1/servers$', "

static Work *
take_up(Provider *provider, DroverTaskKind kind, const char *format, const char *id)
{
    g_autoptr(GString) saved = g_string_new(format);
    Work *work;

    g_string_replace(saved, "ID", id != NULL ? id : "", 0);
    work = work_begin_with(provider, kind, NULL, NULL, saved->str);
    work_wait(work);
    return work;
}

static void
remove_server(Provider *provider, const char *id)
{
    g_autoptr(Work) removal = work_run(provider, DROVER_TASK_MACHINE_DELETE, id);

    assert_done(removal);
    g_assert_cmpuint(cloud_count("servers"), ==, 0);
    g_assert_cmpuint(cloud_count("floatingips"), ==, 0);
    openstack_assert_understood();
}

/* ---- Creates ---- */

static void
test_known_server(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autoptr(Work) first = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    g_autoptr(Work) second = take_up(provider, DROVER_TASK_MACHINE_CREATE,
                                     "{\"create\": {\"server\": \"ID\"}}", work_id(first));

    assert_done(first);
    assert_done(second);
    g_assert_cmpstr(work_id(second), ==, work_id(first));
    g_assert_nonnull(json_object_get(second->fields, "interface_ip"));
    g_assert_cmpuint(cloud_count("servers"), ==, 1);
    remove_server(provider, work_id(first));
}

static void
test_unknown_server(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autoptr(Work) first = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    g_autoptr(Work) second =
        take_up(provider, DROVER_TASK_MACHINE_CREATE, "{\"create\": {}}", NULL);

    assert_done(second);
    g_assert_cmpstr(work_id(second), ==, work_id(first));
    g_assert_cmpuint(cloud_count("servers"), ==, 1);
    remove_server(provider, work_id(first));
}

static void
test_no_server(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autoptr(Work) work = take_up(provider, DROVER_TASK_MACHINE_CREATE, "{\"create\": {}}", NULL);

    assert_done(work);
    g_assert_cmpuint(cloud_count("servers"), ==, 1);
    remove_server(provider, work_id(work));
}

/* The server of the former process comes to light when there is another: one of them is left. */
static void
test_late_server(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autoptr(Work) first = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    g_autoptr(Work) second = NULL;

    assert_done(first);
    cloud_tell("settings", "'delete_after': 0");
    cloud_fault("'method': 'GET', 'path': '/compute/v2.1/servers/detail$', 'lag': 12");
    second = take_up(provider, DROVER_TASK_MACHINE_CREATE, "{\"create\": {}}", NULL);
    assert_done(second);
    g_assert_cmpuint(cloud_requests("DELETE", "/compute/v2.1/servers"), ==, 1);
    g_assert_cmpstr(work_id(second), !=, work_id(first));
    g_assert_cmpuint(cloud_count("servers"), ==, 1);
    cloud_tell("faults", "'faults': []");
    remove_server(provider, work_id(second));
}

/* What had a floating IP already gets no second one. */
static void
test_floating_ip(gconstpointer unused)
{
    g_autoptr(Provider) provider = NULL;
    g_autoptr(Work) first = NULL;
    g_autoptr(Work) second = NULL;

    cloud_tell("settings", "'networks': [{'name': 'inner'}, {'name': 'outer', 'external': true}], "
                           "'router': {'external': 'outer', 'networks': ['inner']}, "
                           "'floating_shown_after': 1000");
    provider = provider_open(NULL, "'networks': ['inner']");
    first = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    assert_done(first);
    second = take_up(provider, DROVER_TASK_MACHINE_CREATE, "{\"create\": {\"server\": \"ID\"}}",
                     work_id(first));
    assert_done(second);
    g_assert_cmpuint(cloud_requests("POST", "/network/v2.0/floatingips"), ==, 1);
    assert_field(second, "interface_ip",
                 json_string_value(json_object_get(first->fields, "interface_ip")));
    remove_server(provider, work_id(first));
}

static void
test_nonsense(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autoptr(Work) work = take_up(provider, DROVER_TASK_MACHINE_DELETE, "{\"delete\": {}}", NULL);

    g_assert_false(work->ok);
}

/* ---- Deletes ---- */

static void
test_delete(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autoptr(Work) made = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    g_autoptr(Work) removal = take_up(provider, DROVER_TASK_MACHINE_DELETE,
                                      "{\"delete\": {\"server\": \"ID\"}}", work_id(made));

    assert_done(removal);
    g_assert_cmpuint(cloud_count("servers"), ==, 0);
}

/* ---- Cancelling ---- */

static const char *const asked[] = {CREATE "'delay': 0.5", "POST"};
static const char *const building[] = {CREATE "'machine': {'stuck': true}", "POST"};

static void
test_cancelled(gconstpointer data)
{
    const char *const *moment = data;
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autoptr(Work) work = NULL;

    cloud_fault(moment[0]);
    work = work_begin(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    cloud_wait_requests(moment[1], "/compute/v2.1/servers", 1);
    drover_task_cancel(work->task);
    work_wait(work);
    assert_failed(work, DROVER_FAILURE_OTHER, "cancelled");
    g_assert_cmpuint(cloud_count("servers"), ==, 0);
}

int
main(int argc, char **argv)
{
    static const CloudTest tests[] = {
        {"/openstack-driver/taken-up/known-server", test_known_server, NULL},
        {"/openstack-driver/taken-up/OS-42-unknown-server", test_unknown_server, NULL},
        {"/openstack-driver/taken-up/no-server", test_no_server, NULL},
        {"/openstack-driver/OS-42-late-server", test_late_server, NULL},
        {"/openstack-driver/taken-up/OS-31-OS-32-floating-ip", test_floating_ip, NULL},
        {"/openstack-driver/taken-up/nonsense", test_nonsense, NULL},
        {"/openstack-driver/taken-up/delete", test_delete, NULL},
        {"/openstack-driver/create-cancelled-when-asked", test_cancelled, asked},
        {"/openstack-driver/create-cancelled-while-building", test_cancelled, building},
        {NULL, NULL, NULL},
    };

    return openstack_run_tests(argc, argv, tests);
}
