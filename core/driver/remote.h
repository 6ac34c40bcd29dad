/*
 * A driver in a process of its own, which looks like any other: a table whose functions pass on
 * what they are told to drover-driver-host, which has loaded the real one.
 *
 * The process is started when a provider is opened, and again, at growing intervals, when it has
 * crashed or has not come back from a call within "driver-timeout" seconds: then it is killed.
 * Operations under way go on in the next process: from what the driver had saved, or anew when that
 * does no harm; else they fail.
 */
#pragma once

#include <drover/driver.h>

/*
 * The table that stands for `driver`, which was loaded from `path`; the same each time, never
 * freed. Its providers' configuration must say "driver". Core loop.
 */
const struct drover_driver *drover_remote_driver(const struct drover_driver *driver,
                                                 const char *path);
