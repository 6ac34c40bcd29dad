/* What the configuration says of a label. */
#include "launcher/provider/label.h"

#include "records.h"

typedef struct {
    struct drover_value *provider_values, *pool_values;
    DroverProviderConfig provider;
    DroverPoolConfig pool;
} Scene;

static void
set_up(Scene *scene, gconstpointer data)
{
    scene->provider_values = test_values_new(
        "{'cloud-images': [{'name': 'c', 'username': 'zuul', 'python-path': '/usr/bin/python3',"
        "                   'shell-type': 'cmd', 'connection-type': 'winrm',"
        "                   'connection-port': 5986},"
        "                  {'name': 'plain'}],"
        " 'diskimages': [{'name': 'd', 'connection-type': 'network_cli', 'connection-port': 2222}],"
        " 'diskimage-settings': {'d': {'username': 'root', 'python-path': 'auto'},"
        "                        'other': {'username': 'nobody'}}}");
    scene->pool_values = test_values_new(
        "{'labels': [{'name': 'cloud', 'cloud-image': 'c'},"
        "            {'name': 'plain', 'cloud-image': 'plain', 'host-key-checking': false},"
        "            {'name': 'disk', 'diskimage': 'd', 'host-key-checking': true},"
        "            {'name': 'none', 'host-key-checking': true}]}");
    scene->provider.values = scene->provider_values;
    scene->pool.values = scene->pool_values;
}

static void
tear_down(Scene *scene, gconstpointer data)
{
    drover_value_free(scene->provider_values);
    drover_value_free(scene->pool_values);
}

static void
check_fields(const Scene *scene, const char *label, const char *expected)
{
    g_autoptr(json_t) fields = drover_label_image_fields(&scene->provider, &scene->pool, label);
    g_autoptr(json_t) wanted = test_json_new(expected);
    g_autofree char *text = drover_json_text(fields);

    if (!json_equal(fields, wanted))
        g_error("%s instead of %s", text, expected);
}

static void
test_image_fields(Scene *scene, gconstpointer data)
{
    check_fields(scene, "cloud",
                 "{'image_id': 'c', 'username': 'zuul', 'python_path': '/usr/bin/python3',"
                 " 'shell_type': 'cmd', 'connection_type': 'winrm', 'connection_port': 5986}");
    check_fields(scene, "plain",
                 "{'image_id': 'plain', 'username': null, 'python_path': null,"
                 " 'shell_type': null, 'connection_type': 'ssh', 'connection_port': 22}");
    /* Which upload it is, is known only when it is made. */
    check_fields(scene, "disk",
                 "{'username': 'root', 'python_path': 'auto', 'shell_type': null,"
                 " 'connection_type': 'network_cli', 'connection_port': 2222}");
    check_fields(scene, "none", "{}");
    check_fields(scene, "unknown", "{}");
}

static void
test_images(Scene *scene, gconstpointer data)
{
    g_assert_cmpstr(drover_label_diskimage(&scene->pool, "disk"), ==, "d");
    g_assert_null(drover_label_diskimage(&scene->pool, "cloud"));
    g_assert_null(drover_label_diskimage(&scene->pool, "unknown"));
    g_assert_nonnull(drover_label_values(&scene->pool, "none"));
    g_assert_null(drover_label_values(&scene->pool, "unknown"));
    g_assert_null(drover_label_values(NULL, "none"));
}

static void
check_scanned(Scene *scene, const char *pool_options, gboolean cloud, gboolean plain)
{
    g_autofree char *json =
        g_strdup_printf("{%s 'labels': [{'name': 'cloud', 'cloud-image': 'c'},"
                        " {'name': 'plain', 'cloud-image': 'c', 'host-key-checking': false},"
                        " {'name': 'disk', 'diskimage': 'd', 'host-key-checking': true},"
                        " {'name': 'none', 'host-key-checking': true}]}",
                        pool_options);
    struct drover_value *values = test_values_new(json);
    DroverPoolConfig pool = {.values = values};

    g_assert_cmpint(drover_label_is_scanned(&pool, "cloud"), ==, cloud);
    g_assert_cmpint(drover_label_is_scanned(&pool, "plain"), ==, plain);
    g_assert_true(drover_label_is_scanned(&pool, "disk"));
    g_assert_false(drover_label_is_scanned(&pool, "none"));
    drover_value_free(values);
}

static void
test_scanned(Scene *scene, gconstpointer data)
{
    check_scanned(scene, "", TRUE, FALSE);
    check_scanned(scene, "'host-key-checking': true,", TRUE, FALSE);
    check_scanned(scene, "'host-key-checking': false,", FALSE, FALSE);
}

#define ADD(path, function) g_test_add(path, Scene, NULL, set_up, function, tear_down)

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("/label/SM-02-image-fields", test_image_fields);
    ADD("/label/images", test_images);
    ADD("/label/SM-31-scanned", test_scanned);
    return g_test_run();
}
