/* Dates as HTTP writes them, whatever the language is: "Sun, 06 Nov 1994 08:49:37 GMT". */
#pragma once

#include <glib.h>

/* Seconds since the epoch. Free with g_free. */
char *drover_http_date(gint64 seconds);
/* -1 when it is no such date. */
gint64 drover_http_date_parse(const char *text);
