/*
 * Machines and whatever else of a provider's own at its cloud that no node knows of any more, and
 * images whose upload is in ZooKeeper no more. A list may be older than the tree, so only what is
 * found in two rounds in a row is deleted; and only what carries the provider's tags.
 */
#pragma once

#include "driver/runner.h"
#include "launcher/cluster/cluster.h"
#include "launcher/telemetry/telemetry.h"

typedef struct _DroverLeaks DroverLeaks;

DroverLeaks *drover_leaks_new(DroverCluster *cluster, DroverRunner *runner,
                              DroverTelemetry *telemetry);
/* Before the runner is closed. */
void drover_leaks_free(DroverLeaks *leaks);

/* Begins a round, unless the last one is not over. */
void drover_leaks_run(DroverLeaks *leaks);
