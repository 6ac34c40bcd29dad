#include "driver/transport.h"

#include <stdlib.h>
#include <string.h>

#define KIND(function, again)                                                                      \
    {                                                                                              \
        offsetof(struct drover_driver, function), #function, again                                 \
    }

const DroverOperationKind drover_operation_kinds[] = {
    KIND(machine_create, TRUE), KIND(machine_delete, FALSE), KIND(machine_console, FALSE),
    KIND(label_ready, FALSE),   KIND(zone_list, FALSE),      KIND(slot_register, FALSE),
    KIND(slot_check, FALSE),    KIND(quota_limits, FALSE),   KIND(quota_label, FALSE),
    KIND(quota_usage, FALSE),   KIND(resource_list, FALSE),  KIND(resource_delete, FALSE),
    KIND(image_upload, TRUE),   KIND(image_delete, FALSE),   KIND(image_list, FALSE),
};
const guint drover_n_operation_kinds = G_N_ELEMENTS(drover_operation_kinds);

DroverStepFunc
drover_operation_function(const struct drover_driver *driver, guint kind)
{
    DroverStepFunc function;

    memcpy(&function, (const char *)driver + drover_operation_kinds[kind].offset, sizeof(function));
    return function;
}

json_t *
drover_transport_pack(const struct drover_value *value)
{
    char *text = drover_value_json(value);
    json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);

    explicit_bzero(text, strlen(text)); /* it may hold secrets */
    free(text);
    return json != NULL ? json : json_null();
}

static struct drover_value *
unpack_container(const json_t *json)
{
    struct drover_value *value;
    const char *key;
    json_t *member;
    size_t i;

    if (json_is_array(json)) {
        value = drover_value_new_list();
        json_array_foreach(json, i, member)
        {
            drover_value_append(value, drover_transport_unpack(member));
        }
        return value;
    }
    value = drover_value_new_map();
    json_object_foreach((json_t *)json, key, member)
    {
        drover_value_set(value, key, drover_transport_unpack(member));
    }
    return value;
}

struct drover_value *
drover_transport_unpack(const json_t *json)
{
    if (json_is_object(json) || json_is_array(json))
        return unpack_container(json);
    if (json_is_string(json))
        return drover_value_new_string(json_string_value(json));
    if (json_is_boolean(json))
        return drover_value_new_boolean(json_is_true(json));
    if (json_is_integer(json))
        return drover_value_new_integer(json_integer_value(json));
    if (json_is_real(json))
        return drover_value_new_number(json_real_value(json));
    return drover_value_new_null();
}

static void
number(const struct drover_value *value, GPtrArray *all)
{
    g_ptr_array_add(all, (gpointer)value);
    for (size_t i = 0; i < drover_value_length(value); i++)
        number(drover_value_item(value, i), all);
}

GPtrArray *
drover_transport_number(const struct drover_value *root)
{
    GPtrArray *all = g_ptr_array_new();

    number(root, all);
    return all;
}
