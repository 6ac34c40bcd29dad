/*
 * What a launcher shows over HTTP: Nodepool's status pages, and, at a port of their own, metrics
 * and probes. All of it is read from the launcher's caches on the core loop.
 */
#pragma once

#include "launcher/launcher.h"

typedef struct _DroverWeb DroverWeb;

typedef struct {
    gboolean status; /* the status pages are wanted though no webapp section is there */
    gboolean no_status;
} DroverWebOptions;

/*
 * Listens where the launcher's configuration and the environment say. NULL with an error that names
 * address and port. The launcher lives longer.
 */
DroverWeb *drover_web_new(DroverLauncher *launcher, const DroverWebOptions *options,
                          GError **error);
/* NULL is allowed. */
void drover_web_free(DroverWeb *web);
