/* Records as Nodepool, Zuul and older versions write them, and what Drover writes back. */
#include <string.h>

#include "model/component.h"
#include "model/node.h"
#include "model/request.h"

static GBytes *
bytes(const char *text)
{
    return g_bytes_new(text, strlen(text));
}

static DroverNode *
node_of(const char *text)
{
    g_autoptr(GBytes) data = bytes(text);
    g_autoptr(GError) error = NULL;
    DroverNode *node = drover_node_decode("0000000001", data, 3, &error);

    g_assert_no_error(error);
    return node;
}

static DroverRequest *
request_of(const char *id, const char *text)
{
    g_autoptr(GBytes) data = bytes(text);
    g_autoptr(GError) error = NULL;
    DroverRequest *request = drover_request_decode(id, data, 0, &error);

    g_assert_no_error(error);
    return request;
}

/* ---- Nodes ---- */

static void
test_new_node_has_every_field(void)
{
    static const char *const fields[] = {
        "state",       "state_time",   "created_time",    "cloud",     "provider",
        "pool",        "type",         "allocated_to",    "az",        "region",
        "public_ipv4", "private_ipv4", "public_ipv6",     "host_id",   "interface_ip",
        "ssh_port",    "image_id",     "connection_port", "launcher",  "external_id",
        "hostname",    "comment",      "hold_job",        "username",  "connection_type",
        "host_keys",   "user_data",    "hold_expiration", "resources", "attributes",
        "python_path", "shell_type",   "driver_data",     "slot",      "tenant_name",
        "requestor"};
    g_autoptr(json_t) record = drover_node_new_record(DROVER_NODE_INIT);

    for (guint i = 0; i < G_N_ELEMENTS(fields); i++)
        g_assert_nonnull(json_object_get(record, fields[i]));
    g_assert_cmpuint(json_object_size(record), ==, G_N_ELEMENTS(fields));
    g_assert_cmpstr(drover_json_string(record, "state"), ==, "init");
    g_assert_true(
        json_equal(json_object_get(record, "created_time"), json_object_get(record, "state_time")));
}

static void
test_label_as_text(void)
{
    g_autoptr(DroverNode) node = node_of("{\"state\":\"ready\",\"type\":\"lab\"}");
    g_autoptr(DroverNode) none = node_of("{\"state\":\"ready\",\"type\":null}");
    g_autoptr(json_t) record = drover_node_record(node), empty = drover_node_record(none);
    g_autofree char *text = drover_json_text(json_object_get(record, "type"));

    g_assert_true(drover_node_has_label(node, "lab"));
    g_assert_cmpstr(text, ==, "[\"lab\"]");
    g_assert_null(none->labels[0]);
    g_assert_cmpuint(json_array_size(json_object_get(empty, "type")), ==, 0);
    g_assert_true(json_is_array(json_object_get(empty, "type")));
}

static void
test_port_under_its_old_name(void)
{
    g_autoptr(DroverNode) node = node_of("{\"state\":\"ready\",\"ssh_port\":22022}");
    g_autoptr(DroverNode) neither = node_of("{\"state\":\"ready\"}");
    g_autoptr(json_t) record = drover_node_record(node);

    g_assert_cmpint(node->port, ==, 22022);
    g_assert_cmpint(neither->port, ==, 22);
    g_assert_cmpint(drover_json_integer(record, "connection_port", 0), ==, 22022);
    g_assert_cmpint(drover_json_integer(record, "ssh_port", 0), ==, 22022);
}

static void
test_port_that_is_an_object(void)
{
    g_autoptr(DroverNode) node =
        node_of("{\"state\":\"ready\",\"connection_port\":{\"token\":\"t\",\"host\":\"h\"}}");
    g_autoptr(json_t) record = drover_node_record(node);

    g_assert_cmpint(node->port, ==, 0);
    g_assert_cmpstr(drover_json_string(json_object_get(record, "connection_port"), "token"), ==,
                    "t");
}

static void
test_hold_expiration(void)
{
    static const struct {
        const char *value;
        gint64 seconds;
        gboolean is_null;
    } cases[] = {{"\"1\"", 1, FALSE}, {"\"notanumber\"", 0, FALSE},
                 {"null", 0, TRUE},   {"7", 7, FALSE},
                 {"2.9", 2, FALSE},   {"[]", 0, FALSE}};

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *text =
            g_strdup_printf("{\"state\":\"hold\",\"hold_expiration\":%s}", cases[i].value);
        g_autoptr(DroverNode) node = node_of(text);
        g_autoptr(json_t) record = drover_node_record(node);
        const json_t *written = json_object_get(record, "hold_expiration");

        g_assert_cmpint(node->hold_expiration, ==, cases[i].seconds);
        g_assert_true(json_is_null(written) == cases[i].is_null);
        if (!cases[i].is_null)
            g_assert_cmpint(json_integer_value(written), ==, cases[i].seconds);
    }
}

static void
test_unknown_fields_are_kept(void)
{
    g_autoptr(DroverNode) node =
        node_of("{\"id\":\"0000000001\",\"state\":\"ready\",\"x\":{\"y\":[1,null]}}");
    g_autoptr(json_t) record = drover_node_record(node);
    g_autofree char *text = NULL;

    drover_node_record_set_state(record, DROVER_NODE_USED);
    text = drover_json_text(json_object_get(record, "x"));
    g_assert_cmpstr(text, ==, "{\"y\":[1,null]}");
    g_assert_cmpstr(drover_json_string(record, "id"), ==, "0000000001");
}

static void
test_unknown_state(void)
{
    g_autoptr(DroverNode) node = node_of("{\"state\":\"frobnicated\",\"type\":[\"l\"]}");

    g_assert_cmpint(node->state, ==, DROVER_NODE_UNKNOWN);
    g_assert_false(drover_node_is_free(node));
}

/* Bodies that systems of this kind have met. */
static void
test_odd_bodies(void)
{
    static const char *const unusable[] = {"", "{", "[]", "null", "\"x\"", "{}", "{\"state\":7}"};
    static const char *const usable[] = {
        "{\"state\":\"ready\"}",
        "{\"state\":\"ready\",\"type\":7,\"slot\":\"x\",\"provider\":[],\"allocated_to\":{}}",
        "{\"state\":\"ready\",\"external_id\":{\"a\":1},\"state_time\":\"yesterday\"}",
        "{\"state\":\"ready\",\"resources\":{\"cores\":Infinity,\"ram\":NaN}}",
        "{\"state\":\"deleting\",\"state\":\"ready\"}"};

    for (guint i = 0; i < G_N_ELEMENTS(unusable); i++) {
        g_autoptr(GBytes) data = bytes(unusable[i]);
        g_autoptr(GError) error = NULL;

        g_assert_null(drover_node_decode("1", data, 0, &error));
        g_assert_nonnull(error);
    }
    for (guint i = 0; i < G_N_ELEMENTS(usable); i++) {
        g_autoptr(DroverNode) node = node_of(usable[i]);
        g_autoptr(json_t) record = drover_node_record(node);
        g_autoptr(GBytes) data = drover_record_bytes(record);

        g_assert_cmpint(node->state, ==, DROVER_NODE_READY);
        g_assert_null(strstr(g_bytes_get_data(data, NULL), "Infinity"));
    }
}

/* ---- Requests ---- */

static void
test_new_request(void)
{
    const char *const labels[] = {"a", "b", NULL};
    static const char *const fields[] = {
        "state",    "state_time",   "node_types",     "nodes",    "declined_by",
        "reuse",    "requestor",    "requestor_data", "provider", "relative_priority",
        "event_id", "created_time", "tenant_name"};
    g_autoptr(json_t) record = drover_request_new_record(labels, "NodePool:min-ready", FALSE);

    for (guint i = 0; i < G_N_ELEMENTS(fields); i++)
        g_assert_nonnull(json_object_get(record, fields[i]));
    g_assert_true(
        g_regex_match_simple("^[0-9a-f]{32}$", drover_json_string(record, "event_id"), 0, 0));
    g_assert_false(drover_json_boolean(record, "reuse", TRUE));
}

static void
test_request_of_zuul(void)
{
    g_autoptr(DroverRequest) request =
        request_of("100-0000000012", "{\"state\":\"requested\",\"node_types\":[\"a\",\"a\"]}");
    g_autoptr(json_t) record = drover_request_record(request);

    g_assert_cmpuint(g_strv_length(request->nodes), ==, 0);
    g_assert_cmpuint(g_strv_length(request->declined_by), ==, 0);
    g_assert_true(request->reuse);
    /* Zuul would take a null for its own value. */
    g_assert_null(json_object_get(record, "tenant_name"));
}

static int
compare(const char *a, const char *a_text, const char *b, const char *b_text)
{
    g_autoptr(DroverRequest) left = request_of(a, a_text), right = request_of(b, b_text);

    return drover_request_compare(left, right);
}

static void
test_order(void)
{
    const char *plain = "{\"state\":\"requested\"}";
    const char *urgent = "{\"state\":\"requested\",\"relative_priority\":1}";
    const char *patient = "{\"state\":\"requested\",\"relative_priority\":2}";

    g_assert_cmpint(compare("100-123", plain, "100-456", plain), <, 0);
    g_assert_cmpint(compare("100-456", plain, "400-123", plain), <, 0);
    g_assert_cmpint(compare("400-123", plain, "500-123", plain), <, 0);
    g_assert_cmpint(compare("100-0000000001", patient, "100-0000000002", urgent), >, 0);
    g_assert_cmpint(compare("100--000000002", plain, "100-0000000001", plain), <, 0);
}

static void
test_request_ids(void)
{
    static const char *const bad[] = {"1234567890", "-0000000001", "100-000000000x", "100-", ""};
    g_autoptr(GBytes) data = bytes("{\"state\":\"requested\"}");
    g_autoptr(DroverRequest) wrapped = request_of("100--2147483648", "{\"state\":\"requested\"}");

    g_assert_cmpint(wrapped->sequence, ==, G_GINT64_CONSTANT(-2147483648));
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;

        g_assert_null(drover_request_decode(bad[i], data, 0, &error));
        g_assert_nonnull(error);
    }
}

/* ---- Components ---- */

static void
test_pool_component(void)
{
    char *labels[] = {(char *)"a", (char *)"b", NULL};
    DroverComponent pool = {.hostname = (char *)"h",
                            .kind = (char *)"pool",
                            .state = (char *)"running",
                            .version = (char *)"1",
                            .id = (char *)"launcher-id",
                            .name = (char *)"main",
                            .provider_name = (char *)"p",
                            .supported_labels = labels,
                            .priority = 100};
    const char *const both[] = {"b", "a", NULL}, *const other[] = {"a", "c", NULL};
    g_autoptr(GBytes) data = drover_component_encode(&pool);
    g_autoptr(DroverComponent) read = drover_component_decode(data, NULL);
    gsize length;
    const char *text = g_bytes_get_data(data, &length);
    g_autoptr(json_t) record = drover_json_parse_object(text, length, NULL);

    g_assert_true(json_is_integer(json_object_get(record, "priority")));
    g_assert_true(json_is_false(json_object_get(record, "paused")));
    g_assert_cmpint(drover_json_integer(record, "model_api", -1), ==, 0);
    g_assert_cmpstr(read->id, ==, "launcher-id");
    g_assert_true(drover_component_supports(read, both));
    g_assert_false(drover_component_supports(read, other));
}

static void
test_foreign_component(void)
{
    g_autoptr(GBytes) data = bytes("{\"kind\":\"pool\",\"id\":\"x\",\"priority\":null,\"new\":1}");
    g_autoptr(DroverComponent) read = drover_component_decode(data, NULL);

    g_assert_cmpint(read->priority, ==, 100);
    g_assert_cmpint(read->model_api, ==, 0);
    g_assert_false(read->paused);
}

/* ---- Anything at all ---- */

/* The same mutations every time: no crash, no leak, and what can be read can be written. */
static void
test_mutations(void)
{
    const char *good = "{\"state\":\"ready\",\"state_time\":1796100310.5,\"type\":[\"l\"],"
                       "\"slot\":0,\"connection_port\":22,\"host_keys\":[\"ssh-rsa A\"],"
                       "\"allocated_to\":null,\"node_types\":[\"l\"],\"declined_by\":[],"
                       "\"supported_labels\":[\"l\"],\"hold_expiration\":\"1\"}";
    g_autoptr(GRand) random = g_rand_new_with_seed(1);

    for (guint round = 0; round < 5000; round++) {
        g_autofree char *text = g_strdup(good);
        g_autoptr(GBytes) data = NULL;
        g_autoptr(DroverNode) node = NULL;
        g_autoptr(DroverRequest) request = NULL;
        g_autoptr(DroverComponent) component = NULL;

        for (guint i = 0; i < 3; i++)
            text[g_rand_int_range(random, 0, (gint)strlen(good))] =
                (char)g_rand_int_range(random, 1, 256);
        data = g_bytes_new(text, strlen(good));
        node = drover_node_decode("0000000001", data, 0, NULL);
        request = drover_request_decode("100-0000000001", data, 0, NULL);
        component = drover_component_decode(data, NULL);
        if (node != NULL)
            json_decref(drover_node_record(node));
        if (request != NULL)
            json_decref(drover_request_record(request));
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/model/node/Z-09-every-field", test_new_node_has_every_field);
    g_test_add_func("/model/node/Z-15-label-as-text", test_label_as_text);
    g_test_add_func("/model/node/Z-16-port-under-its-old-name", test_port_under_its_old_name);
    g_test_add_func("/model/node/Z-17-port-that-is-an-object", test_port_that_is_an_object);
    g_test_add_func("/model/node/Z-18-hold-expiration", test_hold_expiration);
    g_test_add_func("/model/node/Z-19-unknown-fields", test_unknown_fields_are_kept);
    g_test_add_func("/model/node/Z-20-unknown-state", test_unknown_state);
    g_test_add_func("/model/node/F-55-odd-bodies", test_odd_bodies);
    g_test_add_func("/model/request/new", test_new_request);
    g_test_add_func("/model/request/Z-11-of-zuul", test_request_of_zuul);
    g_test_add_func("/model/request/Z-12-Z-13-order", test_order);
    g_test_add_func("/model/request/Z-14-ids", test_request_ids);
    g_test_add_func("/model/component/Z-42-pool", test_pool_component);
    g_test_add_func("/model/component/Z-46-foreign", test_foreign_component);
    g_test_add_func("/model/mutations", test_mutations);
    return g_test_run();
}
