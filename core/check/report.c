#include "check/report.h"

#include <stdio.h>

#include "base/json.h"

static const char *const outcome_names[] = {
    [DROVER_CHECK_OK] = "ok",
    [DROVER_CHECK_FAILED] = "FAIL",
    [DROVER_CHECK_SKIPPED] = "skipped",
};

struct _DroverCheckReport {
    char *path;
    gboolean json;
    json_t *checks;
    guint counts[G_N_ELEMENTS(outcome_names)];
};

DroverCheckReport *
drover_check_report_new(const char *path, gboolean json)
{
    DroverCheckReport *report = g_new0(DroverCheckReport, 1);

    report->path = g_strdup(path);
    report->json = json;
    report->checks = json_array();
    return report;
}

void
drover_check_report_free(DroverCheckReport *report)
{
    json_decref(report->checks);
    g_free(report->path);
    g_free(report);
}

void
drover_check_report_add(DroverCheckReport *report, const char *name, DroverCheckOutcome outcome,
                        const char *reason)
{
    report->counts[outcome]++;
    json_array_append_new(report->checks, json_pack("{s:s, s:s, s:o}", "check", name, "outcome",
                                                    outcome_names[outcome], "reason",
                                                    drover_json_from_string(reason)));
    if (report->json)
        return;
    printf("%-7s  %s%s%s\n", outcome_names[outcome], name, reason != NULL ? ": " : "",
           reason != NULL ? reason : "");
    fflush(stdout);
}

gboolean
drover_check_report_is_ok(const DroverCheckReport *report, const char *name)
{
    const json_t *check;
    size_t i;

    json_array_foreach(report->checks, i, check)
    {
        if (g_strcmp0(drover_json_string(check, "check"), name) == 0)
            return g_strcmp0(drover_json_string(check, "outcome"),
                             outcome_names[DROVER_CHECK_OK]) == 0;
    }
    return FALSE;
}

guint
drover_check_report_failed(const DroverCheckReport *report)
{
    return report->counts[DROVER_CHECK_FAILED];
}

void
drover_check_report_end(DroverCheckReport *report)
{
    const guint *counts = report->counts;

    if (report->json) {
        g_autoptr(json_t) whole = json_pack(
            "{s:s, s:O, s:i, s:i, s:i}", "file", report->path, "checks", report->checks, "ok",
            (int)counts[DROVER_CHECK_OK], "failed", (int)counts[DROVER_CHECK_FAILED], "skipped",
            (int)counts[DROVER_CHECK_SKIPPED]);

        json_dumpf(whole, stdout, JSON_INDENT(2));
        putchar('\n');
    } else {
        printf("%s: %u ok, %u failed, %u skipped\n", report->path, counts[DROVER_CHECK_OK],
               counts[DROVER_CHECK_FAILED], counts[DROVER_CHECK_SKIPPED]);
    }
    fflush(stdout);
}
