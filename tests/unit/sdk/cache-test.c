/* A cache's answers: row by row what a caller finds. */
#include <drover/cache.h>
#include <drover/host.h>
#include <glib.h>

#include "support/wait.h"

#define LIMIT_MILLISECONDS 30000

typedef struct {
    struct drover_cache *cache;
    struct drover_operation *op;
    guint fetches, released;
    gboolean at_once; /* the fetch is over when it returns */
    gboolean woken;
} Fixture;

static void
on_released(void *data)
{
}

static void
on_wake(void *data)
{
    ((Fixture *)data)->woken = TRUE;
}

static const struct drover_operation_host host = {.released = on_released, .wake = on_wake};

/* Values are numbers, counted up. */
static void
release(void *value)
{
    g_free(value);
}

static void *
new_value(guint number)
{
    return g_memdup2(&number, sizeof(number));
}

static void
fetch(struct drover_cache *cache, void *data)
{
    Fixture *fixture = data;

    fixture->fetches++;
    if (fixture->at_once)
        drover_cache_fetched(cache, new_value(fixture->fetches));
}

static void
begin(Fixture *fixture, uint32_t milliseconds)
{
    const struct drover_operation_input input = {.node_id = "1"};

    *fixture = (Fixture){.op = NULL};
    fixture->cache = drover_cache_new(milliseconds, fetch, release, fixture);
    fixture->op = drover_host_operation_new(&input, &host, fixture);
}

static void
end(Fixture *fixture)
{
    drover_cache_free(fixture->cache);
    drover_host_operation_free(fixture->op);
}

static guint
value_of(Fixture *fixture)
{
    const void *value = NULL;

    g_assert_cmpint(drover_cache_get(fixture->cache, fixture->op, &value), ==, DROVER_CACHE_VALUE);
    return *(const guint *)value;
}

static enum drover_cache_answer
get(Fixture *fixture)
{
    const void *value;

    return drover_cache_get(fixture->cache, fixture->op, &value);
}

static void
test_first_fetch_is_waited_for(void)
{
    Fixture fixture;

    begin(&fixture, 60000);
    g_assert_cmpint(drover_cache_time(fixture.cache), ==, 0);
    g_assert_cmpint(get(&fixture), ==, DROVER_CACHE_WAIT);
    g_assert_cmpint(get(&fixture), ==, DROVER_CACHE_WAIT);
    g_assert_cmpuint(fixture.fetches, ==, 1);
    g_assert_false(fixture.woken);
    drover_cache_fetched(fixture.cache, new_value(7));
    g_assert_true(fixture.woken);
    g_assert_cmpuint(value_of(&fixture), ==, 7);
    g_assert_cmpuint(fixture.fetches, ==, 1);
    g_assert_cmpint(drover_cache_time(fixture.cache), >, 0);
    end(&fixture);
}

static void
test_old_value_until_the_new_one(void)
{
    Fixture fixture;

    begin(&fixture, 0);
    get(&fixture);
    drover_cache_fetched(fixture.cache, new_value(1));
    g_assert_cmpuint(value_of(&fixture), ==, 1);
    g_assert_cmpuint(fixture.fetches, ==, 2);
    g_assert_cmpuint(value_of(&fixture), ==, 1);
    g_assert_cmpuint(fixture.fetches, ==, 2);
    drover_cache_fetched(fixture.cache, new_value(2));
    g_assert_cmpuint(value_of(&fixture), ==, 2);
    g_assert_cmpuint(fixture.fetches, ==, 3);
    end(&fixture);
}

static void
test_failure_is_said_once(void)
{
    Fixture fixture;

    begin(&fixture, 0);
    get(&fixture);
    drover_cache_failed(fixture.cache, DROVER_FAILURE_AUTH, "no");
    g_assert_true(fixture.woken);
    g_assert_cmpint(get(&fixture), ==, DROVER_CACHE_FAILED);
    g_assert_cmpint(drover_cache_failure(fixture.cache), ==, DROVER_FAILURE_AUTH);
    g_assert_cmpstr(drover_cache_message(fixture.cache), ==, "no");
    g_assert_cmpint(get(&fixture), ==, DROVER_CACHE_WAIT);
    g_assert_cmpuint(fixture.fetches, ==, 2);
    drover_cache_fetched(fixture.cache, new_value(1));
    g_assert_cmpuint(value_of(&fixture), ==, 1);
    drover_cache_failed(fixture.cache, DROVER_FAILURE_TIMEOUT, "late");
    g_assert_cmpint(get(&fixture), ==, DROVER_CACHE_FAILED);
    g_assert_cmpuint(value_of(&fixture), ==, 1);
    end(&fixture);
}

static void
test_fetched_at_once(void)
{
    Fixture fixture;

    begin(&fixture, 60000);
    fixture.at_once = TRUE;
    g_assert_cmpuint(value_of(&fixture), ==, 1);
    g_assert_cmpuint(value_of(&fixture), ==, 1);
    drover_cache_expire(fixture.cache);
    g_assert_cmpuint(value_of(&fixture), ==, 2);
    end(&fixture);
}

/* Something was changed while the list was on its way: the list may not show it. */
static void
test_expired_while_fetching(void)
{
    Fixture fixture;

    begin(&fixture, 60000);
    get(&fixture);
    drover_cache_expire(fixture.cache);
    drover_cache_fetched(fixture.cache, new_value(1));
    g_assert_cmpuint(value_of(&fixture), ==, 1);
    g_assert_cmpuint(fixture.fetches, ==, 2);
    drover_cache_fetched(fixture.cache, new_value(2));
    g_assert_cmpuint(value_of(&fixture), ==, 2);
    g_assert_cmpuint(fixture.fetches, ==, 2);
    end(&fixture);
}

/* Who waits gets the next value, fetched when the present one is old and not before. */
static void
test_waiting(void)
{
    Fixture fixture;
    gint64 begun;

    begin(&fixture, 100);
    fixture.at_once = TRUE;
    g_assert_cmpuint(value_of(&fixture), ==, 1);
    begun = g_get_monotonic_time();
    drover_cache_wait(fixture.cache, fixture.op);
    drover_cache_wait(fixture.cache, fixture.op);
    g_assert_true(test_wait_for(&fixture.woken, LIMIT_MILLISECONDS));
    g_assert_cmpint(g_get_monotonic_time() - begun, >=, 95 * G_TIME_SPAN_MILLISECOND);
    g_assert_cmpuint(fixture.fetches, ==, 2);
    /* A change makes it come at once. */
    drover_cache_free(fixture.cache);
    fixture.cache = drover_cache_new(3600000, fetch, release, &fixture);
    g_assert_cmpuint(value_of(&fixture), ==, 3);
    fixture.woken = FALSE;
    drover_cache_wait(fixture.cache, fixture.op);
    drover_cache_expire(fixture.cache);
    g_assert_true(test_wait_for(&fixture.woken, LIMIT_MILLISECONDS));
    g_assert_cmpuint(value_of(&fixture), ==, 4);
    end(&fixture);
}

static gboolean
on_time(gpointer data)
{
    *(gboolean *)data = TRUE;
    return G_SOURCE_REMOVE;
}

static void
let_time_pass(guint milliseconds)
{
    gboolean passed = FALSE;

    g_timeout_add(milliseconds, on_time, &passed);
    g_assert_true(test_wait_for(&passed, LIMIT_MILLISECONDS));
}

/* As many nodes ask for a list: one fetch, and nobody waits for the next one. */
static void
test_list_is_kept_for_a_while(void)
{
    Fixture fixture;

    begin(&fixture, 500);
    get(&fixture);
    drover_cache_fetched(fixture.cache, new_value(1));
    g_assert_cmpuint(value_of(&fixture), ==, 1);
    g_assert_cmpuint(value_of(&fixture), ==, 1);
    g_assert_cmpuint(fixture.fetches, ==, 1);
    let_time_pass(600);
    g_assert_cmpuint(value_of(&fixture), ==, 1);
    g_assert_cmpuint(fixture.fetches, ==, 2);
    drover_cache_fetched(fixture.cache, new_value(2));
    g_assert_cmpuint(value_of(&fixture), ==, 2);
    end(&fixture);
}

/* A value is as old as the question for it; who answers slowly is left in peace for a moment. */
static void
test_slow_fetch(void)
{
    Fixture fixture;
    gint64 begun, passed;

    begin(&fixture, 2000);
    get(&fixture);
    let_time_pass(2000);
    drover_cache_fetched(fixture.cache, new_value(1));
    begun = g_get_monotonic_time();
    fixture.woken = FALSE;
    fixture.at_once = TRUE;
    drover_cache_wait(fixture.cache, fixture.op);
    g_assert_true(test_wait_for(&fixture.woken, LIMIT_MILLISECONDS));
    passed = g_get_monotonic_time() - begun;
    g_assert_cmpint(passed, >=, 990 * G_TIME_SPAN_MILLISECOND);
    g_assert_cmpint(passed, <, 1900 * G_TIME_SPAN_MILLISECOND);
    end(&fixture);
}

/* A cloud that fails at once is not asked in a circle. */
static void
test_waiting_after_failure(void)
{
    Fixture fixture;
    gint64 begun;

    begin(&fixture, 200);
    get(&fixture);
    drover_cache_failed(fixture.cache, DROVER_FAILURE_OTHER, "no");
    fixture.woken = FALSE;
    fixture.at_once = TRUE;
    begun = g_get_monotonic_time();
    drover_cache_wait(fixture.cache, fixture.op);
    g_assert_true(test_wait_for(&fixture.woken, LIMIT_MILLISECONDS));
    g_assert_cmpint(g_get_monotonic_time() - begun, >=, 190 * G_TIME_SPAN_MILLISECOND);
    end(&fixture);
}

/* Nor by many who need it and are told of a failure one after the other. */
static void
test_asking_after_failure(void)
{
    Fixture fixture;
    gint64 begun;

    begin(&fixture, 200);
    get(&fixture);
    begun = g_get_monotonic_time();
    drover_cache_failed(fixture.cache, DROVER_FAILURE_OTHER, "no");
    fixture.woken = FALSE;
    g_assert_cmpint(get(&fixture), ==, DROVER_CACHE_FAILED);
    g_assert_cmpint(get(&fixture), ==, DROVER_CACHE_WAIT);
    g_assert_cmpint(get(&fixture), ==, DROVER_CACHE_WAIT);
    g_assert_cmpuint(fixture.fetches, ==, 1);
    fixture.at_once = TRUE;
    g_assert_true(test_wait_for(&fixture.woken, LIMIT_MILLISECONDS));
    g_assert_cmpint(g_get_monotonic_time() - begun, >=, 190 * G_TIME_SPAN_MILLISECOND);
    g_assert_cmpuint(value_of(&fixture), ==, 2);
    end(&fixture);
}

/* One that waited has ended: nobody is woken. */
static void
test_waiting_operation_ends(void)
{
    Fixture fixture;

    begin(&fixture, 60000);
    get(&fixture);
    drover_host_operation_free(fixture.op);
    drover_cache_fetched(fixture.cache, new_value(1));
    g_assert_false(fixture.woken);
    drover_cache_free(fixture.cache);
    drover_cache_free(NULL);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/cache/first-fetch-is-waited-for", test_first_fetch_is_waited_for);
    g_test_add_func("/cache/old-value-until-the-new-one", test_old_value_until_the_new_one);
    g_test_add_func("/cache/SM-56-list-is-kept-for-a-while", test_list_is_kept_for_a_while);
    g_test_add_func("/cache/slow-fetch", test_slow_fetch);
    g_test_add_func("/cache/failure-is-said-once", test_failure_is_said_once);
    g_test_add_func("/cache/fetched-at-once", test_fetched_at_once);
    g_test_add_func("/cache/expired-while-fetching", test_expired_while_fetching);
    g_test_add_func("/cache/waiting", test_waiting);
    g_test_add_func("/cache/waiting-after-failure", test_waiting_after_failure);
    g_test_add_func("/cache/asking-after-failure", test_asking_after_failure);
    g_test_add_func("/cache/waiting-operation-ends", test_waiting_operation_ends);
    return g_test_run();
}
