/* Values of the configuration: making, reading, copying, comparing, JSON. */
#include <math.h>
#include <stdlib.h>

#include <drover/host.h>
#include <glib.h>

static struct drover_value *
new_sample(void)
{
    struct drover_value *map = drover_value_new_map();
    struct drover_value *list = drover_value_new_list();

    drover_value_append(list, drover_value_new_integer(-7));
    drover_value_append(list, drover_value_new_number(2));
    drover_value_append(list, drover_value_new_boolean(5));
    drover_value_set(map, "text", drover_value_new_string("quote \" back \\ line \n \303\244"));
    drover_value_set(map, "nothing", drover_value_new_null());
    drover_value_set(map, "list", list);
    drover_value_set(map, "real", drover_value_new_number(0.25));
    return map;
}

static void
test_reading(void)
{
    struct drover_value *map = new_sample();
    const struct drover_value *list = drover_value_get(map, "list");

    g_assert_cmpuint(drover_value_length(map), ==, 4);
    g_assert_cmpstr(drover_value_key(map, 2), ==, "list");
    g_assert_null(drover_value_key(map, 4));
    g_assert_null(drover_value_get(map, "nothing"));
    g_assert_cmpint(drover_value_type(drover_value_item(map, 1)), ==, DROVER_VALUE_NULL);
    g_assert_cmpint(drover_value_integer(drover_value_item(list, 0), 0), ==, -7);
    g_assert_cmpfloat(drover_value_number(drover_value_item(list, 0), 0), ==, -7);
    g_assert_cmpint(drover_value_integer(drover_value_item(list, 1), 9), ==, 9);
    g_assert_cmpint(drover_value_boolean(drover_value_item(list, 2), 0), ==, 1);
    g_assert_null(drover_value_item(list, 3));
    g_assert_cmpfloat(drover_value_get_number(map, "real", 0), ==, 0.25);
    g_assert_cmpstr(drover_value_get_string(map, "real", "otherwise"), ==, "otherwise");
    drover_value_free(map);
}

static void
test_nothing_at_all(void)
{
    g_assert_null(drover_value_get(NULL, "x"));
    g_assert_null(drover_value_item(NULL, 0));
    g_assert_null(drover_value_key(NULL, 0));
    g_assert_null(drover_value_string(NULL));
    g_assert_cmpuint(drover_value_length(NULL), ==, 0);
    g_assert_cmpint(drover_value_get_integer(NULL, "x", 3), ==, 3);
    g_assert_cmpint(drover_value_get_boolean(NULL, "x", 1), ==, 1);
    g_assert_cmpint(drover_value_type(NULL), ==, DROVER_VALUE_NULL);
    g_assert_null(drover_value_copy(NULL));
    drover_value_free(NULL);
}

static void
assert_json(const struct drover_value *value, const char *expected)
{
    char *json = drover_value_json(value);

    g_assert_cmpstr(json, ==, expected);
    free(json);
}

static void
test_json(void)
{
    struct drover_value *map = new_sample();
    struct drover_value *infinite = drover_value_new_number(INFINITY);

    assert_json(map, "{\"text\":\"quote \\\" back \\\\ line \\u000a \303\244\",\"nothing\":null,"
                     "\"list\":[-7,2.0,true],\"real\":0.25}");
    assert_json(infinite, "null");
    assert_json(NULL, "null");
    drover_value_free(infinite);
    drover_value_free(map);
}

static void
test_copies_are_equal(void)
{
    struct drover_value *map = new_sample();
    struct drover_value *copy = drover_value_copy(map);

    g_assert_true(drover_value_equal(map, copy));
    drover_value_set(copy, "real", drover_value_new_number(0.5));
    g_assert_false(drover_value_equal(map, copy));
    drover_value_free(copy);
    drover_value_free(map);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/value/reading", test_reading);
    g_test_add_func("/value/nothing-at-all", test_nothing_at_all);
    g_test_add_func("/value/json", test_json);
    g_test_add_func("/value/copies-are-equal", test_copies_are_equal);
    return g_test_run();
}
