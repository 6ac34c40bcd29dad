/* What the checks of a driver came to, printed as text or JSON. */
#pragma once

#include <glib.h>

typedef enum {
    DROVER_CHECK_OK,
    DROVER_CHECK_FAILED,
    DROVER_CHECK_SKIPPED,
} DroverCheckOutcome;

typedef struct _DroverCheckReport DroverCheckReport;

/* `json`: everything is printed at the end, as one object; else each line as soon as it is known.
 */
DroverCheckReport *drover_check_report_new(const char *path, gboolean json);
void drover_check_report_free(DroverCheckReport *report);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DroverCheckReport, drover_check_report_free)

/* `reason` may be NULL. */
void drover_check_report_add(DroverCheckReport *report, const char *name,
                             DroverCheckOutcome outcome, const char *reason);
gboolean drover_check_report_is_ok(const DroverCheckReport *report, const char *name);
guint drover_check_report_failed(const DroverCheckReport *report);
/* The closing line, or the object. */
void drover_check_report_end(DroverCheckReport *report);
