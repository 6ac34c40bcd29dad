/* Uploading an image. */
#ifndef OPENSTACK_UPLOAD_H
#define OPENSTACK_UPLOAD_H

#include "work.h"

extern const struct work_kind upload_kind;

/* struct drover_driver's. The image's entry under `diskimages` is the label's configuration. */
enum drover_step upload_step(struct cloud *cloud, struct drover_operation *op);

/*
 * The record of an image as Glance is asked to make it: `metadata`, over it the entry's own
 * properties, over them the host's marks ("nodepool_..."). All of them text, except those for which
 * Glance has another type. A new reference.
 */
json_t *upload_description(const char *name, const char *format, const json_t *metadata,
                           const struct drover_value *properties, const struct settings *settings);

/* Whether what Glance has is what was sent, as far as can be told. `md5` and `sha256` may be NULL.
 */
gboolean upload_is_intact(const json_t *image, const char *md5, const char *sha256);

#endif
