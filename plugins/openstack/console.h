/* The text of a machine's console: struct drover_driver's. */
#ifndef OPENSTACK_CONSOLE_H
#define OPENSTACK_CONSOLE_H

#include "work.h"

enum drover_step console_step(struct cloud *cloud, struct drover_operation *op);

#endif
