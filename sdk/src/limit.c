/* Turns at a steady rate. */
#include "limit-private.h"

#include <glib.h>

#define MOST_AT_ONCE 1000
#define LONG_AGO     (G_MININT64 / 2)

struct drover_turn {
    void (*call)(void *data);
    void *data;
};

struct drover_limiter {
    guint references;
    gint64 interval; /* microseconds from start to start */
    guint burst;     /* turns at once, 1 to MOST_AT_ONCE */
    gint64 next;     /* when the next turn comes at the earliest, in monotonic microseconds */
    GQueue turns;    /* of struct drover_turn, as asked for */
    GSource *timer;  /* while turns are asked for */
};

struct drover_limiter *
drover_limiter_new(double calls_per_second)
{
    struct drover_limiter *limiter = g_new0(struct drover_limiter, 1);

    limiter->references = 1;
    limiter->burst = 1;
    limiter->next = LONG_AGO;
    if (calls_per_second > 0)
        limiter->interval = (gint64)MIN(G_TIME_SPAN_SECOND / calls_per_second, 1e15);
    g_queue_init(&limiter->turns);
    return limiter;
}

void
drover_limiter_set_burst(struct drover_limiter *limiter, unsigned turns)
{
    limiter->burst = CLAMP(turns, 1, MOST_AT_ONCE);
}

struct drover_limiter *
drover_limiter_ref(struct drover_limiter *limiter)
{
    limiter->references++;
    return limiter;
}

/* To the next turn. */
static void
set_timer(struct drover_limiter *limiter)
{
    g_source_set_ready_time(limiter->timer, MAX(limiter->next, 0));
}

static void
stop_timer(struct drover_limiter *limiter)
{
    if (limiter->timer == NULL)
        return;
    g_source_destroy(limiter->timer);
    g_clear_pointer(&limiter->timer, g_source_unref);
}

void
drover_limiter_free(struct drover_limiter *limiter)
{
    if (limiter == NULL || --limiter->references > 0)
        return;
    stop_timer(limiter);
    g_queue_clear_full(&limiter->turns, g_free);
    g_free(limiter);
}

/* The turn that comes now. */
static void
take_turn(struct drover_limiter *limiter)
{
    gint64 credit = (limiter->burst - 1) * limiter->interval;

    limiter->next = MAX(limiter->next, g_get_monotonic_time() - credit) + limiter->interval;
}

static gboolean
on_time(gpointer data)
{
    struct drover_limiter *limiter = drover_limiter_ref(data);

    /* All that are due: without a limit these are all that asked so far. */
    for (guint count = limiter->turns.length;
         count > 0 && limiter->turns.length > 0 && limiter->next <= g_get_monotonic_time();
         count--) {
        g_autofree struct drover_turn *turn = g_queue_pop_head(&limiter->turns);

        take_turn(limiter);
        turn->call(turn->data);
    }
    if (limiter->timer != NULL && limiter->turns.length > 0)
        set_timer(limiter);
    else
        stop_timer(limiter);
    drover_limiter_free(limiter);
    return G_SOURCE_CONTINUE;
}

static gboolean
dispatch(GSource *source, GSourceFunc callback, gpointer data)
{
    return callback(data);
}

static void
start_timer(struct drover_limiter *limiter)
{
    static GSourceFuncs ready_at = {.dispatch = dispatch};

    if (limiter->timer != NULL)
        return;
    limiter->timer = g_source_new(&ready_at, sizeof(GSource));
    g_source_set_callback(limiter->timer, on_time, limiter, NULL);
    set_timer(limiter);
    g_source_attach(limiter->timer, g_main_context_get_thread_default());
}

struct drover_turn *
drover_limiter_ask(struct drover_limiter *limiter, void (*call)(void *data), void *data)
{
    struct drover_turn *turn = g_new(struct drover_turn, 1);

    turn->call = call;
    turn->data = data;
    g_queue_push_tail(&limiter->turns, turn);
    start_timer(limiter);
    return turn;
}

void
drover_limiter_leave(struct drover_limiter *limiter, struct drover_turn *turn)
{
    if (g_queue_remove(&limiter->turns, turn))
        g_free(turn);
    if (limiter->turns.length == 0)
        stop_timer(limiter);
}

void
drover_limiter_wait(struct drover_limiter *limiter)
{
    gint64 now;

    while ((now = g_get_monotonic_time()) < limiter->next)
        g_usleep((gulong)(limiter->next - now));
    take_turn(limiter);
}

void
drover_limiter_hold(struct drover_limiter *limiter, uint32_t milliseconds)
{
    limiter->next =
        MAX(limiter->next, g_get_monotonic_time() + milliseconds * (gint64)G_TIME_SPAN_MILLISECOND);
    if (limiter->timer != NULL)
        set_timer(limiter);
}
