/* Turns of a limiter: their order and the time between them. */
#include <drover/limit.h>
#include <glib.h>

#include "support/wait.h"

#define LIMIT_MILLISECONDS 30000

typedef struct {
    GArray *turns; /* numbers, in the order in which they came */
    GPtrArray *asked;
    gboolean all;
    guint wanted;
} Turns;

typedef struct {
    Turns *turns;
    int number;
} Asked;

static void
on_turn(void *data)
{
    const Asked *asked = data;
    Turns *turns = asked->turns;

    g_array_append_val(turns->turns, asked->number);
    turns->all = turns->turns->len >= turns->wanted;
}

static Turns
turns_begin(guint wanted)
{
    return (Turns){.turns = g_array_new(FALSE, FALSE, sizeof(int)),
                   .asked = g_ptr_array_new_with_free_func(g_free),
                   .wanted = wanted};
}

static void
turns_wait(Turns *turns)
{
    g_assert_true(test_wait_for(&turns->all, LIMIT_MILLISECONDS));
    for (guint i = 1; i < turns->turns->len; i++)
        g_assert_cmpint(g_array_index(turns->turns, int, i - 1), <,
                        g_array_index(turns->turns, int, i));
}

static void
turns_clear(Turns *turns)
{
    g_array_unref(turns->turns);
    g_ptr_array_unref(turns->asked);
}

static struct drover_turn *
ask(struct drover_limiter *limiter, Turns *turns, int number)
{
    Asked *asked = g_new(Asked, 1);

    *asked = (Asked){.turns = turns, .number = number};
    g_ptr_array_add(turns->asked, asked);
    return drover_limiter_ask(limiter, on_turn, asked);
}

static void
test_in_order(void)
{
    struct drover_limiter *limiter = drover_limiter_new(50);
    Turns turns = turns_begin(6);
    gint64 begun = g_get_monotonic_time();

    for (int i = 0; i < 6; i++)
        ask(limiter, &turns, i);
    g_assert_cmpuint(turns.turns->len, ==, 0);
    turns_wait(&turns);
    g_assert_cmpint(g_get_monotonic_time() - begun, >=, 5 * 20 * G_TIME_SPAN_MILLISECOND);
    drover_limiter_free(limiter);
    turns_clear(&turns);
}

static void
test_no_limit(void)
{
    struct drover_limiter *limiter = drover_limiter_new(0);
    Turns turns = turns_begin(1000);
    gint64 begun = g_get_monotonic_time();

    for (int i = 0; i < 1000; i++)
        ask(limiter, &turns, i);
    turns_wait(&turns);
    g_assert_cmpint(g_get_monotonic_time() - begun, <, 10 * G_TIME_SPAN_SECOND);
    drover_limiter_wait(limiter);
    drover_limiter_free(limiter);
    turns_clear(&turns);
}

/* What nobody took is made up for, but no more than the burst. */
static void
test_OS_68_burst(void)
{
    struct drover_limiter *limiter = drover_limiter_new(0.001);
    Turns turns = turns_begin(4);

    drover_limiter_set_burst(limiter, 4);
    for (int i = 0; i < 6; i++)
        ask(limiter, &turns, i);
    turns_wait(&turns);
    g_assert_cmpuint(turns.turns->len, ==, 4);
    drover_limiter_free(limiter);
    turns_clear(&turns);
}

static void
test_OS_68_after_the_burst(void)
{
    struct drover_limiter *limiter = drover_limiter_new(50);
    Turns turns = turns_begin(8);
    gint64 begun = g_get_monotonic_time();

    drover_limiter_set_burst(limiter, 3);
    for (int i = 0; i < 8; i++)
        ask(limiter, &turns, i);
    turns_wait(&turns);
    g_assert_cmpint(g_get_monotonic_time() - begun, >=, 5 * 20 * G_TIME_SPAN_MILLISECOND);
    drover_limiter_free(limiter);
    turns_clear(&turns);
}

/* Who gives up does not cost the others anything. */
static void
test_leaving(void)
{
    struct drover_limiter *limiter = drover_limiter_new(0.001);
    struct drover_turn *given_up[2];
    Turns turns = turns_begin(1);

    given_up[0] = ask(limiter, &turns, 0);
    given_up[1] = ask(limiter, &turns, 1);
    ask(limiter, &turns, 2);
    for (guint i = 0; i < 2; i++)
        drover_limiter_leave(limiter, given_up[i]);
    turns_wait(&turns);
    given_up[0] = ask(limiter, &turns, 3);
    drover_limiter_leave(limiter, given_up[0]);
    drover_limiter_free(limiter);
    turns_clear(&turns);
}

static void
test_holding_and_blocking(void)
{
    struct drover_limiter *limiter = drover_limiter_new(50);
    Turns turns = turns_begin(1);
    gint64 begun = g_get_monotonic_time();

    drover_limiter_wait(limiter);
    drover_limiter_wait(limiter);
    g_assert_cmpint(g_get_monotonic_time() - begun, >=, 20 * G_TIME_SPAN_MILLISECOND);
    ask(limiter, &turns, 0);
    drover_limiter_hold(limiter, 200);
    begun = g_get_monotonic_time();
    turns_wait(&turns);
    g_assert_cmpint(g_get_monotonic_time() - begun, >=, 190 * G_TIME_SPAN_MILLISECOND);
    drover_limiter_free(limiter);
    drover_limiter_free(NULL);
    turns_clear(&turns);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/limit/in-order", test_in_order);
    g_test_add_func("/limit/no-limit", test_no_limit);
    g_test_add_func("/limit/OS-68-burst", test_OS_68_burst);
    g_test_add_func("/limit/OS-68-after-the-burst", test_OS_68_after_the_burst);
    g_test_add_func("/limit/leaving", test_leaving);
    g_test_add_func("/limit/holding-and-blocking", test_holding_and_blocking);
    return g_test_run();
}
