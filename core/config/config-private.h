/* What loading needs of the configuration's own file. */
#pragma once

#include "config/config.h"

/* Without anything in it; the disk images are still to be set. */
DroverConfig *drover_config_new(void);

/* Takes what needs no other part: labels, tenants, ages, web application, builder, folders. */
void drover_config_take_plain(DroverConfig *config, const struct drover_value *values);
