/* An option of a table as JSON, for people and for the documents. */
#pragma once

#include <drover/driver.h>
#include <jansson.h>

/* An object; free with json_decref. What the option does not say is null. */
json_t *drover_option_to_json(const struct drover_option *option);
