/* Providers on their threads: opening, tasks, answers, cancelling, closing. */
#include <glib/gstdio.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "runner-fixture.h"

/* ---- Answers ---- */

static void
test_results(void)
{
    Fixture fixture;

    fixture_open(&fixture, "plain");
    g_assert_no_error(fixture.open_error);
    g_assert_cmpuint(fixture.machines, ==, 1);
    fixture_run(&fixture, DROVER_TASK_MACHINE_CREATE);
    g_assert_true(fixture.ok);
    g_assert_cmpuint(fixture.ids->len, ==, 1);
    g_assert_cmpstr(fixture.ids->pdata[0], ==, "id-1");
    g_assert_cmpstr(fixture.fields, ==,
                    "{\"connection_port\":2222,\"external_id\":\"id-1\","
                    "\"host_keys\":[\"ssh-ed25519 AAAA\",\"ssh-rsa BBBB\"],"
                    "\"interface_ip\":\"192.0.2.1\"}");
    g_assert_cmpstr(fixture.resources, ==, "{\"cores\":4}");
    g_assert_cmpstr(fixture.text, ==, "tags");
    fixture_run(&fixture, DROVER_TASK_RESOURCE_LIST);
    g_assert_cmpuint(fixture.items, ==, 2);
    g_assert_cmpuint(fixture.ids->len, ==, 1);
    g_assert_cmpuint(drover_runner_tasks(fixture.runner), ==, 0);
    fixture_finish(&fixture, FALSE);
}

/* Objects, null and the empty string, an id that grows; what makes no sense is left out. */
static void
test_forms_of_results(void)
{
    Fixture fixture;

    fixture_open(&fixture, "objects");
    fixture.watched = fixture_submit(&fixture, DROVER_TASK_MACHINE_DELETE);
    g_assert_null(drover_task_status(fixture.watched));
    fixture_wait_answers(&fixture, 1);
    g_assert_cmpstr(fixture.status, ==, "done \357\277\275");
    g_assert_cmpuint(fixture.progress_done, ==, 3);
    g_assert_cmpuint(fixture.progress_total, ==, 4);
    g_assert_cmpstr(fixture.fields, ==,
                    "{\"az\":\"\",\"connection_port\":{\"host\":\"x\"},\"driver_data\":[1,null],"
                    "\"external_id\":{\"server\":\"1\",\"volume\":\"2\"},\"username\":null}");
    g_assert_cmpuint(fixture.ids->len, ==, 2);
    g_assert_cmpstr(fixture.ids->pdata[0], ==, "server-1");
    g_assert_nonnull(strstr(fixture.ids->pdata[1], "\"volume\""));
    fixture_finish(&fixture, FALSE);
}

static void
test_outcomes(void)
{
    static const struct {
        const char *mode;
        enum drover_failure failure; /* 0: done */
        const char *message;
        gint64 retry_after;
    } cases[] = {
        {"steps", 0, NULL, 0},
        {"once more", 0, NULL, 0},
        {"block", 0, NULL, 0},
        {"loop", 0, NULL, 0},
        {"not so bad", 0, NULL, 0},
        {"no object", 0, NULL, 0},
        {"quota", DROVER_FAILURE_QUOTA, "3 of 3 used", 0},
        {"rate", DROVER_FAILURE_RATE_LIMITED, "too often", 1500},
        {"rate for ever", DROVER_FAILURE_RATE_LIMITED, "too often", 600000},
        {"strange failure", DROVER_FAILURE_OTHER, "bytes", 0},
        {"no reason", DROVER_FAILURE_OTHER, "driver good gave no reason", 0},
        {"nonsense", DROVER_FAILURE_OTHER, "driver good answered 42 to machine_delete()", 0},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        Fixture fixture;

        g_test_message("%s", cases[i].mode);
        fixture_open(&fixture, cases[i].mode);
        g_assert_no_error(fixture.open_error);
        fixture_run(&fixture, DROVER_TASK_MACHINE_DELETE);
        g_assert_cmpint(fixture.failure, ==, cases[i].failure);
        if (!fixture.ok) {
            g_assert_nonnull(strstr(fixture.message, cases[i].message));
            g_assert_true(g_utf8_validate(fixture.message, -1, NULL));
        }
        g_assert_cmpint(fixture.retry_after, ==, cases[i].retry_after);
        fixture_finish(&fixture, FALSE);
    }
}

static void
test_missing_function(void)
{
    Fixture fixture;

    fixture_open(&fixture, "plain");
    fixture_run(&fixture, DROVER_TASK_IMAGE_LIST);
    g_assert_cmpint(fixture.failure, ==, DROVER_FAILURE_PERMANENT);
    g_assert_nonnull(strstr(fixture.message, "image_list"));
    fixture_finish(&fixture, FALSE);
}

/* A driver that uses a handle late is not heard, and does not reach another operation. */
static void
test_speaks_of_the_past(void)
{
    Fixture fixture;

    fixture_open(&fixture, "past");
    fixture_run(&fixture, DROVER_TASK_SLOT_CHECK);
    g_assert_true(fixture.ok);
    fixture_run(&fixture, DROVER_TASK_SLOT_CHECK);
    g_assert_true(fixture.ok);
    g_assert_cmpstr(fixture.fields, ==, "{}");
    g_assert_cmpstr(fixture.resources, ==, "{}");
    g_assert_cmpstr(fixture.text, ==, "");
    g_assert_cmpuint(fixture.items, ==, 0);
    g_assert_cmpuint(fixture.ids->len, ==, 0);
    fixture_finish(&fixture, FALSE);
}

/* ---- Saving and taking up ---- */

static void
test_saved_and_resumed(void)
{
    Fixture fixture;
    DroverTaskInput input = {.node_id = "0000000001"};

    fixture_open(&fixture, "steps");
    fixture_run(&fixture, DROVER_TASK_MACHINE_DELETE);
    g_assert_cmpuint(fixture.saved->len, ==, 2);
    g_assert_cmpstr(fixture.saved->pdata[0], ==, "count 1");
    g_assert_cmpstr(fixture.saved->pdata[1], ==, "count 2");
    /* Another begins where this one was: its next step is the last. */
    input.saved = fixture.saved->pdata[1];
    fixture_submit_input(&fixture, DROVER_TASK_MACHINE_DELETE, &input);
    fixture_wait_answers(&fixture, 2);
    g_assert_true(fixture.ok);
    g_assert_cmpuint(fixture.saved->len, ==, 2);
    input.saved = "of another version";
    fixture_submit_input(&fixture, DROVER_TASK_MACHINE_DELETE, &input);
    fixture_wait_answers(&fixture, 3);
    g_assert_cmpint(fixture.failure, ==, DROVER_FAILURE_OTHER);
    g_assert_nonnull(strstr(fixture.message, "cannot take up"));
    fixture_finish(&fixture, FALSE);
}

/* ---- Opening and closing ---- */

static void
test_open_refused(void)
{
    static const struct {
        const char *mode, *message;
        int code;
    } cases[] = {
        {"refuse", "sample-provider is refused", DROVER_ERROR_FAILED},
        {"refuse for ever", "never \357\277\275", DROVER_ERROR_CONFIG},
        {"refuse silently", "the driver gave no reason", DROVER_ERROR_FAILED},
        {"no inventory", "the driver gave no reason", DROVER_ERROR_FAILED},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        Fixture fixture;

        fixture_open(&fixture, cases[i].mode);
        g_assert_error(fixture.open_error, DROVER_ERROR, cases[i].code);
        g_assert_cmpstr(fixture.open_error->message, ==, cases[i].message);
        g_assert_cmpuint(fixture.machines, ==, 0);
        fixture_run(&fixture, DROVER_TASK_MACHINE_DELETE);
        g_assert_cmpint(fixture.failure, ==, DROVER_FAILURE_OTHER);
        g_assert_nonnull(strstr(fixture.message, "not open"));
        fixture_finish(&fixture, FALSE);
    }
}

static void
never_opened(DroverRunner *runner, const GPtrArray *machines, const GError *error,
             gpointer user_data)
{
    g_assert_not_reached();
}

static void
test_closed_while_opening(void)
{
    Fixture fixture, never;

    fixture_begin(&fixture, "slow open");
    drover_runner_open(fixture.runner, never_opened, NULL);
    fixture_submit(&fixture, DROVER_TASK_MACHINE_DELETE);
    fixture_finish(&fixture, FALSE);
    g_assert_cmpuint(fixture.answers, ==, 1);
    g_assert_true(fixture.ok);
    fixture_begin(&never, "plain");
    fixture_submit(&never, DROVER_TASK_MACHINE_DELETE);
    fixture_finish(&never, TRUE);
    g_assert_cmpuint(never.answers, ==, 1);
    g_assert_cmpint(never.failure, ==, DROVER_FAILURE_OTHER);
}

/* What is under way ends first, and only then the driver. */
static void
test_closed_last(void)
{
    g_autofree char *text = NULL;
    g_autofree char *path = NULL;
    Fixture fixture;
    int fd = g_file_open_tmp("drover-test-XXXXXX", &path, NULL);

    drover_log_set_fd(fd);
    fixture_open(&fixture, "steps");
    for (guint i = 0; i < 5; i++)
        fixture_submit(&fixture, DROVER_TASK_MACHINE_DELETE);
    g_assert_cmpuint(fixture.answers, ==, 0);
    fixture_close(&fixture, FALSE); /* asserts that no answer comes afterwards */
    drover_log_set_fd(2);
    g_assert_cmpuint(fixture.answers, ==, 5);
    g_assert_true(fixture.ok);
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_assert_nonnull(strstr(text, "closed, operations under way: 0"));
    fixture_clear(&fixture);
    close(fd);
    g_unlink(path);
}

static void
test_no_task_after_close(void)
{
    Fixture fixture;
    gboolean closed = FALSE;

    fixture_open(&fixture, "plain");
    drover_runner_close(fixture.runner, FALSE, NULL, NULL);
    fixture_submit(&fixture, DROVER_TASK_MACHINE_DELETE);
    fixture_wait_answers(&fixture, 1);
    g_assert_cmpint(fixture.failure, ==, DROVER_FAILURE_OTHER);
    g_assert_nonnull(strstr(fixture.message, "closing"));
    fixture_clear(&fixture);
    /* The runner itself ends unseen; another one shows when that is. */
    fixture_open(&fixture, "plain");
    fixture_finish(&fixture, closed);
}

static void
test_cancel(void)
{
    Fixture fixture;

    fixture_open(&fixture, "forever");
    drover_task_cancel(fixture_submit(&fixture, DROVER_TASK_MACHINE_DELETE));
    fixture_wait_answers(&fixture, 1);
    g_assert_cmpstr(fixture.message, ==, "cancelled");
    /* Closing cancels what is left; every task answers before the runner is closed. */
    for (guint i = 0; i < 100; i++)
        fixture_submit(&fixture, DROVER_TASK_MACHINE_DELETE);
    fixture_finish(&fixture, TRUE);
    g_assert_cmpuint(fixture.answers, ==, 101);
}

/* A driver that ignores it ends the operation when it likes. */
static void
test_cancel_ignored(void)
{
    Fixture fixture;

    fixture_open(&fixture, "steps");
    drover_task_cancel(fixture_submit(&fixture, DROVER_TASK_MACHINE_DELETE));
    fixture_wait_answers(&fixture, 1);
    g_assert_true(fixture.ok);
    fixture_finish(&fixture, FALSE);
}

/* ---- News, and the log ---- */

static void
test_news(void)
{
    Fixture fixture;

    fixture_begin(&fixture, "plain");
    drover_runner_node_deleted(fixture.runner, "too early"); /* not open: not heard */
    fixture_finish(&fixture, FALSE);
    fixture_open(&fixture, "plain");
    drover_runner_node_deleted(fixture.runner, "0000000001");
    drover_runner_node_reused(fixture.runner, "0000000002", "200-0000000003");
    drover_runner_scan_failed(fixture.runner, "small", "id-1");
    drover_runner_idle(fixture.runner);
    fixture_run(&fixture, DROVER_TASK_MACHINE_CONSOLE);
    g_assert_cmpstr(fixture.text, ==,
                    "start;deleted 0000000001;reused 0000000002 for 200-0000000003;"
                    "scan of id-1 failed, label small;idle;");
    fixture_finish(&fixture, FALSE);
}

static void
test_log(void)
{
    g_autofree char *text = NULL;
    g_autofree char *path = NULL;
    Fixture fixture;
    int fd = g_file_open_tmp("drover-test-XXXXXX", &path, NULL);

    drover_log_set_fd(fd);
    fixture_open(&fixture, "plain");
    fixture_run(&fixture, DROVER_TASK_MACHINE_CREATE);
    fixture_finish(&fixture, FALSE);
    drover_log_set_fd(2);
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_assert_nonnull(strstr(text, "driver.good.sample-provider: [node: 0000000001] the driver sets "
                                  "no_such_field, which is no such field here"));
    g_assert_nonnull(strstr(text, "WARNING nodepool.driver.good.sample-provider: of no level"));
    g_assert_nonnull(strstr(strstr(text, ": stopped"), ": closed"));
    close(fd);
    g_unlink(path);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/runner/results", test_results);
    g_test_add_func("/runner/forms-of-results", test_forms_of_results);
    g_test_add_func("/runner/outcomes", test_outcomes);
    g_test_add_func("/runner/missing-function", test_missing_function);
    g_test_add_func("/runner/speaks-of-the-past", test_speaks_of_the_past);
    g_test_add_func("/runner/saved-and-resumed", test_saved_and_resumed);
    g_test_add_func("/runner/open-refused", test_open_refused);
    g_test_add_func("/runner/closed-while-opening", test_closed_while_opening);
    g_test_add_func("/runner/F-63-closed-last", test_closed_last);
    g_test_add_func("/runner/no-task-after-close", test_no_task_after_close);
    g_test_add_func("/runner/cancel", test_cancel);
    g_test_add_func("/runner/cancel-ignored", test_cancel_ignored);
    g_test_add_func("/runner/news", test_news);
    g_test_add_func("/runner/log", test_log);
    return g_test_run();
}
