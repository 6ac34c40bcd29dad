#include "server.h"

#include <string.h>

#include "list.h"
#include "options.h"

/* Of a value of metadata. */
#define MOST_CHARACTERS 255

/* ---- Records ---- */

gboolean
server_is(const json_t *server, const char *status)
{
    return g_strcmp0(list_text(server, "status"), status) == 0;
}

gboolean
server_exists(const json_t *server)
{
    return !server_is(server, "DELETED") && !server_is(server, "SOFT_DELETED");
}

gboolean
server_is_partial(const json_t *server)
{
    return json_object_get(server, "metadata") == NULL;
}

char *
server_fault(const json_t *server)
{
    const char *text = list_text(json_object_get(server, "fault"), "message");
    char *words = text != NULL ? g_strstrip(g_strdup(text)) : NULL;

    if (words != NULL && *words != '\0')
        return words;
    g_free(words);
    return NULL;
}

gboolean
server_is_of_node(const struct cloud *cloud, const struct drover_operation *op,
                  const json_t *server)
{
    const json_t *metadata = json_object_get(server, "metadata");

    return server_exists(server) &&
           g_strcmp0(list_text(server, "name"), drover_operation_input(op, "hostname")) == 0 &&
           g_strcmp0(list_text(metadata, "nodepool_node_id"), drover_operation_node_id(op)) == 0 &&
           g_strcmp0(list_text(metadata, "nodepool_provider_name"),
                     drover_provider_name(cloud->provider)) == 0 &&
           g_strcmp0(list_text(server, "OS-EXT-STS:task_state"), "deleting") != 0;
}

/* ---- Metadata ---- */

/* Nova takes text only: true, 5 and 1.5 as they are written. Free with free(). */
static char *
as_text(const struct drover_value *value)
{
    const char *text = drover_value_string(value);

    return text != NULL ? strdup(text) : drover_value_json(value);
}

static void
add_properties(struct drover_operation *op, json_t *metadata, const struct drover_value *properties)
{
    for (size_t i = 0; i < drover_value_length(properties); i++) {
        const char *key = drover_value_key(properties, i);
        char *text = as_text(drover_value_item(properties, i));

        if (g_utf8_validate(text, -1, NULL) && g_utf8_strlen(text, -1) > MOST_CHARACTERS) {
            drover_operation_log(op, DROVER_WARNING, "Property %s is cut at %d characters", key,
                                 MOST_CHARACTERS);
            *g_utf8_offset_to_pointer(text, MOST_CHARACTERS) = '\0';
        }
        json_object_set_new(metadata, key, json_string(text));
        free(text);
    }
}

static json_t *
metadata_of(const struct cloud *cloud, struct drover_operation *op)
{
    const struct drover_value *label = drover_operation_label_config(op);
    const struct drover_value *image = options_image(cloud->config, label);
    const char *text = drover_operation_input(op, "tags");
    json_t *hosts = text != NULL ? json_loads(text, 0, NULL) : NULL;
    json_t *metadata = json_object();
    g_autofree char *groups =
        g_strdup_printf("%s,%s,%s", drover_provider_name(cloud->provider),
                        drover_value_get_string(image, "name", ""), drover_operation_label(op));

    json_object_set_new(metadata, "groups", json_string(groups));
    add_properties(op, metadata, drover_value_get(label, "instance-properties"));
    add_properties(op, metadata, drover_value_get(label, "dynamic-instance-properties"));
    json_object_update(metadata, hosts);
    json_decref(hosts);
    return metadata;
}

/* ---- Descriptions ---- */

static void
set_disk(json_t *server, const struct drover_value *label, const char *image_id)
{
    g_autofree char *size = NULL;

    if (!drover_value_get_boolean(label, "boot-from-volume", 0)) {
        json_object_set_new(server, "imageRef", json_string(image_id));
        return;
    }
    size = g_strdup_printf("%" G_GINT64_FORMAT, drover_value_get_integer(label, "volume-size", 50));
    json_object_set_new(server, "imageRef", json_string(""));
    json_object_set_new(server, "block_device_mapping_v2",
                        json_pack("[{s:s, s:s, s:s, s:s, s:s, s:b}]", "boot_index", "0", "uuid",
                                  image_id, "source_type", "image", "destination_type", "volume",
                                  "volume_size", size, "delete_on_termination", 1));
}

static void
set_security_groups(json_t *server, const struct drover_value *groups)
{
    json_t *list = json_array();

    for (size_t i = 0; i < drover_value_length(groups); i++)
        json_array_append_new(
            list, json_pack("{s:s}", "name", drover_value_string(drover_value_item(groups, i))));
    if (json_array_size(list) > 0)
        json_object_set(server, "security_groups", list);
    json_decref(list);
}

static void
set_text(json_t *server, const char *member, const char *text)
{
    if (text != NULL && *text != '\0')
        json_object_set_new(server, member, json_string(text));
}

json_t *
server_description(const struct cloud *cloud, struct drover_operation *op,
                   const struct server_parts *parts)
{
    const struct drover_value *label = drover_operation_label_config(op);
    const struct drover_value *image = options_image(cloud->config, label);
    const char *userdata = drover_value_get_string(label, "userdata", NULL);
    g_autofree char *encoded =
        userdata != NULL ? g_base64_encode((const guchar *)userdata, strlen(userdata)) : NULL;
    json_t *server = json_pack(
        "{s:s?, s:s, s:i, s:i, s:o}", "name", drover_operation_input(op, "hostname"), "flavorRef",
        parts->flavor_id, "min_count", 1, "max_count", 1, "metadata", metadata_of(cloud, op));

    set_disk(server, label, parts->image_id);
    set_text(server, "key_name", drover_value_get_string(label, "key-name", NULL));
    set_text(server, "availability_zone", parts->zone);
    set_text(server, "user_data", encoded);
    if (drover_value_get_boolean(image, "config-drive", 0))
        json_object_set_new(server, "config_drive", json_true());
    set_security_groups(server,
                        drover_value_get(drover_operation_pool_config(op), "security-groups"));
    if (parts->networks != NULL)
        json_object_set(server, "networks", parts->networks);
    return json_pack("{s:o}", "server", server);
}
