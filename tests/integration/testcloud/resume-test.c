/*
 * Operations of the test driver that are taken up by another process, at each of their stages: the
 * first one is killed while the cloud keeps it waiting, what it had saved last is given to a
 * second.
 */
#include <string.h>

#include "interruption.h"

/* ---- Creates ---- */

#define ALL          "'extra-objects': ['address', 'volume']"
#define SERVER       "\"server\":\"machine-000001\""
#define NEVER(path)  "'method': 'POST', 'path': '" path "', 'never': 'after'"
#define UNDONE(path) "'method': 'POST', 'path': '" path "', 'never': 'before'"

static const Interruption of_creates[] = {
    {.rule = NEVER("machines"),
     .method = "POST",
     .path = "/machines",
     .saved = "{\"create\":{\"objects\":null,\"next\":\"server\"}}"},
    {.rule = UNDONE("machines"),
     .method = "POST",
     .path = "/machines",
     .saved = "{\"create\":{\"objects\":null,\"next\":\"server\"}}"},
    {.rule = "'method': 'GET', 'never': 'before'",
     .method = "GET",
     .path = "/machines",
     .saved = "{\"create\":{\"objects\":\"machine-000001\",\"next\":null}}"},
    {.label = ALL,
     .rule = NEVER("addresses"),
     .method = "POST",
     .path = "/addresses",
     .saved = "{\"create\":{\"objects\":{" SERVER "},\"next\":\"address\"}}"},
    {.label = ALL,
     .rule = NEVER("volumes"),
     .method = "POST",
     .path = "/volumes",
     .saved = "{\"create\":{\"objects\":{" SERVER
              ",\"address\":\"address-000001\"},\"next\":\"volume\"}}"},
    {.label = ALL,
     .rule = UNDONE("volumes"),
     .method = "POST",
     .path = "/volumes",
     .saved = "{\"create\":{\"objects\":{" SERVER
              ",\"address\":\"address-000001\"},\"next\":\"volume\"}}"},
    {.label = ALL,
     .rule = "'method': 'GET', 'never': 'before'",
     .method = "GET",
     .path = "/machines",
     .saved = "{\"create\":{\"objects\":{" SERVER
              ",\"address\":\"address-000001\",\"volume\":\"volume-000001\"},\"next\":null}}"},
};

/* The same machine, and nothing else, is what comes of it. */
static void
test_create(gconstpointer data)
{
    Interruption interruption = *(const Interruption *)data;
    g_autoptr(Provider) provider = provider_open(NULL, interruption.label);
    g_autoptr(Work) work = NULL;
    g_autoptr(Work) removal = NULL;

    interruption.kind = DROVER_TASK_MACHINE_CREATE;
    interrupt(&interruption);
    work = interruption_take_up(&interruption, provider);
    work_wait(work);
    assert_done(work);
    g_assert_nonnull(json_object_get(work->fields, "interface_ip"));
    g_assert_cmpuint(cloud_count("machines"), ==, 1);
    g_assert_cmpuint(cloud_count("volumes"), ==, interruption.label != NULL);
    g_assert_cmpuint(cloud_count("addresses"), ==, interruption.label != NULL);
    removal = work_run(provider, DROVER_TASK_MACHINE_DELETE, work_id(work));
    assert_done(removal);
    cloud_assert_empty();
}

/* It is cancelled as soon as it is taken up. */
static void
test_create_cancelled(gconstpointer data)
{
    Interruption interruption = *(const Interruption *)data;
    g_autoptr(Provider) provider = provider_open(NULL, interruption.label);
    g_autoptr(Work) work = NULL;

    interruption.kind = DROVER_TASK_MACHINE_CREATE;
    interrupt(&interruption);
    work = interruption_take_up(&interruption, provider);
    drover_task_cancel(work->task);
    work_wait(work);
    assert_failed(work, DROVER_FAILURE_OTHER, "cancelled");
    cloud_assert_empty();
}

/* ---- Deletes ---- */

static void
test_delete(gconstpointer rule)
{
    g_autoptr(Provider) provider = provider_open(NULL, ALL);
    g_autoptr(Work) machine = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    Interruption interruption = {.kind = DROVER_TASK_MACHINE_DELETE,
                                 .label = ALL,
                                 .external_id = work_id(machine),
                                 .rule = rule,
                                 .method = "DELETE",
                                 .path = "/"};
    g_autofree char *expected = NULL;
    g_autoptr(Work) work = NULL;

    assert_done(machine);
    expected = strstr(rule, "volumes") != NULL
                   ? g_strdup_printf("{\"delete\":%s}", work_id(machine))
                   : g_strdup("{\"delete\":{\"server\":\"machine-000001\"}}");
    interruption.saved = expected;
    interrupt(&interruption);
    work = interruption_take_up(&interruption, provider);
    work_wait(work);
    assert_done(work);
    cloud_assert_empty();
}

/* ---- Nonsense ---- */

static void
test_refused(gconstpointer saved)
{
    g_autoptr(Provider) provider = provider_open(NULL, NULL);
    g_autoptr(Work) work = work_begin_with(provider, DROVER_TASK_MACHINE_CREATE, NULL, NULL, saved);

    work_wait(work);
    assert_failed(work, DROVER_FAILURE_OTHER, "cannot take up");
    g_assert_cmpuint(cloud_requests("POST", "/"), ==, 0);
}

static void
test_switched_off(gconstpointer unused)
{
    static const char saved[] = "{\"create\":{\"objects\":null,\"next\":\"server\"}}";
    g_autoptr(Provider) provider = provider_open("'resume': false", NULL);
    g_autoptr(Work) work = work_run(provider, DROVER_TASK_MACHINE_CREATE, NULL);
    g_autoptr(Work) refused =
        work_begin_with(provider, DROVER_TASK_MACHINE_CREATE, NULL, NULL, saved);

    assert_done(work);
    g_assert_cmpuint(work->saved->len, ==, 0);
    work_wait(refused);
    assert_failed(refused, DROVER_FAILURE_OTHER, "cannot take up");
}

int
main(int argc, char **argv)
{
    static const CloudTest tests[] = {
        {"/testcloud/FT-14-create-asked", test_create, &of_creates[0]},
        {"/testcloud/FT-14-create-asked-and-not-heard", test_create, &of_creates[1]},
        {"/testcloud/FT-14-create-boots", test_create, &of_creates[2]},
        {"/testcloud/FT-14-create-address-asked", test_create, &of_creates[3]},
        {"/testcloud/FT-14-create-volume-asked", test_create, &of_creates[4]},
        {"/testcloud/FT-14-create-volume-not-heard", test_create, &of_creates[5]},
        {"/testcloud/FT-14-create-boots-with-all", test_create, &of_creates[6]},
        {"/testcloud/cancelled-when-taken-up", test_create_cancelled, &of_creates[2]},
        {"/testcloud/cancelled-when-taken-up-with-all", test_create_cancelled, &of_creates[6]},
        {"/testcloud/FT-14-delete-volume", test_delete,
         "'method': 'DELETE', 'path': 'volumes', 'never': 'after'"},
        {"/testcloud/FT-14-delete-machine", test_delete,
         "'method': 'DELETE', 'path': 'machines', 'never': 'before'"},
        {"/testcloud/FT-14-delete-waits", test_delete,
         "'method': 'GET', 'path': 'machines', 'never': 'before'"},
        {"/testcloud/refused-text", test_refused, "no JSON"},
        {"/testcloud/refused-kind", test_refused, "{\"paint\":{}}"},
        {"/testcloud/refused-objects", test_refused,
         "{\"create\":{\"objects\":{\"volume\":\"v\"},\"next\":null}}"},
        {"/testcloud/refused-nothing", test_refused,
         "{\"create\":{\"objects\":null,\"next\":null}}"},
        {"/testcloud/refused-type", test_refused, "{\"create\":{\"objects\":17,\"next\":7}}"},
        {"/testcloud/switched-off", test_switched_off, NULL},
        {NULL, NULL, NULL},
    };

    return cloud_run_tests(argc, argv, tests);
}
