/* What loading needs of the configuration's own file. */
#pragma once

#include "config/config.h"
#include "config/report.h"

/* Without anything in it; the disk images are still to be set. */
DroverConfig *drover_config_new(void);

/* Adds the clients of one of the files. */
void drover_config_take_tokens(DroverConfig *config, const struct drover_value *values,
                               const DroverConfigSource *source);

/* Takes what needs no other part: labels, tenants, ages, web application, builder, folders. */
void drover_config_take_plain(DroverConfig *config, const struct drover_value *values);
