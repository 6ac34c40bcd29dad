/*
 * The error set of a provider: labels that can never work as they are configured, and why. A cloud
 * may get tomorrow what it lacks today, so that a label is given another chance from time to time.
 * Times are monotonic, in microseconds.
 */
#pragma once

#include <glib.h>

/* How long a label is in the set. */
#define DROVER_LABEL_ERROR_SECONDS 300

typedef struct _DroverLabelErrors DroverLabelErrors;

DroverLabelErrors *drover_label_errors_new(void);
void drover_label_errors_free(DroverLabelErrors *errors);

/* The label is in the set from now on. TRUE when that is news: not of the same as the last time. */
gboolean drover_label_errors_add(DroverLabelErrors *errors, const char *label, const char *why,
                                 gint64 now);
/* It works; what happens next is news. */
void drover_label_errors_remove(DroverLabelErrors *errors, const char *label);
/* Why it is in the set; NULL: it is not. */
const char *drover_label_errors_why(const DroverLabelErrors *errors, const char *label, gint64 now);
