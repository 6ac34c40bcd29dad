/*
 * The driver host: finds driver files, loads them and negotiates the ABI. Core loop only.
 *
 * A driver NAME is the file NAME.so in one of the directories, first match. Only what is asked for
 * is loaded, RTLD_NOW and RTLD_LOCAL. The driver's table is copied into one of the host's own size,
 * so a shorter table's missing tail reads as NULL and a longer table's tail is ignored.
 *
 * Each file is loaded in another process first, so that one which does harm at once is refused too.
 *
 * What was loaded stays until the process ends, also when the host is freed: a provider's thread
 * that has not come back yet may still be in the driver's code.
 */
#pragma once

#include <drover/driver.h>
#include <glib.h>

typedef struct _DroverDriverHost DroverDriverHost;

/* What `drover driver list` shows of one file. */
typedef struct {
    char *name; /* from the file name */
    char *path;
    const struct drover_driver *driver; /* NULL when it was refused */
    char *problem;                      /* why, one line; else NULL */
} DroverDriverFile;

/*
 * Directories are searched in order; those of the environment variable DROVER_DRIVER_PATH
 * (separated by ':') first, the installed one last.
 */
DroverDriverHost *drover_driver_host_new(const char *const *directories);
void drover_driver_host_free(DroverDriverHost *host);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DroverDriverHost, drover_driver_host_free)

/*
 * The table of a driver, loaded when it is asked for the first time; never freed. NULL with
 * an error of one line that names the file, what it was built for and what this host offers; or the
 * files looked for and the drivers installed.
 */
const struct drover_driver *drover_driver_host_find(DroverDriverHost *host, const char *name,
                                                    GError **error);

/* The file of a driver that a host has loaded; NULL for any other. */
const char *drover_driver_host_path(const struct drover_driver *driver);

/* The same in a process of its own: see remote.h. */
const struct drover_driver *drover_driver_host_find_isolated(DroverDriverHost *host,
                                                             const char *name, GError **error);

/* Every driver file found, sorted by name. Loads them all. Elements are DroverDriverFile. */
GPtrArray *drover_driver_host_list(DroverDriverHost *host);
