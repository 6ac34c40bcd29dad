#include "cli/top-layout.h"

#include <string.h>

#include "cli/table.h"

/* ---- Widths ---- */

typedef struct {
    const DroverTopColumn *columns;
    guint count;
    guint natural[DROVER_TOP_MOST_COLUMNS]; /* 0: left out */
    DroverTopLayout layout;
} Fit;

static void
measure(Fit *fit, const json_t *list)
{
    const json_t *object;
    size_t k;

    for (guint i = 0; i < fit->count; i++)
        fit->natural[i] = MAX(drover_table_width(fit->columns[i].header, -1), 1);
    json_array_foreach((json_t *)list, k, object)
    {
        for (guint i = 0; i < fit->count; i++) {
            g_autofree char *text = fit->columns[i].cell(object);

            fit->natural[i] = MAX(fit->natural[i], drover_table_width(text, -1));
        }
    }
}

static guint
sum(const Fit *fit)
{
    guint width = 0;

    for (guint i = 0; i < fit->count; i++)
        if (fit->layout.widths[i] > 0)
            width += fit->layout.widths[i] + (width > 0);
    return width;
}

/* One column less of the widest that may be cut. FALSE: there is none. */
static gboolean
cut(Fit *fit)
{
    guint *widths = fit->layout.widths, *widest = NULL;

    for (guint i = 0; i < fit->count; i++) {
        guint least = fit->columns[i].least;

        if (least > 0 && widths[i] > least && (widest == NULL || widths[i] > *widest))
            widest = &widths[i];
    }
    if (widest != NULL)
        (*widest)--;
    return widest != NULL;
}

/* FALSE: all that are left stay. */
static gboolean
leave_out(Fit *fit)
{
    guint last = fit->count;

    for (guint i = 0; i < fit->count; i++)
        if (fit->natural[i] > 0 && fit->columns[i].rank > 0 &&
            (last == fit->count || fit->columns[i].rank > fit->columns[last].rank))
            last = i;
    if (last < fit->count)
        fit->natural[last] = 0;
    return last < fit->count;
}

DroverTopLayout
drover_top_layout(const DroverTopColumn *columns, const json_t *list, guint room)
{
    Fit fit = {.columns = columns};

    while (columns[fit.count].header != NULL)
        fit.count++;
    measure(&fit, list);
    do {
        memcpy(fit.layout.widths, fit.natural, sizeof(fit.natural));
        while (sum(&fit) > room && cut(&fit))
            continue;
    } while (sum(&fit) > room && leave_out(&fit));
    return fit.layout;
}

/* ---- Lines ---- */

void
drover_top_append_fitting(GString *line, const char *text, guint width, gboolean right,
                          const char *sign)
{
    guint taken = drover_table_width(text, -1), of_sign = drover_table_width(sign, -1);
    gboolean is_cut = taken > width;
    const char *end = text + strlen(text);

    if (is_cut && of_sign < width)
        width -= of_sign;
    else
        sign = "";
    while (taken > width) {
        end = g_utf8_find_prev_char(text, end);
        taken = drover_table_width(text, end - text);
    }
    if (right)
        g_string_append_printf(line, "%*s", (int)(width - taken), "");
    g_string_append_len(line, text, end - text);
    if (is_cut)
        g_string_append(line, sign);
    if (!right)
        g_string_append_printf(line, "%*s", (int)(width - taken), "");
}

/* Where not everybody's terminal has the character for it, as top(1) does. */
static const char *
cut_sign(void)
{
    return g_get_charset(NULL) ? "\xe2\x80\xa6" : "+";
}

static void
append_cell(GString *line, const char *text, guint width, gboolean right)
{
    if (width == 0)
        return;
    if (line->len > 0)
        g_string_append_c(line, ' ');
    drover_top_append_fitting(line, text, width, right, cut_sign());
}

char *
drover_top_header(const DroverTopColumn *columns, const DroverTopLayout *layout)
{
    GString *line = g_string_new(NULL);

    for (guint i = 0; columns[i].header != NULL; i++)
        append_cell(line, columns[i].header, layout->widths[i], columns[i].right);
    return g_string_free(line, FALSE);
}

char *
drover_top_line(const DroverTopColumn *columns, const DroverTopLayout *layout, const json_t *object)
{
    GString *line = g_string_new(NULL);

    for (guint i = 0; columns[i].header != NULL; i++) {
        g_autofree char *text = columns[i].cell(object);

        append_cell(line, text, layout->widths[i], columns[i].right);
    }
    return g_string_free(line, FALSE);
}
