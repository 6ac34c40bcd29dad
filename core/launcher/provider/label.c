#include "launcher/provider/label.h"

#include <string.h>

#include "base/json.h"

#define DEFAULT_CONNECTION "ssh"
#define DEFAULT_PORT       22

static const struct drover_value *
find_named(const struct drover_value *list, const char *name)
{
    for (size_t i = 0; name != NULL && i < drover_value_length(list); i++) {
        const struct drover_value *values = drover_value_item(list, i);

        if (strcmp(drover_value_get_string(values, "name", ""), name) == 0)
            return values;
    }
    return NULL;
}

const struct drover_value *
drover_label_values(const DroverPoolConfig *pool, const char *label)
{
    return pool != NULL ? find_named(drover_value_get(pool->values, "labels"), label) : NULL;
}

const char *
drover_label_diskimage(const DroverPoolConfig *pool, const char *label)
{
    return drover_value_get_string(drover_label_values(pool, label), "diskimage", NULL);
}

static const char *
cloud_image(const DroverPoolConfig *pool, const char *label)
{
    return drover_value_get_string(drover_label_values(pool, label), "cloud-image", NULL);
}

/* The former of two sections that says anything about the option. */
static const struct drover_value *
either(const struct drover_value *a, const struct drover_value *b, const char *option)
{
    return drover_value_get(drover_value_get(a, option) != NULL ? a : b, option);
}

static void
add_connection(json_t *fields, const struct drover_value *image, const struct drover_value *more)
{
    static const struct {
        const char *field, *option;
    } texts[] = {{"username", "username"},
                 {"python_path", "python-path"},
                 {"shell_type", "shell-type"},
                 {"connection_type", "connection-type"}};
    int64_t port = drover_value_integer(either(image, more, "connection-port"), 0);

    for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
        json_object_set_new(
            fields, texts[i].field,
            drover_json_from_string(drover_value_string(either(image, more, texts[i].option))));
    if (json_is_null(json_object_get(fields, "connection_type")))
        json_object_set_new(fields, "connection_type", json_string(DEFAULT_CONNECTION));
    json_object_set_new(fields, "connection_port", json_integer(port > 0 ? port : DEFAULT_PORT));
}

json_t *
drover_label_image_fields(const DroverProviderConfig *provider, const DroverPoolConfig *pool,
                          const char *label)
{
    const struct drover_value *values = provider->values;
    const char *disk = drover_label_diskimage(pool, label), *cloud = cloud_image(pool, label);
    json_t *fields = json_object();

    if (disk != NULL) {
        add_connection(fields, find_named(drover_value_get(values, "diskimages"), disk),
                       drover_value_get(drover_value_get(values, "diskimage-settings"), disk));
    } else if (cloud != NULL) {
        json_object_set_new(fields, "image_id", json_string(cloud));
        add_connection(fields, find_named(drover_value_get(values, "cloud-images"), cloud), NULL);
    }
    return fields;
}

gboolean
drover_label_is_scanned(const DroverPoolConfig *pool, const char *label)
{
    const struct drover_value *values = drover_label_values(pool, label);
    const struct drover_value *wish = either(values, pool->values, "host-key-checking");

    /* What has no image, a namespace say, is no machine that could be reached. */
    return (cloud_image(pool, label) != NULL || drover_label_diskimage(pool, label) != NULL ||
            drover_value_get(values, "backing-label") != NULL) &&
           drover_value_boolean(wish, TRUE);
}
