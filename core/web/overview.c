#include "web/overview.h"

#include <string.h>

#include "web/overview-state.h"
#include "web/page.h"

#define PAGE_PATH   "/overview"
#define EVENTS_PATH "/overview/events"
#define POLICY                                                                                     \
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src "      \
    "'self'"
#define MOST_VIEWERS  512
#define REFRESH_TICKS 10 /* for what has no events; who is gone is noticed, too */
#define STILL_THERE   ": nothing new\n\n"

struct _DroverOverview {
    DroverLauncher *launcher;
    DroverOverviewState *state; /* while there are viewers, what they have been told */
    GPtrArray *viewers;         /* of DroverHttpStream */
    guint timer, ticks;         /* while there are viewers */
    guint64 changes;            /* of the cluster, as sent last */
};

/* ---- Viewers ---- */

/* All get the same bytes. Who goes away while it is sent to leaves the list only later. */
static void
tell_all(DroverOverview *overview, GBytes *event)
{
    for (guint i = 0; i < overview->viewers->len; i++)
        drover_http_stream_send(overview->viewers->pdata[i], event);
}

static gboolean
on_tick(gpointer user_data)
{
    DroverOverview *overview = user_data;
    guint64 changes = drover_cluster_changes(drover_launcher_cluster(overview->launcher));
    g_autoptr(GBytes) event = NULL;

    if (changes == overview->changes && ++overview->ticks % REFRESH_TICKS != 0)
        return G_SOURCE_CONTINUE;
    overview->changes = changes;
    event = drover_overview_state_look(overview->state);
    if (event == NULL && overview->ticks % REFRESH_TICKS == 0)
        event = g_bytes_new_static(STILL_THERE, strlen(STILL_THERE));
    if (event != NULL)
        tell_all(overview, event);
    return G_SOURCE_CONTINUE;
}

static void
on_closed(DroverHttpStream *stream, gpointer user_data)
{
    DroverOverview *overview = user_data;

    g_ptr_array_remove_fast(overview->viewers, stream);
    if (overview->viewers->len == 0)
        g_clear_handle_id(&overview->timer, g_source_remove);
}

static void
answer_events(DroverOverview *overview, DroverHttpExchange *exchange)
{
    g_autoptr(GBytes) event = NULL;
    DroverHttpStream *stream;

    if (overview->viewers->len >= MOST_VIEWERS) {
        drover_http_add_header(exchange, "Retry-After", "10");
        drover_http_answer_text(exchange, 503, "Too many viewers");
        return;
    }
    if (overview->timer == 0) {
        event = drover_overview_state_look(overview->state);
        g_clear_pointer(&event, g_bytes_unref); /* to nobody */
        overview->timer = g_timeout_add(1000, on_tick, overview);
    }
    drover_http_add_header(exchange, "Cache-Control", "no-store");
    stream = drover_http_answer_stream(exchange, "text/event-stream", on_closed, overview);
    g_ptr_array_add(overview->viewers, stream);
    event = drover_overview_state_whole(overview->state);
    drover_http_stream_send(stream, event);
}

static void
answer_page(DroverHttpExchange *exchange)
{
    g_autoptr(GBytes) body = g_bytes_new_static(drover_page, drover_page_size);

    drover_http_add_header(exchange, "Content-Security-Policy", POLICY);
    drover_http_add_header(exchange, "Cache-Control", "no-cache");
    drover_http_answer_tagged(exchange, "text/html; charset=UTF-8", body);
}

gboolean
drover_overview_answer(DroverOverview *overview, DroverHttpExchange *exchange)
{
    const char *path = drover_http_path(exchange);

    if (strcmp(path, PAGE_PATH) == 0)
        answer_page(exchange);
    else if (strcmp(path, EVENTS_PATH) == 0)
        answer_events(overview, exchange);
    else
        return FALSE;
    return TRUE;
}

/* ---- Life ---- */

DroverOverview *
drover_overview_new(DroverLauncher *launcher)
{
    DroverOverview *overview = g_new0(DroverOverview, 1);

    overview->launcher = launcher;
    overview->state = drover_overview_state_new(launcher);
    overview->viewers = g_ptr_array_new();
    return overview;
}

void
drover_overview_free(DroverOverview *overview)
{
    g_ptr_array_unref(overview->viewers);
    drover_overview_state_free(overview->state);
    g_free(overview);
}
