/* YAML as a whole: merge keys, anchors, tags, duplicate keys, and documents that are none. */
#include "load.h"

#include "config/yaml.h"

static void
test_broken(void)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"a: *nothing\n", "1:4: error: YAML parsing failed: this anchor is not defined above"},
        {"a: &a [1, *a]\n", "1:11: error: YAML parsing failed: this anchor contains itself"},
        {"a: &a {b: *a}\n", "contains itself"},
        {"{[1]: 2}\n", "a key has to be a plain word"},
        {"? {a: b}\n: c\n", "a key has to be a plain word"},
        {"a: 1\nb: @x\n", "2:4: error: YAML parsing failed: found character that cannot start"},
        {"a: \"x\n", "YAML parsing failed: found unexpected end of stream"},
        {"a: \"\\q\"\n", "found unknown escape character"},
        {"a: b\x01", "1:5: error: YAML parsing failed: control characters are not allowed"},
        {"a: 1\n\tb: 2\n", "YAML parsing failed"},
        {"- zookeeper\n", "1:1: error: the file has to hold a map of options"},
        {"just words\n", "the file has to hold a map of options"},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
        test_refuses(cases[i].text, cases[i].message);
}

static void
test_indentation(void)
{
    g_autoptr(TestLoad) load = test_load("labels:\n  - name: a\n min-ready: 1\n", NULL);
    g_autoptr(TestLoad) strict = test_validate("labels:\n  - name: a\n min-ready: 1\n", NULL);

    test_assert_error(load, "nodepool.yaml:3:2: error: YAML parsing failed: ");
    test_assert_error(strict, "nodepool.yaml:3:2: error: YAML parsing failed: ");
}

static void
test_empty(void)
{
    static const char *const texts[] = {"", "# nothing\n", "---\n", "~\n", "---\n...\n"};

    for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
        test_refuses(texts[i], "nodepool.yaml: error: no configuration");
    test_refuses(SERVERS "---\nlabels: []\n", "YAML parsing failed: a second document begins here");
    test_loads("---\n" SERVERS "...\n");
}

/* A chain in which each anchor holds the one before ten times. */
static void
test_alias_explosion(void)
{
    g_autoptr(GString) text = g_string_new("a0: &a0 [x, x]\n");

    for (int i = 1; i < 20; i++) {
        g_string_append_printf(text, "a%d: &a%d [", i, i);
        for (int k = 0; k < 10; k++)
            g_string_append_printf(text, "%s*a%d", k > 0 ? ", " : "", i - 1);
        g_string_append(text, "]\n");
    }
    test_refuses(text->str, "more than 1000000 values when every alias is written out");
}

static void
test_depth(void)
{
    g_autoptr(GString) text = g_string_new("a: ");

    for (int i = 0; i < 5000; i++)
        g_string_append_c(text, '[');
    test_refuses(text->str, "more than 100 lists and maps in each other");
}

static void
test_merge(void)
{
    g_autoptr(TestLoad) load =
        test_load(SERVERS "labels:\n"
                          "  - &base\n"
                          "    name: a\n"
                          "    min-ready: 1\n"
                          "    max-ready-age: 5\n"
                          "  - &more {name: b, <<: *base, max-ready-age: 6}\n"
                          "  - {<<: [{min-ready: 7}, *more], name: c}\n"
                          "  - {\"name\": d, <<: *base, <<: {min-ready: 9}}\n",
                  NULL);
    DroverLabelConfig *b, *c, *d;

    test_assert_clean(load);
    b = drover_config_find_label(load->config, "b");
    c = drover_config_find_label(load->config, "c");
    d = drover_config_find_label(load->config, "d");
    g_assert_cmpint(b->min_ready, ==, 1);
    g_assert_cmpint(b->max_ready_age, ==, 6);
    g_assert_cmpint(c->min_ready, ==, 7);
    g_assert_cmpint(c->max_ready_age, ==, 6);
    g_assert_cmpint(d->min_ready, ==, 9);
    test_refuses(SERVERS "labels: [{<<: words, name: a}]\n", "<< needs a map, or a list of maps");
    test_refuses(SERVERS "labels: [{<<: [1], name: a}]\n", "<< needs a map, or a list of maps");
    test_refuses(SERVERS "elements-dir: <<\n", "this sign is no value");
    test_refuses(SERVERS "elements-dir: =\n", "this sign is no value");
}

static void
test_key_twice(void)
{
    const char *text = SERVERS "max-hold-age: 5\n"
                               "labels: [{name: a, min-ready: 1, min-ready: 2}]\n"
                               "max-hold-age: 6\n";
    g_autoptr(TestLoad) load = test_load(text, NULL), strict = test_validate(text, NULL);

    test_assert_warning(load, "nodepool.yaml:4:1: warning: ", "max-hold-age",
                        "line 2, column 1; the last one is used");
    test_assert_warning(load, "nodepool.yaml:3:34: warning: ", "min-ready", "line 3, column 20");
    test_assert_warning(strict, "max-hold-age", "line 2, column 1");
    g_assert_cmpint(load->config->max_hold_age, ==, 6);
    g_assert_cmpint(drover_config_find_label(load->config, "a")->min_ready, ==, 2);
}

static void
test_tags(void)
{
    g_autoptr(TestLoad) load = test_load(SERVERS "elements-dir: !!str 12\n"
                                                 "max-hold-age: !!int \"0x10\"\n"
                                                 "zookeeper-timeout: !!float 12\n"
                                                 "images-dir: !!null x\n"
                                                 "webapp: !!map {port: ! 80}\n"
                                                 "labels: !!seq []\n",
                                         NULL);

    test_assert_warning(load, "images-dir: found null");
    g_assert_cmpuint(test_warnings(load), ==, 1);
    g_assert_cmpstr(load->config->elements_dir, ==, "12");
    g_assert_cmpint(load->config->max_hold_age, ==, 16);
    g_assert_cmpfloat(load->config->zookeeper_timeout, ==, 12);
    g_assert_cmpint(load->config->webapp_port, ==, 80);
    test_refuses(SERVERS "max-hold-age: !!int abc\n", "2:15: error: this tag is not known here");
    test_refuses(SERVERS "elements-dir: !secret abc\n", "2:15: error: this tag is not known here");
    test_refuses(SERVERS "webapp: !mine {}\n", "2:9: error: this tag is not known here");
    test_refuses(SERVERS "labels: !!set {}\n", "this tag is not known here");
}

/* Anchors of scalars and of keys. */
static void
test_anchors(void)
{
    g_autoptr(TestLoad) load = test_load(SERVERS "&key elements-dir: &dir /e\n"
                                                 "images-dir: *dir\n"
                                                 "labels: [{name: *key}]\n",
                                         NULL);

    test_assert_clean(load);
    g_assert_cmpstr(load->config->images_dir, ==, "/e");
    g_assert_nonnull(drover_config_find_label(load->config, "elements-dir"));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/config/yaml/C-02-wrong-indentation", test_indentation);
    g_test_add_func("/config/yaml/C-11-no-document-or-two", test_empty);
    g_test_add_func("/config/yaml/C-35-merge-keys", test_merge);
    g_test_add_func("/config/yaml/C-36-key-twice", test_key_twice);
    g_test_add_func("/config/yaml/broken", test_broken);
    g_test_add_func("/config/yaml/alias-explosion", test_alias_explosion);
    g_test_add_func("/config/yaml/depth", test_depth);
    g_test_add_func("/config/yaml/tags", test_tags);
    g_test_add_func("/config/yaml/anchors", test_anchors);
    return g_test_run();
}
