/*
 * Option tables to check configurations against: that of the static driver, and tables of the form
 * that drivers for OpenStack, AWS and others have.
 */
#pragma once

#include "config/config.h"

/* For drover_config_load(); an unknown driver's error names the file and what is installed. */
const struct drover_driver *test_find_driver(const char *name, gpointer user_data, GError **error);
