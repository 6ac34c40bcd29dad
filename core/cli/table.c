#include "cli/table.h"

#include <string.h>

#include "cli/output.h"
#include "cli/table-private.h"

static void
free_row(gpointer row)
{
    g_strfreev(row);
}

static DroverTable *
table_new(const char *const *headers, GDestroyNotify free_cells)
{
    DroverTable *table = g_new0(DroverTable, 1);

    table->headers = g_strdupv((char **)headers);
    table->n_columns = g_strv_length(table->headers);
    table->rows = g_ptr_array_new_with_free_func(free_cells);
    return table;
}

DroverTable *
drover_table_new(const char *const *headers)
{
    return table_new(headers, free_row);
}

DroverTable *
drover_table_new_borrowing(const char *const *headers)
{
    return table_new(headers, g_free);
}

void
drover_table_free(DroverTable *table)
{
    g_strfreev(table->headers);
    g_ptr_array_unref(table->rows);
    g_free(table);
}

void
drover_table_add_row(DroverTable *table, char **cells)
{
    for (guint i = 0; i < table->n_columns; i++)
        if (cells[i] == NULL)
            cells[i] = g_strdup("");
    g_ptr_array_add(table->rows, cells);
}

guint
drover_table_width(const char *text, gssize length)
{
    const char *end = text + (length < 0 ? (gssize)strlen(text) : length);
    guint width = 0;

    for (const char *at = text; at < end;) {
        gunichar c;

        if (*at >= ' ' && *at <= '~') { /* most are, and looking them up takes long */
            width++;
            at++;
            continue;
        }
        c = g_utf8_get_char_validated(at, end - at);
        if (c == (gunichar)-1 || c == (gunichar)-2) {
            width++;
            at++;
            continue;
        }
        if (!g_unichar_iszerowidth(c))
            width += g_unichar_iswide(c) ? 2 : 1;
        at = g_utf8_next_char(at);
    }
    return width;
}

/* The first line of a cell, or of its rest; the rest after it, NULL when there is none. */
static const char *
next_line(const char **rest, gsize *length)
{
    const char *line = *rest;

    *length = strcspn(line, "\n");
    *rest = line[*length] != '\0' ? line + *length + 1 : NULL;
    return line;
}

static void
widen(guint *widths, const DroverTable *table, char **cells)
{
    for (guint i = 0; i < table->n_columns; i++) {
        for (const char *rest = cells[i]; rest != NULL;) {
            gsize length;
            const char *line = next_line(&rest, &length);

            widths[i] = MAX(widths[i], drover_table_width(line, (gssize)length));
        }
    }
}

static void
add_repeated(GString *out, char c, gsize count)
{
    gsize length = out->len;

    g_string_set_size(out, length + count);
    memset(out->str + length, c, count);
}

static void
add_rule(GString *out, const guint *widths, guint n_columns)
{
    for (guint i = 0; i < n_columns; i++) {
        g_string_append_c(out, '+');
        add_repeated(out, '-', widths[i] + 2);
    }
    g_string_append(out, "+\n");
}

/* The next line of each cell; whether one of them has more. */
static gboolean
add_line(GString *out, const guint *widths, guint n_columns, const char **rests)
{
    gboolean more = FALSE;

    for (guint i = 0; i < n_columns; i++) {
        gsize length = 0;
        const char *line = rests[i] != NULL ? next_line(&rests[i], &length) : "";

        g_string_append(out, "| ");
        g_string_append_len(out, line, (gssize)length);
        add_repeated(out, ' ', widths[i] - drover_table_width(line, (gssize)length) + 1);
        more |= rests[i] != NULL;
    }
    g_string_append(out, "|\n");
    return more;
}

static void
add_row(GString *out, const guint *widths, guint n_columns, char **cells)
{
    g_autofree const char **rests = g_memdup2(cells, n_columns * sizeof(*cells));

    while (add_line(out, widths, n_columns, rests))
        continue;
}

char *
drover_table_text(const DroverTable *table)
{
    g_autofree guint *widths = g_new0(guint, table->n_columns);
    GString *out = g_string_new(NULL);

    widen(widths, table, table->headers);
    for (guint i = 0; i < table->rows->len; i++)
        widen(widths, table, table->rows->pdata[i]);
    add_rule(out, widths, table->n_columns);
    add_row(out, widths, table->n_columns, table->headers);
    add_rule(out, widths, table->n_columns);
    for (guint i = 0; i < table->rows->len; i++)
        add_row(out, widths, table->n_columns, table->rows->pdata[i]);
    add_rule(out, widths, table->n_columns);
    return g_string_free(out, FALSE);
}

char *
drover_table_shown(const DroverTable *table)
{
    guint columns = drover_cli_columns();

    return columns > 0 ? drover_table_fitted(table, columns) : drover_table_text(table);
}

void
drover_table_print(const DroverTable *table)
{
    g_autofree char *text = drover_table_shown(table);

    drover_cli_print("%s", text);
}
