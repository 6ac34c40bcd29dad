/* What counts as a change of a provider. */
#include "load.h"

#include <string.h>

#define LABELS SERVERS "labels: [{name: a}, {name: b}]\n"

static const DroverProviderConfig *
find_provider(const TestLoad *load, const char *name)
{
    const DroverProviderConfig *provider;

    g_assert_nonnull(load->config);
    provider = drover_config_find_provider(load->config, name);
    g_assert_nonnull(provider);
    return provider;
}

/* Whether provider p is the same in both texts. */
static gboolean
same(const char *before, const char *after)
{
    g_autoptr(TestLoad) old_load = test_load(before, NULL), new_load = test_load(after, NULL);

    return drover_provider_config_equal(find_provider(old_load, "p"), find_provider(new_load, "p"));
}

#define PROVIDER                                                                                   \
    "providers:\n"                                                                                 \
    "  - name: p\n"                                                                                \
    "    cloud: c\n"                                                                               \
    "    rate: 1\n"                                                                                \
    "    cloud-images: [{name: i, connection-type: winrm}]\n"                                      \
    "    pools:\n"                                                                                 \
    "      - name: m\n"                                                                            \
    "        networks: [x, y]\n"                                                                   \
    "        labels: [{name: a, cloud-image: i}, {name: b, cloud-image: i}]\n"

static void
test_other_writing(void)
{
    const char *other = "# A comment.\n"
                        "providers:\n"
                        "  - pools:\n"
                        "      - labels:\n"
                        "          - {cloud-image: &i \"i\", name: 'a'}\n"
                        "          - {cloud-image: *i, name: b}\n"
                        "        networks:\n"
                        "          - x # first\n"
                        "          - \"y\"\n"
                        "        name: m\n"
                        "    cloud: 'c'\n"
                        "    rate: 1.0\n"
                        "    name: p\n"
                        "    cloud-images:\n"
                        "      - {connection-type: winrm, name: i}\n"
                        "labels: [{name: a}, {name: b}]\n" SERVERS;

    g_assert_true(same(LABELS PROVIDER, other));
}

static void
test_explicit_defaults(void)
{
    const char *explicit = LABELS
        "providers:\n"
        "  - name: p\n"
        "    driver: openstack\n"
        "    max-concurrency: -1\n"
        "    cloud: c\n"
        "    rate: 1\n"
        "    boot-timeout: 60\n"
        "    image-name-format: '{image_name}-{timestamp}'\n"
        "    diskimages: []\n"
        "    region-name: ~\n"
        "    cloud-images: [{name: i, connection-type: winrm, connection-port: 5986}]\n"
        "    unknown-key: x\n"
        "    pools:\n"
        "      - name: m\n"
        "        networks: [x, y]\n"
        "        security-groups: []\n"
        "        auto-floating-ip: true\n"
        "        labels: [{name: a, cloud-image: i, volume-size: 50}, {name: b, cloud-image: i}]\n";

    g_assert_true(same(LABELS PROVIDER, explicit));
}

/* An image's settings count where a label or a provider uses it. */
static void
test_image_settings(void)
{
    const char *form = LABELS "diskimages: [{name: i, username: %s}, {name: j, release: %s}]\n"
                              "providers:\n"
                              "  - {name: p, cloud: c, diskimages: [{name: i}],\n"
                              "     pools: [{name: m, labels: [{name: a, diskimage: i}]}]}\n"
                              "  - {name: q, cloud: c, diskimages: [{name: j}]}\n";
    g_autofree char *first = NULL, *second = NULL;
    g_autoptr(TestLoad) before = NULL, after = NULL;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    first = g_strdup_printf(form, "one", "x");
    second = g_strdup_printf(form, "two", "y");
#pragma GCC diagnostic pop
    before = test_load(first, NULL);
    after = test_load(second, NULL);
    g_assert_false(
        drover_provider_config_equal(find_provider(before, "p"), find_provider(after, "p")));
    g_assert_true(
        drover_provider_config_equal(find_provider(before, "q"), find_provider(after, "q")));
    g_assert_cmpstr(
        drover_value_get_string(
            drover_value_get(
                drover_value_get(find_provider(after, "p")->values, "diskimage-settings"), "i"),
            "username", NULL),
        ==, "two");
}

/* A copy of the text with one part replaced by another. */
static char *
edited(const char *text, const char *part, const char *replacement)
{
    g_auto(GStrv) pieces = g_strsplit(text, part, -1);

    g_assert_cmpuint(g_strv_length(pieces), >, 1);
    return g_strjoinv(replacement, pieces);
}

static void
test_list_order(void)
{
    g_autofree char *networks = edited(LABELS PROVIDER, "[x, y]", "[y, x]");
    g_autofree char *labels = edited(LABELS PROVIDER, "{name: a, cloud-image: i}, {name: b, cloud",
                                     "{name: b, cloud-image: i}, {name: a, cloud");

    g_assert_false(same(LABELS PROVIDER, networks));
    g_assert_false(same(LABELS PROVIDER, labels));
}

static void
test_common_changes(void)
{
    const char *after =
        SERVERS "max-hold-age: 5\n"
                "tenant-resource-limits: [{tenant-name: t, max-cores: 1}]\n"
                "labels: [{name: a, min-ready: 3, max-ready-age: 4}, {name: b}]\n" PROVIDER;
    g_autoptr(TestLoad) load = test_load(after, NULL);

    g_assert_true(same(LABELS PROVIDER, after));
    g_assert_cmpint(load->config->max_hold_age, ==, 5);
    g_assert_cmpint(drover_config_find_label(load->config, "a")->min_ready, ==, 3);
    g_assert_nonnull(drover_config_find_tenant(load->config, "t"));
}

/* Each single value counts. */
static void
test_one_value(void)
{
    static const struct {
        const char *part, *replacement;
    } edits[] = {
        {"cloud: c\n", "cloud: d\n"},
        {"rate: 1\n", "rate: 1.5\n"},
        {"winrm", "ssh"},
        {"name: m\n", "name: n\n"},
        {"[x, y]", "[x]"},
        {"{name: b, cloud-image: i}]", "{name: b, cloud-image: i, console-log: true}]"},
        {"rate: 1\n", "rate: 1\n    priority: 3\n"},
        {"rate: 1\n", "rate: 1\n    max-concurrency: 3\n"},
        {"name: m\n", "name: m\n        node-attributes: {k: v}\n"},
        {"name: m\n", "name: m\n        max-servers: 2\n"},
        {"zk}]\n", "zk}]\ndrivers: {openstack: {trace: true}}\n"},
    };

    g_assert_true(same(LABELS PROVIDER, LABELS PROVIDER));
    for (guint i = 0; i < G_N_ELEMENTS(edits); i++) {
        g_autofree char *text = edited(LABELS PROVIDER, edits[i].part, edits[i].replacement);

        g_test_message("%s", edits[i].replacement);
        g_assert_false(same(LABELS PROVIDER, text));
    }
}

static void
test_two_drivers(void)
{
    g_autoptr(TestLoad) load = test_load(SERVERS "providers: [{name: p, driver: static}]\n", NULL);
    g_autoptr(TestLoad) other = test_load(SERVERS "providers: [{name: p, driver: nope}]\n", NULL);
    g_autoptr(TestLoad) third = test_load(SERVERS "providers: [{name: p, driver: aws, "
                                                  "region-name: r}]\n",
                                          NULL);

    g_assert_false(
        drover_provider_config_equal(find_provider(load, "p"), find_provider(other, "p")));
    g_assert_false(
        drover_provider_config_equal(find_provider(load, "p"), find_provider(third, "p")));
}

/* ---- A file that is being changed ---- */

/* Half of a file that was good is refused with a place, and what loaded before stays whole. */
static void
test_half_written(void)
{
    g_autofree char *text = test_sample_text();
    g_autoptr(TestLoad) whole = test_load(text, NULL), half = NULL;
    char *cut = strstr(text, "connection-type: winrm\n        shell-type");

    g_assert_nonnull(cut);
    cut[strlen("connection-type: win")] = '\0';
    half = test_load(text, NULL);
    test_assert_error(half, "nodepool.yaml:65:15: error: provider cloud-east");
    g_assert_nonnull(find_provider(whole, "cloud-east"));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/config/changes/C-50-other-writing", test_other_writing);
    g_test_add_func("/config/changes/C-51-explicit-defaults", test_explicit_defaults);
    g_test_add_func("/config/changes/C-52-image-settings", test_image_settings);
    g_test_add_func("/config/changes/C-53-list-order", test_list_order);
    g_test_add_func("/config/changes/C-54-common-changes", test_common_changes);
    g_test_add_func("/config/changes/C-58-one-value", test_one_value);
    g_test_add_func("/config/changes/C-59-two-drivers", test_two_drivers);
    g_test_add_func("/config/changes/F-49-half-written", test_half_written);
    return g_test_run();
}
