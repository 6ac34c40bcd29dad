/* Choosing flavors, images, networks and ports. */
#include "sample.h"

#include "flavor.h"
#include "image.h"
#include "list.h"
#include "network.h"

/* ---- Flavors ---- */

static void
check_flavor(const char *flavors, int64_t min_ram, const char *name, const char *expected)
{
    json_t *all = sample_json(flavors);

    g_assert_cmpstr(list_text(flavor_choose(all, min_ram, name), "name"), ==, expected);
    json_decref(all);
}

static void
test_flavors(void)
{
    const char *same = "[{'id': '2', 'name': 'Unreal Flavor', 'ram': 8192}, "
                       "{'id': '1', 'name': 'Fake Flavor', 'ram': 8192}]";
    const char *sizes = "[{'id': '1', 'name': 'b', 'ram': 8192}, {'id': '2', 'name': 'z', "
                        "'ram': 4096}, {'id': '3', 'name': 'a', 'ram': 4096}]";
    const char *small = "[{'id': 'f1', 'name': 'm1.small', 'ram': 1}]";

    check_flavor(same, 8192, "Fake", "Fake Flavor");
    check_flavor(same, 8192, "Unreal", "Unreal Flavor");
    check_flavor(sizes, 4096, NULL, "a");
    check_flavor(sizes, 4097, NULL, "b");
    check_flavor(sizes, 8193, NULL, NULL);
    check_flavor(small, 0, "m1", NULL);
    check_flavor(small, 0, "m1.small", "m1.small");
    check_flavor(small, 0, "f1", "m1.small");
}

/* ---- Images ---- */

static void
check_image(const char *text, const char *expected, gboolean several)
{
    g_autoptr(GError) error = NULL;
    json_t *all = sample_json("[{'id': '1', 'name': 'debian-12', 'status': 'active'}, "
                              "{'id': '2', 'name': 'debian-13', 'status': 'active'}, "
                              "{'id': '3', 'name': 'debian-13', 'status': 'queued'}, "
                              "{'id': '4', 'name': 'twin', 'status': 'active'}, "
                              "{'id': '5', 'name': 'twin', 'status': 'active'}]");

    g_assert_cmpstr(list_text(image_choose(all, text, &error), "id"), ==, expected);
    g_assert_true((error != NULL) == several);
    json_decref(all);
}

static void
test_images(void)
{
    check_image("debian-12", "1", FALSE);
    check_image("2", "2", FALSE);
    check_image("3", NULL, FALSE);
    check_image("*-12", "1", FALSE);
    check_image("debian-*", NULL, TRUE);
    check_image("twin", NULL, TRUE);
    check_image("fedora", NULL, FALSE);
}

/* ---- Networks ---- */

#define NETWORKS                                                                                   \
    "[{'id': 'i1', 'name': 'a', 'router:external': false},"                                        \
    " {'id': 'i2', 'name': 'b', 'router:external': false},"                                        \
    " {'id': 'i3', 'name': 'b', 'router:external': false},"                                        \
    " {'id': 'x1', 'name': 'ext', 'router:external': true},"                                       \
    " {'id': 'x2', 'name': 'phys', 'router:external': false, 'provider:physical_network': 'e'}]"

static void
test_networks(void)
{
    json_t *all = sample_json(NETWORKS);
    g_autoptr(GError) several = NULL;
    g_autoptr(GError) none = NULL;

    g_assert_cmpstr(list_text(network_choose(all, "a", NULL), "id"), ==, "i1");
    g_assert_cmpstr(list_text(network_choose(all, "i3", NULL), "id"), ==, "i3");
    g_assert_null(network_choose(all, "b", &several));
    g_assert_nonnull(strstr(several->message, "2 networks"));
    g_assert_null(network_choose(all, "c", &none));
    g_assert_nonnull(strstr(none->message, "no network c"));
    json_decref(all);
}

static void
test_kinds(void)
{
    struct settings *settings = sample_settings(
        "{'networks': [{'name': 'a', 'routes_externally': true, 'nat_destination': true}, "
        "{'name': 'x2', 'routes_externally': false, 'default_interface': true}]}");
    json_t *all = sample_json(NETWORKS);
    static const gboolean external[] = {TRUE, FALSE, FALSE, TRUE, FALSE};

    for (gsize i = 0; i < G_N_ELEMENTS(external); i++)
        g_assert_cmpint(network_is_external(settings, json_array_get(all, i)), ==, external[i]);
    g_assert_cmpstr(network_with_part(settings, "default_interface"), ==, "x2");
    g_assert_cmpstr(network_with_part(settings, "nat_destination"), ==, "a");
    g_assert_null(network_with_part(settings, "nat_source"));
    g_assert_cmpstr(network_floating_source(settings, all, NULL), ==, "x1");
    json_decref(all);
    settings_free(settings);
}

static void
test_floating_source(void)
{
    struct settings *plain = sample_settings("{}");
    struct settings *none = sample_settings("{'floating_ip_source': 'None'}");
    json_t *networks = sample_json("[{'id': 'i', 'name': 'n', 'router:external': false}]");
    json_t *routers = sample_json("[{'admin_state_up': false, 'external_gateway_info': "
                                  "{'network_id': 'off'}}, {'admin_state_up': true, "
                                  "'external_gateway_info': {'network_id': 'gate'}}]");

    g_assert_null(network_floating_source(plain, networks, NULL));
    g_assert_cmpstr(network_floating_source(plain, networks, routers), ==, "gate");
    g_assert_true(network_has_floating_ips(plain));
    g_assert_false(network_has_floating_ips(none));
    json_decref(networks);
    json_decref(routers);
    settings_free(plain);
    settings_free(none);
}

static void
check_port(const char *entry, const char *subnets, const char *ports, const char *expected)
{
    g_autoptr(GError) error = NULL;
    struct settings *settings = sample_settings(entry);
    json_t *networks = sample_json(NETWORKS), *all = sample_json(subnets),
           *own = sample_json(ports);
    const json_t *port = network_port_for_floating_ip(settings, networks, all, own, &error);

    g_assert_cmpstr(list_text(port, "id"), ==, expected);
    if (port == NULL)
        g_assert_nonnull(strstr(error->message, "nat_destination"));
    json_decref(networks);
    json_decref(all);
    json_decref(own);
    settings_free(settings);
}

static void
test_ports(void)
{
    const char *two = "[{'id': 'p1', 'network_id': 'i1', 'created_at': '1', "
                      "'fixed_ips': [{'ip_address': 'fd00::1'}, {'ip_address': '10.0.0.2'}]}, "
                      "{'id': 'p2', 'network_id': 'i2', 'created_at': '2', "
                      "'fixed_ips': [{'ip_address': '10.0.1.2'}]}, "
                      "{'id': 'p3', 'network_id': 'i1', 'created_at': '3', "
                      "'fixed_ips': [{'ip_address': 'fd00::2'}]}]";
    const char *gateway = "[{'network_id': 'i1', 'gateway_ip': '10.0.0.1'}, "
                          "{'network_id': 'i2', 'gateway_ip': null}]";

    check_port("{}", "[]", "[{'id': 'only', 'network_id': 'i1'}]", "only");
    check_port("{}", gateway, two, "p1");
    check_port("{}", "[]", two, NULL);
    check_port("{'networks': [{'name': 'i2', 'nat_destination': true}]}", gateway, two, "p2");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/openstack/choice/OS-13-OS-14-OS-15-flavors", test_flavors);
    g_test_add_func("/openstack/choice/images", test_images);
    g_test_add_func("/openstack/choice/networks", test_networks);
    g_test_add_func("/openstack/choice/kinds", test_kinds);
    g_test_add_func("/openstack/choice/floating-source", test_floating_source);
    g_test_add_func("/openstack/choice/OS-34-ports", test_ports);
    return g_test_run();
}
