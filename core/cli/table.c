#include "cli/table.h"

#include <string.h>

#include "cli/output.h"

struct _DroverTable {
    char **headers;
    guint n_columns;
    GPtrArray *rows; /* of char **, n_columns each */
};

static void
free_row(gpointer row)
{
    g_strfreev(row);
}

DroverTable *
drover_table_new(const char *const *headers)
{
    DroverTable *table = g_new0(DroverTable, 1);

    table->headers = g_strdupv((char **)headers);
    table->n_columns = g_strv_length(table->headers);
    table->rows = g_ptr_array_new_with_free_func(free_row);
    return table;
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
        gunichar c = g_utf8_get_char_validated(at, end - at);

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

static void
widen(guint *widths, const DroverTable *table, char **cells)
{
    for (guint i = 0; i < table->n_columns; i++) {
        g_auto(GStrv) lines = g_strsplit(cells[i], "\n", -1);

        for (char **line = lines; *line != NULL; line++)
            widths[i] = MAX(widths[i], drover_table_width(*line, -1));
    }
}

static void
add_rule(GString *out, const guint *widths, guint n_columns)
{
    for (guint i = 0; i < n_columns; i++) {
        g_string_append_c(out, '+');
        for (guint k = 0; k < widths[i] + 2; k++)
            g_string_append_c(out, '-');
    }
    g_string_append(out, "+\n");
}

static void
add_line(GString *out, const guint *widths, guint n_columns, char ***lines, guint number)
{
    for (guint i = 0; i < n_columns; i++) {
        const char *text = number < g_strv_length(lines[i]) ? lines[i][number] : "";

        g_string_append_printf(out, "| %s%*s ", text,
                               (int)(widths[i] - drover_table_width(text, -1)), "");
    }
    g_string_append(out, "|\n");
}

static void
add_row(GString *out, const guint *widths, guint n_columns, char **cells)
{
    g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(free_row);
    guint height = 1;

    for (guint i = 0; i < n_columns; i++) {
        char **cell = g_strsplit(cells[i], "\n", -1);

        g_ptr_array_add(lines, cell);
        height = MAX(height, g_strv_length(cell));
    }
    for (guint number = 0; number < height; number++)
        add_line(out, widths, n_columns, (char ***)lines->pdata, number);
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

void
drover_table_print(const DroverTable *table)
{
    g_autofree char *text = drover_table_text(table);

    drover_cli_print("%s", text);
}
