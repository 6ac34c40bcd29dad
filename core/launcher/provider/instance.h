/*
 * What a driver says of the machine that it made, as fields of the node's record.
 */
#pragma once

#include "config/config.h"
#include "driver/runner.h"

/*
 * The fields to be set, of a machine that was made for the pool: null for what the driver gives no
 * value, except where the image says something already. New reference.
 */
json_t *drover_instance_fields(const DroverTaskResult *made, const DroverPoolConfig *pool);
