/* The files as they lie on disk. */
#pragma once

#include "config/report.h"
#include "config/substitute.h"

/* Replaces a leading ~ by the home folder and makes the path absolute. Free with g_free. */
char *drover_config_path(const char *path);

/*
 * Reads a file, with the environment's values in it. A file that does not exist is looked for
 * again for one and a half seconds if `patient`, since editors replace files. NULL when it cannot
 * be read or is no text; reported.
 */
DroverSubstitution *drover_config_read(const char *path, gboolean patient,
                                       const DroverConfigSource *source);

/* Whether others than its owner and group may read the file. */
gboolean drover_config_is_exposed(const char *path);
