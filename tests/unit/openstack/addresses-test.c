/* Which address of a server is which. */
#include "sample.h"

#include "addresses.h"

#define NETWORKS                                                                                   \
    "[{'id': 'i', 'name': 'inner', 'router:external': false},"                                     \
    " {'id': 'x', 'name': 'outer', 'router:external': true}, {'id': 'n', 'name': null}]"
#define FIXED(text)    "{'version': 4, 'addr': '" text "', 'OS-EXT-IPS:type': 'fixed'}"
#define FLOATING(text) "{'version': 4, 'addr': '" text "', 'OS-EXT-IPS:type': 'floating'}"
#define V6(text)       "{'version': 6, 'addr': '" text "', 'OS-EXT-IPS:type': 'fixed'}"

struct sample {
    const char *name, *settings, *server;
    gboolean host_has_ipv6;
    const char *public_ipv4, *public_ipv6, *private_ipv4, *interface;
    gboolean needs_floating_ip;
};

static const struct sample samples[] = {
    {"external", "{}",
     "{'addresses': {'inner': [" FIXED("10.0.0.5") "], "
                                                   "'outer': [" FIXED("10.9.0.5") "]}}",
     FALSE, "10.9.0.5", "", "10.0.0.5", "10.9.0.5", FALSE},
    {"OS-30-private", "{'private': true}", "{'addresses': {'inner': [" FIXED("10.0.0.5") "]}}",
     FALSE, "", "", "10.0.0.5", "10.0.0.5", FALSE},
    {"OS-30-last-resort", "{}", "{'addresses': {'inner': [" FIXED("10.0.0.5") "]}}", FALSE, "", "",
     "10.0.0.5", "10.0.0.5", TRUE},
    {"OS-31-floating", "{}",
     "{'addresses': {'inner': [" FIXED("10.0.0.5") ", " FLOATING("10.8.0.1") "]}}", FALSE,
     "10.8.0.1", "", "10.0.0.5", "10.8.0.1", FALSE},
    {"OS-28-ipv6", "{}",
     "{'addresses': {'inner': [" V6("2001:db8::5") ", " FIXED("192.0.3.1") "]}}", TRUE, "192.0.3.1",
     "2001:db8::5", "192.0.3.1", "2001:db8::5", FALSE},
    {"OS-28-host-without-ipv6", "{}",
     "{'addresses': {'inner': [" V6("2001:db8::5") ", " FIXED("192.0.3.1") "]}}", FALSE,
     "192.0.3.1", "2001:db8::5", "192.0.3.1", "192.0.3.1", FALSE},
    {"F-37-ipv6-only", "{}", "{'addresses': {'inner': [" V6("2001:db8::5") "]}}", FALSE, "",
     "2001:db8::5", "", "2001:db8::5", FALSE},
    {"force-ipv4", "{'force_ipv4': true}", "{'addresses': {'inner': [" V6("2001:db8::5") "]}}",
     TRUE, "", "", "", "", FALSE},
    {"F-37-none", "{}", "{'addresses': {}}", TRUE, "", "", "", "", FALSE},
    {"nonsense", "{}",
     "{'accessIPv4': 'none', 'accessIPv6': 6, 'addresses': {'inner': [{'addr': 'localhost'}, "
     "{'addr': null}, null, {'version': 6, 'addr': '10.0.0.5'}], 'outer': {'addr': '10.9.0.5'}}}",
     FALSE, "", "", "10.0.0.5", "10.0.0.5", TRUE},
    {"F-37-null", "{}", "{'addresses': null}", TRUE, "", "", "", "", FALSE},
    {"access", "{}",
     "{'accessIPv4': '198.18.0.1', 'accessIPv6': 'fd00::1', 'addresses': {"
     "'inner': [" FIXED("10.0.0.5") "]}}",
     FALSE, "198.18.0.1", "fd00::1", "10.0.0.5", "198.18.0.1", FALSE},
    {"default-interface", "{'networks': [{'name': 'inner', 'default_interface': true}]}",
     "{'addresses': {'outer': [" FIXED("10.9.0.5") "], 'inner': [" FIXED("10.0.0.5") "]}}", FALSE,
     "10.9.0.5", "", "10.0.0.5", "10.0.0.5", FALSE},
    {"default-interface-without-a-name", "{'networks': [{'name': 'n', 'default_interface': true}]}",
     "{'addresses': {'inner': [" FIXED("10.0.0.5") "]}}", FALSE, "", "", "10.0.0.5", "10.0.0.5",
     TRUE},
    {"no-external", "{'use_external_network': false, 'floating_ip_source': 'None'}",
     "{'addresses': {'outer': [" FIXED("10.9.0.5") "]}}", FALSE, "", "", "", "", FALSE},
};

static void
test_sample(gconstpointer data)
{
    const struct sample *sample = data;
    struct settings *settings = sample_settings(sample->settings);
    json_t *networks = sample_json(NETWORKS), *server = sample_json(sample->server);
    struct addresses found = addresses_choose(settings, networks, server, sample->host_has_ipv6);

    g_assert_cmpstr(found.public_ipv4, ==, sample->public_ipv4);
    g_assert_cmpstr(found.public_ipv6, ==, sample->public_ipv6);
    g_assert_cmpstr(found.private_ipv4, ==, sample->private_ipv4);
    g_assert_cmpstr(found.interface, ==, sample->interface);
    g_assert_cmpint(addresses_need_floating_ip(settings, &found), ==, sample->needs_floating_ip);
    json_decref(networks);
    json_decref(server);
    settings_free(settings);
}

static void
test_added_floating_ip(void)
{
    struct settings *settings = sample_settings("{}");
    json_t *networks = sample_json(NETWORKS);
    json_t *server = sample_json("{'addresses': {'inner': [" FIXED("10.0.0.5") "]}}");
    json_t *complete = addresses_with_floating_ip(server, "10.8.0.1");
    struct addresses found = addresses_choose(settings, networks, complete, FALSE);

    g_assert_cmpstr(found.interface, ==, "10.8.0.1");
    g_assert_cmpstr(found.private_ipv4, ==, "10.0.0.5");
    json_decref(networks);
    json_decref(server);
    json_decref(complete);
    settings_free(settings);
}

static void
test_known_networks(void)
{
    json_t *networks = sample_json(NETWORKS);
    json_t *known = sample_json("{'addresses': {'inner': []}}");
    json_t *unknown = sample_json("{'addresses': {'inner': [], 'new': []}}");

    g_assert_true(addresses_are_on_known_networks(networks, known));
    g_assert_false(addresses_are_on_known_networks(networks, unknown));
    json_decref(networks);
    json_decref(known);
    json_decref(unknown);
}

static void
test_private(void)
{
    static const char *const inner[] = {"10.0.0.1",    "172.16.0.1", "172.31.255.255",
                                        "192.168.1.1", "127.80.0.1", "169.254.1.1",
                                        "240.0.0.1",   "nonsense"};
    static const char *const outer[] = {"172.32.0.1", "8.8.8.8", "192.0.3.1", "11.0.0.1"};

    for (gsize i = 0; i < G_N_ELEMENTS(inner); i++)
        g_assert_true(addresses_is_private_ipv4(inner[i]));
    for (gsize i = 0; i < G_N_ELEMENTS(outer); i++)
        g_assert_false(addresses_is_private_ipv4(outer[i]));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (gsize i = 0; i < G_N_ELEMENTS(samples); i++) {
        g_autofree char *path = g_strconcat("/openstack/addresses/", samples[i].name, NULL);

        g_test_add_data_func(path, &samples[i], test_sample);
    }
    g_test_add_func("/openstack/addresses/added-floating-ip", test_added_floating_ip);
    g_test_add_func("/openstack/addresses/known-networks", test_known_networks);
    g_test_add_func("/openstack/addresses/private", test_private);
    return g_test_run();
}
