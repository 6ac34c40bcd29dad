#include "web/http-date.h"

#include <stdio.h>
#include <string.h>

static const char days[][4] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
static const char months[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                 "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

char *
drover_http_date(gint64 seconds)
{
    g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc(seconds);

    return g_strdup_printf(
        "%s, %02d %s %04d %02d:%02d:%02d GMT", days[g_date_time_get_day_of_week(time) - 1],
        g_date_time_get_day_of_month(time), months[g_date_time_get_month(time) - 1],
        g_date_time_get_year(time), g_date_time_get_hour(time), g_date_time_get_minute(time),
        g_date_time_get_second(time));
}

gint64
drover_http_date_parse(const char *text)
{
    int day, year, hour, minute, second;
    char name[4];

    if (text == NULL || sscanf(text, "%*3s, %2d %3s %4d %2d:%2d:%2d GMT", &day, name, &year, &hour,
                               &minute, &second) != 6)
        return -1;
    for (guint i = 0; i < G_N_ELEMENTS(months); i++) {
        g_autoptr(GDateTime) time = NULL;

        if (strcmp(months[i], name) != 0)
            continue;
        time = g_date_time_new_utc(year, (gint)i + 1, day, hour, minute, second);
        return time != NULL ? g_date_time_to_unix(time) : -1;
    }
    return -1;
}
