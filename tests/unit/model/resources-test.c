/* Amounts of resources, and what they come to. */
#include "model/resources.h"

#include <math.h>

static DroverResources *
parse(const char *text, double otherwise)
{
    json_t *object = json_loads(text, 0, NULL);
    DroverResources *resources = drover_resources_from_json(object, otherwise);

    json_decref(object);
    return resources;
}

static void
test_subtract(void)
{
    g_autoptr(DroverResources) left = parse("{\"cores\": 8, \"ram\": 8192}", INFINITY);
    g_autoptr(DroverResources) used = parse("{\"cores\": 2, \"instances\": 1}", 0);

    drover_resources_subtract(left, used);
    g_assert_cmpfloat(drover_resources_get(left, "cores"), ==, 6);
    g_assert_cmpfloat(drover_resources_get(left, "ram"), ==, 8192);
    g_assert_true(isinf(drover_resources_get(left, "instances")));
    g_assert_true(isinf(drover_resources_get(left, "volumes")));
    g_assert_null(drover_resources_find_negative(left));
}

static void
test_add(void)
{
    g_autoptr(DroverResources) sum = parse("{\"cores\": 1.5, \"quota-x\": 2}", 0);
    g_autoptr(DroverResources) more = parse("{\"cores\": 1, \"quota-y\": 3}", 0);

    drover_resources_add(sum, more);
    g_assert_cmpfloat(drover_resources_get(sum, "cores"), ==, 2.5);
    g_assert_cmpfloat(drover_resources_get(sum, "quota-x"), ==, 2);
    g_assert_cmpfloat(drover_resources_get(sum, "quota-y"), ==, 3);
    g_assert_cmpfloat(drover_resources_get(sum, "quota-z"), ==, 0);
}

static void
test_negative(void)
{
    g_autoptr(DroverResources) left = parse("{\"cores\": 8, \"ram\": 8192}", INFINITY);
    g_autoptr(DroverResources) needed = parse("{\"cores\": 8, \"ram\": 8193}", 0);

    drover_resources_subtract(left, needed);
    g_assert_cmpstr(drover_resources_find_negative(left), ==, "ram");
}

/* What clouds call no limit, and what makes no sense. */
static void
test_json(void)
{
    g_autoptr(DroverResources) limits =
        parse("{\"cores\": -1, \"ram\": 5, \"text\": \"7\", \"none\": null}", INFINITY);
    g_autoptr(DroverResources) nothing = drover_resources_from_json(NULL, 0);
    json_t *record = drover_resources_json(limits);
    g_autofree char *text = drover_resources_text(limits);
    g_autofree char *no_text = drover_resources_text(nothing);

    g_assert_true(isinf(drover_resources_get(limits, "cores")));
    g_assert_cmpuint(json_object_size(record), ==, 1);
    g_assert_true(json_is_integer(json_object_get(record, "ram")));
    g_assert_cmpstr(text, ==, "ram 5");
    g_assert_cmpstr(no_text, ==, "nothing");
    json_decref(record);
}

static void
test_copy(void)
{
    g_autoptr(DroverResources) one = parse("{\"cores\": 1}", 0);
    g_autoptr(DroverResources) other = drover_resources_copy(one);

    drover_resources_set(other, "cores", 2);
    drover_resources_set(other, "a", 3);
    g_assert_cmpfloat(drover_resources_get(one, "cores"), ==, 1);
    g_assert_cmpfloat(drover_resources_get(one, "a"), ==, 0);
    g_assert_cmpfloat(drover_resources_get(other, "cores"), ==, 2);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/resources/SM-57-subtract", test_subtract);
    g_test_add_func("/resources/SM-57-add", test_add);
    g_test_add_func("/resources/negative", test_negative);
    g_test_add_func("/resources/L-34-json", test_json);
    g_test_add_func("/resources/copy", test_copy);
    return g_test_run();
}
