/* Filling in what options say of a request. */
#include "launcher/provider/template.h"

#include <string.h>

static json_t *
request(void)
{
    return json_pack("{s:s, s:[s,s], s:s, s:{s:s, s:[i,f], s:n, s:b}, s:i, s:f, s:n, s:s}", "id",
                     "100-0000000001", "labels", "a", "b'c", "requestor", "zuul", "requestor_data",
                     "key", "value", "list", 3, 1.5, "none", "yes", 1, "relative_priority", 3,
                     "created_time", 1.5, "event_id", "tenant_name", "t\xc3\xa4nant");
}

static const struct {
    const char *text, *expected; /* NULL: refused */
} cases[] = {
    {"plain", "plain"},
    {"", ""},
    {"Tenant is {request.tenant_name}", "Tenant is t\xc3\xa4nant"},
    {"{request.event_id}", "None"},
    {"{request.labels}", "['a', \"b'c\"]"},
    {"{request.labels[0]}{request.labels[1]}", "ab'c"},
    {"{request.requestor_data[key]}", "value"},
    {"{request.requestor_data[list]}", "[3, 1.5]"},
    {"{request.requestor_data}", "{'key': 'value', 'list': [3, 1.5], 'none': None, 'yes': True}"},
    {"{request.requestor_data[list][1]}", "1.5"},
    {"{request.relative_priority}/{request.created_time}", "3/1.5"},
    {"{{{request.id}}}", "{100-0000000001}"},
    {"{request.tenant_name!r}", "'t\xc3\xa4nant'"},
    {"{request.event_id!s:>6}", "  None"},
    {"{request.tenant_name:*^10}", "**t\xc3\xa4nant**"},
    {"{request.tenant_name:.3}|", "t\xc3\xa4n|"},
    {"{request.tenant_name:8}|", "t\xc3\xa4nant  |"},
    {"{request.nope}", NULL},
    {"{request.labels[2]}", NULL},
    {"{request.labels[x]}", NULL},
    {"{request.requestor_data.key}", NULL},
    {"{request.event_id:10}", NULL},
    {"{request.relative_priority:03d}", NULL},
    {"{request.tenant_name:d}", NULL},
    {"{request.tenant_name!a}", NULL},
    {"{request}", NULL},
    {"{}", NULL},
    {"{other.x}", NULL},
    {"{request.id", NULL},
    {"a } b", NULL},
    {"a { b", NULL},
    {"{request.labels[0}", NULL},
    {"{request..id}", NULL},
};

static void
test_format(void)
{
    g_autoptr(json_t) about = request();

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *text = drover_template_format(cases[i].text, about, &error);

        g_assert_cmpstr(text, ==, cases[i].expected);
        g_assert_true((text == NULL) == (error != NULL));
    }
}

static void
test_numbers(void)
{
    static const struct {
        double number;
        const char *text;
    } numbers[] = {{1, "1.0"},
                   {0.1, "0.1"},
                   {1e16, "1e+16"},
                   {123456789, "123456789.0"},
                   {1e-7, "1e-07"},
                   {-2.5, "-2.5"},
                   {1764662310.25, "1764662310.25"}};

    for (guint i = 0; i < G_N_ELEMENTS(numbers); i++) {
        g_autoptr(json_t) about = json_pack("{s:f}", "created_time", numbers[i].number);
        g_autofree char *text = drover_template_format("{request.created_time}", about, NULL);

        g_assert_cmpstr(text, ==, numbers[i].text);
    }
}

static DroverRequest *
decode(const char *record)
{
    g_autoptr(GBytes) data = g_bytes_new(record, strlen(record));

    return drover_request_decode("100-0000000001", data, 0, NULL);
}

static void
test_label(void)
{
    static const struct drover_option options[] = {
        {.path = "pools[].labels[].name", .type = DROVER_OPTION_STRING},
        {.path = "pools[].labels[].tags", .type = DROVER_OPTION_MAP},
        {.path = "pools[].labels[].tags.*",
         .type = DROVER_OPTION_STRING,
         .flags = DROVER_OPTION_TEMPLATE},
        {.path = NULL}};
    static const struct drover_driver driver = {DROVER_DRIVER_HEADER, .options = options};
    g_autoptr(DroverRequest) about =
        decode("{\"state\": \"requested\", \"node_types\": [\"l\"], \"tenant_name\": \"t1\"}");
    struct drover_value *label = drover_value_new_map(), *tags = drover_value_new_map(), *filled;
    DroverLogSubject subject = {.logger = "test"};

    drover_value_set(label, "name", drover_value_new_string("{request.id}"));
    drover_value_set(tags, "tenant", drover_value_new_string("is {request.tenant_name}"));
    drover_value_set(tags, "wrong", drover_value_new_string("{request.nope}"));
    drover_value_set(label, "tags", tags);
    filled = drover_template_fill(&driver, label, about, &subject);
    /* Only what the driver marks is one. */
    g_assert_cmpstr(drover_value_get_string(filled, "name", NULL), ==, "{request.id}");
    g_assert_cmpstr(drover_value_get_string(drover_value_get(filled, "tags"), "tenant", NULL), ==,
                    "is t1");
    g_assert_cmpuint(drover_value_length(drover_value_get(filled, "tags")), ==, 1);
    drover_value_free(filled);
    drover_value_free(label);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/template/format", test_format);
    g_test_add_func("/template/numbers", test_numbers);
    g_test_add_func("/template/SM-06-label", test_label);
    return g_test_run();
}
