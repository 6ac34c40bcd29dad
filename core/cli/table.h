/*
 * Text tables, as `nodepool` prints them:
 *
 *     +----+----------+
 *     | ID | Provider |
 *     +----+----------+
 *     | 1  | p        |
 *     +----+----------+
 *
 * Columns are as wide as their widest line by display width; a cell with newlines takes several
 * lines.
 */
#pragma once

#include <glib.h>

typedef struct _DroverTable DroverTable;

DroverTable *drover_table_new(const char *const *headers);
void drover_table_free(DroverTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DroverTable, drover_table_free)

/* Takes the cells over, one for each header; NULL is an empty cell. */
void drover_table_add_row(DroverTable *table, char **cells);
/* Ends with a newline. Free with g_free. */
char *drover_table_text(const DroverTable *table);
/* Prints it on standard output. */
void drover_table_print(const DroverTable *table);

/* Columns that a text takes on a terminal: wide characters count 2, combining marks 0. */
guint drover_table_width(const char *text, gssize length);
