/* Providers and their pools: from checked values, with the settings that come from elsewhere. */
#pragma once

#include "config/schema.h"

/* Frees a DroverProviderConfig. */
void drover_provider_config_free(DroverProviderConfig *provider);

/*
 * Makes a provider of its checked values. `schema` is what they were checked against; `diskimages`
 * are all images of the configuration; `settings` are those of the driver under `drivers:`, or
 * NULL; `problem` says why it cannot be started, or is NULL.
 */
DroverProviderConfig *drover_provider_config_new(const struct drover_value *values,
                                                 const DroverSchema *schema,
                                                 const GPtrArray *diskimages,
                                                 const struct drover_value *settings,
                                                 const char *problem);
