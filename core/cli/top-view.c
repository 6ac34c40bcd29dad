#include "cli/top-view.h"

#include <string.h>

#include "base/json.h"
#include "cli/output.h"
#include "cli/table.h"
#include "cli/top-layout.h"
#include "cli/top-snapshot.h"

#define NARROWEST 20
#define LOWEST    6

/* ---- Order ---- */

typedef struct {
    const char *name;
    double (*most)(const json_t *object); /* the largest first; NULL: as they are */
} Sort;

static double
waiting_of(const json_t *pool)
{
    return drover_json_real(pool, "waiting", 0);
}

static double
age_of(const json_t *request)
{
    return drover_json_real(request, "age", 0);
}

static const Sort pool_sorts[] = {{"name", NULL},
                                  {"use", drover_top_fullness},
                                  {"waiting", waiting_of},
                                  {"nodes", drover_top_sum_of_nodes}};
static const Sort request_sorts[] = {{"turn", NULL}, {"age", age_of}};

static const struct {
    const char *key;
    const DroverTopColumn *columns;
    const Sort *sorts;
    guint n_sorts;
} panes[DROVER_TOP_PANES] = {
    {"pools", drover_top_pool_columns, pool_sorts, G_N_ELEMENTS(pool_sorts)},
    {"requests", drover_top_request_columns, request_sorts, G_N_ELEMENTS(request_sorts)},
};

guint
drover_top_sorts(DroverTopPane pane)
{
    return panes[pane].n_sorts;
}

static gint
compare(gconstpointer a, gconstpointer b, gpointer user_data)
{
    const Sort *sort = user_data;
    double left = sort->most(*(const json_t *const *)a), right = sort->most(*(json_t *const *)b);

    return (left < right) - (left > right);
}

/* The objects in the order that is wanted, borrowed. */
static GPtrArray *
sorted(const json_t *list, const Sort *sort)
{
    GPtrArray *objects = g_ptr_array_new();
    json_t *object;
    size_t i;

    json_array_foreach(list, i, object)
    {
        g_ptr_array_add(objects, object);
    }
    if (sort->most != NULL)
        g_ptr_array_sort_with_data(objects, compare, (gpointer)sort);
    return objects;
}

/* ---- As text ---- */

static void
append_table(GString *out, const json_t *list, const DroverTopColumn *columns)
{
    g_autoptr(GPtrArray) headers = g_ptr_array_new();
    g_autoptr(DroverTable) table = NULL;
    g_autofree char *text = NULL;
    const json_t *object;
    size_t i;

    for (const DroverTopColumn *column = columns; column->header != NULL; column++)
        g_ptr_array_add(headers, (gpointer)column->header);
    g_ptr_array_add(headers, NULL);
    table = drover_table_new((const char *const *)headers->pdata);
    json_array_foreach(list, i, object)
    {
        char **cells = g_new0(char *, headers->len);

        for (guint k = 0; columns[k].header != NULL; k++)
            cells[k] = columns[k].cell(object);
        drover_table_add_row(table, cells);
    }
    text = drover_table_shown(table);
    g_string_append(out, text);
}

/* `is_short`: without what can be done without. */
static char *
summary(const json_t *snapshot, gboolean is_short)
{
    g_autoptr(GDateTime) now = g_date_time_new_now_local();
    g_autofree char *clock = g_date_time_format(now, "%H:%M:%S");
    int launchers = (int)drover_json_integer(snapshot, "launchers", 0);
    int nodes = (int)drover_json_integer(snapshot, "nodes", 0);
    guint requests = (guint)json_array_size(json_object_get(snapshot, "requests"));

    if (snapshot == NULL)
        return g_strdup_printf("drover top  %s  reading what is there", clock);
    if (is_short)
        return g_strdup_printf("machines %d  waiting %u", nodes, requests);
    return g_strdup_printf("drover top  %s  launchers %d  machines %d  requests waiting %u", clock,
                           launchers, nodes, requests);
}

char *
drover_top_text(const json_t *snapshot)
{
    g_autofree char *first = summary(snapshot, FALSE);
    GString *out = g_string_new(first);

    g_string_append_c(out, '\n');
    append_table(out, json_object_get(snapshot, "states"), drover_top_state_columns);
    for (guint i = 0; i < DROVER_TOP_PANES; i++)
        append_table(out, json_object_get(snapshot, panes[i].key), panes[i].columns);
    return g_string_free(out, FALSE);
}

/* ---- A screen ---- */

typedef struct {
    GString *out;
    DroverTopView *view;
    guint row;  /* that comes next */
    char *mark; /* what is seen of the list that keys are for; or NULL */
} Screen;

/* One row of the screen, cut at its width. The last one ends without a newline. */
static void
add_line(Screen *screen, const char *text, const char *code)
{
    if (screen->row >= screen->view->rows)
        return;
    if (screen->row++ > 0)
        g_string_append(screen->out, "\r\n");
    if (code != NULL)
        g_string_append(screen->out, code);
    drover_top_append_fitting(screen->out, text, screen->view->columns, FALSE, "");
    if (code != NULL)
        g_string_append(screen->out, "\033[0m");
}

static void
draw_states(Screen *screen, const json_t *states, guint height)
{
    DroverTopLayout layout =
        drover_top_layout(drover_top_state_columns, states, screen->view->columns);
    g_autofree char *header = drover_top_header(drover_top_state_columns, &layout);
    const json_t *state;
    size_t i;

    add_line(screen, header, "\033[1m");
    json_array_foreach(states, i, state)
    {
        g_autofree char *line = drover_top_line(drover_top_state_columns, &layout, state);

        if (i + 1 < height)
            add_line(screen, line, NULL);
    }
}

/* Which of them are seen, and by what they are sorted. */
static char *
pane_mark(const DroverTopView *view, DroverTopPane pane, guint seen, guint all)
{
    guint first = view->offsets[pane];

    return g_strdup_printf("%s %u-%u of %u by %s", panes[pane].key, seen > 0 ? first + 1 : 0,
                           first + seen, all, panes[pane].sorts[view->sorts[pane]].name);
}

static void
draw_pane(Screen *screen, DroverTopPane pane, const json_t *list, guint height)
{
    DroverTopView *view = screen->view;
    g_autoptr(GPtrArray) objects = sorted(list, &panes[pane].sorts[view->sorts[pane]]);
    guint page = height > 0 ? height - 1 : 0, seen;
    const DroverTopColumn *columns = panes[pane].columns;
    DroverTopLayout layout = drover_top_layout(columns, list, view->columns);
    g_autofree char *header = drover_top_header(columns, &layout);

    view->offsets[pane] = MIN(view->offsets[pane], objects->len > page ? objects->len - page : 0);
    seen = MIN(page, objects->len - view->offsets[pane]);
    if (pane == view->pane)
        screen->mark = pane_mark(view, pane, seen, objects->len);
    add_line(screen, header, pane == view->pane ? "\033[1;4m" : "\033[1m");
    for (guint i = 0; i < page; i++) {
        g_autofree char *line =
            i < seen ? drover_top_line(columns, &layout, objects->pdata[view->offsets[pane] + i])
                     : g_strdup("");

        add_line(screen, line, NULL);
    }
}

static void
draw_help(Screen *screen)
{
    static const char *const lines[] = {
        "",
        "q, Ctrl-C     end",
        "p             stand still, or go on",
        "s             another order",
        "Tab           the other list",
        "arrows, j k   one row",
        "page up/down  a page; also b and blank",
        "home, end     all; also g and G",
        "?             this help; any key: back",
        "",
        "Pools: used/limit. (limit) is the",
        "cloud's, which all pools share;",
        "- is none. Wait: requests that a pool",
        "cannot serve now; full: one waits for",
        "room.",
        "Requests: what the pool decided that",
        "is nearest to serving it, and why.",
        "What is cut or left out needs a wider",
        "terminal.",
    };

    for (guint i = 0; i < G_N_ELEMENTS(lines); i++)
        add_line(screen, lines[i], NULL);
}

/* How the rows between title and foot are shared. */
static void
divide(const DroverTopView *view, const json_t *snapshot, guint *states, guint heights[])
{
    guint rest = view->rows - 2;
    guint pools = (guint)json_array_size(json_object_get(snapshot, "pools")) + 1;
    guint requests = (guint)json_array_size(json_object_get(snapshot, "requests")) + 1;

    *states = MIN((guint)json_array_size(json_object_get(snapshot, "states")) + 1, rest / 3);
    rest -= *states;
    heights[DROVER_TOP_POOLS] = MIN(pools, MAX(rest / 2, rest > requests ? rest - requests : 0));
    heights[DROVER_TOP_REQUESTS] = rest - heights[DROVER_TOP_POOLS];
}

static void
draw_lists(Screen *screen, const json_t *snapshot)
{
    guint states, heights[DROVER_TOP_PANES];

    divide(screen->view, snapshot, &states, heights);
    if (states > 0)
        draw_states(screen, json_object_get(snapshot, "states"), states);
    for (guint i = 0; i < DROVER_TOP_PANES; i++)
        draw_pane(screen, i, json_object_get(snapshot, panes[i].key), heights[i]);
}

guint
drover_top_page(const DroverTopView *view)
{
    return MAX(view->rows / 3, 1);
}

/* What is said first is what matters most; it is shorter where there is no room. */
static char *
title_line(const json_t *snapshot, const DroverTopView *view)
{
    g_autofree char *marks = g_strconcat(view->connected ? " " : " [NOT CONNECTED] ",
                                         view->paused ? "[stands still] " : "", NULL);
    g_autofree char *whole = summary(snapshot, FALSE);
    g_autofree char *text = strlen(marks) + strlen(whole) <= view->columns
                                ? g_steal_pointer(&whole)
                                : summary(snapshot, TRUE);

    return g_strconcat(marks, text, NULL);
}

static char *
foot_line(const char *mark, const DroverTopView *view)
{
    const char *keys = "q end  p stand still  s order  Tab other list  ? help";
    g_autofree char *before = mark != NULL ? g_strconcat(mark, "  |  ", NULL) : g_strdup("");

    if (strlen(before) + strlen(keys) > view->columns)
        keys = "q end  ? help";
    if (strlen(before) + strlen(keys) > view->columns)
        return g_strdup(keys);
    return g_strconcat(before, keys, NULL);
}

char *
drover_top_screen(const json_t *snapshot, DroverTopView *view)
{
    Screen screen = {.out = g_string_new("\033[H"), .view = view};
    g_autofree char *title = title_line(snapshot, view), *foot = NULL;

    if (view->columns < NARROWEST || view->rows < LOWEST) {
        add_line(&screen, "too small", NULL);
    } else {
        add_line(&screen, title, "\033[7m");
        if (view->help)
            draw_help(&screen);
        else if (snapshot != NULL)
            draw_lists(&screen, snapshot);
    }
    while (screen.row + 1 < view->rows)
        add_line(&screen, "", NULL);
    foot = foot_line(screen.mark, view);
    add_line(&screen, foot, "\033[2m");
    g_free(screen.mark);
    return g_string_free(screen.out, FALSE);
}
