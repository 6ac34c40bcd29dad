/* drover top */
#include <stdio.h>
#include <string.h>

#include "cli/live.h"
#include "cli/terminal.h"
#include "cli/top-snapshot.h"
#include "cli/top-view.h"

#define REFRESH_MILLISECONDS 1000
#define RETRY_MILLISECONDS   50

static gboolean once;

static const GOptionEntry options[] = {
    {"once", 0, 0, G_OPTION_ARG_NONE, &once, "Print it once as text", NULL},
    G_OPTION_ENTRY_NULL,
};

typedef struct {
    DroverLive *live;
    DroverMirror *mirror;
    DroverTopView view;
    json_t *snapshot; /* that is shown; NULL until all was read */
    guint retry;      /* of a drawing that has to wait */
} Top;

/* ---- Drawing ---- */

static gboolean on_retry(gpointer user_data);

/* A terminal that has not taken the last screen is given time to do so. */
static void
draw(Top *top)
{
    g_autofree char *screen = NULL;

    if (drover_live_queued(top->live) > 0) {
        if (top->retry == 0)
            top->retry = g_timeout_add(RETRY_MILLISECONDS, on_retry, top);
        return;
    }
    drover_terminal_size(&top->view.rows, &top->view.columns);
    screen = drover_top_screen(top->snapshot, &top->view);
    drover_live_write(top->live, screen, strlen(screen));
}

static gboolean
on_retry(gpointer user_data)
{
    Top *top = user_data;

    top->retry = 0;
    draw(top);
    return G_SOURCE_REMOVE;
}

/* While there is no connection what was read last stays. */
static void
look(Top *top)
{
    if (top->view.paused || !drover_mirror_is_complete(top->mirror))
        return;
    json_decref(top->snapshot);
    top->snapshot = drover_top_snapshot(top->mirror);
}

static gboolean
on_tick(gpointer user_data)
{
    look(user_data);
    draw(user_data);
    return G_SOURCE_CONTINUE;
}

static void
on_complete(gpointer user_data)
{
    on_tick(user_data);
}

static void
on_resized(gpointer user_data)
{
    draw(user_data);
}

static void
on_connection(DroverSessionState state, gpointer user_data)
{
    Top *top = user_data;

    top->view.connected = state == DROVER_SESSION_CONNECTED;
    draw(top);
}

/* ---- Keys ---- */

static void
end(Top *top, int rows)
{
    drover_live_end(top->live, 0);
}

static void
stand_still(Top *top, int rows)
{
    top->view.paused = !top->view.paused;
    look(top);
}

static void
change_order(Top *top, int rows)
{
    guint *sort = &top->view.sorts[top->view.pane];

    *sort = (*sort + 1) % drover_top_sorts(top->view.pane);
    top->view.offsets[top->view.pane] = 0;
}

static void
change_pane(Top *top, int rows)
{
    top->view.pane = (top->view.pane + 1) % DROVER_TOP_PANES;
}

static void
show_help(Top *top, int rows)
{
    top->view.help = TRUE;
}

/* What is too far is corrected by the next drawing. */
static void
move(Top *top, int rows)
{
    guint *offset = &top->view.offsets[top->view.pane];

    *offset = rows < 0 && *offset < (guint)-rows ? 0 : *offset + (guint)rows;
}

static void
move_page(Top *top, int pages)
{
    move(top, pages * (int)drover_top_page(&top->view));
}

#define ALL 1000000

static const struct {
    guint key;
    void (*act)(Top *top, int amount);
    int amount;
} keys[] = {
    {'q', end, 0},          {'Q', end, 0},
    {'p', stand_still, 0},  {'s', change_order, 0},
    {'\t', change_pane, 0}, {'?', show_help, 0},
    {'h', show_help, 0},    {DROVER_KEY_UP, move, -1},
    {'k', move, -1},        {DROVER_KEY_DOWN, move, 1},
    {'j', move, 1},         {DROVER_KEY_PAGE_UP, move_page, -1},
    {'b', move_page, -1},   {DROVER_KEY_PAGE_DOWN, move_page, 1},
    {' ', move_page, 1},    {DROVER_KEY_HOME, move, -ALL},
    {'g', move, -ALL},      {DROVER_KEY_END, move, ALL},
    {'G', move, ALL},
};

static void
on_key(guint key, gpointer user_data)
{
    Top *top = user_data;

    if (top->view.help && key != 'q') {
        top->view.help = FALSE;
    } else {
        for (guint i = 0; i < G_N_ELEMENTS(keys); i++)
            if (keys[i].key == key)
                keys[i].act(top, keys[i].amount);
    }
    draw(top);
}

/* ---- On a terminal ---- */

static int
run_on_terminal(DroverCli *cli)
{
    static const DroverMirrorListener listener = {.complete = on_complete};
    Top top = {.view = {.connected = TRUE}};
    DroverTerminal *terminal;
    guint timer;
    int status;

    top.live = drover_live_new(cli, on_connection, &top);
    terminal = drover_terminal_open(on_key, on_resized, &top);
    draw(&top);
    top.mirror = drover_mirror_new(cli->store, &listener, &top);
    timer = g_timeout_add(REFRESH_MILLISECONDS, on_tick, &top);
    status = drover_live_run(top.live);
    g_source_remove(timer);
    g_clear_handle_id(&top.retry, g_source_remove);
    drover_terminal_close(terminal);
    drover_mirror_free(top.mirror);
    drover_live_free(top.live);
    json_decref(top.snapshot);
    return status;
}

/* ---- Once ---- */

static void
on_complete_once(gpointer user_data)
{
    drover_live_end(((Top *)user_data)->live, 0);
}

static int
run_once(DroverCli *cli)
{
    static const DroverMirrorListener listener = {.complete = on_complete_once};
    Top top = {0};
    g_autofree char *text = NULL;
    int status;

    top.live = drover_live_new(cli, NULL, NULL);
    top.mirror = drover_mirror_new(cli->store, &listener, &top);
    status = drover_live_run(top.live);
    if (status == 0 && drover_mirror_is_complete(top.mirror)) {
        top.snapshot = drover_top_snapshot(top.mirror);
        if (cli->json)
            drover_cli_print_json(json_incref(top.snapshot));
        else
            text = drover_top_text(top.snapshot);
    }
    if (text != NULL)
        drover_cli_print("%s", text);
    drover_mirror_free(top.mirror);
    drover_live_free(top.live);
    json_decref(top.snapshot);
    return status;
}

static int
run(DroverCli *cli, const char *argument)
{
    return once || cli->json || !drover_terminal_is_there() ? run_once(cli) : run_on_terminal(cli);
}

const DroverCommand drover_top_command = {
    .name = "top",
    .summary = "Show pools, waiting requests and machines as they change",
    .options = options,
    .needs_store = TRUE,
    .run = run,
};
