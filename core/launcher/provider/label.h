/*
 * What the configuration says of a label that a cloud's pool offers: its image and how the machines
 * made from it are reached. The options' names are those that all drivers of clouds share.
 */
#pragma once

#include "config/config.h"

/* The label's own section in the pool; NULL when there is none. */
const struct drover_value *drover_label_values(const DroverPoolConfig *pool, const char *label);

/* The name of the disk image that a builder makes for it; NULL when it has a cloud image, or none.
 */
const char *drover_label_diskimage(const DroverPoolConfig *pool, const char *label);

/*
 * The fields of the node record that the label's image decides: image_id (of a cloud image),
 * username, python_path, shell_type, connection_type, connection_port. New reference.
 */
json_t *drover_label_image_fields(const DroverProviderConfig *provider,
                                  const DroverPoolConfig *pool, const char *label);

/* Whether a new machine is to be reached before it counts as ready. */
gboolean drover_label_is_scanned(const DroverPoolConfig *pool, const char *label);
