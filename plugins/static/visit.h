/*
 * Visiting a machine: for registering its slots, and just before one of them is given away. The
 * functions are those of struct drover_driver.
 */
#ifndef STATIC_VISIT_H
#define STATIC_VISIT_H

#include <drover/driver.h>

enum drover_step visit_to_register(void *self, struct drover_operation *op);
enum drover_step visit_to_check(void *self, struct drover_operation *op);
void visit_cancel(void *self, struct drover_operation *op);

#endif
