/* Providers on their threads: opening, tasks, cancelling, closing, and drivers that misbehave. */
#include <string.h>

#include <drover/host.h>

#include "driver/host.h"
#include "driver/runner.h"

typedef struct {
    DroverDriverHost *host;
    struct drover_value *config;
    DroverRunner *runner;
    gboolean opened, closed;
    char *open_error;
    guint machines;
    guint answers, ids;
    gboolean ok;
    enum drover_failure failure;
    char *message, *fields, *resources, *text;
    guint items;
} Fixture;

static void
wait_until(gboolean *flag)
{
    gint64 deadline = g_get_monotonic_time() + 20 * G_TIME_SPAN_SECOND;

    while (!*flag) {
        g_assert_cmpint(g_get_monotonic_time(), <, deadline);
        g_main_context_iteration(NULL, TRUE);
    }
}

static void
on_opened(DroverRunner *runner, const GPtrArray *machines, const GError *error, gpointer user_data)
{
    Fixture *fixture = user_data;

    g_assert_false(fixture->opened);
    fixture->opened = TRUE;
    fixture->machines = machines != NULL ? machines->len : 0;
    fixture->open_error = error != NULL ? g_strdup(error->message) : NULL;
}

static void
on_closed(gpointer user_data)
{
    ((Fixture *)user_data)->closed = TRUE;
}

static void
on_done(const DroverTaskResult *result, gpointer user_data)
{
    Fixture *fixture = user_data;

    fixture->answers++;
    fixture->ok = result->ok;
    fixture->failure = result->failure;
    g_free(fixture->message);
    fixture->message = g_strdup(result->message);
    g_free(fixture->fields);
    fixture->fields = json_dumps(result->fields, JSON_SORT_KEYS | JSON_COMPACT);
    g_free(fixture->resources);
    fixture->resources = json_dumps(result->resources, JSON_SORT_KEYS | JSON_COMPACT);
    g_free(fixture->text);
    fixture->text = g_strdup(result->text);
    fixture->items = result->items->len;
}

static void
on_id(const char *external_id, gpointer user_data)
{
    Fixture *fixture = user_data;

    g_assert_cmpstr(external_id, ==, "id-1");
    g_assert_cmpuint(fixture->answers, ==, 0);
    fixture->ids++;
}

static void
begin(Fixture *fixture, const char *mode)
{
    const char *const directories[] = {SAMPLE_DIR, NULL};
    const struct drover_driver *driver;

    fixture->host = drover_driver_host_new(directories);
    driver = drover_driver_host_find(fixture->host, "good", NULL);
    fixture->config = drover_value_new_map();
    drover_value_set(fixture->config, "mode", drover_value_new_string(mode));
    fixture->runner = drover_runner_new(driver, "sample-provider", fixture->config);
}

static void
open_it(Fixture *fixture, const char *mode)
{
    begin(fixture, mode);
    drover_runner_open(fixture->runner, on_opened, fixture);
    wait_until(&fixture->opened);
}

static void
finish(Fixture *fixture, gboolean cancel)
{
    drover_runner_close(fixture->runner, cancel, on_closed, fixture);
    wait_until(&fixture->closed);
    drover_value_free(fixture->config);
    drover_driver_host_free(fixture->host);
    g_free(fixture->open_error);
    g_free(fixture->message);
    free(fixture->fields);
    free(fixture->resources);
    g_free(fixture->text);
}

static void
run_task(Fixture *fixture, DroverTaskKind kind)
{
    const char *const inputs[] = {"tags", "tags", NULL};
    const DroverTaskInput input = {.node_id = "0000000001", .inputs = inputs};
    gint64 deadline = g_get_monotonic_time() + 20 * G_TIME_SPAN_SECOND;
    guint before = fixture->answers;

    drover_runner_submit(fixture->runner, kind, &input, on_done, on_id, fixture);
    g_assert_cmpuint(fixture->answers, ==, before);
    while (fixture->answers == before) {
        g_assert_cmpint(g_get_monotonic_time(), <, deadline);
        g_main_context_iteration(NULL, TRUE);
    }
}

static void
test_results(void)
{
    Fixture fixture = {0};

    open_it(&fixture, "plain");
    g_assert_null(fixture.open_error);
    g_assert_cmpuint(fixture.machines, ==, 1);
    run_task(&fixture, DROVER_TASK_MACHINE_CREATE);
    g_assert_true(fixture.ok);
    g_assert_cmpuint(fixture.ids, ==, 1);
    g_assert_cmpstr(fixture.fields, ==,
                    "{\"connection_port\":2222,\"external_id\":\"id-1\","
                    "\"host_keys\":[\"ssh-ed25519 AAAA\",\"ssh-rsa BBBB\"],"
                    "\"interface_ip\":\"192.0.2.1\"}");
    g_assert_cmpstr(fixture.resources, ==, "{\"cores\":4}");
    g_assert_cmpstr(fixture.text, ==, "tags");
    run_task(&fixture, DROVER_TASK_RESOURCE_LIST);
    g_assert_cmpuint(fixture.items, ==, 2);
    g_assert_cmpuint(drover_runner_tasks(fixture.runner), ==, 0);
    finish(&fixture, FALSE);
}

static void
test_outcome(gconstpointer user_data)
{
    static const struct {
        const char *mode;
        enum drover_failure failure; /* 0: done */
        const char *message;
    } cases[] = {
        {"steps", 0, NULL},
        {"thread", 0, NULL},
        {"block", 0, NULL},
        {"quota", DROVER_FAILURE_QUOTA, "3 of 3 used"},
        {"strange failure", DROVER_FAILURE_OTHER, "bytes"},
        {"no reason", DROVER_FAILURE_OTHER, "no reason"},
        {"nonsense", DROVER_FAILURE_OTHER, "driver good answered 42 to machine_delete()"},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        Fixture fixture = {0};

        open_it(&fixture, cases[i].mode);
        run_task(&fixture, DROVER_TASK_MACHINE_DELETE);
        g_assert_true(fixture.ok == (cases[i].failure == 0));
        if (!fixture.ok) {
            g_assert_cmpint(fixture.failure, ==, cases[i].failure);
            g_assert_nonnull(strstr(fixture.message, cases[i].message));
            g_assert_true(g_utf8_validate(fixture.message, -1, NULL));
        }
        finish(&fixture, FALSE);
    }
}

static void
test_missing_function(void)
{
    Fixture fixture = {0};

    open_it(&fixture, "plain");
    run_task(&fixture, DROVER_TASK_IMAGE_LIST);
    g_assert_false(fixture.ok);
    g_assert_cmpint(fixture.failure, ==, DROVER_FAILURE_PERMANENT);
    g_assert_nonnull(strstr(fixture.message, "image_list"));
    finish(&fixture, FALSE);
}

static void
test_open_refused(void)
{
    Fixture refused = {0}, silent = {0};

    open_it(&refused, "refuse");
    g_assert_cmpstr(refused.open_error, ==, "sample-provider is refused");
    run_task(&refused, DROVER_TASK_MACHINE_DELETE);
    g_assert_false(refused.ok);
    finish(&refused, FALSE);
    open_it(&silent, "refuse silently");
    g_assert_cmpstr(silent.open_error, ==, "the driver gave no reason");
    finish(&silent, FALSE);
}

static void
test_cancel(void)
{
    Fixture fixture = {0};
    const DroverTaskInput input = {.node_id = "0000000001"};
    DroverTask *task;

    open_it(&fixture, "forever");
    task = drover_runner_submit(fixture.runner, DROVER_TASK_MACHINE_DELETE, &input, on_done, NULL,
                                &fixture);
    drover_task_cancel(task);
    while (fixture.answers == 0)
        g_main_context_iteration(NULL, TRUE);
    g_assert_cmpstr(fixture.message, ==, "cancelled");
    /* Closing cancels what is left; every task answers before the runner is closed. */
    for (guint i = 0; i < 100; i++)
        drover_runner_submit(fixture.runner, DROVER_TASK_MACHINE_DELETE, &input, on_done, NULL,
                             &fixture);
    finish(&fixture, TRUE);
    g_assert_cmpuint(fixture.answers, ==, 101);
}

static void
test_closed_while_opening(void)
{
    Fixture fixture = {0}, never = {0};

    begin(&fixture, "plain");
    drover_runner_open(fixture.runner, on_opened, &fixture);
    finish(&fixture, FALSE);
    g_assert_false(fixture.opened);
    begin(&never, "plain");
    finish(&never, FALSE);
}

/* F-47: one driver that does not come back holds up nobody else. */
static void
test_blocked_driver_is_seen(void)
{
    Fixture blocked = {0}, other = {0};
    const DroverTaskInput input = {.node_id = "0000000001"};

    open_it(&blocked, "block");
    open_it(&other, "plain");
    g_assert_cmpint(drover_runner_blocked_for(blocked.runner), ==, 0);
    drover_runner_submit(blocked.runner, DROVER_TASK_MACHINE_DELETE, &input, on_done, NULL,
                         &blocked);
    while (drover_runner_blocked_for(blocked.runner) < 20)
        g_main_context_iteration(NULL, FALSE);
    run_task(&other, DROVER_TASK_MACHINE_DELETE);
    g_assert_true(other.ok);
    g_assert_cmpuint(blocked.answers, ==, 0);
    finish(&other, FALSE);
    finish(&blocked, FALSE);
    g_assert_cmpuint(blocked.answers, ==, 1);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/runner/results", test_results);
    g_test_add_data_func("/runner/outcomes", NULL, test_outcome);
    g_test_add_func("/runner/missing-function", test_missing_function);
    g_test_add_func("/runner/open-refused", test_open_refused);
    g_test_add_func("/runner/cancel", test_cancel);
    g_test_add_func("/runner/closed-while-opening", test_closed_while_opening);
    g_test_add_func("/runner/F-47-blocked-driver-is-seen", test_blocked_driver_is_seen);
    return g_test_run();
}
