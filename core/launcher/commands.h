/*
 * The launcher's commands over its socket: stop, graceful, pause, unpause, status, reconfigure,
 * explain, dump, profile. Each does what a function of launcher.h does, as the signals do.
 */
#pragma once

#include "command/server.h"
#include "launcher/launcher.h"

/* Free the server before the launcher. */
DroverCommandServer *drover_launcher_serve_commands(DroverLauncher *launcher, const char *path,
                                                    GError **error);
