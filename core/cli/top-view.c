#include "cli/top-view.h"

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "cli/output.h"
#include "cli/table.h"
#include "cli/top-snapshot.h"

#define NARROWEST 20
#define LOWEST    6

/* ---- Cells ---- */

typedef struct {
    const char *header;
    guint width; /* columns; 0: the rest of the line */
    gboolean right;
    char *(*cell)(const json_t *object);
} Column;

static char *
whole(double amount)
{
    return g_strdup_printf("%.15g", amount);
}

static char *
age_text(gint64 seconds)
{
    if (seconds < 60)
        return g_strdup_printf("%" G_GINT64_FORMAT "s", MAX(seconds, 0));
    if (seconds < 3600)
        return g_strdup_printf("%" G_GINT64_FORMAT "m", seconds / 60);
    if (seconds < 86400)
        return g_strdup_printf("%" G_GINT64_FORMAT "h%02" G_GINT64_FORMAT "m", seconds / 3600,
                               seconds / 60 % 60);
    return g_strdup_printf("%" G_GINT64_FORMAT "d%02" G_GINT64_FORMAT "h", seconds / 86400,
                           seconds / 3600 % 24);
}

static char *
string_cell(const json_t *object, const char *key)
{
    const char *text = drover_json_string(object, key);

    return drover_cli_one_line(text != NULL ? text : "-");
}

static char *
pool_name(const json_t *pool)
{
    g_autofree char *provider = string_cell(pool, "provider"), *name = string_cell(pool, "pool");

    return g_strdup_printf("%s/%s", provider, name);
}

static char *
pool_waiting(const json_t *pool)
{
    return whole(drover_json_real(pool, "waiting", 0));
}

static double
sum_of_nodes(const json_t *pool)
{
    const char *state;
    json_t *count;
    double sum = 0;

    json_object_foreach(json_object_get(pool, "nodes"), state, count)
    {
        sum += json_number_value(count);
    }
    return sum;
}

static char *
pool_nodes(const json_t *pool)
{
    return whole(sum_of_nodes(pool));
}

/* "3/10"; of a cloud's limit, which all pools share, "3/(10)". */
static char *
used_and_limit(const json_t *pool, const char *resource)
{
    const json_t *limits = json_object_get(pool, "limits");
    const json_t *own = json_object_get(json_object_get(limits, "pool"), resource);
    const json_t *shared = json_object_get(json_object_get(limits, "provider"), resource);
    g_autofree char *used = whole(drover_json_real(json_object_get(pool, "used"), resource, 0));

    if (json_is_number(own))
        return g_strdup_printf("%s/%.15g", used, json_number_value(own));
    if (json_is_number(shared))
        return g_strdup_printf("%s/(%.15g)", used, json_number_value(shared));
    return g_strdup_printf("%s/-", used);
}

static char *
pool_instances(const json_t *pool)
{
    return used_and_limit(pool, "instances");
}

static char *
pool_cores(const json_t *pool)
{
    return used_and_limit(pool, "cores");
}

static char *
pool_ram(const json_t *pool)
{
    return used_and_limit(pool, "ram");
}

static char *
pool_state(const json_t *pool)
{
    if (!drover_json_boolean(pool, "registered", FALSE))
        return g_strdup("no launcher");
    return g_strdup(drover_json_boolean(pool, "paused", FALSE) ? "full" : "");
}

static char *
count_of(const json_t *pool, const char *state)
{
    return whole(drover_json_real(json_object_get(pool, "nodes"), state, 0));
}

static char *
pool_building(const json_t *pool)
{
    return count_of(pool, "building");
}

static char *
pool_ready(const json_t *pool)
{
    return count_of(pool, "ready");
}

static char *
pool_in_use(const json_t *pool)
{
    return count_of(pool, "in-use");
}

static char *
request_id(const json_t *request)
{
    return string_cell(request, "id");
}

static char *
request_state(const json_t *request)
{
    return string_cell(request, "state");
}

static char *
request_age(const json_t *request)
{
    return age_text(drover_json_integer(request, "age", 0));
}

static char *
request_labels(const json_t *request)
{
    g_auto(GStrv) labels = drover_json_strings(request, "labels");
    g_autofree char *text = g_strjoinv(",", labels);

    return drover_cli_one_line(text);
}

static char *
request_why(const json_t *request)
{
    g_autofree char *why = string_cell(request, "why");
    g_autofree char *verdict = string_cell(request, "verdict");
    g_autofree char *by = string_cell(request, "by");

    if (drover_json_string(request, "verdict") == NULL)
        return g_steal_pointer(&why);
    if (drover_json_string(request, "why") == NULL)
        return g_strdup_printf("%s (%s)", verdict, by);
    return g_strdup_printf("%s (%s): %s", verdict, by, why);
}

static char *
state_name(const json_t *state)
{
    return string_cell(state, "state");
}

static char *
state_count(const json_t *state)
{
    return whole(drover_json_real(state, "count", 0));
}

static char *
state_oldest(const json_t *state)
{
    return age_text(drover_json_integer(state, "oldest", 0));
}

#define STATE_AGE(number)                                                                          \
    static char *state_age_##number(const json_t *state)                                           \
    {                                                                                              \
        return whole(json_number_value(json_array_get(json_object_get(state, "ages"), number)));   \
    }
STATE_AGE(0)
STATE_AGE(1)
STATE_AGE(2)
STATE_AGE(3)
STATE_AGE(4)

static const Column state_columns[] = {
    {"Machines", 10, FALSE, state_name},
    {"all", 6, TRUE, state_count},
    {"<1m", 6, TRUE, state_age_0},
    {"<10m", 6, TRUE, state_age_1},
    {"<1h", 6, TRUE, state_age_2},
    {"<1d", 6, TRUE, state_age_3},
    {"older", 6, TRUE, state_age_4},
    {"oldest", 8, TRUE, state_oldest},
    {NULL, 0, FALSE, NULL},
};
static const Column pool_columns[] = {
    {"Pool", 20, FALSE, pool_name},
    {"Wait", 4, TRUE, pool_waiting},
    {"Nodes", 6, TRUE, pool_nodes},
    {"Instances", 11, TRUE, pool_instances},
    {"Cores", 11, TRUE, pool_cores},
    {"RAM MiB", 15, TRUE, pool_ram},
    {"Build", 6, TRUE, pool_building},
    {"Ready", 6, TRUE, pool_ready},
    {"In use", 6, TRUE, pool_in_use},
    {"", 11, FALSE, pool_state},
    {NULL, 0, FALSE, NULL},
};
static const Column request_columns[] = {
    {"Request", 14, FALSE, request_id}, {"State", 9, FALSE, request_state},
    {"Age", 6, TRUE, request_age},      {"Labels", 16, FALSE, request_labels},
    {"Why", 0, FALSE, request_why},     {NULL, 0, FALSE, NULL},
};

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

static const Sort pool_sorts[] = {
    {"name", NULL}, {"use", drover_top_fullness}, {"waiting", waiting_of}, {"nodes", sum_of_nodes}};
static const Sort request_sorts[] = {{"turn", NULL}, {"age", age_of}};

static const struct {
    const char *key;
    const Column *columns;
    const Sort *sorts;
    guint n_sorts;
} panes[DROVER_TOP_PANES] = {
    {"pools", pool_columns, pool_sorts, G_N_ELEMENTS(pool_sorts)},
    {"requests", request_columns, request_sorts, G_N_ELEMENTS(request_sorts)},
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
append_table(GString *out, const json_t *list, const Column *columns)
{
    g_autoptr(GPtrArray) headers = g_ptr_array_new();
    g_autoptr(DroverTable) table = NULL;
    g_autofree char *text = NULL;
    const json_t *object;
    size_t i;

    for (const Column *column = columns; column->header != NULL; column++)
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
    text = drover_table_text(table);
    g_string_append(out, text);
}

static char *
summary(const json_t *snapshot)
{
    g_autoptr(GDateTime) now = g_date_time_new_now_local();
    g_autofree char *clock = g_date_time_format(now, "%H:%M:%S");

    if (snapshot == NULL)
        return g_strdup_printf("drover top  %s  reading what is there", clock);
    return g_strdup_printf("drover top  %s  launchers %d  machines %d  requests waiting %u", clock,
                           (int)drover_json_integer(snapshot, "launchers", 0),
                           (int)drover_json_integer(snapshot, "nodes", 0),
                           (guint)json_array_size(json_object_get(snapshot, "requests")));
}

char *
drover_top_text(const json_t *snapshot)
{
    g_autofree char *first = summary(snapshot);
    GString *out = g_string_new(first);

    g_string_append_c(out, '\n');
    append_table(out, json_object_get(snapshot, "states"), state_columns);
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

/* So much of the text as fits, and blanks. */
static void
append_fitting(GString *line, const char *text, guint width, gboolean right)
{
    guint taken = drover_table_width(text, -1);
    const char *end = text + strlen(text);

    while (taken > width) {
        end = g_utf8_find_prev_char(text, end);
        taken = drover_table_width(text, end - text);
    }
    if (right)
        g_string_append_printf(line, "%*s", (int)(width - taken), "");
    g_string_append_len(line, text, end - text);
    if (!right)
        g_string_append_printf(line, "%*s", (int)(width - taken), "");
}

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
    append_fitting(screen->out, text, screen->view->columns, FALSE);
    if (code != NULL)
        g_string_append(screen->out, "\033[0m");
}

static char *
header_line(const Column *columns)
{
    GString *line = g_string_new(NULL);

    for (; columns->header != NULL; columns++) {
        guint width = columns->width > 0 ? columns->width : (guint)strlen(columns->header);

        append_fitting(line, columns->header, width, columns->right);
        g_string_append_c(line, ' ');
    }
    return g_string_free(line, FALSE);
}

static char *
object_line(const Column *columns, const json_t *object)
{
    GString *line = g_string_new(NULL);

    for (; columns->header != NULL; columns++) {
        g_autofree char *text = columns->cell(object);

        append_fitting(line, text,
                       columns->width > 0 ? columns->width : drover_table_width(text, -1),
                       columns->right);
        g_string_append_c(line, ' ');
    }
    return g_string_free(line, FALSE);
}

static void
draw_states(Screen *screen, const json_t *states, guint height)
{
    g_autofree char *header = header_line(state_columns);
    const json_t *state;
    size_t i;

    add_line(screen, header, "\033[1m");
    json_array_foreach(states, i, state)
    {
        g_autofree char *line = object_line(state_columns, state);

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
    g_autofree char *header = header_line(panes[pane].columns);

    view->offsets[pane] = MIN(view->offsets[pane], objects->len > page ? objects->len - page : 0);
    seen = MIN(page, objects->len - view->offsets[pane]);
    if (pane == view->pane)
        screen->mark = pane_mark(view, pane, seen, objects->len);
    add_line(screen, header, pane == view->pane ? "\033[1;4m" : "\033[1m");
    for (guint i = 0; i < page; i++) {
        g_autofree char *line =
            i < seen ? object_line(panes[pane].columns, objects->pdata[view->offsets[pane] + i])
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
        "arrows, j k   one row; page up and down, b, blank: a page; home, end, g G: all",
        "?             this help; any key: back",
        "",
        "Pools: used/limit; (limit) is the cloud's, which all pools share; - is none.",
        "Waiting are requests that a pool cannot serve now. \"full\": one waits for room.",
        "Requests: what the pool decided that is nearest to serving it, and why.",
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

char *
drover_top_screen(const json_t *snapshot, DroverTopView *view)
{
    Screen screen = {.out = g_string_new("\033[H"), .view = view};
    g_autofree char *title = summary(snapshot), *foot = NULL;
    g_autofree char *first = g_strconcat(view->connected ? " " : " [NOT CONNECTED] ",
                                         view->paused ? "[stands still] " : "", title, NULL);

    if (view->columns < NARROWEST || view->rows < LOWEST) {
        add_line(&screen, "too small", NULL);
    } else {
        add_line(&screen, first, "\033[7m");
        if (view->help)
            draw_help(&screen);
        else if (snapshot != NULL)
            draw_lists(&screen, snapshot);
    }
    while (screen.row + 1 < view->rows)
        add_line(&screen, "", NULL);
    foot = g_strconcat(screen.mark != NULL ? screen.mark : "", screen.mark != NULL ? "  |  " : "",
                       "q end  p stand still  s order  Tab other list  ? help", NULL);
    add_line(&screen, foot, "\033[2m");
    g_free(screen.mark);
    return g_string_free(screen.out, FALSE);
}
