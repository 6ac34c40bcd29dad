/*
 * The checks of single types. Each makes the value, or reports and returns NULL.
 */
#pragma once

#include "config/spot.h"

struct drover_value *drover_check_string(DroverCheck *check, const DroverSpot *spot);
struct drover_value *drover_check_integer(DroverCheck *check, const DroverSpot *spot);
struct drover_value *drover_check_number(DroverCheck *check, const DroverSpot *spot);
struct drover_value *drover_check_boolean(DroverCheck *check, const DroverSpot *spot);
struct drover_value *drover_check_strings(DroverCheck *check, const DroverSpot *spot);
/* Takes whatever there is, not looked into. Never NULL. */
struct drover_value *drover_check_any(DroverCheck *check, const DroverSpot *spot);
