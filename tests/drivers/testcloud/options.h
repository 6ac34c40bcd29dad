/*
 * What stands under a provider of the test cloud.
 */
#ifndef TESTCLOUD_OPTIONS_H
#define TESTCLOUD_OPTIONS_H

#include <drover/driver.h>

extern const struct drover_option testcloud_options[];

void check_config(const struct drover_value *config, struct drover_report *report);

/* The entry of `list` (a member of the provider's section) of that name; NULL when there is none.
 */
const struct drover_value *find_entry(const struct drover_value *config, const char *list,
                                      const char *name);
/* The section of a label's cloud image; NULL for a label with a disk image. */
const struct drover_value *label_cloud_image(const struct drover_value *config,
                                             const struct drover_value *label);
/* Whether the label wants an object of that kind beside its machine. */
int label_wants_extra(const struct drover_value *label, const char *kind);

#endif
