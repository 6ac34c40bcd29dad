/* What commands print on standard output. */
#pragma once

#include <glib.h>
#include <jansson.h>

/* Prints a text. On a terminal, control characters of records are not let through. */
void drover_cli_print(const char *format, ...) G_GNUC_PRINTF(1, 2);
/* Prints a JSON value and a newline. Takes the value over. */
void drover_cli_print_json(json_t *value);

/* "DD:HH:MM:SS" since that time, seconds since the epoch. Free with g_free. */
char *drover_cli_age(double since);

/* A copy that is valid UTF-8 without any control character. Free with g_free. */
char *drover_cli_one_line(const char *text);
/* How many columns the terminal has that standard output is; 0: it is none, or does not say. */
guint drover_cli_columns(void);
/* Standard output is a terminal that has colours, and nobody says NO_COLOR. */
gboolean drover_cli_has_colours(void);
