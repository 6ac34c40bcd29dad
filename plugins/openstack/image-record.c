/* What Glance is told, and tells, of an image that is uploaded. */
#include "upload.h"

#include <string.h>

#include "list.h"

/* Properties for which text will not do. */
static const struct {
    const char *name;
    enum { WHOLE_NUMBER, YES_OR_NO } type;
} typed[] = {{"min_disk", WHOLE_NUMBER}, {"min_ram", WHOLE_NUMBER}, {"protected", YES_OR_NO}};

static json_t *
typed_value(const char *name, const char *text)
{
    for (gsize i = 0; i < G_N_ELEMENTS(typed); i++) {
        if (strcmp(typed[i].name, name) != 0)
            continue;
        if (typed[i].type == WHOLE_NUMBER)
            return json_integer(g_ascii_strtoll(text, NULL, 10));
        return json_boolean(g_ascii_strcasecmp(text, "true") == 0);
    }
    return json_string(text);
}

/* As Python writes it, which is what Nodepool's images have. */
static const char *
as_python(gboolean value)
{
    return value ? "True" : "False";
}

/* Free with free(). */
static char *
as_text(const struct drover_value *value)
{
    const char *text = drover_value_string(value);

    if (drover_value_type(value) == DROVER_VALUE_BOOLEAN)
        return strdup(as_python(drover_value_boolean(value, 0)));
    return text != NULL ? strdup(text) : drover_value_json(value);
}

static gboolean
is_mark(const char *key)
{
    return g_str_has_prefix(key, "nodepool_");
}

/* Either the host's marks or everything else. */
static void
add_metadata(json_t *image, const json_t *metadata, gboolean marks)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)metadata, key, value)
    {
        const char *text =
            json_is_boolean(value) ? as_python(json_is_true(value)) : json_string_value(value);

        if (text != NULL && is_mark(key) == marks)
            json_object_set_new(image, key, typed_value(key, text));
    }
}

static void
add_properties(json_t *image, const struct drover_value *properties)
{
    for (size_t i = 0; i < drover_value_length(properties); i++) {
        const char *key = drover_value_key(properties, i);
        const struct drover_value *value = drover_value_item(properties, i);
        char *text = as_text(value);

        if (strcmp(key, "tags") == 0 && drover_value_type(value) == DROVER_VALUE_LIST)
            json_object_set_new(image, key, json_loads(text, 0, NULL));
        else
            json_object_set_new(image, key, typed_value(key, text));
        free(text);
    }
}

json_t *
upload_description(const char *name, const char *format, const json_t *metadata,
                   const struct drover_value *properties, const struct settings *settings)
{
    json_t *image = json_object();

    add_metadata(image, metadata, FALSE);
    add_properties(image, properties);
    add_metadata(image, json_object_get(settings->values, "disable_vendor_agent"), FALSE);
    json_object_set_new(image, "name", json_string(name));
    json_object_set_new(image, "disk_format", json_string(format));
    json_object_set_new(image, "container_format", json_string("bare"));
    json_object_set_new(image, "visibility", json_string("private"));
    add_metadata(image, metadata, TRUE);
    return image;
}

gboolean
upload_is_intact(const json_t *image, const char *md5, const char *sha256)
{
    const char *checksum = list_text(image, "checksum");
    const char *algorithm = list_text(image, "os_hash_algo");
    const char *hash = list_text(image, "os_hash_value");

    if (md5 != NULL && checksum != NULL && g_ascii_strcasecmp(md5, checksum) != 0)
        return FALSE;
    if (hash == NULL)
        return TRUE;
    if (g_strcmp0(algorithm, "sha256") == 0 && sha256 != NULL)
        return g_ascii_strcasecmp(sha256, hash) == 0;
    if (g_strcmp0(algorithm, "md5") == 0 && md5 != NULL)
        return g_ascii_strcasecmp(md5, hash) == 0;
    return TRUE;
}
