#include "driver/watch.h"

#define USUAL_LIMIT_SECONDS    300
#define BLOCKING_LIMIT_SECONDS 3600

struct _DroverWatch {
    _Atomic gint64 entered; /* when the driver was called, in microseconds; 0: it was not */
    const char *_Atomic function;
    guint depth; /* of calls into the driver */

    /* The core loop's part. */
    guint timer, limit;
    void (*changed)(gpointer user_data);
    gpointer user_data;
    char *trouble, *problem;
};

guint
drover_watch_limit(const struct drover_driver *driver, const struct drover_value *config)
{
    gboolean blocks = (driver->capabilities & DROVER_MAY_BLOCK) != 0;
    gint64 seconds = drover_value_get_integer(
        config, "driver-timeout", blocks ? BLOCKING_LIMIT_SECONDS : USUAL_LIMIT_SECONDS);

    return (guint)CLAMP(seconds, 1, G_MAXINT);
}

DroverWatch *
drover_watch_new(void)
{
    return g_new0(DroverWatch, 1);
}

void
drover_watch_free(DroverWatch *watch)
{
    g_free(watch->trouble);
    g_free(watch->problem);
    g_free(watch);
}

/* ---- The provider's thread ---- */

void
drover_watch_enter(DroverWatch *watch, const char *function)
{
    if (watch->depth++ > 0)
        return;
    watch->function = function;
    watch->entered = g_get_monotonic_time();
}

gint64
drover_watch_leave(DroverWatch *watch)
{
    gint64 took = drover_watch_blocked_for(watch);

    if (--watch->depth > 0)
        return -1;
    watch->entered = 0;
    return took;
}

gboolean
drover_watch_is_inside(const DroverWatch *watch)
{
    return watch->depth > 0;
}

const char *
drover_watch_function(const DroverWatch *watch)
{
    return watch->function;
}

gint64
drover_watch_blocked_for(const DroverWatch *watch)
{
    gint64 entered = watch->entered;

    return entered != 0 ? (g_get_monotonic_time() - entered) / 1000 : 0;
}

/* ---- The core loop ---- */

static char *
present_problem(const DroverWatch *watch)
{
    if (drover_watch_blocked_for(watch) > (gint64)watch->limit * 1000)
        return g_strdup_printf("the driver has not come back from %s() for more than %u s",
                               watch->function, watch->limit);
    return g_strdup(watch->trouble);
}

static void
look(DroverWatch *watch)
{
    g_autofree char *problem = present_problem(watch);

    if (watch->timer == 0 || g_strcmp0(problem, watch->problem) == 0)
        return;
    g_free(watch->problem);
    watch->problem = g_steal_pointer(&problem);
    watch->changed(watch->user_data);
}

static gboolean
on_second(gpointer data)
{
    look(data);
    return G_SOURCE_CONTINUE;
}

void
drover_watch_begin(DroverWatch *watch, guint limit, void (*changed)(gpointer user_data),
                   gpointer user_data)
{
    watch->limit = limit;
    watch->changed = changed;
    watch->user_data = user_data;
    watch->timer = g_timeout_add_seconds(1, on_second, watch);
}

void
drover_watch_end(DroverWatch *watch)
{
    g_clear_handle_id(&watch->timer, g_source_remove);
}

void
drover_watch_set_trouble(DroverWatch *watch, const char *trouble)
{
    g_free(watch->trouble);
    watch->trouble = g_strdup(trouble);
    look(watch);
}

const char *
drover_watch_problem(const DroverWatch *watch)
{
    return watch->problem;
}
