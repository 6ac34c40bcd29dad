/*
 * The static driver's options as the configuration is checked with them. Case numbers are those of
 * the static driver's specification.
 */
#include "config/config.h"
#include "driver/host.h"

#include "support/process.h"

#include <string.h>

typedef struct {
    char *folder;
    DroverDriverHost *host;
    DroverConfigReport *report;
    DroverConfig *config; /* NULL when it was refused */
} Loaded;

static const struct drover_driver *
find_driver(const char *name, gpointer user_data, GError **error)
{
    return drover_driver_host_find(user_data, name, error);
}

/* Loads a configuration whose provider has these lines, indented, below its name and driver. */
static Loaded *
load(const char *provider_lines, gboolean strict)
{
    const char *const directories[] = {DROVER_BUILD_DIR "/drivers", NULL};
    Loaded *loaded = g_new0(Loaded, 1);
    g_autofree char *path = NULL;
    g_autofree char *text = g_strconcat("zookeeper-servers: [{host: localhost}]\n"
                                        "labels: [{name: a}, {name: b}]\n"
                                        "providers:\n"
                                        "  - name: lab\n"
                                        "    driver: static\n",
                                        provider_lines, NULL);
    DroverConfigDrivers drivers = {find_driver, NULL, NULL};
    g_autoptr(GError) error = NULL;

    loaded->folder = test_folder_make();
    path = g_build_filename(loaded->folder, "nodepool.yaml", NULL);
    g_file_set_contents(path, text, -1, &error);
    g_assert_no_error(error);
    loaded->host = drivers.user_data = drover_driver_host_new(directories);
    loaded->report = drover_config_report_new();
    loaded->config = drover_config_load(path, NULL, strict, &drivers, loaded->report);
    return loaded;
}

static void
loaded_free(Loaded *loaded)
{
    g_clear_pointer(&loaded->config, drover_config_unref);
    drover_config_report_free(loaded->report);
    drover_driver_host_free(loaded->host);
    test_folder_remove(loaded->folder);
    g_free(loaded->folder);
    g_free(loaded);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Loaded, loaded_free)

static char *
all_problems(const Loaded *loaded)
{
    const GPtrArray *problems = drover_config_report_problems(loaded->report);
    GString *text = g_string_new(NULL);

    for (guint i = 0; i < problems->len; i++) {
        g_autofree char *line = drover_config_problem_text(problems->pdata[i]);

        g_string_append_printf(text, "%s\n", line);
    }
    return g_string_free(text, FALSE);
}

/* Each of the texts stands in the problems of the configuration. */
static void
assert_problems(const Loaded *loaded, const char *const *texts)
{
    g_autofree char *problems = all_problems(loaded);

    for (; *texts != NULL; texts++)
        if (strstr(problems, *texts) == NULL)
            g_error("\"%s\" is not in:\n%s", *texts, problems);
}

static void
assert_refused(const char *provider_lines, const char *const *texts)
{
    g_autoptr(Loaded) loaded = load(provider_lines, FALSE);

    assert_problems(loaded, texts);
    g_assert_null(loaded->config);
}

/* The section of the first machine, and no problem at all. */
static const struct drover_value *
first_machine(const Loaded *loaded)
{
    g_autofree char *problems = all_problems(loaded);
    const DroverProviderConfig *provider;
    const DroverPoolConfig *pool;

    g_assert_cmpstr(problems, ==, "");
    provider = loaded->config->providers->pdata[0];
    pool = provider->pools->pdata[0];
    return drover_value_item(drover_value_get(pool->values, "nodes"), 0);
}

#define POOL "    pools:\n      - name: main\n        nodes:\n"

static void
test_defaults(void)
{
    g_autoptr(Loaded) loaded = load(POOL "          - {name: h1, labels: a}\n", TRUE);
    const struct drover_value *machine = first_machine(loaded);

    g_assert_cmpstr(drover_value_get_string(machine, "username", NULL), ==, "zuul");
    g_assert_cmpstr(drover_value_get_string(machine, "connection-type", NULL), ==, "ssh");
    g_assert_cmpint(drover_value_get_integer(machine, "connection-port", 0), ==, 22);
    g_assert_cmpstr(drover_value_get_string(machine, "python-path", NULL), ==, "auto");
    g_assert_null(drover_value_get(machine, "shell-type"));
    g_assert_cmpuint(drover_value_length(drover_value_get(machine, "host-key")), ==, 0);
    g_assert_true(drover_value_get_boolean(machine, "host-key-checking", FALSE));
    g_assert_cmpint(drover_value_get_integer(machine, "timeout", 0), ==, 5);
    g_assert_cmpint(drover_value_get_integer(machine, "max-parallel-jobs", 0), ==, 1);
}

static void
test_port_of_windows(void)
{
    g_autoptr(Loaded) loaded =
        load(POOL "          - {name: h1, labels: a, connection-type: winrm}\n", TRUE);

    g_assert_cmpint(drover_value_get_integer(first_machine(loaded), "connection-port", 0), ==,
                    5986);
}

static void
test_several_labels_in_a_string(void)
{
    g_autoptr(Loaded) loaded = load(POOL "          - {name: h1, labels: 'a b'}\n", TRUE);
    const struct drover_value *labels = drover_value_get(first_machine(loaded), "labels");

    g_assert_cmpuint(drover_value_length(labels), ==, 2);
    g_assert_cmpstr(drover_value_string(drover_value_item(labels, 0)), ==, "a");
    g_assert_cmpstr(drover_value_string(drover_value_item(labels, 1)), ==, "b");
}

static void
test_no_machines(void)
{
    static const char *const pools[] = {
        "    pools: [{name: main, nodes: []}]\n",
        "    pools: [{name: main}]\n",
    };

    for (guint i = 0; i < G_N_ELEMENTS(pools); i++) {
        g_autoptr(Loaded) loaded = load(pools[i], TRUE);
        g_autofree char *problems = all_problems(loaded);

        g_assert_cmpstr(problems, ==, "");
        g_assert_nonnull(loaded->config);
    }
}

static void
test_same_identity(void)
{
    static const char *const same_pool =
        POOL "          - {name: h1, labels: a}\n"
             "          - {name: h1, labels: b, connection-type: network_cli}\n";
    static const char *const other_pool = POOL "          - {name: h1, labels: a}\n"
                                               "      - name: second\n"
                                               "        nodes:\n"
                                               "          - {name: h1, labels: b}\n";

    assert_refused(same_pool, (const char *[]){":10:", "line 9", "h1", NULL});
    assert_refused(other_pool, (const char *[]){":12:", "line 9", "h1", NULL});
}

static void
test_other_identity(void)
{
    g_autoptr(Loaded) loaded =
        load(POOL "          - {name: h1, labels: a}\n"
                  "          - {name: h1, labels: a, username: zuul-2}\n"
                  "          - {name: h1, labels: a, connection-port: 22022}\n",
             TRUE);

    g_assert_nonnull(first_machine(loaded));
}

/* An old file may hold them, so the launcher only warns; a check of the file refuses them. */
static void
test_unknown_options(void)
{
    static const struct {
        const char *lines, *place, *name, *nearest;
    } cases[] = {
        {"    cloud: x\n    pools: []\n", ":6:5: ", "cloud", "pools"},
        {"    diskimages: []\n    pools: []\n", ":6:5: ", "diskimages", "pools"},
        {POOL "          - {name: h1, labels: a, host-keys: x}\n", ":9:", "host-keys", "host-key"},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        const char *const texts[] = {cases[i].place, cases[i].name, cases[i].nearest, NULL};
        g_autoptr(Loaded) loaded = load(cases[i].lines, FALSE);
        g_autoptr(Loaded) strict = load(cases[i].lines, TRUE);

        assert_problems(loaded, texts);
        g_assert_nonnull(loaded->config);
        assert_problems(strict, texts);
        g_assert_null(strict->config);
    }
}

static void
test_bad_values(void)
{
    static const struct {
        const char *members, *text;
    } cases[] = {
        {"labels: a", "name"},
        {"name: h1", "labels"},
        {"name: h1, labels: nowhere", "nowhere"},
        {"name: h1, labels: a, connection-port: 0", "connection-port"},
        {"name: h1, labels: a, connection-port: 65536", "connection-port"},
        {"name: h1, labels: a, timeout: -1", "timeout"},
        {"name: h1, labels: a, timeout: soon", "timeout"},
        {"name: h1, labels: a, max-parallel-jobs: -1", "max-parallel-jobs"},
        {"name: h1, labels: a, host-key: {x: y}", "host-key"},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *lines = g_strdup_printf(POOL "          - {%s}\n", cases[i].members);

        assert_refused(lines, (const char *[]){":9:", cases[i].text, NULL});
    }
}

/* What only loads for old files' sake. */
static void
test_lenient_values(void)
{
    static const char *const lines = POOL "          - name: h1\n"
                                          "            labels: a\n"
                                          "            ssh-port: '22022'\n"
                                          "            timeout: '13'\n"
                                          "            max-parallel-jobs: '2'\n";
    g_autoptr(Loaded) loaded = load(lines, FALSE);
    g_autoptr(Loaded) strict = load(lines, TRUE);
    const DroverProviderConfig *provider;
    const DroverPoolConfig *pool;
    const struct drover_value *machine;

    g_assert_nonnull(loaded->config);
    provider = loaded->config->providers->pdata[0];
    pool = provider->pools->pdata[0];
    machine = drover_value_item(drover_value_get(pool->values, "nodes"), 0);
    g_assert_cmpint(drover_value_get_integer(machine, "connection-port", 0), ==, 22022);
    g_assert_cmpint(drover_value_get_integer(machine, "timeout", 0), ==, 13);
    g_assert_cmpint(drover_value_get_integer(machine, "max-parallel-jobs", 0), ==, 2);
    g_assert_cmpuint(drover_config_report_problems(loaded->report)->len, ==, 4);
    g_assert_null(strict->config);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/static/options/defaults", test_defaults);
    g_test_add_func("/static/options/NQ-2-port-of-windows", test_port_of_windows);
    g_test_add_func("/static/options/ST-46-several-labels", test_several_labels_in_a_string);
    g_test_add_func("/static/options/no-machines", test_no_machines);
    g_test_add_func("/static/options/ST-08-same-identity", test_same_identity);
    g_test_add_func("/static/options/ST-06-ST-07-other-identity", test_other_identity);
    g_test_add_func("/static/options/ST-45-unknown-options", test_unknown_options);
    g_test_add_func("/static/options/bad-values", test_bad_values);
    g_test_add_func("/static/options/lenient-values", test_lenient_values);
    return g_test_run();
}
