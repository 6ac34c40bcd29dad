/* Making a machine, with what belongs to it. */
#ifndef TESTCLOUD_CREATE_H
#define TESTCLOUD_CREATE_H

#include "cloud.h"

/* struct drover_driver's. */
enum drover_step create_machine(struct cloud *cloud, struct drover_operation *op);

#endif
