/* What a driver says of the machine that it made, and the tags by which it is found again. */
#include "launcher/provider/instance.h"

#include "driver/tags.h"
#include "records.h"

/* Of a machine with these fields and resources, made for a pool with these options. */
static json_t *
fields_of(const char *fields, const char *resources, const char *options, const char *attributes)
{
    g_autoptr(json_t) made = test_json_new(fields), costs = test_json_new(resources);
    g_autoptr(json_t) own = attributes != NULL ? test_json_new(attributes) : NULL;
    struct drover_value *values = test_values_new(options);
    DroverTaskResult result = {.ok = TRUE, .fields = made, .resources = costs};
    DroverPoolConfig pool = {.values = values, .node_attributes = own};
    json_t *found = drover_instance_fields(&result, &pool);

    drover_value_free(values);
    return found;
}

static void
check_field(const json_t *fields, const char *name, const char *expected)
{
    g_autoptr(json_t) wanted = expected != NULL ? test_json_new(expected) : NULL;
    const json_t *value = json_object_get(fields, name);

    if (wanted == NULL ? value != NULL : !json_equal(value, wanted))
        g_error("%s is not %s", name, expected != NULL ? expected : "left out");
}

static void
test_null_unless_given(void)
{
    g_autoptr(json_t) fields =
        fields_of("{'external_id': 'x', 'interface_ip': '192.0.2.1', 'public_ipv6': '', 'slot': 3}",
                  "{}", "{}", NULL);
    static const char *const missing[] = {"public_ipv4", "private_ipv4", "host_id",
                                          "cloud",       "region",       "driver_data"};

    check_field(fields, "external_id", "'x'");
    check_field(fields, "interface_ip", "'192.0.2.1'");
    check_field(fields, "public_ipv6", "''");
    check_field(fields, "slot", "3");
    for (guint i = 0; i < G_N_ELEMENTS(missing); i++)
        check_field(fields, missing[i], "null");
    check_field(fields, "resources", NULL);
    check_field(fields, "attributes", NULL);
}

static void
test_overrides(void)
{
    g_autoptr(json_t) fields =
        fields_of("{'external_id': {'server': '1', 'volume': '2'}, 'username': null,"
                  " 'connection_type': 'kubectl', 'connection_port': {'token': 't'}, 'az': 'z2'}",
                  "{'cores': 4}", "{}", NULL);

    check_field(fields, "external_id", "{'server': '1', 'volume': '2'}");
    check_field(fields, "username", "null");
    check_field(fields, "connection_type", "'kubectl'");
    check_field(fields, "connection_port", "{'token': 't'}");
    check_field(fields, "az", "'z2'");
    /* As the image says. */
    check_field(fields, "python_path", NULL);
    check_field(fields, "shell_type", NULL);
    check_field(fields, "host_keys", NULL);
    check_field(fields, "image_id", NULL);
    check_field(fields, "resources", "{'cores': 4}");
}

static void
test_internal_address(void)
{
    static const struct {
        const char *made, *options, *address;
    } cases[] = {
        {"{'interface_ip': 'a', 'private_ipv4': 'b'}", "{}", "'a'"},
        {"{'interface_ip': 'a', 'private_ipv4': 'b'}", "{'use-internal-ip': false}", "'a'"},
        {"{'interface_ip': 'a', 'private_ipv4': 'b', 'private_ipv6': 'c'}",
         "{'use-internal-ip': true}", "'b'"},
        {"{'interface_ip': 'a', 'private_ipv6': 'c'}", "{'use-internal-ip': true}", "'c'"},
        {"{'interface_ip': 'a'}", "{'use-internal-ip': true}", "'a'"},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(json_t) fields = fields_of(cases[i].made, "{}", cases[i].options, NULL);
        check_field(fields, "interface_ip", cases[i].address);
    }
}

static void
test_attributes(void)
{
    g_autoptr(json_t) both = fields_of("{'node_attributes': {'a': 1, 'b': 2}}", "{}", "{}",
                                       "{'b': 'pool', 'c': 'pool'}");
    g_autoptr(json_t) own = fields_of("{'node_attributes': {'a': 1}}", "{}", "{}", NULL);

    check_field(both, "attributes", "{'a': 1, 'b': 'pool', 'c': 'pool'}");
    check_field(own, "attributes", "{'a': 1}");
}

static void
test_tags(void)
{
    g_autofree char *text = drover_tags_of_node("0000000001", "main", "p \"1\"");
    g_autoptr(json_t) tags = drover_tags_parse(text);

    check_field(tags, DROVER_TAG_NODE, "'0000000001'");
    check_field(tags, DROVER_TAG_POOL, "'main'");
    g_assert_cmpstr(drover_json_string(tags, DROVER_TAG_PROVIDER), ==, "p \"1\"");
    g_assert_cmpuint(json_object_size(tags), ==, 3);
}

static void
test_foreign_tags(void)
{
    static const char *const texts[] = {NULL, "", "no JSON", "[]", "3", "{\"a\": "};

    for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autoptr(json_t) tags = drover_tags_parse(texts[i]);
        g_assert_cmpuint(json_object_size(tags), ==, 0);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/instance/null-unless-given", test_null_unless_given);
    g_test_add_func("/instance/SM-59-overrides", test_overrides);
    g_test_add_func("/instance/internal-address", test_internal_address);
    g_test_add_func("/instance/L-03-attributes", test_attributes);
    g_test_add_func("/tags/SM-04-of-a-node", test_tags);
    g_test_add_func("/tags/SM-43-foreign", test_foreign_tags);
    return g_test_run();
}
