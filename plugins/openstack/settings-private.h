/*
 * What the files of the settings share: settings-load.c makes them of clouds.yaml, settings-check.c
 * refuses what the driver cannot do, settings.c tells what they say.
 */
#ifndef OPENSTACK_SETTINGS_PRIVATE_H
#define OPENSTACK_SETTINGS_PRIVATE_H

#include "settings.h"

/* Whether a map has a text, which is not empty. */
gboolean settings_has(const json_t *map, const char *key);
/* Whether the domain of `of`, "user" or "project", is given. */
gboolean settings_has_domain(const json_t *auth, const char *of);
gboolean settings_as_flag(const json_t *value, gboolean otherwise);
const char *settings_auth_type(const struct settings *settings);

#endif
