#include "clouds-file.h"

#include "yaml-json.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Where the files are ---- */

static const struct file {
    const char *stem;     /* "clouds" */
    const char *variable; /* of the environment, with the whole path */
} files[] = {
    {"clouds", "OS_CLIENT_CONFIG_FILE"},
    {"secure", "OS_CLIENT_SECURE_FILE"},
    {"clouds-public", "OS_CLIENT_VENDOR_FILE"},
};
static const char *const endings[] = {"yaml", "yml", "json"};

/* In the order in which they are looked through. Free with g_strfreev(). */
static char **
folders(void)
{
    g_autoptr(GStrvBuilder) all = g_strv_builder_new();
    g_autofree char *here = g_get_current_dir();
    const char *configured = g_getenv("XDG_CONFIG_HOME");
    const char *home = g_getenv("HOME");
    g_autofree char *own =
        configured != NULL && *configured != '\0'
            ? g_build_filename(configured, "openstack", NULL)
            : g_build_filename(home != NULL ? home : g_get_home_dir(), ".config/openstack", NULL);

    g_strv_builder_add_many(all, here, own, "/etc/xdg/openstack", "/etc/openstack", NULL);
    return g_strv_builder_end(all);
}

/* All places of a file, the one that counts most first. Free with g_strfreev(). */
static char **
places(const struct file *file)
{
    g_autoptr(GStrvBuilder) all = g_strv_builder_new();
    g_auto(GStrv) where = folders();
    const char *named = g_getenv(file->variable);

    if (named != NULL && *named != '\0')
        g_strv_builder_add(all, named);
    for (char **folder = where; *folder != NULL; folder++)
        for (gsize i = 0; i < G_N_ELEMENTS(endings); i++) {
            g_autofree char *path = g_strdup_printf("%s/%s.%s", *folder, file->stem, endings[i]);

            g_strv_builder_add(all, path);
        }
    return g_strv_builder_end(all);
}

/* The first that there is and can be read. NULL: none. Free with g_free(). */
static char *
find(const struct file *file, json_t *warnings)
{
    g_auto(GStrv) all = places(file);

    for (char **path = all; *path != NULL; path++) {
        if (access(*path, R_OK) == 0)
            return g_strdup(*path);
        if (errno == EACCES && warnings != NULL) {
            g_autofree char *text = g_strdup_printf("%s cannot be read and is passed over", *path);

            json_array_append_new(warnings, json_string(text));
        }
    }
    return NULL;
}

char *
clouds_file_stamp(void)
{
    GString *stamp = g_string_new(NULL);

    for (gsize i = 0; i < G_N_ELEMENTS(files); i++) {
        g_autofree char *path = find(&files[i], NULL);
        struct stat about;

        if (path != NULL && stat(path, &about) == 0)
            g_string_append_printf(stamp, "%s %llu %lld %lld.%09ld\n", path,
                                   (unsigned long long)about.st_ino, (long long)about.st_size,
                                   (long long)about.st_mtim.tv_sec, about.st_mtim.tv_nsec);
    }
    return g_string_free(stamp, FALSE);
}

/* ---- Reading them ---- */

void
clouds_file_merge(json_t *base, const json_t *over)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)over, key, value)
    {
        json_t *present = json_object_get(base, key);

        if (json_is_object(present) && json_is_object(value))
            clouds_file_merge(present, value);
        else
            json_object_set(base, key, value);
    }
}

static gboolean
add_file(json_t *all, const struct file *file, json_t *warnings, GError **error)
{
    g_autofree char *path = find(file, warnings);
    json_t *contents;

    if (path == NULL)
        return TRUE;
    contents = yaml_load(path, error);
    if (contents == NULL)
        return FALSE;
    clouds_file_merge(all, contents);
    json_decref(contents);
    return TRUE;
}

/* ---- The environment ---- */

static gboolean
is_selector(const char *name)
{
    static const char *const selectors[] = {"OS_CLOUD",
                                            "OS_CLOUD_NAME",
                                            "OS_CLIENT_CONFIG_FILE",
                                            "OS_CLIENT_SECURE_FILE",
                                            "OS_CLIENT_VENDOR_FILE",
                                            "OS_FORCE_IPV4",
                                            NULL};

    return g_strv_contains(selectors, name);
}

/* The cloud that the variables describe. A new reference; NULL: they describe none. */
static json_t *
cloud_of_environment(void)
{
    g_auto(GStrv) names = g_listenv();
    json_t *cloud = json_object();

    for (char **name = names; *name != NULL; name++) {
        g_autofree char *key = NULL;

        if (!g_str_has_prefix(*name, "OS_") || is_selector(*name))
            continue;
        key = g_ascii_strdown(*name + strlen("OS_"), -1);
        json_object_set_new(cloud, key, json_string(g_getenv(*name)));
    }
    if (json_object_get(cloud, "auth_url") != NULL)
        return cloud;
    json_decref(cloud);
    return NULL;
}

static void
add_environment(json_t *all)
{
    const char *name = g_getenv("OS_CLOUD_NAME");
    json_t *cloud = cloud_of_environment();

    if (cloud == NULL)
        return;
    if (!json_is_object(json_object_get(all, "clouds")))
        json_object_set_new(all, "clouds", json_object());
    json_object_set_new(json_object_get(all, "clouds"),
                        name != NULL && *name != '\0' ? name : "envvars", cloud);
}

json_t *
clouds_file_load(json_t *warnings, GError **error)
{
    json_t *all = json_object();

    /* clouds-public.yaml holds profiles alone, so the order does not matter for it. */
    for (gsize i = 0; i < G_N_ELEMENTS(files); i++)
        if (!add_file(all, &files[i], warnings, error)) {
            json_decref(all);
            return NULL;
        }
    add_environment(all);
    return all;
}
