/* Disk images: options, inheritance, and the secure file's variables. */
#include "load.h"

#include <string.h>

static const DroverDiskImageConfig *
find_image(const TestLoad *load, const char *name)
{
    g_assert_nonnull(load->config);
    for (guint i = 0; i < load->config->diskimages->len; i++) {
        const DroverDiskImageConfig *image = load->config->diskimages->pdata[i];

        if (g_str_equal(image->name, name))
            return image;
    }
    g_error("no image %s", name);
}

static void
assert_words(char **words, const char *expected)
{
    g_autofree char *joined = g_strjoinv(" ", words);

    g_assert_cmpstr(joined, ==, expected);
}

static void
assert_object(json_t *object, const char *expected)
{
    json_t *wanted = json_loads(expected, 0, NULL);

    g_assert_nonnull(wanted);
    g_assert_true(json_equal(object, wanted));
    json_decref(wanted);
}

/* ---- One image ---- */

static void
test_defaults(void)
{
    g_autoptr(TestLoad) load = test_load(SERVERS "diskimages: [{name: a}]\n", NULL);
    const DroverDiskImageConfig *image = find_image(load, "a");

    test_assert_clean(load);
    g_assert_false(image->abstract || image->pause || image->delete_after_upload);
    assert_words(image->formats, "");
    assert_words(image->elements, "");
    assert_object(image->env_vars, "{}");
    assert_object(image->metadata, "{}");
    g_assert_cmpstr(image->release, ==, "");
    g_assert_cmpstr(image->dib_cmd, ==, "disk-image-create");
    g_assert_cmpstr(image->username, ==, "zuul");
    g_assert_cmpstr(image->python_path, ==, "auto");
    g_assert_null(image->shell_type);
    g_assert_cmpint(image->rebuild_age, ==, 86400);
    g_assert_cmpint(image->build_timeout, ==, 28800);
}

/* A zero or empty value is none. */
static void
test_empty_values(void)
{
    g_autoptr(TestLoad) load = test_load(SERVERS "diskimages: [{name: a, rebuild-age: 0, "
                                                 "username: '', dib-cmd: '', formats: []}]\n",
                                         NULL);
    const DroverDiskImageConfig *image = find_image(load, "a");

    g_assert_cmpint(image->rebuild_age, ==, 86400);
    g_assert_cmpstr(image->username, ==, "zuul");
    g_assert_cmpstr(image->dib_cmd, ==, "disk-image-create");
}

static void
test_no_name(void)
{
    test_refuses(SERVERS "diskimages:\n  - elements: [a]\n",
                 ":3:5: error: diskimage 1: name is missing");
}

static void
test_twice(void)
{
    const char *text = SERVERS "diskimages:\n"
                               "  - {name: a, release: one}\n"
                               "  - {name: a, release: two}\n"
                               "  - {name: a, release: three}\n";
    g_autoptr(TestLoad) load = test_load(text, NULL), strict = test_validate(text, NULL);

    test_assert_warning(load, ":4:5: warning: ", "diskimage a already defined at line 3");
    test_assert_warning(load, ":5:5: warning: ", "diskimage a already defined at line 4");
    test_assert_error(strict, "diskimage a already defined");
    g_assert_cmpuint(load->config->diskimages->len, ==, 1);
    g_assert_cmpstr(find_image(load, "a")->release, ==, "three");
}

static void
test_shell_type(void)
{
    const char *text = SERVERS "diskimages: [{name: a, shell-type: cmd}]\n";
    g_autoptr(TestLoad) load = test_load(text, NULL), strict = test_validate(text, NULL);

    test_assert_clean(load);
    test_assert_clean(strict);
    g_assert_cmpstr(find_image(load, "a")->shell_type, ==, "cmd");
}

static void
test_release(void)
{
    const char *text = SERVERS "diskimages: [{name: a, release: 22.10}]\n";
    g_autoptr(TestLoad) load = test_load(text, NULL), strict = test_validate(text, NULL);
    g_autoptr(TestLoad) integer =
        test_validate(SERVERS "diskimages: [{name: a, release: 0x10}]\n", NULL);

    test_assert_warning(load, ":2:33: warning: diskimage a: release: found the number 22.10",
                        "write it in quotes; it is taken as 22.1");
    g_assert_cmpstr(find_image(load, "a")->release, ==, "22.1");
    test_assert_error(strict, ":2:33: error: ", "release: found the number 22.10");
    test_assert_clean(integer);
    g_assert_cmpstr(find_image(integer, "a")->release, ==, "16");
    test_refuses(SERVERS "diskimages: [{name: a, release: 2001-01-01}]\n",
                 "release: found the date 2001-01-01, must be a string; write it in quotes");
    test_refuses(SERVERS "diskimages: [{name: a, release: [1]}]\n", "release: found a list");
}

static void
test_variables(void)
{
    const char *text = SERVERS "diskimages: [{name: a, env-vars: {A: 1, B: yes, C: 1.50}}]\n";
    g_autoptr(TestLoad) load = test_load(text, NULL), strict = test_validate(text, NULL);

    test_assert_warning(load, ":2:38: warning: diskimage a: env-vars.A", "write it in quotes");
    assert_object(find_image(load, "a")->env_vars,
                  "{\"A\": \"1\", \"B\": \"True\", \"C\": \"1.5\"}");
    g_assert_cmpuint(test_errors(strict), ==, 3);
    test_assert_unsaid(load, "1.5");
}

/* A mistake in a variable does not show what it holds. */
static void
test_variables_are_secret(void)
{
    static const char *const values[] = {"s3cret",       "[s3cret]",       "{A: [s3cret]}",
                                         "{A: *s3cret}", "{A: !s3cret x}", "{A: {s3cret: 1}}"};

    for (guint i = 0; i < G_N_ELEMENTS(values); i++) {
        g_autofree char *text =
            g_strdup_printf(SERVERS "diskimages: [{name: a, env-vars: %s}]\n", values[i]);
        g_autoptr(TestLoad) load = test_load(text, NULL);

        g_assert_null(load->config);
        test_assert_unsaid(load, "s3cret");
    }
}

static void
test_types(void)
{
    test_refuses(SERVERS "diskimages: [{name: a, elements: b}]\n",
                 "elements: found the string \"b\", must be a list of strings");
    test_refuses(SERVERS "diskimages: [{name: a, elements: [[b]]}]\n", "elements: found a list");
    test_refuses(SERVERS "diskimages: [{name: a, elements: [~]}]\n", "elements: found null");
    test_refuses(SERVERS "diskimages: [{name: a, metadata: [b]}]\n",
                 "metadata: found a list, must be a map");
    test_refuses(SERVERS "diskimages: [{name: a, rebuild-age: \"5\"}]\n",
                 "rebuild-age: found the string \"5\"");
    test_refuses(SERVERS "diskimages: [{name: a, pause: [1]}]\n", "pause: found a list");
}

/* What Python takes as true is true, with a warning. */
static void
test_truth(void)
{
    const char *text = SERVERS "diskimages: [{name: a, pause: \"no\", abstract: 0}]\n";
    g_autoptr(TestLoad) load = test_load(text, NULL), strict = test_validate(text, NULL);

    test_assert_warning(load, "pause: found the string \"no\", must be true or false",
                        "it is taken as true");
    test_assert_warning(load, "abstract: found the integer 0", "it is taken as false");
    g_assert_true(find_image(load, "a")->pause);
    g_assert_false(find_image(load, "a")->abstract);
    g_assert_cmpuint(test_errors(strict), ==, 2);
}

/* ---- Parents ---- */

static void
test_no_parent(void)
{
    g_autoptr(TestLoad) load = test_load(SERVERS "diskimages:\n"
                                                 "  - {name: parent, abstract: true}\n"
                                                 "  - {name: a, parent: this_does_not_exist}\n"
                                                 "  - {name: b, parent: parnet}\n",
                                         NULL);

    test_assert_error(load, ":4:23: error: diskimage a: diskimage a has non-existant parent: "
                            "this_does_not_exist");
    test_assert_error(load, "diskimage b has non-existant parent: parnet; did you mean parent?");
}

static void
test_circle(void)
{
    g_autoptr(TestLoad) load = test_load(SERVERS "diskimages:\n"
                                                 "  - {name: a, parent: b}\n"
                                                 "  - {name: b, parent: a}\n"
                                                 "  - {name: c, parent: a}\n"
                                                 "  - {name: d, parent: d}\n",
                                         NULL);
    g_autoptr(TestLoad) flow =
        test_load(SERVERS "diskimages: [{name: a, parent: b}, {name: b, parent: c}, "
                          "{name: c, parent: a}]\n",
                  NULL);

    test_assert_error(load, ":3:23: error: diskimage a: its parents form a circle: a -> b -> a");
    test_assert_error(load, "diskimage d: its parents form a circle: d -> d");
    g_assert_cmpuint(test_errors(load), ==, 2);
    test_assert_error(flow, "a -> b -> c -> a");
    g_assert_cmpuint(test_errors(flow), ==, 1);
}

#define BASE                                                                                       \
    "  - {name: base, elements: [a], pause: true, metadata: {k: v}, env-vars: {A: '1', B: '2'}, "  \
    "rebuild-age: 5, formats: [raw], delete-after-upload: true}\n"
#define MID                                                                                        \
    "  - {name: mid, parent: base, elements: [b], env-vars: {B: '3'}, release: \"22.10\", "        \
    "metadata: {m: n}}\n"
#define LEAF                                                                                       \
    "  - {name: leaf, parent: mid, elements: [c], pause: false, rebuild-age: 0, "                  \
    "delete-after-upload: false, formats: [qcow2]}\n"

static void
assert_leaf(const char *text)
{
    g_autoptr(TestLoad) load = test_load(text, NULL);
    const DroverDiskImageConfig *leaf = find_image(load, "leaf"), *mid = find_image(load, "mid");

    test_assert_clean(load);
    assert_words(leaf->elements, "a b c");
    assert_object(leaf->env_vars, "{\"A\": \"1\", \"B\": \"3\"}");
    g_assert_true(leaf->pause);
    g_assert_cmpint(leaf->rebuild_age, ==, 5);
    g_assert_false(leaf->delete_after_upload);
    assert_words(leaf->formats, "qcow2");
    g_assert_cmpstr(leaf->release, ==, "22.10");
    assert_object(leaf->metadata, "{}");
    assert_object(mid->metadata, "{\"m\": \"n\"}");
    assert_words(mid->elements, "a b");
    g_assert_true(mid->delete_after_upload);
}

static void
test_inheritance(void)
{
    assert_leaf(SERVERS "diskimages:\n" BASE MID LEAF);
}

static void
test_order(void)
{
    assert_leaf(SERVERS "diskimages:\n" LEAF BASE MID);
    assert_leaf(SERVERS "diskimages:\n" LEAF MID BASE);
}

static void
test_abstract(void)
{
    g_autoptr(TestLoad) load = test_load(SERVERS "diskimages:\n"
                                                 "  - {name: a, abstract: true, username: u}\n"
                                                 "  - {name: b, parent: a}\n",
                                         NULL);

    test_assert_clean(load);
    g_assert_true(find_image(load, "a")->abstract);
    g_assert_false(find_image(load, "b")->abstract);
    g_assert_cmpstr(find_image(load, "b")->username, ==, "u");
}

/* ---- Secrets ---- */

static void
test_secrets(void)
{
    const char *text = SERVERS "diskimages:\n"
                               "  - {name: base, abstract: true}\n"
                               "  - {name: fake-image, parent: base, env-vars: {A: a, B: b}}\n";
    g_autoptr(TestLoad) load = test_load(
        text, "diskimages: [{name: fake-image, env-vars: {REG_PASSWORD: s3cret, B: c}}]\n");
    g_autoptr(TestLoad) number =
        test_load(text, "diskimages: [{name: fake-image, env-vars: {PIN: 31337}}]\n");

    test_assert_clean(load);
    assert_object(find_image(load, "fake-image")->env_vars,
                  "{\"A\": \"a\", \"B\": \"c\", \"REG_PASSWORD\": \"s3cret\"}");
    test_assert_warning(number, "secure.yaml:1:49: warning: diskimage fake-image: env-vars.PIN");
    test_assert_unsaid(number, "31337");
}

static void
test_secret_mistakes(void)
{
    g_autoptr(TestLoad) load = test_load(SERVERS "diskimages:\n"
                                                 "  - {name: base, abstract: true}\n"
                                                 "  - {name: image}\n",
                                         "diskimages:\n"
                                         "  - {name: imgae, env-vars: {A: s3cret}}\n"
                                         "  - {name: base, env-vars: {A: s3cret}}\n"
                                         "  - {env-vars: {A: s3cret}}\n"
                                         "  - {name: image}\n"
                                         "  - s3cret\n");

    test_assert_error(load, "secure.yaml:2:12: error: diskimage imgae: the secure file names",
                      "did you mean image?");
    test_assert_error(load, "secure.yaml:3:12: error: diskimage base", "abstract");
    test_assert_error(load, "secure.yaml:4:5: error: diskimage 3: name is missing");
    test_assert_error(load, "secure.yaml:5:5: error: diskimage image: env-vars is missing");
    test_assert_error(load, "secure.yaml:6:5: error: diskimage 5: found a string");
    test_assert_unsaid(load, "s3cret");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/config/diskimages/defaults", test_defaults);
    g_test_add_func("/config/diskimages/empty-values", test_empty_values);
    g_test_add_func("/config/diskimages/C-05-without-name", test_no_name);
    g_test_add_func("/config/diskimages/C-06-twice", test_twice);
    g_test_add_func("/config/diskimages/C-07-parent-that-does-not-exist", test_no_parent);
    g_test_add_func("/config/diskimages/C-08-circle-of-parents", test_circle);
    g_test_add_func("/config/diskimages/C-19-secret-variables", test_secrets);
    g_test_add_func("/config/diskimages/C-20-secret-mistakes", test_secret_mistakes);
    g_test_add_func("/config/diskimages/C-27-inheritance", test_inheritance);
    g_test_add_func("/config/diskimages/C-28-release", test_release);
    g_test_add_func("/config/diskimages/C-29-variables", test_variables);
    g_test_add_func("/config/diskimages/variables-are-secret", test_variables_are_secret);
    g_test_add_func("/config/diskimages/C-30-shell-type", test_shell_type);
    g_test_add_func("/config/diskimages/C-31-abstract", test_abstract);
    g_test_add_func("/config/diskimages/C-32-order", test_order);
    g_test_add_func("/config/diskimages/types", test_types);
    g_test_add_func("/config/diskimages/truth", test_truth);
    return g_test_run();
}
