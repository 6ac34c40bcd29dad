/* What the host asks of labels, zones and consoles: struct drover_driver's. */
#ifndef TESTCLOUD_LABEL_H
#define TESTCLOUD_LABEL_H

#include "cloud.h"

enum drover_step check_label_ready(struct cloud *cloud, struct drover_operation *op);
enum drover_step list_zones(struct cloud *cloud, struct drover_operation *op);
enum drover_step show_console(struct cloud *cloud, struct drover_operation *op);

#endif
