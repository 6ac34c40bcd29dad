/* openapi.json, as text: the description of the API. */
#pragma once

#include <glib.h>

extern const char drover_openapi[];
extern const gsize drover_openapi_size;
