/* For those who keep a limiter. */
#pragma once

#include <drover/limit.h>

struct drover_limiter *drover_limiter_ref(struct drover_limiter *limiter);
