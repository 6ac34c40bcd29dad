/* What a driver has cleaned: from any thread to the core loop. */
#include "driver/cleaned.h"

#include <string.h>

#include "driver/runner-private.h"

#define MOST_LETTERS   40
#define MOST_AT_ONCE   1000000
#define LETTERS        G_CSET_a_2_z
#define MORE_THAN_THAT G_CSET_DIGITS "-_"

const char *
drover_cleaned_problem(const char *what, guint32 count)
{
    if (what == NULL || *what == '\0')
        return "does not say what it has cleaned";
    if (strchr(LETTERS, *what) == NULL || strlen(what) > MOST_LETTERS ||
        what[strspn(what, LETTERS MORE_THAN_THAT)] != '\0')
        return "says that it has cleaned what no metric can be called";
    if (count > MOST_AT_ONCE)
        return "says that it has cleaned more than there can be";
    return NULL;
}

typedef struct {
    DroverRunner *runner;
    char *what;
    guint32 count;
} Report;

static void
report_free(gpointer data)
{
    Report *report = data;

    drover_runner_unref(report->runner);
    g_free(report->what);
    g_free(report);
}

static void
on_report(gpointer data)
{
    const Report *report = data;

    drover_runner_tell_cleaned(report->runner, report->what, report->count);
}

void
drover_runner_on_cleaned(void *data, const char *what, uint32_t count)
{
    const char *problem = drover_cleaned_problem(what, count);
    Report *report;

    if (problem != NULL) {
        g_autofree char *text = g_strconcat("the driver ", problem, ": left out", NULL);

        drover_runner_log(data, DROVER_WARNING, NULL, text);
        return;
    }
    if (count == 0)
        return;
    report = g_new0(Report, 1);
    report->runner = drover_runner_ref(data);
    report->what = g_strdup(what);
    report->count = count;
    drover_runner_tell_core(report->runner, on_report, report, report_free);
}
