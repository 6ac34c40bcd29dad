/*
 * A driver's table as this host knows it. The driver's own may be shorter or longer, because it was
 * built against another minor of the ABI.
 */
#pragma once

#include <drover/driver.h>
#include <glib.h>

typedef struct {
    struct drover_driver driver;   /* of this host's size; what the driver's lacks is zero */
    struct drover_option *options; /* likewise; ends with a NULL path */
} DroverDriverTable;

/*
 * Negotiates the ABI and copies the table, not what it points to. NULL with an error of one line
 * when it cannot be used: `path` and `name` say which file it came from.
 */
DroverDriverTable *drover_driver_table_new(const struct drover_driver *theirs, const char *path,
                                           const char *name, GError **error);
void drover_driver_table_free(DroverDriverTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DroverDriverTable, drover_driver_table_free)
