/*
 * Logins and versions when Keystone or Nova say something else than usual.
 */
#include "openstack.h"

#define TOKENS   "'method': 'POST', 'path': '^/identity/v3/auth/tokens$', "
#define KEYSTONE "'method': 'GET', 'path': '^/identity$', "
#define VERSIONS "'method': 'GET', 'path': '^/compute/v2.1/$', "

static guint
logins(void)
{
    return cloud_requests("POST", "/identity/v3/auth/tokens");
}

static void
assert_works(Provider *provider)
{
    g_autoptr(Work) work = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    g_autoptr(Work) removal = NULL;

    assert_done(work);
    removal = work_run(provider, DROVER_TASK_MACHINE_DELETE, work_id(work));
    assert_done(removal);
    openstack_assert_understood();
}

/* By our clock each token has ended long before it was issued, or never ends. */
static void
test_clock(gconstpointer seconds)
{
    g_autoptr(Provider) provider = NULL;

    cloud_tell("settings", "'clock': %d", GPOINTER_TO_INT(seconds));
    provider = provider_open(NULL, NULL);
    assert_works(provider);
    g_assert_cmpuint(logins(), ==, 1);
}

/* Each passes, and the machine is made all the same. */
static const char *const passing[] = {
    KEYSTONE "'times': 5, 'status': 503",
    KEYSTONE "'times': 1, 'status': 307, 'headers': {'Location': '/admin/identity'}",
    TOKENS "'times': 1, 'status': 308, 'headers': {'Location': '/admin/identity/v3/auth/tokens'}",
    TOKENS "'times': 1, 'garbage': 'text'",
    TOKENS "'times': 1, 'garbage': 'types'",
    VERSIONS "'times': 1, 'garbage': 'text'",
    VERSIONS "'times': 1, 'status': 401",
    VERSIONS "'times': 5, 'status': 429, 'body': 'slow down'",
    VERSIONS "'times': 1, 'status': 301, 'headers': {'Location': '/admin/compute/v2.1/'}",
};

static void
test_passing(gconstpointer rule)
{
    g_autoptr(Provider) provider = NULL;

    cloud_fault(rule);
    provider = provider_open(NULL, NULL);
    assert_works(provider);
}

/* After a pause it logs in again. */
static void
wait_for_limits(Provider *provider)
{
    gint64 deadline = g_get_monotonic_time() + LONGEST_WAIT * G_TIME_SPAN_MILLISECOND;
    gboolean ok;

    do {
        g_autoptr(Work) work = work_run(provider, DROVER_TASK_QUOTA_LIMITS, NULL);

        ok = work->ok;
        g_assert_cmpint(g_get_monotonic_time(), <, deadline);
    } while (!ok);
}

/* A list of versions that could not be had does not decide where Keystone is looked for later. */
static void
test_no_version_three_there(gconstpointer unused)
{
    g_autoptr(Provider) provider = NULL;

    cloud_tell("faults", "'faults': [{" KEYSTONE "'times': 1, 'status': 200, 'body': {}}, {" TOKENS
                         "'times': 1, 'status': 404}]");
    provider = provider_open(NULL, NULL);
    {
        g_autoptr(Work) early = work_run(provider, DROVER_TASK_QUOTA_LIMITS, NULL);

        assert_failed(early, DROVER_FAILURE_AUTH, "the login at the cloud failed");
    }
    wait_for_limits(provider);
    assert_works(provider);
    g_assert_cmpuint(cloud_requests("GET", "/identity"), ==, 2);
}

/* Nova was replaced by an older one, which does not take what it was asked with before. */
static void
test_older_nova(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autoptr(Work) work = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    g_autoptr(Work) removal = NULL;

    assert_done(work);
    cloud_tell("settings", "'microversion': '2.60'");
    removal = work_run(provider, DROVER_TASK_MACHINE_DELETE, work_id(work));
    assert_done(removal);
    g_assert_cmpuint(cloud_count("servers"), ==, 0);
    g_assert_cmpuint(logins(), ==, 1);
}

/* A service that refuses every token does not make those of the others new all the time. */
static void
test_one_service_refuses(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, NULL);

    assert_works(provider);
    cloud_fault("'path': '^/volume/', 'status': 401");
    for (int i = 0; i < 4; i++) {
        g_autoptr(Work) limits = work_run(provider, DROVER_TASK_QUOTA_LIMITS, NULL);

        assert_failed(limits, DROVER_FAILURE_AUTH, "401");
        assert_works(provider);
    }
    g_assert_cmpuint(logins(), <=, 3);
}

int
main(int argc, char **argv)
{
    const CloudTest tests[] = {
        {"/openstack-login/F-31-clock-behind", test_clock, GINT_TO_POINTER(-86400)},
        {"/openstack-login/F-31-clock-ahead", test_clock, GINT_TO_POINTER(86400)},
        {"/openstack-login/busy", test_passing, passing[0]},
        {"/openstack-login/elsewhere", test_passing, passing[1]},
        {"/openstack-login/tokens-elsewhere", test_passing, passing[2]},
        {"/openstack-login/no-json", test_passing, passing[3]},
        {"/openstack-login/wrong-types", test_passing, passing[4]},
        {"/openstack-login/versions-no-json", test_passing, passing[5]},
        {"/openstack-login/OS-10-versions-refused", test_passing, passing[6]},
        {"/openstack-login/versions-too-often", test_passing, passing[7]},
        {"/openstack-login/versions-elsewhere", test_passing, passing[8]},
        {"/openstack-login/no-version-three-there", test_no_version_three_there, NULL},
        {"/openstack-login/older-nova", test_older_nova, NULL},
        {"/openstack-login/F-31-one-service-refuses", test_one_service_refuses, NULL},
        {NULL, NULL, NULL},
    };

    return openstack_run_tests(argc, argv, tests);
}
