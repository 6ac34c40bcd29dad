#include "metrics/process.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    CPU_SECONDS,
    RESIDENT_BYTES,
    VIRTUAL_BYTES,
    OPEN_FDS,
    MAX_FDS,
    START_TIME,
};

static const DroverMetricSpec specs[] = {
    [CPU_SECONDS] = {.name = "process_cpu_seconds_total",
                     .type = DROVER_METRIC_COUNTER,
                     .help = "CPU time of user and system, in seconds."},
    [RESIDENT_BYTES] = {.name = "process_resident_memory_bytes",
                        .type = DROVER_METRIC_GAUGE,
                        .help = "Resident memory."},
    [VIRTUAL_BYTES] = {.name = "process_virtual_memory_bytes",
                       .type = DROVER_METRIC_GAUGE,
                       .help = "Virtual memory."},
    [OPEN_FDS] = {.name = "process_open_fds",
                  .type = DROVER_METRIC_GAUGE,
                  .help = "Open file descriptors."},
    [MAX_FDS] = {.name = "process_max_fds",
                 .type = DROVER_METRIC_GAUGE,
                 .help = "Most file descriptors that may be open."},
    [START_TIME] = {.name = "process_start_time_seconds",
                    .type = DROVER_METRIC_GAUGE,
                    .help = "Start of the process, in seconds since the epoch."},
};

/* The places of numbers behind the command's name in /proc/self/stat, see proc(5). */
enum {
    STAT_UTIME = 11,
    STAT_STIME = 12,
    STAT_START = 19,
    STAT_VIRTUAL = 20,
    STAT_RESIDENT = 21,
    STAT_NEEDED = 22,
};

/* When the system was started, in seconds since the epoch; 0: unknown. */
static double
boot_time(void)
{
    g_autofree char *text = NULL;
    const char *line;

    if (!g_file_get_contents("/proc/stat", &text, NULL, NULL))
        return 0;
    line = strstr(text, "\nbtime ");
    return line != NULL ? g_ascii_strtod(line + strlen("\nbtime "), NULL) : 0;
}

static void
take_stat(DroverMetrics *metrics)
{
    double ticks = (double)sysconf(_SC_CLK_TCK), page = (double)sysconf(_SC_PAGESIZE);
    double boot = boot_time();
    g_autofree char *text = NULL;
    g_auto(GStrv) words = NULL;
    const char *end;

    if (!g_file_get_contents("/proc/self/stat", &text, NULL, NULL) ||
        (end = strrchr(text, ')')) == NULL)
        return;
    words = g_strsplit(end + 2, " ", -1);
    if (g_strv_length(words) < STAT_NEEDED)
        return;
    drover_metrics_set(
        metrics, CPU_SECONDS, DROVER_NO_LABELS,
        (g_ascii_strtod(words[STAT_UTIME], NULL) + g_ascii_strtod(words[STAT_STIME], NULL)) /
            ticks);
    drover_metrics_set(metrics, VIRTUAL_BYTES, DROVER_NO_LABELS,
                       g_ascii_strtod(words[STAT_VIRTUAL], NULL));
    drover_metrics_set(metrics, RESIDENT_BYTES, DROVER_NO_LABELS,
                       g_ascii_strtod(words[STAT_RESIDENT], NULL) * page);
    if (boot > 0)
        drover_metrics_set(metrics, START_TIME, DROVER_NO_LABELS,
                           boot + g_ascii_strtod(words[STAT_START], NULL) / ticks);
}

static void
take_files(DroverMetrics *metrics)
{
    g_autoptr(GDir) dir = g_dir_open("/proc/self/fd", 0, NULL);
    struct rlimit limit;
    guint open = 0;

    while (dir != NULL && g_dir_read_name(dir) != NULL)
        open++;
    /* One of them is that of the folder just read. */
    if (open > 0)
        drover_metrics_set(metrics, OPEN_FDS, DROVER_NO_LABELS, open - 1);
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
        drover_metrics_set(metrics, MAX_FDS, DROVER_NO_LABELS, (double)limit.rlim_cur);
}

void
drover_metrics_write_process(DroverExposition form, GString *text)
{
    g_autoptr(DroverMetrics) metrics = drover_metrics_new(specs, G_N_ELEMENTS(specs));

    take_stat(metrics);
    take_files(metrics);
    drover_metrics_write(metrics, form, text);
}
