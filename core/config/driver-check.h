/* What a driver itself has to say of a provider's configuration. */
#pragma once

#include "config/report.h"

/* Calls the driver's config_check(), if it has one, and reports what it says with the places. */
void drover_driver_check(const struct drover_driver *driver, const DroverProviderConfig *provider,
                         const DroverConfigSource *source);
