/* Making a machine, with what belongs to it. */
#ifndef TESTCLOUD_CREATE_H
#define TESTCLOUD_CREATE_H

#include "work.h"

extern const struct work_kind creation_kind;

/* struct drover_driver's. */
enum drover_step create_machine(struct cloud *cloud, struct drover_operation *op);

#endif
