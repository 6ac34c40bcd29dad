/* Limits of the account, costs of labels, use by machines: struct drover_driver's. */
#ifndef TESTCLOUD_QUOTA_H
#define TESTCLOUD_QUOTA_H

#include "cloud.h"

enum drover_step show_limits(struct cloud *cloud, struct drover_operation *op);
enum drover_step show_label_cost(struct cloud *cloud, struct drover_operation *op);
enum drover_step show_usage(struct cloud *cloud, struct drover_operation *op);

#endif
