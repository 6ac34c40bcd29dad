/*
 * The lists of images, builds and uploads, made of what model/image-reading.h reads. Sorted by
 * image, build, provider and upload. Each returns a new array.
 */
#pragma once

#include "cli/row-table.h"

extern const DroverColumn drover_upload_columns[], drover_build_columns[],
    drover_image_status_columns[], drover_build_request_columns[];

typedef enum { DROVER_BUILDS_BY_ID, DROVER_BUILDS_NEWEST_FIRST } DroverBuildOrder;

json_t *drover_upload_rows(const json_t *images, DroverBuildOrder order);
json_t *drover_build_rows(const json_t *images, DroverBuildOrder order);
/* One row for each image. */
json_t *drover_image_status_rows(const json_t *images);
/* One row for each image whose build was asked for. */
json_t *drover_build_request_rows(const json_t *images);
