/* What every process exports of itself: CPU time, memory, open files, start. */
#pragma once

#include "metrics/registry.h"

/* Appends the families process_*, as they are now; what the system does not tell is left out. */
void drover_metrics_write_process(DroverExposition form, GString *text);
