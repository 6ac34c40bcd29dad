/* Disk images: inheritance, and the secure file's variables. */
#pragma once

#include "config/check.h"

/* Frees what a DroverDiskImageConfig holds, and itself. */
void drover_diskimage_config_free(DroverDiskImageConfig *image);

/*
 * The images of a list that was checked against `schema`, with what they inherit. Reports parents
 * that do not exist or form a circle. Free the array; it owns its elements.
 */
GPtrArray *drover_diskimages_new(const DroverSchema *schema, const struct drover_value *list,
                                 const DroverConfigSource *source);

/* Adds the variables of the secure file's list. Reports images that do not exist or are abstract.
 */
void drover_diskimages_add_secrets(GPtrArray *images, const struct drover_value *list,
                                   const DroverConfigSource *source);

DroverDiskImageConfig *drover_diskimages_find(const GPtrArray *images, const char *name);
