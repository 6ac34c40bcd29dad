/* A provider's life, without any operation. */
#include <malloc.h>
#include <string.h>

#include "check/groups.h"
#include "check/operations.h"

#define LIVES             3
#define PATIENCE          2 /* seconds, for threads to end */
#define MEMORY_LIVES      12
#define MEMORY_LIVES_LAST 6 /* of them, those in which nothing must be added any more */

/* FALSE when it cannot be opened. */
static gboolean
live(DroverSubject *subject)
{
    DroverBench *bench = drover_check_open(subject);

    if (bench == NULL)
        return FALSE;
    drover_bench_close(bench);
    if (drover_bench_mistake(bench) != NULL)
        drover_subject_fail(subject, "%s", drover_bench_mistake(bench));
    drover_bench_free(bench);
    return TRUE;
}

/* Two providers of one driver have nothing in common. */
static void
check_two(DroverSubject *subject)
{
    DroverBench *first = drover_check_open(subject);
    DroverBench *second =
        first != NULL ? drover_bench_open(subject, "drover-driver-check-second") : NULL;

    if (second != NULL && drover_bench_self(first) == drover_bench_self(second) &&
        drover_bench_self(first) != NULL)
        drover_subject_fail(subject, "two providers share one object");
    if (first != NULL)
        drover_check_close(subject, first);
    if (second != NULL)
        drover_check_close(subject, second);
}

/* News of what it does not know does no harm. */
static void
check_news(DroverSubject *subject)
{
    const struct drover_driver *driver = subject->driver;
    DroverBench *bench = drover_check_open(subject);

    if (bench == NULL)
        return;
    if (driver->scan_failed != NULL)
        driver->scan_failed(drover_bench_self(bench), "no-such-label", "no-such-machine");
    if (driver->node_reused != NULL)
        driver->node_reused(drover_bench_self(bench), "9999999999", "100-9999999999");
    if (driver->node_deleted != NULL)
        driver->node_deleted(drover_bench_self(bench), "9999999999");
    if (driver->scan_failed == NULL && driver->node_reused == NULL && driver->node_deleted == NULL)
        drover_subject_skip(subject, "the driver hears no news");
    drover_check_close(subject, bench);
}

/* The first one is watched when it was closed: a driver that still does something then would do it
 * to what the host has freed. */
static gboolean
check_first(DroverSubject *subject)
{
    DroverBench *bench = drover_check_open(subject);
    gboolean quiet;

    if (bench == NULL)
        return FALSE;
    drover_bench_watch(bench, 100);
    drover_bench_close(bench);
    if (drover_bench_mistake(bench) != NULL)
        drover_subject_fail(subject, "%s", drover_bench_mistake(bench));
    drover_subject_begin(subject, "quiet");
    drover_bench_watch(bench, 300);
    quiet = drover_bench_mistake(bench) == NULL;
    if (!quiet)
        drover_subject_fail(subject, "%s", drover_bench_mistake(bench));
    drover_bench_free(bench);
    return quiet;
}

/* ---- What is left behind ---- */

static guint
count(const char *folder)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    guint entries = 0;

    while (dir != NULL && g_dir_read_name(dir) != NULL)
        entries++;
    return entries;
}

/* What is made once and kept for good was made in the lives before. */
static void
check_growth(DroverSubject *subject, const char *folder, const char *things)
{
    guint before = count(folder), after = 0;
    gint64 deadline;

    for (guint i = 0; i < LIVES; i++)
        if (!live(subject))
            return;
    deadline = g_get_monotonic_time() + PATIENCE * G_USEC_PER_SEC;
    while ((after = count(folder)) > before && g_get_monotonic_time() < deadline)
        g_usleep(10000);
    if (after > before)
        drover_subject_fail(subject, "%u providers that were closed left %u %s behind", LIVES,
                            after - before, things);
}

/* Sanitizers, which have allocators of their own, see leaks at the end. */
static void
check_memory(DroverSubject *subject)
{
    gboolean grows = TRUE;
    gsize before = 0, start = 0;

    for (guint i = 0; i < MEMORY_LIVES; i++) {
        gsize used;

        if (!live(subject))
            return;
        used = mallinfo2().uordblks;
        if (i == MEMORY_LIVES - MEMORY_LIVES_LAST - 1)
            start = used;
        else if (i >= MEMORY_LIVES - MEMORY_LIVES_LAST)
            grows &= used > before;
        before = used;
    }
    if (grows)
        drover_subject_fail(subject, "each provider that was closed leaves %zu bytes behind",
                            (before - start) / MEMORY_LIVES_LAST);
}

static void
run(DroverSubject *subject)
{
    drover_subject_begin(subject, "life");
    if (!check_first(subject))
        return;
    drover_subject_begin(subject, "second-life");
    if (!live(subject))
        return;
    drover_subject_begin(subject, "two-at-once");
    check_two(subject);
    drover_subject_begin(subject, "news");
    check_news(subject);
    drover_subject_begin(subject, "threads");
    check_growth(subject, "/proc/self/task", "threads");
    drover_subject_begin(subject, "files");
    check_growth(subject, "/proc/self/fd", "open files");
    drover_subject_begin(subject, "memory");
    check_memory(subject);
}

static const char *const checks[] = {"life",    "quiet", "second-life", "two-at-once", "news",
                                     "threads", "files", "memory",      NULL};
const DroverCheckGroup drover_life_checks = {checks, run};
