/* Drivers that mean harm: what they say is left out or fails, and nothing else is touched. */
#include <drover/host.h>
#include <glib/gstdio.h>
#include <string.h>

#include "runner-fixture.h"
#include "support/wait.h"

#define LIMIT_MILLISECONDS 60000

static struct drover_value *
attack_config(const char *attack, const char *gate)
{
    struct drover_value *config = drover_value_new_map();

    drover_value_set(config, "attack", drover_value_new_string(attack));
    drover_value_set(config, "driver-timeout", drover_value_new_integer(1));
    if (gate != NULL)
        drover_value_set(config, "gate", drover_value_new_string(gate));
    return config;
}

/* `isolated`: in a process of its own. */
static void
begin_in(Fixture *fixture, const char *form, const char *attack, const char *gate,
         gboolean isolated)
{
    g_autofree char *directory = g_build_filename(HOSTILE_DIR, form, NULL);
    struct drover_value *config = attack_config(attack, gate);

    if (isolated)
        fixture_begin_isolated(fixture, directory, "hostile", config);
    else
        fixture_begin_driver(fixture, directory, "hostile", config);
    drover_value_free(config);
}

static void
begin(Fixture *fixture, const char *form, const char *attack, const char *gate)
{
    begin_in(fixture, form, attack, gate, FALSE);
}

/* ---- What an operation answers ---- */

typedef struct {
    const char *attack;
    gboolean ok;
    enum drover_failure failure;
    const char *message; /* a part of it */
    const char *fields;
} Expected;

static void
test_answers(gconstpointer user_data)
{
    const Expected *expected = user_data;
    Fixture fixture;

    begin(&fixture, "hostile", expected->attack, NULL);
    fixture_start(&fixture);
    fixture_run(&fixture, DROVER_TASK_MACHINE_CREATE);
    g_assert_cmpint(fixture.ok, ==, expected->ok);
    g_assert_cmpint(fixture.failure, ==, expected->failure);
    if (expected->message != NULL)
        g_assert_nonnull(strstr(fixture.message, expected->message));
    g_assert_true(fixture.message == NULL || g_utf8_validate(fixture.message, -1, NULL));
    g_assert_true(fixture.message == NULL || strlen(fixture.message) <= 16 * 1024);
    if (expected->fields != NULL)
        g_assert_cmpstr(fixture.fields, ==, expected->fields);
    fixture_finish(&fixture, FALSE);
}

/* Handles of a provider, an inventory and an operation that have ended touch nothing of the next.
 */
static void
test_old_handles(void)
{
    Fixture first, second;

    begin(&first, "hostile-inventory", "none", NULL);
    fixture_start(&first);
    fixture_run(&first, DROVER_TASK_SLOT_CHECK);
    fixture_finish(&first, FALSE);
    begin(&second, "hostile-inventory", "handles", NULL);
    fixture_start(&second);
    fixture_run(&second, DROVER_TASK_SLOT_CHECK);
    g_assert_true(second.ok);
    g_assert_cmpstr(second.fields, ==, "{}");
    g_assert_cmpstr(second.text, ==, "");
    fixture_finish(&second, FALSE);
}

/* Only machines whose section is in the configuration, of pools with a name, count. */
static void
test_machines(void)
{
    Fixture fixture;

    begin(&fixture, "hostile-inventory", "machines", NULL);
    fixture_start(&fixture);
    g_assert_cmpuint(fixture.machines, ==, 2);
    fixture_finish(&fixture, FALSE);
}

/* ---- What it says that it has cleaned ---- */

typedef struct {
    guint reports, total;
    char *last;
} Cleaned;

static void
note_cleaned(const DroverRunner *runner, const char *what, guint32 count, gpointer user_data)
{
    Cleaned *cleaned = user_data;

    cleaned->reports++;
    cleaned->total += count;
    g_free(cleaned->last);
    cleaned->last = g_strdup(what);
}

/* Only what a metric can be called, and how often it can be, is heard. */
static void
test_cleaned(gconstpointer isolated)
{
    Cleaned cleaned = {0};
    Fixture fixture;

    begin_in(&fixture, "hostile", "cleaned", NULL, GPOINTER_TO_INT(isolated));
    drover_runner_set_cleaned(fixture.runner, note_cleaned, &cleaned);
    fixture_start(&fixture);
    fixture_run(&fixture, DROVER_TASK_MACHINE_CREATE);
    fixture_finish(&fixture, FALSE);
    g_assert_cmpuint(cleaned.reports, ==, 401);
    g_assert_cmpuint(cleaned.total, ==, 402);
    g_assert_cmpstr(cleaned.last, ==, "ports");
    g_free(cleaned.last);
}

/* ---- Blocking ---- */

typedef struct {
    Fixture *fixture;
    gboolean healthy; /* what is waited for */
} Wanted;

static gboolean
is_as_wanted(gpointer user_data)
{
    const Wanted *wanted = user_data;

    return (drover_runner_problem(wanted->fixture->runner) == NULL) == wanted->healthy;
}

static void
wait_for_health(Fixture *fixture, gboolean healthy)
{
    Wanted wanted = {.fixture = fixture, .healthy = healthy};

    g_assert_true(test_wait_until(is_as_wanted, &wanted, LIMIT_MILLISECONDS));
}

static guint changes;

static void
note_health(const DroverRunner *runner, const char *problem, gpointer user_data)
{
    g_assert_cmpstr(problem, ==, drover_runner_problem(runner));
    changes++;
}

/*
 * F-47: unhealthy within the time-out and a second, here with much room for a slow machine; another
 * provider answers meanwhile; healthy again when the driver is back.
 */
static void
test_blocks(gconstpointer user_data)
{
    const char *attack = user_data;
    g_autofree char *function =
        g_strconcat(strcmp(attack, "block-operation") == 0 ? "machine_create"
                    : strcmp(attack, "block-open") == 0    ? "provider_open"
                                                           : "provider_start",
                    "()", NULL);
    g_autofree char *gate = NULL;
    Fixture blocked, other;
    gint64 began = g_get_monotonic_time();

    g_close(g_file_open_tmp("drover-gate-XXXXXX", &gate, NULL), NULL);
    changes = 0;
    begin(&blocked, "hostile", attack, gate);
    drover_runner_set_health(blocked.runner, note_health, NULL);
    begin(&other, "hostile", "none", NULL);
    fixture_start(&other);
    fixture_start_soon(&blocked);
    fixture_submit(&blocked, DROVER_TASK_MACHINE_CREATE);
    wait_for_health(&blocked, FALSE);
    g_assert_nonnull(strstr(drover_runner_problem(blocked.runner), function));
    g_assert_cmpint(g_get_monotonic_time() - began, >=, G_TIME_SPAN_SECOND);
    fixture_run(&other, DROVER_TASK_MACHINE_CREATE);
    g_assert_true(other.ok);
    g_assert_null(drover_runner_problem(other.runner));
    g_unlink(gate);
    wait_for_health(&blocked, TRUE);
    fixture_wait_answers(&blocked, 1);
    g_assert_cmpuint(changes, ==, 2);
    fixture_finish(&blocked, FALSE);
    fixture_finish(&other, FALSE);
}

/* At the end, too: nobody else waits, and it is over when the driver is back. */
static void
test_blocks_at_stop(void)
{
    g_autofree char *gate = NULL;
    Fixture blocked, other;

    g_close(g_file_open_tmp("drover-gate-XXXXXX", &gate, NULL), NULL);
    begin(&blocked, "hostile", "block-stop", gate);
    fixture_start(&blocked);
    fixture_close_soon(&blocked, TRUE);
    wait_for_health(&blocked, FALSE);
    begin(&other, "hostile", "none", NULL);
    fixture_start(&other);
    fixture_run(&other, DROVER_TASK_MACHINE_CREATE);
    fixture_finish(&other, FALSE);
    g_unlink(gate);
    g_assert_true(test_wait_for(&blocked.closed, LIMIT_MILLISECONDS));
    fixture_clear(&blocked);
}

int
main(int argc, char **argv)
{
    static const Expected expected[] = {
        {"long", FALSE, DROVER_FAILURE_QUOTA, "xxxx", "{}"},
        {"items", FALSE, DROVER_FAILURE_OTHER, "too much", NULL},
        {"text", FALSE, DROVER_FAILURE_OTHER, "too much", NULL},
        {"changes", FALSE, DROVER_FAILURE_OTHER, "too much", NULL},
        {"handles", TRUE, 0, NULL, "{}"},
        {"nothing", TRUE, 0, NULL, "{\"driver_data\":null,\"host_keys\":[],\"hostname\":null}"},
        {"bytes", FALSE, DROVER_FAILURE_OTHER, "bytes", "{\"host_keys\":[]}"},
        {"zero", FALSE, DROVER_FAILURE_OTHER, "means nothing", "{}"},
        {"negative", FALSE, DROVER_FAILURE_OTHER, "means nothing", "{}"},
    };
    static const char *const blocks[] = {"block-open", "block-start", "block-operation"};

    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(expected); i++) {
        g_autofree char *path = g_strconcat("/hostile/answers-", expected[i].attack, NULL);

        g_test_add_data_func(path, &expected[i], test_answers);
    }
    g_test_add_func("/hostile/old-handles", test_old_handles);
    g_test_add_func("/hostile/machines", test_machines);
    g_test_add_data_func("/hostile/M-22-cleaned", GINT_TO_POINTER(FALSE), test_cleaned);
    g_test_add_data_func("/hostile/M-22-cleaned-isolated", GINT_TO_POINTER(TRUE), test_cleaned);
    for (guint i = 0; i < G_N_ELEMENTS(blocks); i++) {
        g_autofree char *path = g_strconcat("/hostile/F-47-", blocks[i], NULL);

        g_test_add_data_func(path, blocks[i], test_blocks);
    }
    g_test_add_func("/hostile/F-47-block-stop", test_blocks_at_stop);
    return g_test_run();
}
