#include "driver/host.h"

#include <dlfcn.h>
#include <ltdl.h>
#include <string.h>

#include "base/error.h"
#include "driver/table.h"

#define SUFFIX ".so"

typedef const struct drover_driver *(*EntryFunc)(void);

typedef struct {
    lt_dlhandle handle;
    DroverDriverTable *table;
} Loaded;

struct _DroverDriverHost {
    char **directories;
    GHashTable *loaded; /* path -> Loaded */
};

static void
loaded_free(gpointer data)
{
    Loaded *loaded = data;

    drover_driver_table_free(loaded->table);
    lt_dlclose(loaded->handle);
    g_free(loaded);
}

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
    host->loaded = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, loaded_free);
    lt_dlinit();
    return host;
}

void
drover_driver_host_free(DroverDriverHost *host)
{
    g_hash_table_unref(host->loaded);
    g_strfreev(host->directories);
    g_free(host);
    lt_dlexit();
}

/* ---- Loading one file ---- */

/*
 * libltdl binds lazily, so that a missing symbol would show only when it is called, perhaps weeks
 * later. The file is opened once with everything bound before libltdl gets it.
 */
static gboolean
binds_completely(const char *path, GError **error)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (handle == NULL) {
        g_set_error(error, DROVER_ERROR, DROVER_ERROR_UNSUPPORTED, "driver %s is refused: %s", path,
                    dlerror());
        return FALSE;
    }
    dlclose(handle);
    return TRUE;
}

static lt_dlhandle
open_locally(const char *path)
{
    lt_dladvise advise;
    lt_dlhandle handle = NULL;

    if (lt_dladvise_init(&advise) != 0)
        return NULL;
    if (lt_dladvise_local(&advise) == 0)
        handle = lt_dlopenadvise(path, advise);
    lt_dladvise_destroy(&advise);
    return handle;
}

static const struct drover_driver *
load(DroverDriverHost *host, const char *path, const char *name, GError **error)
{
    Loaded *loaded = g_hash_table_lookup(host->loaded, path);
    DroverDriverTable *table = NULL;
    lt_dlhandle handle;
    EntryFunc entry;
    void *symbol;

    if (loaded != NULL)
        return &loaded->table->driver;
    if (!binds_completely(path, error))
        return NULL;
    handle = open_locally(path);
    symbol = handle != NULL ? lt_dlsym(handle, "drover_driver_entry") : NULL;
    if (symbol == NULL) {
        g_set_error(error, DROVER_ERROR, DROVER_ERROR_UNSUPPORTED, "driver %s is refused: %s", path,
                    handle != NULL ? "it has no drover_driver_entry()" : lt_dlerror());
    } else {
        memcpy(&entry, &symbol, sizeof(entry));
        table = drover_driver_table_new(entry(), path, name, error);
    }
    if (table == NULL) {
        if (handle != NULL)
            lt_dlclose(handle);
        return NULL;
    }
    loaded = g_new0(Loaded, 1);
    loaded->handle = handle;
    loaded->table = table;
    g_hash_table_insert(host->loaded, g_strdup(path), loaded);
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

        file->driver = load(host, file->path, file->name, &error);
        file->problem = error != NULL ? g_strdup(error->message) : NULL;
    }
    return files;
}

static void
set_not_installed(const DroverDriverHost *host, const char *name, GError **error)
{
    g_autoptr(GPtrArray) files = find_files(host);
    g_autoptr(GString) installed = g_string_new(NULL);
    g_autofree char *directories = g_strjoinv(", ", host->directories);

    for (guint i = 0; i < files->len; i++)
        g_string_append_printf(installed, "%s%s", i > 0 ? ", " : "",
                               ((DroverDriverFile *)files->pdata[i])->name);
    g_set_error(error, DROVER_ERROR, DROVER_ERROR_NOT_FOUND,
                "driver %s is not installed: there is no %s" SUFFIX " in %s; installed: %s", name,
                name, directories, installed->len > 0 ? installed->str : "none");
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
            return load(host, path, name, error);
    }
    set_not_installed(host, name, error);
    return NULL;
}
