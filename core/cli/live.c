#include "cli/live.h"

#include <errno.h>
#include <glib-unix.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* A pipe that can be written to at all takes so much without waiting. */
#define PIECE 4096
/* Who has taken so little is not going to read it any more. */
#define MOST_QUEUED ((gsize)64 * 1024 * 1024)
#define MOST_KEPT   ((gsize)1024 * 1024) /* of what was written */

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

struct _DroverLive {
    DroverCli *cli;
    void (*connection)(DroverSessionState state, gpointer user_data);
    gpointer user_data;
    guint listener, closed_source, write_source, timer;
    guint signal_sources[G_N_ELEMENTS(signals)];
    GString *queue;
    gsize written; /* of the queue */
    gboolean over;
    int status;
};

/* ---- Output ---- */

gsize
drover_live_queued(const DroverLive *live)
{
    return live->queue->len - live->written;
}

/* What was written stays in the queue until that is worth a move of the rest. */
static void
write_piece(DroverLive *live)
{
    ssize_t n = write(STDOUT_FILENO, live->queue->str + live->written,
                      MIN(drover_live_queued(live), PIECE));

    if (n < 0 && errno != EINTR && errno != EAGAIN)
        drover_live_end(live, 0);
    live->written += (gsize)MAX(n, 0);
    if (live->written < live->queue->len && live->written < MOST_KEPT)
        return;
    g_string_erase(live->queue, 0, (gssize)live->written);
    live->written = 0;
}

static gboolean
on_writable(gint fd, GIOCondition condition, gpointer user_data)
{
    DroverLive *live = user_data;

    write_piece(live);
    if (drover_live_queued(live) > 0 && !live->over)
        return G_SOURCE_CONTINUE;
    live->write_source = 0;
    return G_SOURCE_REMOVE;
}

void
drover_live_write(DroverLive *live, const char *text, gsize length)
{
    if (live->over)
        return;
    g_string_append_len(live->queue, text, (gssize)length);
    if (drover_live_queued(live) > MOST_QUEUED)
        drover_live_end(live, drover_cli_fail(live->cli, "nobody reads the output"));
    else if (live->write_source == 0)
        live->write_source = g_unix_fd_add(STDOUT_FILENO, G_IO_OUT, on_writable, live);
}

static void
write_rest(DroverLive *live)
{
    struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};

    while (drover_live_queued(live) > 0 && poll(&output, 1, 0) == 1 && output.revents == POLLOUT)
        write_piece(live);
}

/* ---- What ends it ---- */

void
drover_live_end(DroverLive *live, int status)
{
    if (!live->over)
        live->status = status;
    live->over = TRUE;
}

static gboolean
on_signal(gpointer user_data)
{
    drover_live_end(user_data, 0);
    return G_SOURCE_CONTINUE;
}

static gboolean
on_closed(gint fd, GIOCondition condition, gpointer user_data)
{
    DroverLive *live = user_data;

    live->closed_source = 0;
    drover_live_end(live, 0);
    return G_SOURCE_REMOVE;
}

static gboolean
on_late(gpointer user_data)
{
    DroverLive *live = user_data;

    live->timer = 0;
    drover_live_end(live, drover_cli_fail(live->cli, "no connection to ZooKeeper within %u s",
                                          live->cli->connect_timeout));
    return G_SOURCE_REMOVE;
}

static void
on_state(DroverSession *session, DroverSessionState state, gpointer user_data)
{
    DroverLive *live = user_data;

    if (state == DROVER_SESSION_CONNECTED)
        g_clear_handle_id(&live->timer, g_source_remove);
    else if (live->timer == 0 && live->cli->connect_timeout > 0)
        live->timer = g_timeout_add_seconds(live->cli->connect_timeout, on_late, live);
    if (live->connection != NULL)
        live->connection(state, live->user_data);
}

/* ---- Life ---- */

DroverLive *
drover_live_new(DroverCli *cli, void (*connection)(DroverSessionState state, gpointer user_data),
                gpointer user_data)
{
    DroverLive *live = g_new0(DroverLive, 1);

    live->cli = cli;
    live->connection = connection;
    live->user_data = user_data;
    live->queue = g_string_new(NULL);
    signal(SIGPIPE, SIG_IGN);
    for (guint i = 0; i < G_N_ELEMENTS(signals); i++)
        live->signal_sources[i] = g_unix_signal_add(signals[i], on_signal, live);
    live->closed_source =
        g_unix_fd_add(STDOUT_FILENO, G_IO_ERR | G_IO_HUP | G_IO_NVAL, on_closed, live);
    live->listener = drover_session_add_listener(drover_store_session(cli->store), on_state, live);
    return live;
}

void
drover_live_free(DroverLive *live)
{
    drover_session_remove(drover_store_session(live->cli->store), live->listener);
    for (guint i = 0; i < G_N_ELEMENTS(signals); i++)
        g_source_remove(live->signal_sources[i]);
    g_clear_handle_id(&live->closed_source, g_source_remove);
    g_clear_handle_id(&live->write_source, g_source_remove);
    g_clear_handle_id(&live->timer, g_source_remove);
    g_string_free(live->queue, TRUE);
    g_free(live);
}

int
drover_live_run(DroverLive *live)
{
    while (!live->over)
        g_main_context_iteration(NULL, TRUE);
    write_rest(live);
    return live->status;
}
