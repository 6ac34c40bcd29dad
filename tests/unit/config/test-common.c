/* The common options outside providers and disk images. */
#include "load.h"

#include <glib/gstdio.h>
#include <string.h>

static void
test_sample(void)
{
    g_autoptr(TestLoad) load = test_load_sample(FALSE), strict = test_load_sample(TRUE);
    const DroverConfig *config = load->config;
    const DroverProviderConfig *east, *lab, *aws;
    g_autofree char *hosts = NULL;

    test_assert_clean(load);
    test_assert_clean(strict);
    g_assert_cmpint(config->webapp_port, ==, 8005);
    g_assert_cmpstr(config->webapp_address, ==, "127.0.0.1");
    hosts = drover_config_host_string(config);
    g_assert_cmpstr(hosts, ==, "zk01.example.org:2281,zk02.example.org:2281,[2001:db8::3]:2281/ci");
    g_assert_cmpint(config->max_hold_age, ==, 86400);
    g_assert_cmpint(config->build_log_retention, ==, 14);
    g_assert_cmpuint(config->labels->len, ==, 6);
    east = drover_config_find_provider(config, "cloud-east");
    g_assert_cmpint(east->max_concurrency, ==, 20);
    g_assert_cmpint(drover_provider_config_find_pool(east, "main")->priority, ==, 50);
    g_assert_cmpint(drover_provider_config_find_pool(east, "overflow")->priority, ==, 200);
    lab = drover_config_find_provider(config, "lab");
    g_assert_cmpstrv(drover_provider_config_find_pool(lab, "boards")->labels,
                     ((char *[]){"arm64-board", "windows-2022", NULL}));
    aws = drover_config_find_provider(config, "ec2-eu");
    g_assert_cmpint(drover_provider_config_find_pool(aws, "spot")->max_servers, ==, 30);
}

static void
test_sample_attributes(void)
{
    g_autoptr(TestLoad) load = test_load_sample(FALSE);
    const DroverProviderConfig *east = drover_config_find_provider(load->config, "cloud-east");
    const DroverPoolConfig *pool = drover_provider_config_find_pool(east, "overflow");
    json_t *expected = json_pack("{s:s, s:[s, s], s:b}", "executor-zone", "east", "racks", "a", "b",
                                 "overflow", 1);

    g_assert_true(json_equal(pool->node_attributes, expected));
    json_decref(expected);
}

static void
test_unknown_key(void)
{
    const char *text = SERVERS "nothandled: element\n";
    g_autoptr(TestLoad) load = test_load(text, NULL), strict = test_validate(text, NULL);
    g_autoptr(TestLoad) near = test_load(SERVERS "diskimage: []\n", NULL);

    test_assert_warning(load, "nodepool.yaml:2:1: warning: unknown key nothandled");
    test_assert_error(strict, "nodepool.yaml:2:1: error: Schema validation failed: "
                              "unknown key nothandled");
    test_assert_warning(near, "unknown key diskimage; did you mean diskimages?");
}

static void
test_label_without_name(void)
{
    g_autoptr(TestLoad) load = test_load(SERVERS "labels:\n  - min-ready: 1\n", NULL);

    test_assert_error(load, "nodepool.yaml:3:5: error: label 1: name is missing");
    test_refuses(SERVERS "labels: [{name: ~}]\n", "label 1: name is missing");
    test_refuses(SERVERS "labels: [a]\n", "label 1: found the string \"a\", must be a map");
}

static void
test_label_twice(void)
{
    const char *text = SERVERS "labels:\n"
                               "  - {name: a, min-ready: 1}\n"
                               "  - {name: b}\n"
                               "  - {name: a, min-ready: 2}\n";
    g_autoptr(TestLoad) load = test_load(text, NULL), strict = test_validate(text, NULL);

    test_assert_warning(load,
                        ":5:5: warning: label a: label a already defined at line 3, column 5");
    test_assert_error(strict, ":5:5: error: ", "label a already defined");
    g_assert_cmpuint(load->config->labels->len, ==, 2);
    g_assert_cmpint(drover_config_find_label(load->config, "a")->min_ready, ==, 2);
}

static void
assert_hold_age(const char *text, int expected)
{
    g_autoptr(TestLoad) load = test_load(text, NULL);

    test_assert_clean(load);
    g_assert_cmpint(load->config->max_hold_age, ==, expected);
}

static void
test_hold_age(void)
{
    assert_hold_age(SERVERS "max-hold-age: 0\n", 0);
    assert_hold_age(SERVERS "max-hold-age: -1\n", 0);
    assert_hold_age(SERVERS, 0);
    assert_hold_age(SERVERS "max-hold-age: 1_000\n", 1000);
}

static void
assert_webapp(const char *text, int port)
{
    g_autoptr(TestLoad) load = test_load(text, NULL);

    test_assert_clean(load);
    g_assert_cmpint(load->config->webapp_port, ==, port);
    g_assert_cmpstr(load->config->webapp_address, ==, "0.0.0.0");
}

static void
test_webapp(void)
{
    assert_webapp(SERVERS, 8005);
    assert_webapp(SERVERS "webapp: {}\n", 8005);
    assert_webapp(SERVERS "webapp: {port: 1}\n", 1);
}

static void
test_listeners(void)
{
    g_autoptr(TestLoad) none = test_load(SERVERS, NULL);
    g_autoptr(TestLoad) some =
        test_load(SERVERS "webapp: {}\nprometheus:\n  launcher: {port: 0, listen_address: '::1'}\n"
                          "  builder: {}\n",
                  NULL);

    test_assert_clean(none);
    g_assert_false(none->config->webapp);
    g_assert_cmpint(none->config->metrics_of_launcher.port, ==, DROVER_NO_PORT);
    g_assert_null(none->config->metrics_of_launcher.address);
    test_assert_clean(some);
    g_assert_true(some->config->webapp);
    g_assert_cmpint(some->config->metrics_of_launcher.port, ==, 0);
    g_assert_cmpstr(some->config->metrics_of_launcher.address, ==, "::1");
    g_assert_cmpint(some->config->metrics_of_builder.port, ==, DROVER_NO_PORT);
    g_assert_cmpstr(some->config->metrics_of_builder.address, ==, "0.0.0.0");
}

static void
test_tokens(void)
{
    g_autoptr(TestLoad) load =
        test_load(SERVERS "api: {tokens: [{name: a, token: 0123456789abcdef, tenant: t}]}\n",
                  "api: {tokens: [{name: b, token: fedcba9876543210}]}\n");
    g_autoptr(TestLoad) brief =
        test_load(SERVERS "api: {tokens: [{name: a, token: very-secret}]}\n", NULL);
    const DroverTokenConfig *first, *second;

    test_assert_clean(load);
    g_assert_cmpuint(load->config->tokens->len, ==, 2);
    first = load->config->tokens->pdata[0];
    second = load->config->tokens->pdata[1];
    g_assert_cmpstr(first->name, ==, "a");
    g_assert_cmpstr(first->token, ==, "0123456789abcdef");
    g_assert_cmpstr(first->tenant, ==, "t");
    g_assert_cmpstr(second->token, ==, "fedcba9876543210");
    g_assert_null(second->tenant);
    test_assert_error(brief, "api.tokens", "at least 16 characters");
    test_assert_unsaid(brief, "very-secret");
}

static void
test_webapp_types(void)
{
    g_autoptr(TestLoad) load = test_load(SERVERS "webapp: {port: \"8005\"}\n", NULL);
    g_autoptr(TestLoad) key = test_load(SERVERS "webapp: {listen-address: ''}\n", NULL);
    g_autoptr(TestLoad) null = test_load(SERVERS "webapp:\n", NULL);

    test_assert_error(load,
                      "2:16: error: webapp.port: found the string \"8005\", must be an integer; "
                      "write it without quotes");
    test_assert_warning(key, "unknown key listen-address in webapp; did you mean listen_address?");
    test_assert_warning(null, "webapp: found null");
    g_assert_cmpint(null->config->webapp_port, ==, 8005);
}

/* ---- Tenants ---- */

static gint64
limit(const DroverTenantConfig *tenant, const char *resource)
{
    const gint64 *value = g_hash_table_lookup(tenant->limits, resource);

    return value != NULL ? *value : -1;
}

static void
test_tenant(void)
{
    g_autoptr(TestLoad) load =
        test_load(SERVERS "tenant-resource-limits: [{tenant-name: t, max-servers: 2, "
                          "max-volume-gb: 5, \"L-1\": 4}]\n",
                  NULL);
    const DroverTenantConfig *tenant;

    test_assert_clean(load);
    tenant = drover_config_find_tenant(load->config, "t");
    g_assert_cmpint(limit(tenant, "instances"), ==, 2);
    g_assert_cmpint(limit(tenant, "volume-gb"), ==, 5);
    g_assert_cmpint(limit(tenant, "L-1"), ==, 4);
    g_assert_cmpuint(g_hash_table_size(tenant->limits), ==, 3);
    g_assert_null(drover_config_find_tenant(load->config, "u"));
}

static void
test_tenant_mistakes(void)
{
    const char *twice = SERVERS "tenant-resource-limits:\n"
                                "  - {tenant-name: t, max-cores: 1}\n"
                                "  - {tenant-name: t, max-ram: 2}\n";
    g_autoptr(TestLoad) load = test_load(twice, NULL), strict = test_validate(twice, NULL);

    test_assert_warning(load, ":4:5: warning: tenant t: tenant t already defined at line 3");
    test_assert_error(strict, "tenant t already defined");
    g_assert_cmpint(limit(drover_config_find_tenant(load->config, "t"), "cores"), ==, -1);
    g_assert_cmpint(limit(drover_config_find_tenant(load->config, "t"), "ram"), ==, 2);
    test_refuses(SERVERS "tenant-resource-limits: [{max-cores: 1}]\n",
                 "tenant 1: tenant-name is missing");
    test_refuses(SERVERS "tenant-resource-limits: [{tenant-name: t, max-cores: many}]\n",
                 "tenant t: max-cores: found the string \"many\", must be an integer");
    test_refuses(SERVERS "tenant-resource-limits: [{tenant-name: t, L-1: -1}]\n",
                 "tenant t: L-1: found the integer -1, must be at least 0");
}

/* ---- Types ---- */

static void
assert_min_ready(const char *value, int expected)
{
    g_autofree char *text = g_strdup_printf(SERVERS "labels: [{name: a, min-ready: %s}]\n", value);
    g_autoptr(TestLoad) load = test_load(text, NULL), strict = test_validate(text, NULL);

    test_assert_clean(load);
    test_assert_clean(strict);
    g_assert_cmpint(drover_config_find_label(load->config, "a")->min_ready, ==, expected);
}

static void
test_min_ready(void)
{
    test_refuses(SERVERS "labels: [{name: a, min-ready: yes}]\n",
                 "2:31: error: label a: min-ready: found the boolean yes, must be an integer");
    test_refuses(SERVERS "labels: [{name: a, min-ready: \"1\"}]\n",
                 "min-ready: found the string \"1\", must be an integer");
    test_refuses(SERVERS "labels: [{name: a, min-ready: 99999999999999999999}]\n",
                 "found the too large integer 99999999999999999999");
    test_refuses(SERVERS "labels: [{name: a, min-ready: 2001-01-01}]\n",
                 "found the date 2001-01-01");
    assert_min_ready("0x10", 16);
    assert_min_ready("-1", -1);
    assert_min_ready("1:30", 90);
    assert_min_ready("9999999999", G_MAXINT);
}

/* Python takes a real for an integer nearly everywhere. */
static void
test_real_for_integer(void)
{
    const char *text = SERVERS "max-hold-age: 90.5\nbuild-log-retention: 3.0\n";
    g_autoptr(TestLoad) load = test_load(text, NULL), strict = test_validate(text, NULL);

    test_assert_warning(load, "max-hold-age: found the number 90.5", "it is taken as 90");
    test_assert_warning(load, "build-log-retention", "it is taken as 3");
    g_assert_cmpint(load->config->max_hold_age, ==, 90);
    g_assert_cmpuint(test_errors(strict), ==, 2);
    test_refuses(SERVERS "max-hold-age: 1.0e+40\n", "max-hold-age");
    test_refuses(SERVERS "max-hold-age: .inf\n", "max-hold-age");
    test_refuses(SERVERS "max-hold-age: .nan\n", "max-hold-age");
}

static void
test_nulls(void)
{
    const char *text = SERVERS "labels:\nproviders: ~\ndiskimages: null\ntenant-resource-limits:\n";
    g_autoptr(TestLoad) load = test_load(text, NULL), strict = test_validate(text, NULL);
    g_autoptr(TestLoad) scalar = test_validate(SERVERS "elements-dir:\n", NULL);

    test_assert_warning(load, ":2:8: warning: labels: found null");
    test_assert_warning(load, ":3:12: warning: providers: found null");
    g_assert_cmpuint(test_warnings(load), ==, 4);
    g_assert_cmpuint(load->config->labels->len, ==, 0);
    test_assert_warning(strict, "labels: found null");
    test_assert_error(scalar, "elements-dir: found null");
}

/* A name that is written as a number is what Nodepool works with too. */
static void
test_numbers_as_names(void)
{
    const char *text = SERVERS "labels: [{name: 2204}]\n";
    g_autoptr(TestLoad) load = test_load(text, NULL), strict = test_validate(text, NULL);

    test_assert_warning(load, "name: found the integer 2204, must be a string; write it in quotes");
    test_assert_error(strict, "name: found the integer 2204");
    g_assert_nonnull(drover_config_find_label(load->config, "2204"));
}

static void
test_keys_that_are_no_strings(void)
{
    const char *text = SERVERS "1: x\nyes: y\ntenant-resource-limits: [{tenant-name: t, 5: 6}]\n";
    g_autoptr(TestLoad) load = test_load(text, NULL);

    test_assert_warning(load, ":2:1: warning: unknown key 1");
    test_assert_warning(load, ":3:1: warning: unknown key true");
    test_assert_warning(load, "tenant t: the key 5 is not a string");
    g_assert_cmpint(limit(drover_config_find_tenant(load->config, "t"), "5"), ==, 6);
}

/* ---- The secure file ---- */

static void
test_empty_secure(void)
{
    static const char *const texts[] = {"", "# nothing\n", "---\n", "{}\n"};

    for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autoptr(TestLoad) load = test_load(SERVERS, texts[i]);
        g_autofree char *stamp = drover_config_stamp(load->path, load->secure_path);
        g_autofree char *again = drover_config_stamp(load->path, load->secure_path);

        test_assert_clean(load);
        g_assert_cmpstr(stamp, ==, again);
    }
}

static void
test_secure_keys(void)
{
    const char *text = "labels: [{name: s3cret}]\nzookeeper-server: [s3cret]\n";
    g_autoptr(TestLoad) load = test_load(SERVERS, text), strict = test_validate(SERVERS, text);
    g_autoptr(TestLoad) list = test_load(SERVERS, "[s3cret]\n");

    test_assert_warning(load, "secure.yaml:1:1: warning: unknown key labels");
    test_assert_warning(strict, "secure.yaml:2:1: warning: ", "did you mean zookeeper-servers?");
    test_assert_unsaid(strict, "s3cret");
    test_assert_error(list, "secure.yaml:1:1: error: the file has to hold a map");
}

static void
test_exposed(void)
{
    g_autoptr(TestLoad) load = test_load(SERVERS, "{}\n");
    g_autoptr(DroverConfigReport) report = drover_config_report_new();
    g_autoptr(DroverConfig) config = NULL;
    g_autofree char *text = NULL;

    g_assert_cmpint(g_chmod(load->secure_path, 0644), ==, 0);
    config = drover_config_load(load->path, load->secure_path, FALSE, NULL, report);
    g_assert_nonnull(config);
    g_assert_cmpuint(drover_config_report_problems(report)->len, ==, 1);
    text = drover_config_problem_text(drover_config_report_problems(report)->pdata[0]);
    g_assert_nonnull(strstr(text, "secure.yaml: warning: the file holds secrets"));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/config/common/C-01-complete-sample", test_sample);
    g_test_add_func("/config/common/sample-attributes", test_sample_attributes);
    g_test_add_func("/config/common/C-03-unknown-top-level-key", test_unknown_key);
    g_test_add_func("/config/common/C-10-label-without-name", test_label_without_name);
    g_test_add_func("/config/common/label-twice", test_label_twice);
    g_test_add_func("/config/common/C-21-empty-secure-file", test_empty_secure);
    g_test_add_func("/config/common/C-22-max-hold-age", test_hold_age);
    g_test_add_func("/config/common/C-23-webapp-defaults", test_webapp);
    g_test_add_func("/config/common/listeners", test_listeners);
    g_test_add_func("/config/common/tokens", test_tokens);
    g_test_add_func("/config/common/C-24-webapp-types", test_webapp_types);
    g_test_add_func("/config/common/C-25-tenant-limits", test_tenant);
    g_test_add_func("/config/common/C-26-tenant-mistakes", test_tenant_mistakes);
    g_test_add_func("/config/common/C-33-min-ready-types", test_min_ready);
    g_test_add_func("/config/common/real-for-integer", test_real_for_integer);
    g_test_add_func("/config/common/C-62-null-lists", test_nulls);
    g_test_add_func("/config/common/numbers-as-names", test_numbers_as_names);
    g_test_add_func("/config/common/keys-that-are-no-strings", test_keys_that_are_no_strings);
    g_test_add_func("/config/common/secure-file-keys", test_secure_keys);
    g_test_add_func("/config/common/secure-file-exposed", test_exposed);
    return g_test_run();
}
