/* Providers, their pools and drivers, and the options that drivers declare. */
#include "load.h"

#include <string.h>

#define LABELS SERVERS "labels: [{name: a}, {name: b}, {name: ubuntu-jammy}]\n"

static const DroverProviderConfig *
find_provider(const TestLoad *load, const char *name)
{
    const DroverProviderConfig *provider;

    g_assert_nonnull(load->config);
    provider = drover_config_find_provider(load->config, name);
    g_assert_nonnull(provider);
    return provider;
}

static const DroverPoolConfig *
find_pool(const TestLoad *load, const char *provider, const char *name)
{
    const DroverPoolConfig *pool =
        drover_provider_config_find_pool(find_provider(load, provider), name);

    g_assert_nonnull(pool);
    return pool;
}

static void
assert_labels(const TestLoad *load, const char *provider, const char *pool, const char *expected)
{
    g_autofree char *labels = g_strjoinv(" ", find_pool(load, provider, pool)->labels);

    g_assert_cmpstr(labels, ==, expected);
}

/* ---- References ---- */

static void
test_unknown_label(void)
{
    const char *text =
        LABELS "providers:\n"
               "  - {name: o, cloud: c, pools: [{name: m, labels: [{name: ubuntu-jamy}]}]}\n"
               "  - name: s\n"
               "    driver: static\n"
               "    pools: [{name: m, nodes: [{name: h, labels: [a, nope]}]}]\n"
               "  - {name: p, driver: plain, pools: [{name: m, labels: [b, c]}]}\n";
    g_autoptr(TestLoad) load = test_load(text, NULL), strict = test_validate(text, NULL);

    test_assert_error(load,
                      ":4:59: error: provider o, pool m, label ubuntu-jamy: label ubuntu-jamy in "
                      "provider o not in top-level labels; did you mean ubuntu-jammy?");
    test_assert_error(load,
                      ":7:53: error: provider s, pool m, node h: label nope in provider s not in "
                      "top-level labels");
    test_assert_error(load, ":8:60: error: provider p, pool m: label c in provider p");
    g_assert_cmpuint(test_errors(load), ==, 3);
    g_assert_cmpuint(test_errors(strict), ==, 3);
}

static void
test_unknown_diskimage(void)
{
    g_autoptr(TestLoad) load = test_load(LABELS "diskimages: [{name: image}]\n"
                                                "providers:\n"
                                                "  - name: o\n"
                                                "    cloud: c\n"
                                                "    diskimages: [{name: imag}]\n"
                                                "    cloud-images: [{name: cloudy}]\n"
                                                "    pools:\n"
                                                "      - name: m\n"
                                                "        labels:\n"
                                                "          - {name: a, diskimage: other}\n"
                                                "          - {name: b, cloud-image: cloud}\n",
                                         NULL);

    test_assert_error(load,
                      ":7:25: error: provider o, diskimage imag: diskimage imag in provider o is "
                      "not defined in the main diskimages list; did you mean image?");
    test_assert_error(load,
                      ":12:34: error: provider o, pool m, label a: label a in provider o uses "
                      "diskimage other which is not defined in the main diskimages list");
    test_assert_error(load,
                      ":13:36: error: provider o, pool m, label b: cloud-image: cloud is not in "
                      "cloud-images of provider o; did you mean cloudy?");
}

/* ---- Drivers ---- */

static void
test_default_driver(void)
{
    g_autoptr(TestLoad) load = test_load(SERVERS "providers: [{name: o, cloud: c}]\n", NULL);

    test_assert_clean(load);
    g_assert_cmpstr(find_provider(load, "o")->driver, ==, "openstack");
    g_assert_null(find_provider(load, "o")->problem);
}

static void
test_name_that_begins_with_fake(void)
{
    g_autoptr(TestLoad) load =
        test_load(SERVERS "providers: [{name: fakecloud, driver: static},\n"
                          "            {name: fake-x, driver: openstack, cloud: c}]\n",
                  NULL);

    test_assert_clean(load);
    g_assert_cmpstr(find_provider(load, "fakecloud")->driver, ==, "static");
    g_assert_cmpstr(find_provider(load, "fake-x")->driver, ==, "openstack");
    g_assert_null(find_provider(load, "fake-x")->problem);
}

static void
test_unknown_driver(void)
{
    const char *text = LABELS "providers:\n"
                              "  - {name: n, driver: nope, pools: [{name: m}]}\n"
                              "  - {name: s, driver: static}\n";
    g_autoptr(TestLoad) load = test_load(text, NULL), strict = test_validate(text, NULL);

    test_assert_error(strict, ":4:23: error: provider n: the driver nope is not installed",
                      "/drivers/nope.so", "aws, openstack, static");
    test_assert_warning(load, ":4:23: warning: provider n: the driver nope is not installed",
                        "/drivers/nope.so", "aws, openstack, static");
    g_assert_nonnull(strstr(find_provider(load, "n")->problem, "nope.so"));
    g_assert_null(find_provider(load, "s")->problem);
    test_refuses(SERVERS "providers: [{name: n, driver: 5}]\n", "driver: found the integer 5");
}

/* With options that nobody knows; only the common ones are looked at. */
static void
test_absent_driver(void)
{
    const char *text =
        LABELS "providers:\n"
               "  - name: gone\n"
               "    driver: azure\n"
               "    priority: 7\n"
               "    resource-group: x\n"
               "    diskimages: [{name: not-there}]\n"
               "    pools:\n"
               "      - {name: m, max-servers: 3, ipv6: true, labels: [{name: not-there}],\n"
               "         node-attributes: {k: v}}\n"
               "  - {name: p, driver: plain, pools: [{name: m, labels: [a]}]}\n";
    g_autoptr(TestLoad) load = test_load(text, NULL), strict = test_validate(text, NULL);
    g_autoptr(TestLoad) mistake =
        test_load(SERVERS "providers: [{name: g, driver: azure, priority: high}]\n", NULL);

    g_assert_cmpuint(test_warnings(load), ==, 1);
    g_assert_nonnull(find_provider(load, "gone")->problem);
    g_assert_cmpint(find_pool(load, "gone", "m")->max_servers, ==, 3);
    g_assert_cmpint(find_pool(load, "gone", "m")->priority, ==, 7);
    assert_labels(load, "gone", "m", "");
    assert_labels(load, "p", "m", "a");
    g_assert_null(find_provider(load, "p")->problem);
    test_assert_error(strict, "provider gone: the driver azure is not installed");
    g_assert_cmpuint(test_errors(strict), ==, 1);
    test_assert_error(mistake, "provider g: priority: found the string \"high\"");
}

static void
test_broken_driver(void)
{
    const char *text = SERVERS "providers:\n"
                               "  - {name: x, driver: broken, first: 5, second: 1, third: 2}\n"
                               "  - {name: s, driver: static}\n";
    g_autoptr(TestLoad) load = test_load(text, NULL), strict = test_validate(text, NULL);

    test_assert_warning(load, "provider x: the driver broken is broken: the default of the option");
    g_assert_nonnull(find_provider(load, "x")->problem);
    g_assert_null(find_provider(load, "s")->problem);
    test_assert_error(strict, "provider x: the driver broken is broken");
}

/* Programs that have no use for providers. */
static void
test_without_drivers(void)
{
    g_autoptr(TestLoad) load = test_load(
        LABELS "providers: [{name: n, driver: nope, x: y, pools: [{name: m, z: 1}]}]\n", NULL);
    g_autoptr(DroverConfigReport) report = drover_config_report_new();
    g_autoptr(DroverConfig) config = drover_config_load(load->path, NULL, TRUE, NULL, report);

    g_assert_nonnull(config);
    g_assert_cmpuint(drover_config_report_problems(report)->len, ==, 0);
    g_assert_null(drover_config_find_provider(config, "n")->problem);
}

/* ---- Common options ---- */

static void
test_twice(void)
{
    const char *text = LABELS
        "providers:\n"
        "  - {name: p, driver: plain, pools: [{name: first, labels: [a]}]}\n"
        "  - {name: q, driver: plain, pools: [{name: m, labels: [a]}, {name: n, labels: []},\n"
        "     {name: m, labels: [b]}]}\n"
        "  - {name: p, driver: plain, pools: [{name: second, labels: [b]}]}\n";
    g_autoptr(TestLoad) load = test_load(text, NULL), strict = test_validate(text, NULL);

    test_assert_warning(load, ":7:5: warning: provider p: provider p already defined at line 4, "
                              "column 5; the last one is used");
    test_assert_warning(load,
                        ":6:6: warning: provider q, pool m: pool m already defined at line 5, "
                        "column 38");
    g_assert_cmpuint(load->config->providers->len, ==, 2);
    g_assert_cmpuint(find_provider(load, "p")->pools->len, ==, 1);
    assert_labels(load, "p", "second", "b");
    g_assert_cmpuint(find_provider(load, "q")->pools->len, ==, 2);
    assert_labels(load, "q", "m", "b");
    g_assert_cmpuint(test_errors(strict), ==, 2);
}

static void
test_concurrency(void)
{
    const char *text = SERVERS "providers: [{name: s, driver: static, max-concurrency: 0}]\n";
    g_autoptr(TestLoad) load = test_load(text, NULL), strict = test_validate(text, NULL);
    g_autoptr(TestLoad) absent =
        test_load(SERVERS "providers: [{name: s, driver: static}]\n", NULL);

    test_assert_warning(load, ":2:56: warning: provider s: max-concurrency");
    g_assert_cmpint(find_provider(load, "s")->max_concurrency, ==, 0);
    test_assert_warning(strict, "max-concurrency");
    test_assert_clean(absent);
    g_assert_cmpint(find_provider(absent, "s")->max_concurrency, ==, -1);
}

static void
test_max_servers(void)
{
    const char *text =
        SERVERS "providers:\n"
                "  - {name: s, driver: static, pools: [{name: a, max-servers: 0}, {name: c},\n"
                "     {name: b, max-servers: -1}]}\n"
                "  - {name: e, driver: aws, region-name: r, max-servers: 5, pools: [{name: a},\n"
                "     {name: b, max-servers: 7}]}\n";
    g_autoptr(TestLoad) load = test_load(text, NULL);

    test_assert_clean(load);
    g_assert_cmpint(find_pool(load, "s", "a")->max_servers, ==, 0);
    g_assert_cmpint(find_pool(load, "s", "b")->max_servers, ==, -1);
    g_assert_cmpint(find_pool(load, "s", "c")->max_servers, ==, DROVER_UNLIMITED);
    g_assert_cmpint(find_pool(load, "e", "a")->max_servers, ==, 5);
    g_assert_cmpint(find_pool(load, "e", "b")->max_servers, ==, 7);
    test_refuses(
        SERVERS "providers: [{name: s, driver: static, pools: [{name: a, max-servers: "
                "\"5\"}]}]\n",
        "max-servers: found the string \"5\", must be an integer; write it without quotes");
}

static void
test_priority(void)
{
    const char *text =
        SERVERS "providers:\n"
                "  - {name: p, driver: static, priority: 50, pools: [{name: m, priority: 10},\n"
                "     {name: n}]}\n"
                "  - {name: q, driver: static, pools: [{name: m}]}\n";
    g_autoptr(TestLoad) load = test_load(text, NULL);

    test_assert_clean(load);
    g_assert_cmpint(find_pool(load, "p", "m")->priority, ==, 10);
    g_assert_cmpint(find_pool(load, "p", "n")->priority, ==, 50);
    g_assert_cmpint(find_pool(load, "q", "m")->priority, ==, 100);
}

static void
test_joined_names(void)
{
    const char *text = SERVERS "providers:\n"
                               "  - {name: a-b, driver: static, pools: [{name: c}]}\n"
                               "  - {name: a, driver: static, pools: [{name: b-c}]}\n";
    g_autoptr(TestLoad) load = test_load(text, NULL);

    test_assert_clean(load);
    g_assert_nonnull(find_pool(load, "a-b", "c"));
    g_assert_nonnull(find_pool(load, "a", "b-c"));
}

static void
test_unknown_key(void)
{
    const char *text = SERVERS "providers:\n"
                               "  - {name: s, driver: static, pools: [{name: m, max-server: 3}]}\n";
    g_autoptr(TestLoad) load = test_load(text, NULL), strict = test_validate(text, NULL);

    test_assert_warning(load, ":3:49: warning: provider s, pool m: ", "max-server",
                        "did you mean max-servers?");
    test_assert_error(strict, ":3:49: error: provider s, pool m: ", "did you mean max-servers?");
}

static void
test_without_name(void)
{
    test_refuses(SERVERS "providers: [{driver: static}]\n",
                 ":2:13: error: provider 1: name is missing");
    test_refuses(SERVERS "providers: [{name: s, driver: static, pools: [{max-servers: 1}]}]\n",
                 "provider s, pool 1: name is missing");
    test_refuses(SERVERS "providers: [{name: s, driver: static, pools: {name: m}}]\n",
                 "provider s: pools: found a map, must be a list of maps");
}

/* ---- Drivers' options ---- */

static void
test_static_identity(void)
{
    const char *nodes = LABELS "providers:\n"
                               "  - name: s\n"
                               "    driver: static\n"
                               "    pools:\n"
                               "      - name: m\n"
                               "        nodes:\n"
                               "          - {name: h, labels: a}\n"
                               "      - name: n\n"
                               "        nodes:\n"
                               "          - {name: h, labels: a, connection-port: 2222}\n"
                               "          - {name: h, labels: a, username: other}\n";
    g_autofree char *same = g_strconcat(
        nodes, "          - {name: h, labels: b, connection-type: network_cli}\n", NULL);
    g_autoptr(TestLoad) load = test_load(same, NULL), strict = test_validate(same, NULL);

    test_loads(nodes);
    test_assert_error(
        load, ":14:13: error: provider s, pool n, node h: node h already defined at line 9, "
              "column 13 with the same name, username, connection-port");
    test_assert_error(strict, ":14:13: error", "line 9");
}

/* A pool that a later one replaces takes its machines with it. */
static void
test_replaced_pool(void)
{
    g_autoptr(TestLoad) load =
        test_load(LABELS "providers:\n"
                         "  - name: s\n"
                         "    driver: static\n"
                         "    pools:\n"
                         "      - {name: m, nodes: [{name: h, labels: a}]}\n"
                         "      - {name: m, nodes: [{name: g, labels: b}]}\n"
                         "      - {name: n, nodes: [{name: h, labels: a}]}\n",
                  NULL);

    test_assert_warning(load, "pool m already defined");
    g_assert_cmpuint(test_warnings(load), ==, 1);
    assert_labels(load, "s", "m", "b");
}

static void
test_static_unknown(void)
{
    const char *text =
        LABELS "providers:\n"
               "  - name: s\n"
               "    driver: static\n"
               "    cloud: x\n"
               "    pools: [{name: m, nodes: [{name: h, labels: a, connection-prot: 5}]}]\n";
    g_autoptr(TestLoad) load = test_load(text, NULL), strict = test_validate(text, NULL);

    test_assert_warning(load, ":6:5: warning: provider s: unknown key cloud; known are ");
    test_assert_error(strict, ":6:5: error: provider s: ", "unknown key cloud");
    test_assert_error(
        strict, ":7:52: error: provider s, pool m, node h: ", "did you mean connection-port?");
}

static void
test_static_values(void)
{
    g_autoptr(TestLoad) load = test_load(
        LABELS "providers:\n"
               "  - name: s\n"
               "    driver: static\n"
               "    pools:\n"
               "      - name: m\n"
               "        nodes:\n"
               "          - {name: h, labels: \" a  b \", ssh-port: 22022}\n"
               "          - {name: w, labels: [b, ubuntu-jammy], connection-type: winrm}\n"
               "          - {name: x, labels: a, connection-port: \"23\"}\n",
        NULL);
    const struct drover_value *nodes, *node;

    test_assert_warning(load, ":9:", "ssh-port is the old name of connection-port");
    test_assert_warning(load, ":11:", "connection-port: found the string \"23\"");
    assert_labels(load, "s", "m", "a b ubuntu-jammy");
    nodes = drover_value_get(find_pool(load, "s", "m")->values, "nodes");
    node = drover_value_item(nodes, 0);
    g_assert_cmpint(drover_value_get_integer(node, "connection-port", 0), ==, 22022);
    g_assert_cmpuint(drover_value_length(drover_value_get(node, "labels")), ==, 2);
    g_assert_cmpuint(drover_value_line(drover_value_get(node, "labels")), ==, 9);
    g_assert_cmpuint(drover_value_line(drover_value_get(node, "username")), ==, 0);
    node = drover_value_item(nodes, 1);
    g_assert_cmpint(drover_value_get_integer(node, "connection-port", 0), ==, 5986);
    node = drover_value_item(nodes, 2);
    g_assert_cmpint(drover_value_get_integer(node, "connection-port", 0), ==, 23);
}

static void
test_both_names(void)
{
    g_autoptr(TestLoad) load =
        test_load(LABELS "providers: [{name: s, driver: static, pools: [{name: m, nodes: "
                         "[{name: h, labels: a, connection-port: 1, ssh-port: 2}]}]}]\n",
                  NULL);
    const struct drover_value *nodes = drover_value_get(find_pool(load, "s", "m")->values, "nodes");

    test_assert_warning(load, "ssh-port is the old name of connection-port, which is given too");
    g_assert_cmpint(drover_value_get_integer(drover_value_item(nodes, 0), "connection-port", 0), ==,
                    1);
}

static void
test_options(void)
{
    const char *text =
        LABELS "providers:\n"
               "  - name: e\n"
               "    driver: aws\n"
               "    region-name: eu\n"
               "    rate: 5\n"
               "    image-format: rwa\n"
               "    access-token: [s3cret]\n"
               "    max-resources: {vcpu: many}\n"
               "    launch-retries: true\n"
               "    pools: [{name: m, host-key-checking: 'no', labels: [{name: a}]}]\n";
    g_autoptr(TestLoad) load = test_load(text, NULL);

    test_assert_error(load,
                      ":8:19: error: provider e: image-format: found the string \"rwa\", must "
                      "be one of ova, vhd, vhdx, vmdk, raw; did you mean raw?");
    test_assert_error(load, "access-token: found a list, must be a string");
    test_assert_unsaid(load, "s3cret");
    test_assert_error(load, ":10:27: error: provider e: max-resources.vcpu: found the string");
    test_assert_error(load, "launch-retries: found the boolean true, must be an integer");
    test_assert_error(load, "host-key-checking: found the string \"no\"");
    test_assert_error(load, "label a: instance-type is missing, must be a string");
    g_assert_cmpuint(test_errors(load), ==, 6);
}

/* What options cannot say the driver says itself, with the place of what it is about. */
static void
test_driver_check(void)
{
    const char *text = SERVERS "providers:\n"
                               "  - name: e\n"
                               "    driver: aws\n"
                               "    region-name: eu\n"
                               "    max-cores: 3\n"
                               "    cloud-images:\n"
                               "      - {name: good, image-id: x}\n"
                               "      - name: bad\n"
                               "  - {name: f, driver: aws, region-name: eu, post-upload-hook: x}\n"
                               "  - {name: g, driver: aws, profile-name: x}\n";
    g_autoptr(TestLoad) load = test_load(text, NULL);

    test_assert_error(load, ":9:9: error: provider e, cloud-image bad: the cloud image bad has "
                            "neither image-id nor image-filters");
    g_assert_cmpuint(test_warnings(load), ==, 1);
    test_assert_error(load, ":10:5: error: provider f: no hooks here");
    test_assert_error(load, "provider g: region-name is missing");
    g_assert_cmpuint(test_errors(load), ==, 3);
}

static void
test_deprecated(void)
{
    g_autoptr(TestLoad) load =
        test_load(SERVERS "providers: [{name: o, cloud: c, nodepool-id: x}]\n", NULL);

    test_assert_warning(load, "nodepool-id is deprecated: It is not used any more.");
}

/* Numbers of options that take reals are reals, so that 1 and 1.0 are the same. */
static void
test_values(void)
{
    g_autoptr(TestLoad) load = test_load(
        SERVERS
        "drivers: {aws: {endpoint: x}}\n"
        "providers: [{name: e, driver: aws, region-name: r, rate: 3, pools: [{name: m}]}]\n",
        NULL);
    const struct drover_value *values = find_provider(load, "e")->values;

    test_assert_clean(load);
    g_assert_cmpfloat(drover_value_get_number(values, "rate", 0), ==, 3);
    g_assert_cmpint(drover_value_type(drover_value_get(values, "rate")), ==, DROVER_VALUE_NUMBER);
    g_assert_cmpint(drover_value_get_integer(values, "launch-timeout", 0), ==, 3600);
    g_assert_cmpstr(
        drover_value_get_string(drover_value_get(values, "driver-settings"), "endpoint", NULL), ==,
        "x");
    g_assert_null(drover_value_get(values, "object-storage"));
    g_assert_nonnull(drover_value_get(values, "max-resources"));
    g_assert_cmpuint(find_provider(load, "e")->line, ==, 3);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/config/providers/C-04-unknown-label", test_unknown_label);
    g_test_add_func("/config/providers/C-09-unknown-diskimage", test_unknown_diskimage);
    g_test_add_func("/config/providers/C-39-default-driver", test_default_driver);
    g_test_add_func("/config/providers/C-40-FT-03-name-that-begins-with-fake",
                    test_name_that_begins_with_fake);
    g_test_add_func("/config/providers/C-41-unknown-driver", test_unknown_driver);
    g_test_add_func("/config/providers/C-42-F-47-driver-removed", test_absent_driver);
    g_test_add_func("/config/providers/driver-with-a-broken-table", test_broken_driver);
    g_test_add_func("/config/providers/without-drivers", test_without_drivers);
    g_test_add_func("/config/providers/C-43-twice", test_twice);
    g_test_add_func("/config/providers/C-44-no-concurrency", test_concurrency);
    g_test_add_func("/config/providers/C-45-max-servers", test_max_servers);
    g_test_add_func("/config/providers/C-46-priority", test_priority);
    g_test_add_func("/config/providers/C-47-joined-names", test_joined_names);
    g_test_add_func("/config/providers/C-48-unknown-key", test_unknown_key);
    g_test_add_func("/config/providers/without-name", test_without_name);
    g_test_add_func("/config/providers/ST-08-same-identity", test_static_identity);
    g_test_add_func("/config/providers/replaced-pool", test_replaced_pool);
    g_test_add_func("/config/providers/ST-45-unknown-option", test_static_unknown);
    g_test_add_func("/config/providers/ST-46-labels-split", test_static_values);
    g_test_add_func("/config/providers/old-and-new-name", test_both_names);
    g_test_add_func("/config/providers/options", test_options);
    g_test_add_func("/config/providers/driver-check", test_driver_check);
    g_test_add_func("/config/providers/deprecated", test_deprecated);
    g_test_add_func("/config/providers/values", test_values);
    return g_test_run();
}
