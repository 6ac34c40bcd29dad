/*
 * What the cloud says of a machine, and how one is asked for.
 */
#ifndef TESTCLOUD_MACHINE_H
#define TESTCLOUD_MACHINE_H

#include <jansson.h>

#include "cloud.h"

#define VOLUME_GB 1 /* of the volume that a label may want */

enum machine_state {
    MACHINE_BOOTS = 1,
    MACHINE_UP,
    MACHINE_BROKEN,
};

/* The label's tags, and over them those of the host. A new reference. */
json_t *machine_tags(const struct drover_operation *op);
/* What a machine of the operation's label is made of; takes `tags` over. NULL: there is no image.
 */
json_t *machine_description(struct cloud *cloud, const struct drover_operation *op, json_t *tags);

/* FALSE for one that the cloud lists although it is gone. */
int machine_exists(const json_t *machine);
enum machine_state machine_state(const json_t *machine);
/* Ends a create with the machine's address, what the cloud says of its use, and its cost. */
enum drover_step machine_show(struct drover_operation *op, const json_t *machine);
/* Ends a create with what is wrong with the machine. */
enum drover_step machine_fail(struct drover_operation *op, const json_t *machine);
/* Cores, memory and itself, by its flavor. */
void machine_show_cost(struct drover_operation *op, const json_t *flavor);
/* The same for a machine of the operation's label, with its extra objects. */
void machine_show_label_cost(struct drover_operation *op, const json_t *flavor);

#endif
