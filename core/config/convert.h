/* Values of the configuration in the forms that the rest of the core works with. */
#pragma once

#include <drover/host.h>
#include <glib.h>
#include <jansson.h>

/* A new reference. A number that JSON cannot express becomes null, as does NULL. */
json_t *drover_value_to_json(const struct drover_value *value);

/* The strings of a member that is a list; empty when there are none. Free with g_strfreev. */
char **drover_value_get_strv(const struct drover_value *map, const char *key);

/* A member that is an integer, moved into what an int holds. */
int drover_value_get_int(const struct drover_value *map, const char *key, int otherwise);
