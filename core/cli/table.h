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
/* One that frees the arrays of its rows, but not the cells, none of which is NULL. */
DroverTable *drover_table_new_borrowing(const char *const *headers);
void drover_table_free(DroverTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DroverTable, drover_table_free)

/* Takes the cells over, one for each header; NULL is an empty cell. */
void drover_table_add_row(DroverTable *table, char **cells);
/* Ends with a newline. Free with g_free. */
char *drover_table_text(const DroverTable *table);
/*
 * The same for people in front of so many columns. What is too wide is broken between words:
 *
 *     +----+-------------------+
 *     | ID | Label             |
 *     +----+-------------------+
 *     | 1  | a-label-that-has- |
 *     |    | a-long-name       |
 *     +----+-------------------+
 *
 * and columns in which no row has anything are left out; if that is not enough, each row is a list
 * of what is in it, "ID     1", and an empty line.
 */
char *drover_table_fitted(const DroverTable *table, guint columns);
/* As it is to be shown on standard output: fitted if that is a terminal, which scripts are not. */
char *drover_table_shown(const DroverTable *table);
/* Prints it so. */
void drover_table_print(const DroverTable *table);

/* Columns that a text takes on a terminal: wide characters count 2, combining marks 0. */
guint drover_table_width(const char *text, gssize length);
