/*
 * Damaged files. Each is loaded in both views; whatever it holds, there must be no crash, no leak,
 * and either a configuration or an error. Seeds are fixed, so that a failure can be repeated.
 */
#include "load.h"

#include <string.h>

#define ROUNDS 3000

static const char *const pieces[] = {
    "\n",
    "  ",
    ":",
    ": ",
    "- ",
    "[",
    "]",
    "{",
    "}",
    ",",
    "&a ",
    "*a",
    "<<: ",
    "!!int ",
    "!x ",
    "\"",
    "'",
    "|",
    ">",
    "#",
    "%",
    "%(NODEPOOL_A)",
    "~",
    "null",
    "yes",
    "0x_",
    "-1",
    "1e400",
    "99999999999999999999",
    "2001-01-01",
    "\t",
    "?",
    "=",
    "name:",
    "pools",
    "labels",
    "nodes",
    "driver",
    "nope",
    "\x01",
    "\xff",
    "\xc3",
    "ü",
    "---\n",
    "...\n",
    "*image-properties",
    "&jammy",
    "\\",
    ".inf",
    ".nan",
};

typedef void (*Mutation)(GString *text, GRand *random);

static gsize
any_place(const GString *text, GRand *random)
{
    return text->len > 0 ? (gsize)g_rand_int_range(random, 0, (gint32)text->len) : 0;
}

static void
insert_piece(GString *text, GRand *random)
{
    guint piece = (guint)g_rand_int_range(random, 0, G_N_ELEMENTS(pieces));

    g_string_insert(text, (gssize)any_place(text, random), pieces[piece]);
}

static void
remove_part(GString *text, GRand *random)
{
    gsize place = any_place(text, random);
    gsize length = (gsize)g_rand_int_range(random, 1, 40);

    g_string_erase(text, (gssize)place, (gssize)MIN(length, text->len - place));
}

static void
change_byte(GString *text, GRand *random)
{
    if (text->len > 0)
        text->str[any_place(text, random)] = (char)g_rand_int_range(random, 1, 256);
}

static void
copy_part(GString *text, GRand *random)
{
    gsize from = any_place(text, random);
    gsize length = (gsize)g_rand_int_range(random, 1, 200);
    g_autofree char *part = g_strndup(text->str + from, MIN(length, text->len - from));

    g_string_insert(text, (gssize)any_place(text, random), part);
}

static void
cut_off(GString *text, GRand *random)
{
    if (g_rand_int_range(random, 0, 20) == 0)
        g_string_truncate(text, any_place(text, random));
}

/* Puts a piece where a value stood. */
static void
replace_value(GString *text, GRand *random)
{
    const char *colon = strstr(text->str + any_place(text, random), ": ");
    guint piece = (guint)g_rand_int_range(random, 0, G_N_ELEMENTS(pieces));
    gsize place, length;

    if (colon == NULL)
        return;
    place = (gsize)(colon + strlen(": ") - text->str);
    length = strcspn(text->str + place, "\n");
    g_string_erase(text, (gssize)place, (gssize)length);
    g_string_insert(text, (gssize)place, pieces[piece]);
}

static const Mutation mutations[] = {insert_piece, remove_part, change_byte,
                                     copy_part,    cut_off,     replace_value};

static char *
mutate(const char *original, GRand *random)
{
    GString *text = g_string_new(original);

    for (int count = g_rand_int_range(random, 1, 4); count > 0; count--)
        mutations[g_rand_int_range(random, 0, G_N_ELEMENTS(mutations))](text, random);
    return g_string_free(text, FALSE);
}

static void
test_main_file(void)
{
    g_autofree char *sample = test_sample_text();
    g_autoptr(GRand) random = g_rand_new_with_seed(20240901);
    guint loaded = 0, refused = 0;

    g_setenv("NODEPOOL_A", "x: [y]\n", TRUE);
    for (guint i = 0; i < ROUNDS; i++) {
        g_autofree char *text = mutate(sample, random);
        g_autoptr(TestLoad) load = test_load(text, NULL);

        *(load->config != NULL ? &loaded : &refused) += 1;
        if (load->config != NULL && i % 8 == 0) {
            g_autoptr(TestLoad) again = test_load(text, NULL), strict = test_validate(text, NULL);

            /* What was accepted is accepted again, and is then the same. */
            g_assert_nonnull(again->config);
            g_assert_true(test_warnings(load) > 0 || strict->config != NULL);
            for (guint k = 0; k < load->config->providers->len; k++)
                g_assert_true(drover_provider_config_equal(load->config->providers->pdata[k],
                                                           again->config->providers->pdata[k]));
        }
    }
    g_test_message("%u loaded, %u refused", loaded, refused);
    g_assert_cmpuint(loaded, >, ROUNDS / 20);
    g_assert_cmpuint(refused, >, ROUNDS / 20);
}

static void
test_secure_file(void)
{
    const char *secure = "zookeeper-servers: [{host: h, port: 1}]\n"
                         "zookeeper-digest: user:s3cret0\n"
                         "diskimages:\n"
                         "  - name: ubuntu-jammy\n"
                         "    env-vars: {PASSWORD: s3cret1, TOKEN: 's3cret2'}\n";
    g_autofree char *sample = test_sample_text();
    g_autoptr(GRand) random = g_rand_new_with_seed(7);

    for (guint i = 0; i < ROUNDS / 4; i++) {
        g_autofree char *text = mutate(secure, random);
        g_autoptr(TestLoad) load = test_load(sample, text);

        g_assert_true(load->config != NULL || test_errors(load) > 0);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/config/mutation/main-file", test_main_file);
    g_test_add_func("/config/mutation/secure-file", test_secure_file);
    return g_test_run();
}
