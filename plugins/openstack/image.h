/*
 * Images that are in the cloud already.
 */
#ifndef OPENSTACK_IMAGE_H
#define OPENSTACK_IMAGE_H

#include "cloud.h"

/*
 * The active image whose id or name is the text, else whose name is like it, a pattern of the
 * shell. NULL: there is none, or there are several, which sets `error`.
 */
const json_t *image_choose(const json_t *images, const char *text, GError **error);

/*
 * The id of the image of the operation's label: the host's for a disk image, else that of the cloud
 * image. NULL: none yet, and the step's outcome in `step`. Free with g_free().
 */
char *image_of_label(struct cloud *cloud, struct drover_operation *op, enum drover_step *step);

/* Whether the configuration has that id: no other will be found. */
gboolean image_is_fixed(const struct cloud *cloud, const struct drover_operation *op);

/* struct drover_driver's. */
enum drover_step image_check_label(struct cloud *cloud, struct drover_operation *op);

#endif
