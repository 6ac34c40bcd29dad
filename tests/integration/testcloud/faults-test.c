/*
 * The test driver when the cloud refuses, fails, lies or is silent: which class a failure has, and
 * that nothing is lost. Rules are those of tests/support/fake_cloud/faults.py.
 */
#include <string.h>

#include "fixture.h"

#define ON_CREATE "'method': 'POST', 'path': '^/machines$', "
#define ON_LIST   "'method': 'GET', 'path': '^/machines$', "

/* ---- Classes of failures ---- */

typedef struct {
    const char *rule;
    enum drover_failure failure;
    const char *text, *options;
} Refusal;

static const Refusal quota = {ON_CREATE "'limits': {'cores': 0}", DROVER_FAILURE_QUOTA,
                              "Quota exceeded for cores: requested 1, but already used 0 of 0",
                              NULL};
static const Refusal quota_status = {ON_CREATE "'status': 403, 'body': 'over your quota'",
                                     DROVER_FAILURE_QUOTA, "over your quota", NULL};
static const Refusal forbidden = {ON_CREATE "'status': 403, 'body': 'go away'", DROVER_FAILURE_AUTH,
                                  "go away", NULL};
static const Refusal unauthorized = {ON_CREATE "'status': 401", DROVER_FAILURE_AUTH, "answered 401",
                                     NULL};
static const Refusal no_capacity = {ON_CREATE "'status': 503, 'body': 'no capacity left'",
                                    DROVER_FAILURE_CAPACITY, "no capacity left", NULL};
static const Refusal unavailable = {ON_CREATE "'status': 503, 'body': 'maintenance'",
                                    DROVER_FAILURE_OTHER, "maintenance", NULL};
static const Refusal no_image = {ON_CREATE "'status': 404, 'body': 'no such image'",
                                 DROVER_FAILURE_PERMANENT, "no such image", NULL};
static const Refusal bad_request = {ON_CREATE "'status': 400, 'body': 'not so'",
                                    DROVER_FAILURE_OTHER, "not so", NULL};
static const Refusal broken_cloud = {ON_CREATE "'status': 500, 'body': 'oops'",
                                     DROVER_FAILURE_OTHER, "oops", NULL};
static const Refusal other_body = {ON_CREATE "'status': 500, 'body': ['oops']",
                                   DROVER_FAILURE_OTHER, "answered 500", NULL};
static const Refusal slow = {ON_CREATE "'never': 'before'", DROVER_FAILURE_TIMEOUT, "machines",
                             "'call-timeout': 0.3"};
static const Refusal dropped = {ON_CREATE "'drop': 'before'", DROVER_FAILURE_OTHER, "machines",
                                NULL};
static const Refusal text = {ON_CREATE "'garbage': 'text'", DROVER_FAILURE_OTHER, "no sense", NULL};
static const Refusal types = {ON_CREATE "'garbage': 'types'", DROVER_FAILURE_OTHER, "no sense",
                              NULL};
static const Refusal missing = {ON_CREATE "'garbage': 'missing'", DROVER_FAILURE_OTHER, "no sense",
                                NULL};
static const Refusal huge = {ON_CREATE "'garbage': 'huge'", DROVER_FAILURE_OTHER, "more than",
                             NULL};
static const Refusal half = {ON_CREATE "'half': true", DROVER_FAILURE_OTHER, "machines", NULL};

static const Refusal machine_broken = {ON_CREATE "'machine': {'error': 'the disk is full'}",
                                       DROVER_FAILURE_BROKEN, "ERROR: the disk is full", NULL};
static const Refusal machine_quota = {ON_CREATE "'machine': {'error': 'quota server fault'}",
                                      DROVER_FAILURE_QUOTA, "quota server fault", NULL};
static const Refusal machine_vanishes = {ON_CREATE "'machine': {'after': 60, 'vanishes': 0.2}",
                                         DROVER_FAILURE_BROKEN, "is gone", NULL};
static const Refusal no_address = {ON_CREATE "'machine': {'no_address': true}",
                                   DROVER_FAILURE_NO_ADDRESS, "no address", NULL};

static void
test_create_fails(gconstpointer data)
{
    const Refusal *refusal = data;
    g_autoptr(Provider) provider = provider_open(refusal->options, NULL);
    g_autoptr(Work) work = NULL;

    cloud_fault(refusal->rule);
    work = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    assert_failed(work, refusal->failure, refusal->text);
    /* It may have been done, and is not asked for twice. */
    g_assert_cmpuint(cloud_requests("POST", "/machines"), ==, 1);
    /* What is known of is told, so that it can be deleted. */
    if (work_id(work) != NULL) {
        g_autoptr(Work) removal = work_run(provider, DROVER_TASK_MACHINE_DELETE, work_id(work));

        assert_done(removal);
        cloud_assert_empty();
    }
}

static void
test_rate_limited(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autoptr(Work) work = NULL;

    cloud_fault(ON_CREATE "'status': 429, 'headers': {'Retry-After': '7'}");
    work = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    assert_failed(work, DROVER_FAILURE_RATE_LIMITED, "answered 429");
    g_assert_cmpint(work->retry_after, ==, 7000);
}

static void
test_wrong_token(gconstpointer unused)
{
    static const DroverTaskKind kinds[] = {
        DROVER_TASK_MACHINE_CREATE, DROVER_TASK_MACHINE_DELETE, DROVER_TASK_MACHINE_CONSOLE,
        DROVER_TASK_LABEL_READY,    DROVER_TASK_ZONE_LIST,      DROVER_TASK_QUOTA_LIMITS,
        DROVER_TASK_QUOTA_LABEL,    DROVER_TASK_QUOTA_USAGE,    DROVER_TASK_RESOURCE_LIST,
    };
    g_autoptr(Provider) provider = provider_open(NULL, "'console-log': true");

    cloud_tell("settings", "'token': 'another'");
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
        g_autoptr(Work) work = work_run(provider, kinds[i], "machine-000001");

        assert_failed(work, DROVER_FAILURE_AUTH, "the token is not valid");
    }
}

/* ---- Lists ---- */

/* What is read only is asked for again, and so the launch goes on. */
static void
test_list_recovers(gconstpointer rule)
{
    g_autoptr(Provider) provider = provider_open("'call-timeout': 0.5", NULL);
    g_autoptr(Work) work = NULL;

    cloud_fault(rule);
    work = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    assert_done(work);
    g_assert_cmpuint(cloud_requests("POST", "/machines"), ==, 1);
}

static void
test_list_is_garbage(gconstpointer kind)
{
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autofree char *rule = g_strdup_printf(ON_LIST "'times': 1100, 'garbage': '%s'", (char *)kind);
    g_autoptr(Work) work = NULL;
    g_autoptr(Work) next = NULL;

    cloud_fault(rule);
    work = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    assert_failed(work, DROVER_FAILURE_OTHER, "the list of machines");
    g_assert_nonnull(work_id(work));
    cloud_tell("faults", "'faults': []");
    next = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    assert_done(next);
}

static void
test_pages(gconstpointer unused)
{
    enum { MACHINES = 7 };
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autoptr(Work) list = NULL;

    cloud_tell("settings", "'page': 2");
    for (guint i = 0; i < MACHINES; i++)
        cloud_make("machines", "'name': 'x', 'flavor': 'small', 'image': 'plain'");
    list = work_run(provider, DROVER_TASK_RESOURCE_LIST, NULL);
    assert_done(list);
    g_assert_cmpuint(json_array_size(list->items), ==, MACHINES);
    g_assert_cmpuint(cloud_requests("GET", "/machines"), ==, 4);
}

/* A list of the past has neither the new machine nor, later, its absence. */
static void
test_lists_lag(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autoptr(Work) work = NULL;
    g_autoptr(Work) removal = NULL;

    cloud_fault(ON_LIST "'lag': 0.5");
    work = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    assert_done(work);
    removal = work_run(provider, DROVER_TASK_MACHINE_DELETE, work_id(work));
    assert_done(removal);
    cloud_assert_empty();
}

/* The machine is deleted before any list has shown it. */
static void
test_delete_before_it_is_listed(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autoptr(Work) work = NULL;
    g_autoptr(Work) removal = NULL;

    cloud_tell("settings", "'delete_after': 0.5");
    cloud_fault(ON_LIST "'lag': 3600");
    work = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    assert_done(work);
    removal = work_run(provider, DROVER_TASK_MACHINE_DELETE, work_id(work));
    assert_done(removal);
    cloud_assert_empty();
}

/* 50 launches are one list in an interval, not one each. */
static void
test_one_list_for_all(gconstpointer unused)
{
    enum { LAUNCHES = 50 };
    g_autoptr(Provider) provider = provider_open("'list-interval': 0.3", NULL);
    g_autoptr(GPtrArray) launches = g_ptr_array_new_with_free_func((GDestroyNotify)work_free);
    gint64 begun = g_get_monotonic_time();
    guint intervals;

    cloud_tell("settings", "'active_after': 0.5, 'limits': {'instances': -1, 'cores': -1}");
    for (guint i = 0; i < LAUNCHES; i++)
        g_ptr_array_add(launches, work_begin(provider, DROVER_TASK_MACHINE_CREATE, NULL));
    for (guint i = 0; i < LAUNCHES; i++) {
        work_wait(launches->pdata[i]);
        assert_done(launches->pdata[i]);
    }
    intervals = (guint)((g_get_monotonic_time() - begun) / (300 * G_TIME_SPAN_MILLISECOND));
    g_assert_cmpuint(cloud_requests("GET", "/machines"), <=, intervals + 2);
    g_assert_cmpuint(cloud_count("machines"), ==, LAUNCHES);
}

/* Nor are there more lists when they fail: each failure is told to one launch. */
static void
test_failing_list_for_all(gconstpointer unused)
{
    enum { LAUNCHES = 20, FAILED = 4 };
    g_autoptr(Provider) provider = provider_open("'list-interval': 0.2", NULL);
    g_autoptr(GPtrArray) launches = g_ptr_array_new_with_free_func((GDestroyNotify)work_free);
    guint failed = 0;

    cloud_fault(ON_LIST "'times': 4, 'garbage': 'text'");
    for (guint i = 0; i < LAUNCHES; i++)
        g_ptr_array_add(launches, work_begin(provider, DROVER_TASK_MACHINE_CREATE, NULL));
    for (guint i = 0; i < LAUNCHES; i++) {
        work_wait(launches->pdata[i]);
        failed += !((Work *)launches->pdata[i])->ok;
    }
    g_assert_cmpuint(failed, ==, FAILED);
}

/* ---- Lost and late answers ---- */

/* The machine is there all the same, and tagged, so that it is found as leaked. */
static void
test_answer_is_lost(gconstpointer rule)
{
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autoptr(Work) work = NULL;
    g_autoptr(Work) list = NULL;

    cloud_fault(rule);
    work = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    assert_failed(work, DROVER_FAILURE_OTHER, "machines");
    g_assert_null(work_id(work));
    list = work_run(provider, DROVER_TASK_RESOURCE_LIST, NULL);
    g_assert_cmpuint(json_array_size(list->items), ==, 1);
    g_assert_nonnull(strstr(
        json_string_value(json_object_get(json_array_get(list->items, 0), "tags")), "0000000001"));
}

/* A delete is asked for again: it does no harm. */
static void
test_delete_answer_is_lost(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autoptr(Work) work = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    g_autoptr(Work) removal = NULL;

    cloud_fault("'method': 'DELETE', 'times': 1, 'drop': 'after'");
    removal = work_run(provider, DROVER_TASK_MACHINE_DELETE, work_id(work));
    assert_done(removal);
    g_assert_cmpuint(cloud_requests("DELETE", "/machines"), ==, 2);
    cloud_assert_empty();
}

static void
test_restart(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autoptr(Work) work = NULL;

    cloud_fault(ON_LIST "'times': 1, 'restart': {'down': 0.2}");
    work = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    assert_done(work);
}

/* ---- Cancelling ---- */

static void
test_never_and_cancel(gconstpointer rule)
{
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autoptr(Work) work = NULL;
    gint64 cancelled;

    cloud_fault(rule);
    work = work_begin(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    cloud_wait_requests("POST", "/machines", 1);
    cancelled = g_get_monotonic_time();
    drover_task_cancel(work->task);
    work_wait(work);
    assert_failed(work, DROVER_FAILURE_OTHER, "cancelled");
    g_assert_cmpint(g_get_monotonic_time() - cancelled, <, 10 * G_TIME_SPAN_SECOND);
}

/* A cloud that never answers does not keep the provider from being closed. */
static void
test_never_and_close(gconstpointer unused)
{
    static const DroverTaskKind kinds[] = {
        DROVER_TASK_MACHINE_CREATE, DROVER_TASK_MACHINE_DELETE,  DROVER_TASK_MACHINE_CONSOLE,
        DROVER_TASK_LABEL_READY,    DROVER_TASK_ZONE_LIST,       DROVER_TASK_QUOTA_LIMITS,
        DROVER_TASK_QUOTA_LABEL,    DROVER_TASK_QUOTA_USAGE,     DROVER_TASK_RESOURCE_LIST,
        DROVER_TASK_IMAGE_LIST,     DROVER_TASK_RESOURCE_DELETE, DROVER_TASK_IMAGE_DELETE,
    };
    const char *const inputs[] = {"kind", "volume", NULL};
    Provider *provider = provider_open(NULL, "'console-log': true");
    g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func((GDestroyNotify)work_free);
    gint64 begun;

    cloud_fault("'never': 'before'");
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++)
        g_ptr_array_add(all, work_begin_with(provider, kinds[i], "an-id", inputs, NULL));
    cloud_wait_requests("GET", "/", 4);
    begun = g_get_monotonic_time();
    provider_close(provider);
    g_assert_cmpint(g_get_monotonic_time() - begun, <, 10 * G_TIME_SPAN_SECOND);
    for (guint i = 0; i < all->len; i++)
        assert_failed(all->pdata[i], DROVER_FAILURE_OTHER, "cancelled");
}

/* ---- Rate ---- */

static void
test_rate(gconstpointer unused)
{
    g_autoptr(Provider) provider = provider_open("'rate': 20", NULL);
    gint64 begun = g_get_monotonic_time();

    for (guint i = 0; i < 11; i++) {
        g_autoptr(Work) limits = work_run(provider, DROVER_TASK_QUOTA_LIMITS, NULL);

        assert_done(limits);
    }
    g_assert_cmpint(g_get_monotonic_time() - begun, >=, 500 * G_TIME_SPAN_MILLISECOND - 5000);
}

int
main(int argc, char **argv)
{
    static const CloudTest tests[] = {
        {"/testcloud/SM-13-quota", test_create_fails, &quota},
        {"/testcloud/quota-status", test_create_fails, &quota_status},
        {"/testcloud/forbidden", test_create_fails, &forbidden},
        {"/testcloud/unauthorized", test_create_fails, &unauthorized},
        {"/testcloud/no-capacity", test_create_fails, &no_capacity},
        {"/testcloud/unavailable", test_create_fails, &unavailable},
        {"/testcloud/no-image", test_create_fails, &no_image},
        {"/testcloud/bad-request", test_create_fails, &bad_request},
        {"/testcloud/broken-cloud", test_create_fails, &broken_cloud},
        {"/testcloud/odd-body", test_create_fails, &other_body},
        {"/testcloud/slow", test_create_fails, &slow},
        {"/testcloud/dropped", test_create_fails, &dropped},
        {"/testcloud/FT-07-garbage-text", test_create_fails, &text},
        {"/testcloud/FT-07-garbage-types", test_create_fails, &types},
        {"/testcloud/FT-07-garbage-missing", test_create_fails, &missing},
        {"/testcloud/FT-07-garbage-huge", test_create_fails, &huge},
        {"/testcloud/half", test_create_fails, &half},
        {"/testcloud/machine-broken", test_create_fails, &machine_broken},
        {"/testcloud/machine-quota", test_create_fails, &machine_quota},
        {"/testcloud/machine-vanishes", test_create_fails, &machine_vanishes},
        {"/testcloud/no-address", test_create_fails, &no_address},
        {"/testcloud/rate-limited", test_rate_limited, NULL},
        {"/testcloud/wrong-token", test_wrong_token, NULL},
        {"/testcloud/list-500", test_list_recovers, ON_LIST "'times': 2, 'status': 500"},
        {"/testcloud/list-429", test_list_recovers,
         ON_LIST "'times': 1, 'status': 429, 'headers': {'Retry-After': '1'}"},
        {"/testcloud/list-drop", test_list_recovers, ON_LIST "'times': 2, 'drop': 'before'"},
        {"/testcloud/list-half", test_list_recovers, ON_LIST "'times': 2, 'half': true"},
        {"/testcloud/list-never", test_list_recovers, ON_LIST "'times': 1, 'never': 'before'"},
        {"/testcloud/list-duplicate", test_list_recovers, ON_LIST "'garbage': 'duplicate'"},
        {"/testcloud/FT-07-list-text", test_list_is_garbage, "text"},
        {"/testcloud/FT-07-list-types", test_list_is_garbage, "types"},
        {"/testcloud/FT-07-list-missing", test_list_is_garbage, "missing"},
        {"/testcloud/FT-07-list-huge", test_list_is_garbage, "huge"},
        {"/testcloud/FT-07-list-endless", test_list_is_garbage, "endless"},
        {"/testcloud/pages", test_pages, NULL},
        {"/testcloud/lists-lag", test_lists_lag, NULL},
        {"/testcloud/delete-before-it-is-listed", test_delete_before_it_is_listed, NULL},
        {"/testcloud/SM-62-one-list-for-all", test_one_list_for_all, NULL},
        {"/testcloud/failing-list-for-all", test_failing_list_for_all, NULL},
        {"/testcloud/FT-06-answer-is-dropped", test_answer_is_lost, ON_CREATE "'drop': 'after'"},
        {"/testcloud/FT-06-answer-is-half", test_answer_is_lost, ON_CREATE "'half': true"},
        {"/testcloud/delete-answer-is-lost", test_delete_answer_is_lost, NULL},
        {"/testcloud/restart", test_restart, NULL},
        {"/testcloud/FT-08-never-and-cancel", test_never_and_cancel, ON_CREATE "'never': 'before'"},
        {"/testcloud/FT-08-never-list-and-cancel", test_never_and_cancel,
         ON_LIST "'never': 'before'"},
        {"/testcloud/FT-08-never-and-close", test_never_and_close, NULL},
        {"/testcloud/rate", test_rate, NULL},
        {NULL, NULL, NULL},
    };

    return cloud_run_tests(argc, argv, tests);
}
