/* Uploading an image. */
#ifndef TESTCLOUD_UPLOAD_H
#define TESTCLOUD_UPLOAD_H

#include "work.h"

extern const struct work_kind upload_kind;

/* struct drover_driver's. */
enum drover_step upload_image(struct cloud *cloud, struct drover_operation *op);

#endif
