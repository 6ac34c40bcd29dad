#include "base/error.h"
#include "base/log.h"
#include "launcher/launcher-private.h"

/* A deletion whose reason came up last is begun within so many ticks. */
#define LAST_DELETIONS 2

/* ---- Accepting nothing new ---- */

static const char *
reason_to_hold(const DroverLauncher *launcher)
{
    if (launcher->graceful)
        return "the launcher is about to stop";
    return launcher->paused ? "the launcher was paused by its operator" : NULL;
}

gboolean
drover_launcher_accepts(const DroverLauncher *launcher)
{
    return reason_to_hold(launcher) == NULL;
}

void
drover_launcher_hold_pool(const DroverLauncher *launcher, DroverPool *pool)
{
    drover_pool_hold(pool, reason_to_hold(launcher));
}

static void
hold_pools(DroverLauncher *launcher)
{
    for (guint i = 0; i < launcher->pools->len; i++)
        drover_launcher_hold_pool(launcher, launcher->pools->pdata[i]);
    drover_launcher_announce(launcher);
    drover_launcher_wake(launcher);
}

gboolean
drover_launcher_pause(DroverLauncher *launcher, gboolean paused, GError **error)
{
    if (launcher->stopping || launcher->graceful) {
        g_set_error(error, DROVER_ERROR, DROVER_ERROR_BUSY, "the launcher is about to stop");
        return FALSE;
    }
    if (launcher->paused == paused)
        return TRUE;
    drover_log_for(DROVER_LOG_INFO, "NodePool", paused ? "Pausing" : "No longer paused");
    launcher->paused = paused;
    hold_pools(launcher);
    return TRUE;
}

/* ---- Stopping when all is done ---- */

/* Others decide about the requests that such a pool would only leave to them. */
static void
drop_idle_pools(DroverLauncher *launcher)
{
    for (guint i = launcher->pools->len; i > 0; i--)
        if (drover_pool_is_idle(launcher->pools->pdata[i - 1]))
            g_ptr_array_remove_index(launcher->pools, i - 1);
}

gboolean
drover_launcher_deletes(const DroverLauncher *launcher)
{
    return !launcher->graceful || launcher->quiet_ticks < LAST_DELETIONS;
}

void
drover_launcher_go_on_stopping(DroverLauncher *launcher)
{
    if (!launcher->graceful)
        return;
    drop_idle_pools(launcher);
    if (launcher->pools->len > 0)
        return;
    if (launcher->quiet_ticks < LAST_DELETIONS) {
        launcher->quiet_ticks++;
        if (drover_cluster_is_complete(launcher->cluster))
            drover_deleter_sweep(launcher->deleter);
    } else if (g_hash_table_size(launcher->parts.work) == 0 && launcher->parts.closing == 0) {
        drover_launcher_stop(launcher);
    }
}

void
drover_launcher_stop_gracefully(DroverLauncher *launcher)
{
    if (launcher->stopping || launcher->graceful)
        return;
    drover_log_for(DROVER_LOG_INFO, "NodePool", "Stopping when all that is under way has ended");
    launcher->graceful = TRUE;
    hold_pools(launcher);
}

/* ---- Stopping now ---- */

static void
finish_stop(DroverLauncher *launcher)
{
    g_clear_handle_id(&launcher->stop_timer, g_source_remove);
    g_clear_handle_id(&launcher->stop_source, g_source_remove);
    if (launcher->open_runners > 0)
        drover_log_for(DROVER_LOG_WARNING, "NodePool",
                       "%u driver(s) did not come back in time; stopping all the same",
                       launcher->open_runners);
    launcher->stopped(launcher->stopped_data);
}

static gboolean
on_all_ended(gpointer user_data)
{
    ((DroverLauncher *)user_data)->stop_source = 0;
    finish_stop(user_data);
    return G_SOURCE_REMOVE;
}

static gboolean
on_stop_limit(gpointer user_data)
{
    ((DroverLauncher *)user_data)->stop_timer = 0;
    finish_stop(user_data);
    return G_SOURCE_REMOVE;
}

void
drover_launcher_note_end(DroverLauncher *launcher)
{
    if (launcher->stopping && launcher->open_runners == 0 && launcher->parts.closing == 0 &&
        launcher->stop_source == 0)
        launcher->stop_source = g_idle_add(on_all_ended, launcher);
}

void
drover_launcher_end_work(DroverLauncher *launcher)
{
    launcher->stopping = TRUE;
    g_clear_handle_id(&launcher->tick_timer, g_source_remove);
    g_clear_handle_id(&launcher->pass_source, g_source_remove);
    /* What it still asks for is told to the cleaner. */
    g_clear_pointer(&launcher->inheritance, drover_inheritance_free);
    g_clear_pointer(&launcher->cleaner, drover_cleaner_free);
    g_ptr_array_set_size(launcher->pools, 0);
    if (launcher->parts.work != NULL)
        drover_parts_drop_work(&launcher->parts);
    g_ptr_array_set_size(launcher->managers, 0);
    g_clear_pointer(&launcher->component, drover_registration_free);
}

void
drover_launcher_stop(DroverLauncher *launcher)
{
    if (launcher->stopping)
        return;
    drover_log_for(DROVER_LOG_INFO, "NodePool", "Stopping");
    drover_launcher_end_work(launcher);
    launcher->stop_timer = g_timeout_add_seconds(launcher->stop_limit, on_stop_limit, launcher);
    drover_launcher_note_end(launcher);
}
