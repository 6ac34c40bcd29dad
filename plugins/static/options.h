/*
 * What stands under a provider of static machines.
 */
#ifndef STATIC_OPTIONS_H
#define STATIC_OPTIONS_H

#include <drover/driver.h>

extern const struct drover_option static_options[];

/* One machine's section, "pools[].nodes[]", with its defaults filled in. */
const char *machine_name(const struct drover_value *machine);
const char *machine_username(const struct drover_value *machine);
uint16_t machine_port(const struct drover_value *machine);
uint32_t machine_timeout(const struct drover_value *machine); /* milliseconds */
uint32_t machine_slots(const struct drover_value *machine);
int machine_checks_host_keys(const struct drover_value *machine);
/* Whether consumers reach it by SSH, so that its host keys matter. */
int machine_has_host_keys(const struct drover_value *machine);

#endif
