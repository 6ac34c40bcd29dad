#include "runner-fixture.h"

#include <drover/host.h>
#include <stdlib.h>

#include "support/wait.h"

#define LIMIT_MILLISECONDS 30000

static void
begin(Fixture *fixture, const char *directory, const char *name, const struct drover_value *config,
      const struct drover_driver *(*find)(DroverDriverHost *host, const char *name, GError **error))
{
    const char *const directories[] = {directory, NULL};
    g_autoptr(GError) error = NULL;
    const struct drover_driver *driver;

    *fixture = (Fixture){.host = drover_driver_host_new(directories)};
    fixture->ids = g_ptr_array_new_with_free_func(g_free);
    fixture->saved = g_ptr_array_new_with_free_func(g_free);
    driver = find(fixture->host, name, &error);
    g_assert_no_error(error);
    fixture->runner = drover_runner_new(driver, "sample-provider", config);
}

void
fixture_begin_driver(Fixture *fixture, const char *directory, const char *name,
                     const struct drover_value *config)
{
    begin(fixture, directory, name, config, drover_driver_host_find);
}

void
fixture_begin_isolated(Fixture *fixture, const char *directory, const char *name,
                       struct drover_value *config)
{
    /* A driver that is elsewhere is found by it. */
    drover_value_set(config, "driver", drover_value_new_string(name));
    begin(fixture, directory, name, config, drover_driver_host_find_isolated);
}

void
fixture_begin(Fixture *fixture, const char *mode)
{
    struct drover_value *config = drover_value_new_map();

    drover_value_set(config, "mode", drover_value_new_string(mode));
    fixture_begin_driver(fixture, SAMPLE_DIR, "good", config);
    drover_value_free(config);
}

static void
on_opened(DroverRunner *runner, const GPtrArray *machines, const GError *error, gpointer user_data)
{
    Fixture *fixture = user_data;

    g_assert_false(fixture->opened);
    g_assert_true(runner == fixture->runner);
    fixture->opened = TRUE;
    fixture->machines = machines != NULL ? machines->len : 0;
    fixture->open_error = error != NULL ? g_error_copy(error) : NULL;
}

void
fixture_start_soon(Fixture *fixture)
{
    drover_runner_open(fixture->runner, on_opened, fixture);
}

void
fixture_open(Fixture *fixture, const char *mode)
{
    fixture_begin(fixture, mode);
    fixture_start(fixture);
}

void
fixture_start(Fixture *fixture)
{
    fixture_start_soon(fixture);
    g_assert_true(test_wait_for(&fixture->opened, LIMIT_MILLISECONDS));
}

static void
on_closed(gpointer user_data)
{
    Fixture *fixture = user_data;

    g_assert_false(fixture->closed);
    fixture->closed = TRUE;
}

void
fixture_close_soon(Fixture *fixture, gboolean cancel)
{
    drover_runner_close(fixture->runner, cancel, on_closed, fixture);
}

void
fixture_close(Fixture *fixture, gboolean cancel)
{
    fixture_close_soon(fixture, cancel);
    g_assert_true(test_wait_for(&fixture->closed, LIMIT_MILLISECONDS));
}

void
fixture_clear(Fixture *fixture)
{
    drover_driver_host_free(fixture->host);
    g_clear_error(&fixture->open_error);
    g_ptr_array_unref(fixture->ids);
    g_ptr_array_unref(fixture->saved);
    g_free(fixture->message);
    free(fixture->fields);
    free(fixture->resources);
    g_free(fixture->text);
    g_free(fixture->status);
}

void
fixture_finish(Fixture *fixture, gboolean cancel)
{
    fixture_close(fixture, cancel);
    fixture_clear(fixture);
}

/* ---- Tasks ---- */

static void
on_done(const DroverTaskResult *result, gpointer user_data)
{
    Fixture *fixture = user_data;

    g_assert_false(fixture->closed);
    fixture->answers++;
    fixture->ok = result->ok;
    fixture->failure = result->failure;
    fixture->retry_after = result->retry_after;
    g_assert_true(result->ok == (result->message == NULL));
    g_free(fixture->message);
    fixture->message = g_strdup(result->message);
    free(fixture->fields);
    fixture->fields = json_dumps(result->fields, JSON_SORT_KEYS | JSON_COMPACT);
    free(fixture->resources);
    fixture->resources = json_dumps(result->resources, JSON_SORT_KEYS | JSON_COMPACT);
    g_free(fixture->text);
    fixture->text = g_strdup(result->text);
    fixture->items = result->items->len;
    if (fixture->watched != NULL) {
        fixture->status = g_strdup(drover_task_status(fixture->watched));
        drover_task_progress(fixture->watched, &fixture->progress_done, &fixture->progress_total);
        fixture->watched = NULL;
    }
}

static void
on_id(const char *external_id, gpointer user_data)
{
    g_ptr_array_add(((Fixture *)user_data)->ids, g_strdup(external_id));
}

static void
on_saved(const char *saved, gpointer user_data)
{
    g_ptr_array_add(((Fixture *)user_data)->saved, g_strdup(saved));
}

DroverTask *
fixture_submit_input(Fixture *fixture, DroverTaskKind kind, const DroverTaskInput *input)
{
    DroverTaskInput own = *input;
    guint before = fixture->answers;
    DroverTask *task;

    own.saved_changed = on_saved;
    task = drover_runner_submit(fixture->runner, kind, &own, on_done, on_id, fixture);
    g_assert_cmpuint(fixture->answers, ==, before);
    return task;
}

DroverTask *
fixture_submit(Fixture *fixture, DroverTaskKind kind)
{
    const char *const inputs[] = {"tags", "tags", NULL};
    const DroverTaskInput input = {.node_id = "0000000001", .inputs = inputs};

    return fixture_submit_input(fixture, kind, &input);
}

typedef struct {
    const Fixture *fixture;
    guint answers;
} Wanted;

static gboolean
has_answers(gpointer user_data)
{
    const Wanted *wanted = user_data;

    return wanted->fixture->answers >= wanted->answers;
}

void
fixture_wait_answers(Fixture *fixture, guint answers)
{
    Wanted wanted = {.fixture = fixture, .answers = answers};

    g_assert_true(test_wait_until(has_answers, &wanted, LIMIT_MILLISECONDS));
}

void
fixture_run(Fixture *fixture, DroverTaskKind kind)
{
    fixture_submit(fixture, kind);
    fixture_wait_answers(fixture, fixture->answers + 1);
}

void
fixture_wait_blocked(Fixture *fixture)
{
    gint64 deadline = g_get_monotonic_time() + LIMIT_MILLISECONDS * G_TIME_SPAN_MILLISECOND;

    while (drover_runner_blocked_for(fixture->runner) < 20) {
        g_assert_cmpint(g_get_monotonic_time(), <, deadline);
        g_main_context_iteration(NULL, FALSE);
        g_thread_yield();
    }
}
