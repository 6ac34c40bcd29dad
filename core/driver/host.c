#include "driver/host.h"

#include <dlfcn.h>
#include <ltdl.h>
#include <string.h>

#include "base/error.h"
#include "driver/helper.h"
#include "driver/remote.h"
#include "driver/table.h"

#define SUFFIX ".so"

struct _DroverDriverHost {
    char **directories;
};

/*
 * Drivers in use, path -> DroverDriverTable. What was loaded stays until the process ends: a thread
 * may still be in the driver's code when nobody needs it any more.
 */
static GHashTable *residents;

DroverDriverHost *
drover_driver_host_new(const char *const *directories)
{
    DroverDriverHost *host = g_new0(DroverDriverHost, 1);
    const char *environment = g_getenv("DROVER_DRIVER_PATH");
    g_auto(GStrv) first = g_strsplit(environment != NULL ? environment : "", ":", -1);
    g_autoptr(GPtrArray) all = g_ptr_array_new();

    for (char **directory = first; *directory != NULL; directory++)
        if (**directory != '\0')
            g_ptr_array_add(all, g_strdup(*directory));
    for (; directories != NULL && *directories != NULL; directories++)
        g_ptr_array_add(all, g_strdup(*directories));
    g_ptr_array_add(all, g_strdup(DROVER_DRIVER_DIR));
    g_ptr_array_add(all, NULL);
    host->directories = (char **)g_ptr_array_free(g_steal_pointer(&all), FALSE);
    if (residents == NULL) {
        residents = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        lt_dlinit();
    }
    return host;
}

void
drover_driver_host_free(DroverDriverHost *host)
{
    g_strfreev(host->directories);
    g_free(host);
}

/* ---- Loading one file ---- */

static void
refuse(GError **error, const char *path, const char *reason)
{
    g_set_error(error, DROVER_ERROR, DROVER_ERROR_UNSUPPORTED,
                "driver %s is refused: %s; this host offers ABI %d.%d", path, reason,
                DROVER_ABI_MAJOR, DROVER_ABI_MINOR);
}

/*
 * libltdl binds lazily, so that a missing symbol would show only when it is called, perhaps weeks
 * later. The file is therefore opened with everything bound before libltdl gets it.
 */
static lt_dlhandle
open_bound(const char *path, GError **error)
{
    void *bound = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    lt_dlhandle handle = NULL;
    lt_dladvise advise;

    if (bound == NULL) {
        refuse(error, path, dlerror());
        return NULL;
    }
    if (lt_dladvise_init(&advise) == 0) {
        if (lt_dladvise_local(&advise) == 0)
            handle = lt_dlopenadvise(path, advise);
        lt_dladvise_destroy(&advise);
    }
    if (handle == NULL)
        refuse(error, path, lt_dlerror());
    dlclose(bound);
    return handle;
}

/* What the driver says of itself. */
static const struct drover_driver *
ask(lt_dlhandle handle, const char *path, GError **error)
{
    const struct drover_driver *(*entry)(void);
    const struct drover_driver *theirs;
    void *symbol = lt_dlsym(handle, "drover_driver_entry");

    if (symbol == NULL) {
        refuse(error, path, "it has no drover_driver_entry()");
        return NULL;
    }
    memcpy(&entry, &symbol, sizeof(entry));
    theirs = entry();
    if (theirs == NULL)
        refuse(error, path, "drover_driver_entry() returned nothing");
    return theirs;
}

static const struct drover_driver *
load(const char *path, const char *name, GError **error)
{
    DroverDriverTable *table = g_hash_table_lookup(residents, path);
    const struct drover_driver *theirs;
    g_autofree char *reason = NULL;
    lt_dlhandle handle;

    if (table != NULL)
        return &table->driver;
    if (!drover_helper_try_load(path, &reason)) {
        refuse(error, path, reason);
        return NULL;
    }
    handle = open_bound(path, error);
    if (handle == NULL)
        return NULL;
    theirs = ask(handle, path, error);
    table = theirs != NULL ? drover_driver_table_new(theirs, path, name, error) : NULL;
    if (table == NULL) {
        lt_dlclose(handle);
        return NULL;
    }
    lt_dlmakeresident(handle);
    g_hash_table_insert(residents, g_strdup(path), table);
    return &table->driver;
}

/* ---- Finding files ---- */

static void
driver_file_free(gpointer data)
{
    DroverDriverFile *file = data;

    g_free(file->name);
    g_free(file->path);
    g_free(file->problem);
    g_free(file);
}

static gint
compare_files(gconstpointer a, gconstpointer b)
{
    return strcmp((*(DroverDriverFile *const *)a)->name, (*(DroverDriverFile *const *)b)->name);
}

static gboolean
is_listed(const GPtrArray *files, const char *name)
{
    for (guint i = 0; i < files->len; i++)
        if (strcmp(((DroverDriverFile *)files->pdata[i])->name, name) == 0)
            return TRUE;
    return FALSE;
}

static void
list_directory(const char *directory, GPtrArray *files)
{
    g_autoptr(GDir) dir = g_dir_open(directory, 0, NULL);
    const char *entry;

    while (dir != NULL && (entry = g_dir_read_name(dir)) != NULL) {
        g_autofree char *name = NULL;
        DroverDriverFile *file;

        if (!g_str_has_suffix(entry, SUFFIX))
            continue;
        name = g_strndup(entry, strlen(entry) - strlen(SUFFIX));
        if (is_listed(files, name))
            continue;
        file = g_new0(DroverDriverFile, 1);
        file->name = g_steal_pointer(&name);
        file->path = g_build_filename(directory, entry, NULL);
        g_ptr_array_add(files, file);
    }
}

static GPtrArray *
find_files(const DroverDriverHost *host)
{
    GPtrArray *files = g_ptr_array_new_with_free_func(driver_file_free);

    for (char **directory = host->directories; *directory != NULL; directory++)
        list_directory(*directory, files);
    g_ptr_array_sort(files, compare_files);
    return files;
}

GPtrArray *
drover_driver_host_list(DroverDriverHost *host)
{
    GPtrArray *files = find_files(host);

    for (guint i = 0; i < files->len; i++) {
        DroverDriverFile *file = files->pdata[i];
        g_autoptr(GError) error = NULL;

        file->driver = load(file->path, file->name, &error);
        file->problem = error != NULL ? g_strdup(error->message) : NULL;
    }
    return files;
}

/* What to install, where drivers come in packages. Of other makers' drivers only the custom is
 * known. */
static char *
package_hint(const char *name)
{
    g_auto(GStrv) own = g_strsplit(DROVER_DRIVERS, " ", -1);

    if (DROVER_DRIVER_PACKAGES[0] == '\0' ||
        !g_regex_match_simple("^[a-z0-9][a-z0-9.+-]*$", name, 0, 0))
        return g_strdup("");
    if (g_strv_contains((const char *const *)own, name))
        return g_strconcat("; install the package ", DROVER_DRIVER_PACKAGES, name, NULL);
    return g_strconcat("; it is none of Drover's own: a package with it would be called ",
                       DROVER_DRIVER_PACKAGES, name, NULL);
}

static void
set_not_installed(const DroverDriverHost *host, const char *name, GError **error)
{
    g_autoptr(GPtrArray) files = find_files(host);
    g_autoptr(GString) installed = g_string_new(NULL);
    g_autofree char *directories = g_strjoinv(", ", host->directories);
    g_autofree char *hint = package_hint(name);

    for (guint i = 0; i < files->len; i++)
        g_string_append_printf(installed, "%s%s", i > 0 ? ", " : "",
                               ((DroverDriverFile *)files->pdata[i])->name);
    g_set_error(error, DROVER_ERROR, DROVER_ERROR_NOT_FOUND,
                "driver %s is not installed: there is no %s" SUFFIX " in %s; installed: %s%s", name,
                name, directories, installed->len > 0 ? installed->str : "none", hint);
}

const struct drover_driver *
drover_driver_host_find(DroverDriverHost *host, const char *name, GError **error)
{
    g_autofree char *file = g_strconcat(name, SUFFIX, NULL);

    /* A name is a name, never a path. */
    for (char **directory = host->directories;
         strchr(name, G_DIR_SEPARATOR) == NULL && *directory != NULL; directory++) {
        g_autofree char *path = g_build_filename(*directory, file, NULL);

        if (g_file_test(path, G_FILE_TEST_EXISTS))
            return load(path, name, error);
    }
    set_not_installed(host, name, error);
    return NULL;
}

const char *
drover_driver_host_path(const struct drover_driver *driver)
{
    GHashTableIter iter;
    gpointer path, table;

    if (residents == NULL)
        return NULL;
    g_hash_table_iter_init(&iter, residents);
    while (g_hash_table_iter_next(&iter, &path, &table))
        if (driver == &((DroverDriverTable *)table)->driver)
            return path;
    return NULL;
}

const struct drover_driver *
drover_driver_host_find_isolated(DroverDriverHost *host, const char *name, GError **error)
{
    const struct drover_driver *driver = drover_driver_host_find(host, name, error);

    if (driver == NULL)
        return NULL;
    return drover_remote_driver(driver, drover_driver_host_path(driver));
}
