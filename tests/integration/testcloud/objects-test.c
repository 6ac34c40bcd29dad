/*
 * Machines of the fake cloud that own other objects, and what is left of a create that fails or is
 * cancelled in the middle.
 */
#include <string.h>

#include "fixture.h"

#define ALL        "'extra-objects': ['address', 'volume']"
#define POST(path) "'method': 'POST', 'path': '" path "', "
#define SERVER     "\"server\":\"machine-000001\""
#define ADDRESS    "\"address\":\"address-000001\""
#define VOLUME     "\"volume\":\"volume-000001\""

static void
delete_all(Provider *provider, const Work *work)
{
    g_autoptr(Work) removal = work_run(provider, DROVER_TASK_MACHINE_DELETE, work_id(work));

    assert_done(removal);
    cloud_assert_empty();
}

static double
amount(const Work *work, const char *resource)
{
    return json_number_value(json_object_get(work->resources, resource));
}

/* ---- External ids that grow ---- */

static void
test_external_id_grows(gconstpointer style)
{
    static const char *const ids[] = {"{" SERVER "}", "{" SERVER "," ADDRESS "}",
                                      "{" SERVER "," ADDRESS "," VOLUME "}"};
    g_autoptr(Provider) provider = provider_open(style, ALL);
    g_autoptr(Work) work = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);

    assert_done(work);
    g_assert_cmpuint(work->ids->len, ==, G_N_ELEMENTS(ids));
    for (guint i = 0; i < G_N_ELEMENTS(ids); i++)
        g_assert_cmpstr(work->ids->pdata[i], ==, ids[i]);
    g_assert_true(json_is_object(json_object_get(work->fields, "external_id")));
    g_assert_cmpuint(cloud_count("machines"), ==, 1);
    g_assert_cmpuint(cloud_count("volumes"), ==, 1);
    g_assert_cmpuint(cloud_count("addresses"), ==, 1);
    delete_all(provider, work);
}

/* What was made before is known, and goes with the delete. */
static void
test_fails_between(gconstpointer rule)
{
    g_autoptr(Provider) provider = provider_open(NULL, ALL);
    g_autoptr(Work) work = NULL;

    cloud_fault(rule);
    work = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    assert_failed(work, DROVER_FAILURE_QUOTA, "answered 403");
    g_assert_cmpuint(work->ids->len, >=, 1);
    delete_all(provider, work);
}

static void
test_cost(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, ALL);
    g_autoptr(Work) cost = work_run(provider, DROVER_TASK_QUOTA_LABEL, NULL);
    g_autoptr(Work) work = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);

    assert_done(cost);
    g_assert_cmpfloat(amount(cost, "volumes"), ==, 1);
    g_assert_cmpfloat(amount(cost, "volume-gb"), ==, 1);
    g_assert_cmpfloat(amount(cost, "addresses"), ==, 1);
    g_assert_true(json_equal(cost->resources, work->resources));
}

static void
test_cost_after_create(gconstpointer unused)
{
    g_autoptr(Provider) provider =
        provider_open(NULL, "'cost-after-create': true, 'flavor': 'medium'");
    g_autoptr(Work) cost = work_run(provider, DROVER_TASK_QUOTA_LABEL, NULL);
    g_autoptr(Work) work = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);

    assert_done(cost);
    g_assert_cmpuint(json_object_size(cost->resources), ==, 0);
    assert_done(work);
    g_assert_cmpfloat(amount(work, "cores"), ==, 2);
}

/* ---- Cancelling ---- */

typedef struct {
    const char *rule;          /* keeps the create where it is to be cancelled */
    const char *method, *path; /* the request that shows that it is there */
} Moment;

static const Moment at_once = {NULL, NULL, NULL};
static const Moment machine_asked = {POST("machines") "'delay': 0.5", "POST", "/machines"};
static const Moment address_asked = {POST("addresses") "'delay': 0.5", "POST", "/addresses"};
static const Moment volume_asked = {POST("volumes") "'delay': 0.5", "POST", "/volumes"};
static const Moment volume_refused = {POST("volumes") "'delay': 0.3, 'status': 500", "POST",
                                      "/volumes"};
static const Moment boots = {POST("machines") "'machine': {'stuck': true}", "GET", "/machines"};
static const Moment list_asked = {"'method': 'GET', 'path': 'machines', 'delay': 0.5", "GET",
                                  "/machines"};

static void
test_cancelled(gconstpointer data)
{
    const Moment *moment = data;
    g_autoptr(Provider) provider = provider_open(NULL, ALL);
    g_autoptr(Work) work = NULL;

    if (moment->rule != NULL)
        cloud_fault(moment->rule);
    work = work_begin(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    if (moment->method != NULL)
        cloud_wait_requests(moment->method, moment->path, 1);
    drover_task_cancel(work->task);
    work_wait(work);
    assert_failed(work, DROVER_FAILURE_OTHER, "cancelled");
    cloud_assert_empty();
}

/* A provider that is closed cancels, too. */
static void
test_closed(gconstpointer unused)
{
    Provider *provider = provider_open(NULL, ALL);
    g_autoptr(Work) work = NULL;

    cloud_fault(boots.rule);
    work = work_begin(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    cloud_wait_requests(boots.method, boots.path, 1);
    provider_close(provider);
    assert_failed(work, DROVER_FAILURE_OTHER, "cancelled");
    cloud_assert_empty();
}

static void
test_delete_cancelled(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, ALL);
    g_autoptr(Work) work = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    g_autoptr(Work) removal = NULL;

    cloud_fault("'method': 'DELETE', 'path': 'addresses', 'never': 'before'");
    removal = work_begin(provider, DROVER_TASK_MACHINE_DELETE, work_id(work));
    cloud_wait_requests("DELETE", "/addresses", 1);
    drover_task_cancel(removal->task);
    work_wait(removal);
    assert_failed(removal, DROVER_FAILURE_OTHER, "cancelled");
    cloud_tell("faults", "'faults': []");
    delete_all(provider, work);
}

int
main(int argc, char **argv)
{
    static const CloudTest tests[] = {
        {"/testcloud/SM-58-FT-13-external-id-grows", test_external_id_grows, NULL},
        {"/testcloud/FT-12-external-id-grows-blocking", test_external_id_grows,
         "'style': 'blocking'"},
        {"/testcloud/FT-13-address-fails", test_fails_between,
         POST("addresses") "'status': 403, 'body': 'quota of addresses'"},
        {"/testcloud/FT-13-volume-fails", test_fails_between,
         POST("volumes") "'limits': {'volumes': 0}"},
        {"/testcloud/cost", test_cost, NULL},
        {"/testcloud/cost-after-create", test_cost_after_create, NULL},
        {"/testcloud/cancelled-at-once", test_cancelled, &at_once},
        {"/testcloud/cancelled-machine-asked", test_cancelled, &machine_asked},
        {"/testcloud/cancelled-address-asked", test_cancelled, &address_asked},
        {"/testcloud/cancelled-volume-asked", test_cancelled, &volume_asked},
        {"/testcloud/cancelled-volume-refused", test_cancelled, &volume_refused},
        {"/testcloud/cancelled-boots", test_cancelled, &boots},
        {"/testcloud/cancelled-list-asked", test_cancelled, &list_asked},
        {"/testcloud/closed", test_closed, NULL},
        {"/testcloud/delete-cancelled", test_delete_cancelled, NULL},
        {NULL, NULL, NULL},
    };

    return cloud_run_tests(argc, argv, tests);
}
