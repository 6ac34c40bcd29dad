#include "launcher/provider/instance.h"

#include "base/json.h"

/* Null when the driver gives none. */
static const char *const own[] = {"external_id", "interface_ip", "public_ipv4", "private_ipv4",
                                  "public_ipv6", "host_id",      "cloud",       "region",
                                  "driver_data", "slot"};
/* As the image says, or the order, unless the driver sets them, if only to null. */
static const char *const overriding[] = {
    "username",        "python_path", "shell_type", "connection_type",
    "connection_port", "host_keys",   "image_id",   "az"};

static void
prefer_internal_address(json_t *fields, const json_t *made)
{
    const char *address = drover_json_string(made, "private_ipv4");

    if (address == NULL)
        address = drover_json_string(made, "private_ipv6");
    if (address != NULL)
        json_object_set_new(fields, "interface_ip", json_string(address));
}

/* The driver's attributes are defaults for the pool's. */
static void
add_attributes(json_t *fields, const json_t *made, const DroverPoolConfig *pool)
{
    const json_t *given = json_object_get(made, "node_attributes");
    json_t *attributes;

    if (!json_is_object(given))
        return;
    attributes = json_deep_copy(given);
    if (pool->node_attributes != NULL)
        json_object_update(attributes, pool->node_attributes);
    json_object_set_new(fields, "attributes", attributes);
}

json_t *
drover_instance_fields(const DroverTaskResult *made, const DroverPoolConfig *pool)
{
    json_t *fields = json_object();

    for (guint i = 0; i < G_N_ELEMENTS(own); i++) {
        json_t *value = json_object_get(made->fields, own[i]);
        json_object_set_new(fields, own[i], value != NULL ? json_incref(value) : json_null());
    }
    for (guint i = 0; i < G_N_ELEMENTS(overriding); i++) {
        json_t *value = json_object_get(made->fields, overriding[i]);
        if (value != NULL)
            json_object_set(fields, overriding[i], value);
    }
    if (drover_value_get_boolean(pool->values, "use-internal-ip", FALSE))
        prefer_internal_address(fields, made->fields);
    if (json_object_size(made->resources) > 0)
        json_object_set(fields, "resources", made->resources);
    add_attributes(fields, made->fields, pool);
    return fields;
}
