#include "cli/row-table.h"

#include "cli/output.h"
#include "cli/python-literal.h"
#include "cli/table.h"

static GPtrArray *
choose_columns(const DroverColumn *all_columns, const char *fields)
{
    gboolean all = fields == NULL || *fields == '\0';
    g_auto(GStrv) names = g_strsplit(fields != NULL ? fields : "", ",", -1);
    GPtrArray *columns = g_ptr_array_new();

    for (const DroverColumn *column = all_columns; column->key != NULL; column++)
        if (all || g_strv_contains((const char *const *)names, column->key))
            g_ptr_array_add(columns, (gpointer)column);
    return columns;
}

static char *
cell_of(const json_t *row, const DroverColumn *column)
{
    const json_t *value = json_object_get(row, column->key);

    if (column->is_time && json_is_integer(value))
        return drover_cli_age((double)json_integer_value(value));
    return drover_cell_text(value);
}

static DroverTable *
table_new(const GPtrArray *columns, DroverTable *(*new_table)(const char *const *headers))
{
    g_autoptr(GPtrArray) headers = g_ptr_array_new();

    for (guint i = 0; i < columns->len; i++)
        g_ptr_array_add(headers, (gpointer)((const DroverColumn *)columns->pdata[i])->header);
    g_ptr_array_add(headers, NULL);
    return new_table((const char *const *)headers->pdata);
}

/* NULL when none of the fields is a column. */
static DroverTable *
filled_table(const DroverColumn *all_columns, const json_t *rows, const char *fields)
{
    g_autoptr(GPtrArray) columns = choose_columns(all_columns, fields);
    DroverTable *table = columns->len > 0 ? table_new(columns, drover_table_new) : NULL;
    const json_t *row;
    size_t k;

    if (table == NULL)
        return NULL;
    json_array_foreach((json_t *)rows, k, row)
    {
        char **cells = g_new0(char *, columns->len + 1);

        for (guint i = 0; i < columns->len; i++)
            cells[i] = cell_of(row, columns->pdata[i]);
        drover_table_add_row(table, cells);
    }
    return table;
}

/* NULL: one without columns. */
static char *
text_of(const DroverTable *table)
{
    return table != NULL ? g_strchomp(drover_table_text(table)) : g_strdup("++\n||\n++");
}

char *
drover_row_table_text(const DroverColumn *columns, const json_t *rows, const char *fields)
{
    g_autoptr(DroverTable) table = filled_table(columns, rows, fields);

    return text_of(table);
}

char *
drover_cell_rows_text(const DroverColumn *all_columns, const GPtrArray *rows, const char *fields)
{
    g_autoptr(GPtrArray) columns = choose_columns(all_columns, fields);
    g_autoptr(DroverTable) table =
        columns->len > 0 ? table_new(columns, drover_table_new_borrowing) : NULL;

    for (guint k = 0; table != NULL && k < rows->len; k++) {
        char *const *row = rows->pdata[k];
        char **cells = g_new0(char *, columns->len + 1);

        for (guint i = 0; i < columns->len; i++)
            cells[i] = row[(const DroverColumn *)columns->pdata[i] - all_columns];
        drover_table_add_row(table, cells);
    }
    return text_of(table);
}

void
drover_row_table_print(const DroverColumn *columns, const json_t *rows)
{
    g_autoptr(DroverTable) table = filled_table(columns, rows, NULL);

    drover_table_print(table);
}
