/*
 * A provider at work for a program that does one thing and ends: its driver is loaded and opened,
 * asked one thing at a time, and closed, and each call waits. Core loop only.
 */
#pragma once

#include "cli/command.h"
#include "driver/runner.h"

typedef struct _DroverCliProvider DroverCliProvider;

/* Loads the driver and starts it. `config` lives longer. */
DroverCliProvider *drover_cli_provider_open(DroverCli *cli, const DroverProviderConfig *config,
                                            GError **error);
void drover_cli_provider_close(DroverCliProvider *provider);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DroverCliProvider, drover_cli_provider_close)

gboolean drover_cli_provider_can(const DroverCliProvider *provider,
                                 enum drover_capability capability);
/*
 * Does it within that many seconds. `items` (may be NULL): json_t objects, as in runner.h; free
 * with g_ptr_array_unref. Errors: DROVER_ERROR_NOT_FOUND, DROVER_ERROR_TIMEOUT,
 * DROVER_ERROR_FAILED.
 */
gboolean drover_cli_provider_run(DroverCliProvider *provider, DroverTaskKind kind,
                                 const DroverTaskInput *input, guint seconds, GPtrArray **items,
                                 GError **error);
