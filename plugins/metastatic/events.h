/* What the host says of backing nodes and slots. */
#pragma once

#include <drover/driver.h>

void hear_event(void *self, enum drover_backing_event event, const struct drover_value *facts);
