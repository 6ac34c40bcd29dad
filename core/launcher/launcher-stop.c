#include "base/log.h"
#include "launcher/launcher-private.h"

static gboolean
finish_stop(gpointer user_data)
{
    DroverLauncher *launcher = user_data;
    DroverLauncherFunc stopped = g_steal_pointer(&launcher->stopped);

    launcher->stop_source = 0;
    g_clear_handle_id(&launcher->stop_timer, g_source_remove);
    if (launcher->open_runners > 0)
        drover_log_for(DROVER_LOG_WARNING, "NodePool",
                       "%u driver(s) did not come back in time; stopping all the same",
                       launcher->open_runners);
    if (stopped != NULL)
        stopped(launcher->stopped_data);
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
        launcher->stop_source = g_idle_add(finish_stop, launcher);
}

void
drover_launcher_end_work(DroverLauncher *launcher)
{
    launcher->stopping = TRUE;
    g_clear_handle_id(&launcher->tick_timer, g_source_remove);
    g_clear_handle_id(&launcher->pass_source, g_source_remove);
    g_clear_pointer(&launcher->cleaner, drover_cleaner_free);
    g_ptr_array_set_size(launcher->pools, 0);
    if (launcher->parts.work != NULL)
        drover_parts_drop_work(&launcher->parts);
    g_ptr_array_set_size(launcher->managers, 0);
    g_clear_pointer(&launcher->component, drover_registration_free);
}

void
drover_launcher_stop(DroverLauncher *launcher, guint limit, DroverLauncherFunc stopped,
                     gpointer user_data)
{
    if (launcher->stopping)
        return;
    drover_log_for(DROVER_LOG_INFO, "NodePool", "Stopping");
    launcher->stopped = stopped;
    launcher->stopped_data = user_data;
    drover_launcher_end_work(launcher);
    launcher->stop_timer = g_timeout_add_seconds(limit, on_stop_limit, launcher);
    drover_launcher_note_end(launcher);
}
