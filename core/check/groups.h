/* The groups of checks, each of one part of the contract. */
#pragma once

#include "check/subject.h"

/* What can be said of the file and its tables. */
extern const DroverCheckGroup drover_file_checks;
/* A provider's life, without any operation. */
extern const DroverCheckGroup drover_life_checks;
/* Machines: made, listed, deleted; cancelled and taken up at each step. */
extern const DroverCheckGroup drover_machine_checks;
extern const DroverCheckGroup drover_interruption_checks;
/* All other operations. */
extern const DroverCheckGroup drover_inventory_checks;
extern const DroverCheckGroup drover_listing_checks;
extern const DroverCheckGroup drover_image_checks;

/*
 * Loads the driver's file as the launcher does, as far as that goes: `driver` is set, or the check
 * that is under way has failed. FALSE then.
 */
gboolean drover_subject_load(DroverSubject *subject);
/*
 * Loads the configuration and chooses the provider. FALSE when the current check cannot go on; it
 * was told so.
 */
gboolean drover_subject_configure(DroverSubject *subject);
/* The options of the driver's table, all mistakes in one text; NULL without one. Free with g_free.
 */
char *drover_check_options(const struct drover_driver *driver);
/*
 * The names that a library exports beside `expected`, and whether it needs what is for hosts alone.
 * Strong names only; NULL and FALSE for what is no ELF file.
 */
char **drover_check_exports(const char *path, const char *expected, gboolean *uses_private);
