#include "config/convert.h"

static json_t *
scalar_to_json(const struct drover_value *value)
{
    json_t *json = NULL;

    switch (drover_value_type(value)) {
    case DROVER_VALUE_BOOLEAN:
        return json_boolean(drover_value_boolean(value, 0));
    case DROVER_VALUE_INTEGER:
        return json_integer(drover_value_integer(value, 0));
    case DROVER_VALUE_NUMBER:
        json = json_real(drover_value_number(value, 0));
        break;
    case DROVER_VALUE_STRING:
        json = json_string(drover_value_string(value));
        break;
    default:
        break;
    }
    return json != NULL ? json : json_null();
}

json_t *
drover_value_to_json(const struct drover_value *value)
{
    enum drover_value_type type = drover_value_type(value);
    json_t *json;

    if (type != DROVER_VALUE_LIST && type != DROVER_VALUE_MAP)
        return scalar_to_json(value);
    json = type == DROVER_VALUE_LIST ? json_array() : json_object();
    for (gsize i = 0; i < drover_value_length(value); i++) {
        json_t *item = drover_value_to_json(drover_value_item(value, i));

        if (type == DROVER_VALUE_LIST)
            json_array_append_new(json, item);
        else
            json_object_set_new(json, drover_value_key(value, i), item);
    }
    return json;
}

char **
drover_value_get_strv(const struct drover_value *map, const char *key)
{
    const struct drover_value *list = drover_value_get(map, key);
    gsize length = drover_value_length(list);
    char **strings = g_new0(char *, length + 1);
    gsize count = 0;

    for (gsize i = 0; i < length; i++) {
        const char *string = drover_value_string(drover_value_item(list, i));

        if (string != NULL)
            strings[count++] = g_strdup(string);
    }
    return strings;
}

int
drover_value_get_int(const struct drover_value *map, const char *key, int otherwise)
{
    gint64 value = drover_value_get_integer(map, key, otherwise);

    return (int)CLAMP(value, G_MININT, G_MAXINT);
}
