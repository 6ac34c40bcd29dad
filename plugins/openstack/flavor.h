/*
 * Sizes of machines.
 */
#ifndef OPENSTACK_FLAVOR_H
#define OPENSTACK_FLAVOR_H

#include "cloud.h"

/*
 * The flavor of a label among all: with `min_ram`, in MiB, the first by memory and name that has as
 * much, and `name` within its name when that is given too; without (0), the one whose name or id is
 * `name`. NULL: there is none.
 */
const json_t *flavor_choose(const json_t *flavors, int64_t min_ram, const char *name);

/* That of the operation's label; NULL: none yet, and the step's outcome in `step`. */
const json_t *flavor_of_label(struct cloud *cloud, struct drover_operation *op,
                              enum drover_step *step);

#endif
