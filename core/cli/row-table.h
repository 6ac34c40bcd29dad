/*
 * A list as rows: JSON objects with the keys of its columns, which are printed as they are, or as a
 * table.
 */
#pragma once

#include <glib.h>
#include <jansson.h>

typedef struct {
    const char *key, *header; /* NULL ends an array of columns */
    gboolean is_time;         /* seconds since the epoch; a table shows the age */
} DroverColumn;

/* The table, without a newline at its end; only the columns named in `fields` ("a,b"; NULL or ""
 * all). Free with g_free. */
char *drover_row_table_text(const DroverColumn *columns, const json_t *rows, const char *fields);
/* The same of rows that are cells already: elements are char *const *, one for each column. */
char *drover_cell_rows_text(const DroverColumn *columns, const GPtrArray *rows, const char *fields);
/* Prints the whole table on standard output. */
void drover_row_table_print(const DroverColumn *columns, const json_t *rows);
