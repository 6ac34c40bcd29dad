/* The options, what they cannot say, and reading them. */
#pragma once

#include <drover/driver.h>

extern const struct drover_option metastatic_options[];

void check_config(const struct drover_value *config, struct drover_report *report);

/* The first label of the provider with the name; NULL when it is configured no more. */
const struct drover_value *find_label(const struct drover_value *config, const char *name);
