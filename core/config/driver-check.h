/* What drivers themselves have to say of their providers' configuration: config_check(). */
#pragma once

#include "config/report.h"

typedef struct _DroverDriverChecks DroverDriverChecks;

DroverDriverChecks *drover_driver_checks_new(const DroverConfigSource *source);
void drover_driver_checks_free(DroverDriverChecks *checks);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DroverDriverChecks, drover_driver_checks_free)

/* Does nothing for a driver that has no config_check(). The provider is the caller's. */
void drover_driver_checks_add(DroverDriverChecks *checks, const struct drover_driver *driver,
                              const DroverProviderConfig *provider);
/* Asks them all, once, and reports what they say with the places. */
void drover_driver_checks_run(DroverDriverChecks *checks, const DroverConfigDrivers *drivers);
