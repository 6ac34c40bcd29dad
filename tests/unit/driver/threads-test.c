/* Drivers that block, wake from other threads, or wake late: nobody else notices. */
#include <sys/wait.h>

#include "runner-fixture.h"

/* F-47: one driver that does not come back holds up nobody else. */
static void
test_blocked_driver_is_seen(void)
{
    Fixture blocked, other;

    fixture_open(&blocked, "block");
    fixture_open(&other, "plain");
    g_assert_cmpint(drover_runner_blocked_for(blocked.runner), ==, 0);
    fixture_submit(&blocked, DROVER_TASK_MACHINE_DELETE);
    fixture_wait_blocked(&blocked);
    fixture_run(&other, DROVER_TASK_MACHINE_DELETE);
    g_assert_true(other.ok);
    g_assert_cmpuint(blocked.answers, ==, 0);
    fixture_finish(&other, FALSE);
    fixture_finish(&blocked, FALSE);
    g_assert_cmpuint(blocked.answers, ==, 1);
}

/* A driver that never comes back keeps neither the core loop nor the process from ending. */
static void
test_blocked_for_ever(void)
{
    Fixture blocked, other;

    if (!g_test_subprocess()) {
        g_test_trap_subprocess(NULL, 60 * G_TIME_SPAN_SECOND, G_TEST_SUBPROCESS_DEFAULT);
        g_test_trap_assert_passed();
        return;
    }
    fixture_open(&blocked, "block for ever");
    fixture_submit(&blocked, DROVER_TASK_MACHINE_DELETE);
    fixture_wait_blocked(&blocked);
    drover_runner_close(blocked.runner, TRUE, NULL, NULL);
    drover_driver_host_free(blocked.host);
    fixture_open(&other, "plain");
    fixture_run(&other, DROVER_TASK_MACHINE_DELETE);
    fixture_finish(&other, FALSE);
    g_assert_cmpuint(blocked.answers, ==, 0);
    g_ptr_array_unref(blocked.ids);
    g_ptr_array_unref(blocked.saved);
}

static void
run_many(const char *mode, guint count)
{
    Fixture fixture;

    fixture_open(&fixture, mode);
    for (guint i = 0; i < count; i++)
        fixture_submit(&fixture, DROVER_TASK_SLOT_CHECK);
    fixture_wait_answers(&fixture, count);
    g_assert_true(fixture.ok);
    fixture_finish(&fixture, FALSE);
}

static void
test_woken_by_threads(void)
{
    run_many("thread", 100);
}

/* Their threads wake operations that have ended, while others run and end. */
static void
test_woken_late(void)
{
    run_many("late wake", 200);
}

static void
test_many_providers(void)
{
    Fixture fixtures[20];

    for (guint i = 0; i < G_N_ELEMENTS(fixtures); i++)
        fixture_open(&fixtures[i], i % 2 == 0 ? "steps" : "late wake");
    for (guint i = 0; i < 50 * G_N_ELEMENTS(fixtures); i++)
        fixture_submit(&fixtures[i % G_N_ELEMENTS(fixtures)], DROVER_TASK_MACHINE_DELETE);
    for (guint i = 0; i < G_N_ELEMENTS(fixtures); i++) {
        fixture_finish(&fixtures[i], i % 3 == 0);
        g_assert_cmpuint(fixtures[i].answers, ==, 50);
    }
}

/* ---- Cancelling at every moment ---- */

typedef struct {
    Fixture *fixture;
    DroverTask *task;
    gboolean answered;
    guint *left;
} Cancelled;

static void
on_answer(const DroverTaskResult *result, gpointer user_data)
{
    Cancelled *cancelled = user_data;

    g_assert_false(cancelled->answered);
    cancelled->answered = TRUE;
    --*cancelled->left;
}

static void
test_cancelled_at_any_moment(void)
{
    const DroverTaskInput input = {.node_id = "0000000001"};
    Cancelled tasks[300];
    guint left = G_N_ELEMENTS(tasks);
    Fixture fixture;

    fixture_open(&fixture, "late wake");
    for (guint i = 0; i < G_N_ELEMENTS(tasks); i++) {
        Cancelled *earlier = &tasks[i / 2];

        tasks[i] = (Cancelled){.fixture = &fixture, .left = &left};
        tasks[i].task = drover_runner_submit(fixture.runner, DROVER_TASK_MACHINE_DELETE, &input,
                                             on_answer, NULL, &tasks[i]);
        if (!earlier->answered)
            drover_task_cancel(earlier->task);
        g_main_context_iteration(NULL, FALSE);
    }
    fixture_finish(&fixture, TRUE);
    g_assert_cmpuint(left, ==, 0);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/runner/F-47-blocked-driver-is-seen", test_blocked_driver_is_seen);
    g_test_add_func("/runner/F-47-blocked-for-ever", test_blocked_for_ever);
    g_test_add_func("/runner/woken-by-threads", test_woken_by_threads);
    g_test_add_func("/runner/woken-late", test_woken_late);
    g_test_add_func("/runner/many-providers", test_many_providers);
    g_test_add_func("/runner/cancelled-at-any-moment", test_cancelled_at_any_moment);
    return g_test_run();
}
