#include "programs/service.h"

#include <glib.h>

#ifdef HAVE_SYSTEMD
#include <systemd/sd-daemon.h>

static gboolean
on_time(gpointer user_data)
{
    sd_notify(FALSE, "WATCHDOG=1");
    return G_SOURCE_CONTINUE;
}

void
drover_service_ready(void)
{
    uint64_t limit = 0; /* microseconds in which the manager wants to hear from us */

    sd_notify(FALSE, "READY=1");
    /* At half the time, as systemd asks for. */
    if (sd_watchdog_enabled(FALSE, &limit) > 0)
        g_timeout_add((guint)MAX(limit / 2 / 1000, 1), on_time, NULL);
}

void
drover_service_stopping(void)
{
    sd_notify(FALSE, "STOPPING=1");
}

#else

void
drover_service_ready(void)
{
}

void
drover_service_stopping(void)
{
}

#endif
