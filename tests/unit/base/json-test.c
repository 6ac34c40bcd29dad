/* The dialect of JSON that records are read in. */
#include <string.h>

#include "base/error.h"
#include "base/json.h"

/* The compact text of what was read; NULL when it is not JSON. */
static char *
read_and_write(const char *text, gsize length)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(json_t) value = drover_json_parse_object(text, length, &error);

    if (value == NULL) {
        g_assert_error(error, DROVER_ERROR, DROVER_ERROR_MALFORMED);
        return NULL;
    }
    g_assert_no_error(error);
    return drover_json_text(value);
}

typedef struct {
    const char *text, *expected;
} Example;

static void
check(const Example *examples, guint count)
{
    for (guint i = 0; i < count; i++) {
        g_autofree char *text = read_and_write(examples[i].text, strlen(examples[i].text));

        g_assert_cmpstr(text, ==, examples[i].expected);
    }
}

static void
test_what_python_writes(void)
{
    static const Example examples[] = {
        {"{}", "{}"},
        {"{\"a\": NaN, \"b\": [Infinity, -Infinity]}", "{\"a\":null,\"b\":[null,null]}"},
        {"{\"a\": \"NaN, Infinity\"}", "{\"a\":\"NaN, Infinity\"}"},
        {"{\"a\": \"\\\"NaN\", \"b\": NaN}", "{\"a\":\"\\\"NaN\",\"b\":null}"},
        {"{\"a\": \"\\\\\", \"b\": NaN}", "{\"a\":\"\\\\\",\"b\":null}"},
        {"{\"a\": 1, \"a\": 2}", "{\"a\":2}"},
        {"{\"a\": \"\\u00e4\\ud83d\\ude00\"}", "{\"a\":\"\xc3\xa4\xf0\x9f\x98\x80\"}"},
        {"{\"a\": 9223372036854775807}", "{\"a\":9223372036854775807}"},
        {"{\"a\": NaN, \"b\": 9223372036854775807, \"c\": -1.5e3}",
         "{\"a\":null,\"b\":9223372036854775807,\"c\":-1500.0}"},
        {"{\"a\": 36893488147419103232}", "{\"a\":3.6893488147419103e19}"},
        {"{\"a\": 1e999, \"b\": -1e999}", "{\"a\":null,\"b\":null}"},
        {"{\"a\": \"x\\ud800y\"}", "{\"a\":\"x\xef\xbf\xbdy\"}"},
        {"{\"a\": \"\\udc00\", \"b\": \"\\ud800\\ud800\"}",
         "{\"a\":\"\xef\xbf\xbd\",\"b\":\"\xef\xbf\xbd\xef\xbf\xbd\"}"},
        {"{\"a\": NaN, \"b\": \"\\ud83d\\ude00\"}", "{\"a\":null,\"b\":\"\xf0\x9f\x98\x80\"}"},
    };

    check(examples, G_N_ELEMENTS(examples));
}

static void
test_broken(void)
{
    static const Example examples[] = {
        {"", NULL},
        {"{", NULL},
        {"[]", NULL},
        {"null", NULL},
        {"\"x\"", NULL},
        {"7", NULL},
        {"NaN", NULL},
        {"{\"a\":}", NULL},
        {"{\"a\":nan}", NULL},
        {"{\"a\":NaNa}", NULL},
        {"{\"a\":1-2}", NULL},
        {"{\"a\":-}", NULL},
        {"{\"a\":\"\\u12\"}", NULL},
        {"{\"a\":\"\\", NULL},
        {"{\"a\":\"\\ud800", NULL},
        {"{\"a\":\"\xff\"}", NULL},
        {"{} x", NULL},
        {"{'a': 1}", NULL},
    };
    const char with_zero[] = "{\"a\":NaN}\0rest";

    check(examples, G_N_ELEMENTS(examples));
    g_assert_null(read_and_write(with_zero, sizeof with_zero - 1));
}

/* A zero in a string is kept, though nobody sees what follows it. */
static void
test_zero_in_a_string(void)
{
    const char *text = "{\"a\":\"x\\u0000y\"}";
    g_autofree char *written = read_and_write(text, strlen(text));

    g_assert_cmpstr(written, ==, text);
}

static void
test_fields(void)
{
    const char *text = "{\"s\":\"x\",\"i\":3,\"r\":1.5,\"b\":true,\"n\":null,"
                       "\"l\":[\"a\",7,\"b\",null],\"one\":\"lab\"}";
    g_autoptr(json_t) object = drover_json_parse_object(text, strlen(text), NULL);
    g_auto(GStrv) list = drover_json_strings(object, "l"), one = drover_json_strings(object, "one"),
                  none = drover_json_strings(object, "i"),
                  missing = drover_json_strings(object, "missing");

    g_assert_cmpstr(drover_json_string(object, "s"), ==, "x");
    g_assert_null(drover_json_string(object, "i"));
    g_assert_cmpint(drover_json_integer(object, "i", 9), ==, 3);
    g_assert_cmpint(drover_json_integer(object, "r", 9), ==, 9);
    g_assert_cmpfloat(drover_json_real(object, "r", 9), ==, 1.5);
    g_assert_cmpfloat(drover_json_real(object, "i", 9), ==, 3);
    g_assert_cmpfloat(drover_json_real(object, "n", 9), ==, 9);
    g_assert_true(drover_json_boolean(object, "b", FALSE));
    g_assert_true(drover_json_boolean(object, "i", TRUE));
    g_assert_cmpuint(g_strv_length(list), ==, 2);
    g_assert_cmpstr(list[1], ==, "b");
    g_assert_cmpstr(one[0], ==, "lab");
    g_assert_null(none[0]);
    g_assert_null(missing[0]);
}

static void
test_new_values(void)
{
    const char *const strings[] = {"a", "\xff", NULL};
    g_autoptr(json_t) list = drover_json_from_strings(strings),
                      empty = drover_json_from_strings(NULL), null = drover_json_from_string(NULL);
    g_autofree char *text = drover_json_text(list), *nothing = drover_json_text(empty);

    g_assert_cmpstr(text, ==, "[\"a\",\"\xef\xbf\xbd\"]");
    g_assert_cmpstr(nothing, ==, "[]");
    g_assert_true(json_is_null(null));
}

/* Every cut and every changed byte of a text that needs the second reading. */
static void
test_mutations(void)
{
    const char *good = "{\"a\":[NaN,-Infinity,123456789012345678901,1e999],"
                       "\"b\":\"\\ud800\\u00e4\\\"\\\\\",\"c\":{\"d\":-0.5E-3}}";
    gsize length = strlen(good);
    g_autoptr(GRand) random = g_rand_new_with_seed(7);

    for (gsize i = 0; i <= length; i++) {
        /* Its own memory, so that reading too far is seen. */
        g_autofree char *cut = g_memdup2(good, i);

        g_free(read_and_write(cut, i));
    }
    for (guint round = 0; round < 20000; round++) {
        g_autofree char *changed = g_memdup2(good, length);
        g_autofree char *text = NULL, *again = NULL;

        for (guint i = g_rand_int_range(random, 1, 4); i > 0; i--)
            changed[g_rand_int_range(random, 0, (gint)length)] =
                (char)g_rand_int_range(random, 0, 256);
        text = read_and_write(changed, length);
        if (text != NULL) {
            again = read_and_write(text, strlen(text));
            g_assert_cmpstr(again, ==, text);
        }
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/json/what-python-writes", test_what_python_writes);
    g_test_add_func("/json/Z-22-broken", test_broken);
    g_test_add_func("/json/zero-in-a-string", test_zero_in_a_string);
    g_test_add_func("/json/fields", test_fields);
    g_test_add_func("/json/new-values", test_new_values);
    g_test_add_func("/json/mutations", test_mutations);
    return g_test_run();
}
