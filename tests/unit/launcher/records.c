#include "records.h"

static GBytes *
bytes_of(const char *json)
{
    char *text = g_strdup(json);

    g_strdelimit(text, "'", '"');
    return g_bytes_new_take(text, strlen(text));
}

DroverNode *
test_node_new(const char *id, const char *json)
{
    g_autoptr(GBytes) data = bytes_of(json);
    g_autoptr(GError) error = NULL;
    DroverNode *node = drover_node_decode(id, data, 0, &error);

    g_assert_no_error(error);
    return node;
}

DroverRequest *
test_request_new(const char *id, const char *json)
{
    g_autoptr(GBytes) data = bytes_of(json);
    g_autoptr(GError) error = NULL;
    DroverRequest *request = drover_request_decode(id, data, 0, &error);

    g_assert_no_error(error);
    return request;
}

json_t *
test_json_new(const char *json)
{
    g_autoptr(GBytes) text = bytes_of(json);
    json_error_t error;
    json_t *value =
        json_loadb(g_bytes_get_data(text, NULL), g_bytes_get_size(text), JSON_DECODE_ANY, &error);

    if (value == NULL)
        g_error("%s: %s", json, error.text);
    return value;
}

static struct drover_value *
value_of(const json_t *json)
{
    struct drover_value *value;
    const char *key;
    json_t *member;
    size_t index;

    switch (json_typeof(json)) {
    case JSON_OBJECT:
        value = drover_value_new_map();
        json_object_foreach((json_t *)json, key, member)
        {
            drover_value_set(value, key, value_of(member));
        }
        return value;
    case JSON_ARRAY:
        value = drover_value_new_list();
        json_array_foreach(json, index, member)
        {
            drover_value_append(value, value_of(member));
        }
        return value;
    case JSON_STRING:
        return drover_value_new_string(json_string_value(json));
    case JSON_INTEGER:
        return drover_value_new_integer(json_integer_value(json));
    case JSON_REAL:
        return drover_value_new_number(json_real_value(json));
    case JSON_NULL:
        return drover_value_new_null();
    default:
        return drover_value_new_boolean(json_is_true(json));
    }
}

struct drover_value *
test_values_new(const char *json)
{
    g_autoptr(json_t) parsed = test_json_new(json);

    return value_of(parsed);
}
