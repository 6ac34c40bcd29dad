/* Servers, chroot, TLS and time-out, in both files. */
#include "load.h"

static void
assert_hosts(const char *servers, const char *expected)
{
    g_autofree char *text = g_strdup_printf("zookeeper-servers: %s\n", servers);
    g_autoptr(TestLoad) load = test_load(text, NULL);
    g_autofree char *hosts = NULL;

    test_assert_clean(load);
    hosts = drover_config_host_string(load->config);
    g_assert_cmpstr(hosts, ==, expected);
}

static void
test_hosts(void)
{
    assert_hosts("[{host: h1}, {host: \"::1\", port: 1, chroot: /a}]", "h1:2281,[::1]:1/a");
}

static void
test_single_chroot(void)
{
    assert_hosts("[{host: 127.0.0.1, port: 2181, chroot: /test1}]", "127.0.0.1:2181/test1");
}

static void
test_chroot_forms(void)
{
    g_autoptr(TestLoad) load = NULL;

    assert_hosts("[{host: a}, {host: b, chroot: /t}]", "a:2281,b:2281/t");
    assert_hosts("[{host: a, chroot: /t}, {host: b, chroot: /t/}]", "a:2281,b:2281/t");
    assert_hosts("[{host: a, chroot: /t/u}, {host: b}]", "a:2281,b:2281/t/u");
    assert_hosts("[{host: a, chroot: /}]", "a:2281");
    load = test_load("zookeeper-servers: [{host: a, chroot: t}]\n", NULL);
    test_assert_error(load, ":1:39: error: zookeeper-server 1: chroot: must begin with /");
}

static void
test_two_chroots(void)
{
    g_autoptr(TestLoad) load = test_load("zookeeper-servers:\n"
                                         "  - {host: a, chroot: /a}\n"
                                         "  - {host: b, chroot: /b}\n",
                                         NULL);

    test_assert_error(load, ":3:23: error: zookeeper-server 2", "/a", "/b");
}

static void
test_addresses(void)
{
    g_autoptr(TestLoad) load =
        test_load("zookeeper-servers: [{host: '2001:db8::1', port: 1}, "
                  "{host: '[2001:db8::2]', port: 1}, {host: 127.0.0.2, port: 1}]\n",
                  NULL);
    g_autofree char *hosts = drover_config_host_string(load->config);

    g_assert_cmpstr(hosts, ==, "[2001:db8::1]:1,[2001:db8::2]:1,127.0.0.2:1");
    g_assert_cmpstr(((DroverServerConfig *)load->config->servers->pdata[1])->host, ==,
                    "2001:db8::2");
}

static void
test_server_options(void)
{
    test_refuses("zookeeper-servers: [{host: a, port: 0}]\n",
                 "zookeeper-server 1: port: found the integer 0, must be from 1 to 65535");
    test_refuses("zookeeper-servers: [{host: a, port: 65536}]\n", "must be from 1 to 65535");
    test_refuses("zookeeper-servers: [{port: 1}]\n",
                 ":1:21: error: zookeeper-server 1: host is missing");
    test_refuses("zookeeper-servers: [a]\n",
                 "zookeeper-server 1: found the string \"a\", must be a map");
    test_refuses("zookeeper-servers: {host: a}\n", "must be a list of maps");
    test_refuses("zookeeper-servers: [{host: ''}]\n", "host: must not be empty");
}

static void
test_no_servers(void)
{
    g_autoptr(TestLoad) load = test_load("labels: []\n", "diskimages: []\n");

    test_assert_error(load, "zookeeper-servers");
    test_refuses("zookeeper-servers: []\n", "zookeeper-servers: no servers");
    test_refuses("zookeeper-servers:\n", "zookeeper-servers: no servers");
}

/* They may stand in the secure file, which is not always at hand where a file is validated. */
static void
test_no_servers_without_secure_file(void)
{
    g_autoptr(TestLoad) alone = test_validate("labels: []\n", NULL);
    g_autoptr(TestLoad) both = test_validate("labels: []\n", "diskimages: []\n");

    test_assert_warning(alone, "zookeeper-servers: no servers", "secure file");
    test_assert_error(both, "zookeeper-servers: no servers");
}

static void
test_secure_servers(void)
{
    g_autoptr(TestLoad) load =
        test_load("zookeeper-servers: [{host: a, chroot: /a}]\n",
                  "zookeeper-servers: [{host: b, port: 7}]\nzookeeper-digest: user:s3cret\n");
    g_autoptr(TestLoad) only = test_load("labels: []\n", "zookeeper-servers: [{host: b}]\n");
    g_autoptr(TestLoad) none = test_load(SERVERS, "zookeeper-servers: []\n");
    g_autofree char *hosts = NULL, *only_hosts = NULL, *main_hosts = NULL;

    test_assert_clean(load);
    hosts = drover_config_host_string(load->config);
    g_assert_cmpstr(hosts, ==, "b:7");
    g_assert_cmpstr(load->config->zookeeper_digest, ==, "user:s3cret");
    test_assert_clean(only);
    only_hosts = drover_config_host_string(only->config);
    g_assert_cmpstr(only_hosts, ==, "b:2281");
    main_hosts = drover_config_host_string(none->config);
    g_assert_cmpstr(main_hosts, ==, "zk:2281");
}

/* ---- TLS ---- */

/* The files lie beside the configuration. */
#define TLS                                                                                        \
    "zookeeper-tls:\n"                                                                             \
    "  cert: %(NODEPOOL_TLS)/client.pem\n"                                                         \
    "  key: %(NODEPOOL_TLS)/client.key\n"                                                          \
    "  ca: %(NODEPOOL_TLS)/ca.pem\n"

static void
test_tls(void)
{
    g_autoptr(TestLoad) load = test_load(SERVERS TLS, NULL);
    g_autoptr(TestLoad) other = test_load(SERVERS TLS "  verify-hostname: false\n", NULL);
    g_autoptr(TestLoad) plain = test_load(SERVERS, NULL);

    test_assert_clean(load);
    g_assert_true(g_str_has_suffix(load->config->tls_key, "/client.key"));
    g_assert_true(load->config->tls_verify_hostname);
    test_assert_clean(other);
    g_assert_false(other->config->tls_verify_hostname);
    test_assert_clean(plain);
    g_assert_null(plain->config->tls_cert);
}

static void
test_tls_in_secure(void)
{
    g_autoptr(TestLoad) load = test_load(SERVERS, TLS);
    g_autoptr(TestLoad) both = test_load(SERVERS "zookeeper-tls: {cert: /nowhere/old}\n", TLS);
    g_autoptr(TestLoad) empty = test_load(SERVERS TLS, "zookeeper-tls: {}\n");

    test_assert_clean(load);
    g_assert_true(g_str_has_suffix(load->config->tls_ca, "/ca.pem"));
    test_assert_clean(both);
    g_assert_true(g_str_has_suffix(both->config->tls_cert, "/client.pem"));
    test_assert_clean(empty);
    g_assert_true(g_str_has_suffix(empty->config->tls_cert, "/client.pem"));
}

static void
test_tls_incomplete(void)
{
    g_autoptr(TestLoad) load = test_load(SERVERS "zookeeper-tls: {cert: /c}\n", NULL);
    g_autoptr(TestLoad) strict = test_validate(SERVERS "zookeeper-tls: {cert: /c}\n", NULL);

    test_assert_error(load, ":2:16: error: zookeeper-tls: key and ca missing");
    test_assert_error(strict, "key and ca missing");
    /* A section that says nothing of use does not mean that connections may be plain. */
    test_refuses(SERVERS "zookeeper-tls: {}\n", "cert and key and ca missing");
    test_refuses(SERVERS "zookeeper-tls: {certificate: /c}\n", "cert and key and ca missing");
}

/* Where the configuration is validated the daemons' files need not be. */
static void
test_tls_unreadable(void)
{
    const char *section = SERVERS "zookeeper-tls: {cert: /dev/null, key: /nowhere/key, "
                                  "ca: /dev/null}\n";
    g_autoptr(TestLoad) load = test_load(section, NULL), strict = test_validate(section, NULL);
    g_autoptr(TestLoad) secure = test_load("labels: []", section);

    test_assert_error(load, ":2:39: error: ", "/nowhere/key", "No such file");
    test_assert_warning(strict, "/nowhere/key");
    test_assert_error(secure, "secure.yaml:2:39: error: zookeeper-tls: key: ");
    test_assert_unsaid(secure, "/nowhere/key");
}

/* ---- Time-out and digest ---- */

static void
assert_timeout(const char *value, double expected, gboolean converted)
{
    g_autofree char *text = g_strdup_printf(SERVERS "zookeeper-timeout: %s\n", value);
    g_autoptr(TestLoad) load = test_load(text, NULL), strict = test_validate(text, NULL);

    g_assert_nonnull(load->config);
    g_assert_cmpfloat(load->config->zookeeper_timeout, ==, expected);
    if (!converted) {
        test_assert_clean(load);
        test_assert_clean(strict);
        return;
    }
    test_assert_warning(load, ":2:20: warning: zookeeper-timeout", "write it without quotes");
    test_assert_error(strict, ":2:20: error: Schema validation failed: zookeeper-timeout");
}

static void
test_timeout(void)
{
    g_autoptr(TestLoad) absent = test_load(SERVERS, NULL);

    g_assert_cmpfloat(absent->config->zookeeper_timeout, ==, 10);
    assert_timeout("10", 10, FALSE);
    assert_timeout("10.0", 10, FALSE);
    assert_timeout("0.5", 0.5, FALSE);
    assert_timeout("\"10\"", 10, TRUE);
    assert_timeout("\"2.5\"", 2.5, TRUE);
    test_refuses(SERVERS "zookeeper-timeout: 0\n",
                 "zookeeper-timeout: found the integer 0, must be at least 0.001");
    test_refuses(SERVERS "zookeeper-timeout: -1.5\n", "must be at least 0.001");
    test_refuses(SERVERS "zookeeper-timeout: true\n", "found the boolean true, must be a number");
    test_refuses(SERVERS "zookeeper-timeout: long\n", "found the string \"long\"");
    test_refuses(SERVERS "zookeeper-timeout: .nan\n", "found the number .nan");
}

static void
test_digest(void)
{
    g_autoptr(TestLoad) load = test_load(SERVERS "zookeeper-digest: s3cret\n", NULL);
    g_autoptr(TestLoad) list = test_load(SERVERS "zookeeper-digest: [s3cret]\n", NULL);
    g_autoptr(TestLoad) number = test_load(SERVERS "zookeeper-digest: 31337\n", NULL);

    test_assert_error(load, ":2:19: error: zookeeper-digest", "user:password");
    test_assert_unsaid(load, "s3cret");
    test_assert_error(list, "zookeeper-digest: found a list");
    test_assert_error(number, "zookeeper-digest: found an integer");
    test_assert_unsaid(number, "31337");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/config/zookeeper/C-12-timeout-types", test_timeout);
    g_test_add_func("/config/zookeeper/C-13-host-string", test_hosts);
    g_test_add_func("/config/zookeeper/C-14-Z-03-chroots-that-differ", test_two_chroots);
    g_test_add_func("/config/zookeeper/C-15-no-servers", test_no_servers);
    g_test_add_func("/config/zookeeper/no-servers-without-secure-file",
                    test_no_servers_without_secure_file);
    g_test_add_func("/config/zookeeper/C-16-servers-in-both-files", test_secure_servers);
    g_test_add_func("/config/zookeeper/C-17-tls-in-the-secure-file", test_tls_in_secure);
    g_test_add_func("/config/zookeeper/C-18-tls-incomplete", test_tls_incomplete);
    g_test_add_func("/config/zookeeper/Z-01-chroot-of-one-server", test_single_chroot);
    g_test_add_func("/config/zookeeper/Z-02-chroot-of-several-servers", test_chroot_forms);
    g_test_add_func("/config/zookeeper/Z-04-addresses", test_addresses);
    g_test_add_func("/config/zookeeper/Z-05-unreadable-key", test_tls_unreadable);
    g_test_add_func("/config/zookeeper/server-options", test_server_options);
    g_test_add_func("/config/zookeeper/tls", test_tls);
    g_test_add_func("/config/zookeeper/digest", test_digest);
    return g_test_run();
}
