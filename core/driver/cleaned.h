/* What drivers say that they have cleaned at their clouds; see drover_provider_cleaned(). */
#pragma once

#include <glib.h>

/* What is wrong with such a report, in words that follow "it"; NULL: nothing. Any thread. */
const char *drover_cleaned_problem(const char *what, guint32 count);
