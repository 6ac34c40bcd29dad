/*
 * What may stand under a provider of kind "openstack", and how it is read.
 */
#ifndef OPENSTACK_OPTIONS_H
#define OPENSTACK_OPTIONS_H

#include <drover/driver.h>

extern const struct drover_option openstack_options[];

/* struct drover_driver's. */
void options_check(const struct drover_value *config, struct drover_report *report);

/* The entry of `list` (a member of the provider's section) of that name; NULL: there is none. */
const struct drover_value *options_find(const struct drover_value *config, const char *list,
                                        const char *name);
/* The section of a label's cloud image; NULL for a label with a disk image. */
const struct drover_value *options_cloud_image(const struct drover_value *config,
                                               const struct drover_value *label);
/* The section of a label's image, of either kind; NULL: there is none. */
const struct drover_value *options_image(const struct drover_value *config,
                                         const struct drover_value *label);

#endif
