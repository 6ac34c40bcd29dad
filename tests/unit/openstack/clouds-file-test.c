/* Finding and reading clouds.yaml and its companions. */
#include <glib/gstdio.h>

#include "sample.h"

#include "clouds-file.h"
#include "yaml-json.h"

typedef struct {
    char *folder, *before;
} Scene;

static const char *const variables[] = {"OS_CLIENT_CONFIG_FILE", "OS_CLIENT_SECURE_FILE",
                                        "OS_CLIENT_VENDOR_FILE", "OS_CLOUD_NAME",
                                        "OS_AUTH_URL",           "OS_USERNAME"};

/* The current folder and the home are an empty one. */
static void
set_up(Scene *scene, gconstpointer data)
{
    scene->folder = g_dir_make_tmp("drover-clouds-XXXXXX", NULL);
    scene->before = g_get_current_dir();
    g_setenv("XDG_CONFIG_HOME", scene->folder, TRUE);
    for (gsize i = 0; i < G_N_ELEMENTS(variables); i++)
        g_unsetenv(variables[i]);
    g_assert_cmpint(g_chdir(scene->folder), ==, 0);
}

static void
remove_all(const char *folder)
{
    GDir *dir = g_dir_open(folder, 0, NULL);
    const char *name;

    while ((name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *path = g_build_filename(folder, name, NULL);

        if (g_file_test(path, G_FILE_TEST_IS_DIR))
            remove_all(path);
        else
            g_unlink(path);
    }
    g_dir_close(dir);
    g_rmdir(folder);
}

static void
tear_down(Scene *scene, gconstpointer data)
{
    g_assert_cmpint(g_chdir(scene->before), ==, 0);
    remove_all(scene->folder);
    g_free(scene->folder);
    g_free(scene->before);
}

static void
write_file(const char *path, const char *text)
{
    g_autofree char *folder = g_path_get_dirname(path);

    g_assert_cmpint(g_mkdir_with_parents(folder, 0700), ==, 0);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

static json_t *
load(void)
{
    g_autoptr(GError) error = NULL;
    json_t *warnings = json_array();
    json_t *all = clouds_file_load(warnings, &error);

    g_assert_no_error(error);
    json_decref(warnings);
    return all;
}

static void
test_secure(Scene *scene, gconstpointer data)
{
    write_file("clouds.yaml", "clouds:\n  c:\n    region_name: r\n    auth: {username: u}\n");
    write_file("secure.yaml", "clouds:\n  c:\n    auth:\n      password: 123\n");
    sample_check(load(), "{'clouds': {'c': {'region_name': 'r', "
                         "'auth': {'username': 'u', 'password': '123'}}}}");
}

static void
test_order(Scene *scene, gconstpointer data)
{
    g_autofree char *first = clouds_file_stamp();
    g_autofree char *second = NULL;

    write_file("openstack/clouds.yaml", "clouds: {home: {}}");
    sample_check(load(), "{'clouds': {'home': {}}}");
    write_file("clouds.json", "{\"clouds\": {\"here\": {}}}");
    sample_check(load(), "{'clouds': {'here': {}}}");
    write_file("named.yaml", "clouds: {named: {}}");
    g_setenv("OS_CLIENT_CONFIG_FILE", "named.yaml", TRUE);
    sample_check(load(), "{'clouds': {'named': {}}}");
    second = clouds_file_stamp();
    g_assert_cmpstr(first, !=, second);
}

static void
test_environment(Scene *scene, gconstpointer data)
{
    g_setenv("OS_AUTH_URL", "http://k", TRUE);
    g_setenv("OS_USERNAME", "u", TRUE);
    sample_check(load(), "{'clouds': {'envvars': {'auth_url': 'http://k', 'username': 'u'}}}");
    g_setenv("OS_CLOUD_NAME", "mine", TRUE);
    sample_check(load(), "{'clouds': {'mine': {'auth_url': 'http://k', 'username': 'u'}}}");
}

static void
test_broken(Scene *scene, gconstpointer data)
{
    g_autoptr(GError) error = NULL;

    write_file("clouds.yaml", "clouds:\n  password: hunter2\n c: [\n");
    g_assert_null(clouds_file_load(NULL, &error));
    g_assert_nonnull(strstr(error->message, "clouds.yaml"));
    g_assert_null(strstr(error->message, "hunter2"));
}

static void
test_scalars(void)
{
    const char *text = "{v: 2.90, n: 5, t: yes, f: off, q: 'yes', z: ~, e: , l: [1, b], "
                       "base: &b {x: 1, y: 2}, more: {<<: *b, y: 3}}";

    sample_check(yaml_parse(text, strlen(text), NULL),
                 "{'v': '2.90', 'n': '5', 't': true, 'f': false, 'q': 'yes', 'z': null, "
                 "'e': null, 'l': ['1', 'b'], 'base': {'x': '1', 'y': '2'}, "
                 "'more': {'x': '1', 'y': '3'}}");
    sample_check(yaml_parse("", 0, NULL), "{}");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/openstack/clouds-file/OS-06-secure", Scene, NULL, set_up, test_secure, tear_down);
    g_test_add("/openstack/clouds-file/order", Scene, NULL, set_up, test_order, tear_down);
    g_test_add("/openstack/clouds-file/environment", Scene, NULL, set_up, test_environment,
               tear_down);
    g_test_add("/openstack/clouds-file/OS-74-broken", Scene, NULL, set_up, test_broken, tear_down);
    g_test_add_func("/openstack/clouds-file/scalars", test_scalars);
    return g_test_run();
}
