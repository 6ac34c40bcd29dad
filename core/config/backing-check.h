/* What only all providers together show of those whose labels are slots of others' machines. */
#pragma once

#include "config/report.h"

/* `providers`: const DroverProviderConfig of drivers with DROVER_CAN_BACKING. */
void drover_backing_check(const DroverConfigSource *source, const GPtrArray *providers);
