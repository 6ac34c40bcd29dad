/*
 * A driver's config_check() is called in processes of their own, one for the sections of a driver
 * and another after each that it did not survive: code of somebody else, called for a configuration
 * that may be wrong, cannot harm a launcher that is serving.
 *
 *     config ── all sections ──► trial ── a section ──► drover-driver-host ──► config_check()
 *                                      ◄─ mistakes, with the number of the value each is about
 *
 * A call may take ten seconds; meanwhile the caller waits. When one took longer, the rest of its
 * driver's sections are not tried: the configuration is not usable anyway.
 */
#pragma once

#include "config/config.h"

/*
 * For DroverConfigDrivers, with drivers that drover_driver_host_find() gave out. Where there is no
 * drover-driver-host the calls are just made. Core loop. `user_data` is not used.
 */
void drover_trial_run(DroverConfigTrial *trials, guint count, gpointer user_data);
