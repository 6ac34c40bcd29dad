#include "support/wait.h"

static gboolean
expire(gpointer user_data)
{
    gboolean *expired = user_data;

    *expired = TRUE;
    return G_SOURCE_CONTINUE;
}

gboolean
test_wait_until(TestCondition condition, gpointer user_data, guint milliseconds)
{
    gboolean expired = FALSE;
    guint deadline = g_timeout_add(milliseconds, expire, &expired);
    gboolean holds = condition(user_data);

    while (!holds && !expired) {
        g_main_context_iteration(NULL, TRUE);
        holds = condition(user_data);
    }
    g_source_remove(deadline);
    return holds;
}

static gboolean
is_set(gpointer user_data)
{
    const gboolean *flag = user_data;

    return *flag;
}

gboolean
test_wait_for(const gboolean *flag, guint milliseconds)
{
    return test_wait_until(is_set, (gpointer)flag, milliseconds);
}
