/* The host's own options, as trees for the checker. Their table is public, see config.h. */
#pragma once

#include "config/schema.h"

/* What stands before the common options of a provider in the table. */
#define DROVER_PROVIDER_PREFIX "providers[]."

/* Of nodepool.yaml, and of the secure file. */
DroverSchema *drover_common_main_schema(void);
DroverSchema *drover_common_secure_schema(void);
