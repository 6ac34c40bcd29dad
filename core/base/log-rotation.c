#include "base/log-rotation.h"

#include <glib/gstdio.h>
#include <string.h>

#include "base/compare.h"

#define DAY  86400
#define WEEK (7 * DAY)

static char *
numbered(const char *path, guint number)
{
    return g_strdup_printf("%s.%u", path, number);
}

void
drover_log_rotate_by_number(const char *path, guint backups)
{
    g_autofree char *first = numbered(path, 1);

    for (guint i = backups; i > 1; i--) {
        g_autofree char *from = numbered(path, i - 1);
        g_autofree char *to = numbered(path, i);

        g_rename(from, to);
    }
    g_rename(path, first);
}

/* ---- By time ---- */

static struct tm
broken_down(gint64 seconds, gboolean utc)
{
    time_t time = (time_t)seconds;
    struct tm parts;

    if (utc)
        gmtime_r(&time, &parts);
    else
        localtime_r(&time, &parts);
    return parts;
}

/* The midnight that begins `days` after the day of `begin`. Days may have 23 or 25 hours. */
static gint64
midnight_after(gint64 begin, gboolean utc, guint days)
{
    struct tm parts = broken_down(begin, utc);

    parts.tm_hour = parts.tm_min = parts.tm_sec = 0;
    parts.tm_mday += (int)days;
    parts.tm_isdst = -1;
    return (gint64)(utc ? timegm(&parts) : mktime(&parts));
}

gint64
drover_log_next_turn(const DroverLogRotation *rotation, gint64 begin)
{
    struct tm parts;
    guint weekday;

    switch (rotation->turn) {
    case DROVER_LOG_AT_MIDNIGHT:
        return midnight_after(begin, rotation->utc, 1);
    case DROVER_LOG_ON_WEEKDAY:
        parts = broken_down(begin, rotation->utc);
        weekday = (guint)(parts.tm_wday + 6) % 7;
        return midnight_after(begin, rotation->utc, (rotation->weekday + 7 - weekday) % 7 + 1);
    default:
        return begin + rotation->seconds;
    }
}

static gint64
span(const DroverLogRotation *rotation)
{
    switch (rotation->turn) {
    case DROVER_LOG_AT_MIDNIGHT:
        return DAY;
    case DROVER_LOG_ON_WEEKDAY:
        return WEEK;
    default:
        return rotation->seconds;
    }
}

/* Made of digits where `example` has digits: the name of a file that was put aside by time. */
static gboolean
is_like(const char *suffix, const char *example)
{
    for (; *suffix != '\0' && *example != '\0'; suffix++, example++)
        if (g_ascii_isdigit(*example) ? !g_ascii_isdigit(*suffix) : *suffix != *example)
            return FALSE;
    return *suffix == *example;
}

static void
remove_oldest(const char *path, const char *suffix, guint backups)
{
    g_autofree char *folder = g_path_get_dirname(path), *name = g_path_get_basename(path);
    g_autofree char *prefix = g_strconcat(name, ".", NULL);
    g_autoptr(GPtrArray) found = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *entry;

    while (dir != NULL && (entry = g_dir_read_name(dir)) != NULL)
        if (g_str_has_prefix(entry, prefix) && is_like(entry + strlen(prefix), suffix))
            g_ptr_array_add(found, g_build_filename(folder, entry, NULL));
    g_ptr_array_sort(found, drover_compare_strings);
    for (guint i = 0; i + backups < found->len; i++)
        g_unlink(found->pdata[i]);
}

void
drover_log_rotate_by_time(const char *path, const DroverLogRotation *rotation, gint64 turn)
{
    struct tm parts = broken_down(turn - span(rotation), rotation->utc);
    g_autofree char *target = NULL;
    char suffix[64];

    drover_log_format_date(rotation->suffix, &parts, suffix, sizeof(suffix));
    target = g_strconcat(path, ".", suffix, NULL);
    g_rename(path, target);
    if (rotation->backups > 0)
        remove_oldest(path, suffix, rotation->backups);
}
