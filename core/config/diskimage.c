#include "config/diskimage.h"

#include "config/convert.h"
#include "config/nearest.h"

/* Its own keys, which no child inherits. */
static const char *const own_keys[] = {"name", "abstract", "parent", "metadata", NULL};

/* What is known while parents are followed. */
typedef struct {
    GHashTable *entries; /* name -> the entry of the checked list */
    struct drover_value *defaults;
    const DroverConfigSource *source;
} Family;

static const char *
entry_name(const struct drover_value *entry)
{
    return drover_value_get_string(entry, "name", "");
}

/* ---- Parents ---- */

static const struct drover_value *
parent_of(const Family *family, const struct drover_value *entry)
{
    const char *parent = drover_value_get_string(entry, "parent", NULL);

    return parent != NULL && *parent != '\0' ? g_hash_table_lookup(family->entries, parent) : NULL;
}

/* The entry and its ancestors, the oldest first. One that would come twice ends the chain. */
static GPtrArray *
ancestry(const Family *family, const struct drover_value *entry)
{
    GPtrArray *chain = g_ptr_array_new();

    while (entry != NULL && !g_ptr_array_find(chain, entry, NULL)) {
        g_ptr_array_insert(chain, 0, (gpointer)entry);
        entry = parent_of(family, entry);
    }
    return chain;
}

static GPtrArray *
entry_names(const struct drover_value *list)
{
    GPtrArray *names = g_ptr_array_new();

    for (gsize i = 0; i < drover_value_length(list); i++)
        g_ptr_array_add(names, (gpointer)entry_name(drover_value_item(list, i)));
    return names;
}

static void
report_parent(const Family *family, const struct drover_value *entry, const char *message)
{
    const struct drover_value *parent = drover_value_get(entry, "parent");
    g_autofree char *object = g_strdup_printf("diskimage %s", entry_name(entry));

    drover_config_report_add(family->source, DROVER_CONFIG_ERROR, drover_value_line(parent),
                             drover_value_column(parent), object, "%s", message);
}

static void
check_parent(const Family *family, const struct drover_value *list,
             const struct drover_value *entry)
{
    const char *parent = drover_value_get_string(entry, "parent", NULL);
    g_autoptr(GPtrArray) names = NULL;
    g_autofree char *hint = NULL, *message = NULL;

    if (parent == NULL || *parent == '\0' || parent_of(family, entry) != NULL)
        return;
    names = entry_names(list);
    hint = drover_suggestion(parent, names);
    message = g_strdup_printf("diskimage %s has non-existant parent: %s%s", entry_name(entry),
                              parent, hint);
    report_parent(family, entry, message);
}

static gboolean
precedes(const struct drover_value *a, const struct drover_value *b)
{
    if (drover_value_line(a) != drover_value_line(b))
        return drover_value_line(a) < drover_value_line(b);
    return drover_value_column(a) < drover_value_column(b);
}

/* Reports a circle once, at the one of its members that stands first in the list. */
static void
check_circle(const Family *family, const struct drover_value *entry)
{
    g_autoptr(GPtrArray) chain = ancestry(family, entry);
    g_autoptr(GString) message = NULL;

    if (parent_of(family, chain->pdata[0]) != entry)
        return;
    for (guint i = 0; i < chain->len; i++)
        if (precedes(chain->pdata[i], entry))
            return;
    message = g_string_new("its parents form a circle: ");
    for (guint i = chain->len; i > 0; i--)
        g_string_append_printf(message, "%s -> ", entry_name(chain->pdata[i - 1]));
    g_string_append(message, entry_name(entry));
    report_parent(family, entry, message->str);
}

/* ---- Inheritance ---- */

static gboolean
is_given(const struct drover_value *value)
{
    return value != NULL && drover_value_line(value) > 0;
}

/* Not empty, zero or false. */
static gboolean
is_substantial(const struct drover_value *map, const char *key)
{
    const struct drover_value *value = drover_value_get(map, key);
    const char *string = drover_value_string(value);

    switch (drover_value_type(value)) {
    case DROVER_VALUE_STRING:
        return *string != '\0';
    case DROVER_VALUE_INTEGER:
    case DROVER_VALUE_NUMBER:
        return drover_value_get_number(map, key, 0) != 0;
    case DROVER_VALUE_BOOLEAN:
        return drover_value_get_boolean(map, key, FALSE);
    default:
        return drover_value_length(value) > 0;
    }
}

/* Adds a list's items behind, or a map's members over those that are there. */
static void
extend(struct drover_value *merged, const char *key, const struct drover_value *value)
{
    const struct drover_value *earlier = drover_value_get(merged, key);
    struct drover_value *sum = drover_value_copy(earlier);
    gboolean map = drover_value_type(value) == DROVER_VALUE_MAP;

    if (sum == NULL)
        sum = map ? drover_value_new_map() : drover_value_new_list();
    for (gsize i = 0; i < drover_value_length(value); i++) {
        struct drover_value *item = drover_value_copy(drover_value_item(value, i));

        if (map)
            drover_value_set(sum, drover_value_key(value, i), item);
        else
            drover_value_append(sum, item);
    }
    drover_value_set(merged, key, sum);
}

/* Lays what an entry of the file says over what its ancestors said. */
static void
inherit(struct drover_value *merged, const struct drover_value *entry)
{
    for (gsize i = 0; i < drover_value_length(entry); i++) {
        const char *key = drover_value_key(entry, i);
        const struct drover_value *value = drover_value_item(entry, i);

        if (g_strv_contains(own_keys, key) || !is_given(value))
            continue;
        if (g_str_equal(key, "elements") || g_str_equal(key, "env-vars"))
            extend(merged, key, value);
        else if (g_str_equal(key, "delete-after-upload") || is_substantial(entry, key))
            drover_value_set(merged, key, drover_value_copy(value));
    }
}

/* What an image has that says nothing. */
static struct drover_value *
default_values(const DroverSchema *schema)
{
    g_autoptr(DroverConfigReport) unread = drover_config_report_new();
    DroverConfigSource source = {unread, "", FALSE, FALSE};
    DroverCheck check = {.source = &source};
    g_autoptr(DroverYaml) nothing = drover_yaml_parse_text("{}");

    return drover_check_map(&check, schema, nothing);
}

/* Starts from the defaults, since a zero or empty value of an entry does not stand over them. */
static struct drover_value *
merge_ancestry(const Family *family, const struct drover_value *entry)
{
    g_autoptr(GPtrArray) chain = ancestry(family, entry);
    struct drover_value *merged = drover_value_copy(family->defaults);

    for (guint i = 0; i < chain->len; i++)
        inherit(merged, chain->pdata[i]);
    for (const char *const *key = own_keys; *key != NULL; key++)
        drover_value_set(merged, *key, drover_value_copy(drover_value_get(entry, *key)));
    return merged;
}

/* ---- Images ---- */

void
drover_diskimage_config_free(DroverDiskImageConfig *image)
{
    g_free(image->name);
    g_strfreev(image->formats);
    g_strfreev(image->keep_formats);
    g_strfreev(image->elements);
    json_decref(image->env_vars);
    json_decref(image->metadata);
    g_free(image->release);
    g_free(image->dib_cmd);
    g_free(image->username);
    g_free(image->python_path);
    g_free(image->shell_type);
    g_free(image);
}

static void
free_image(gpointer image)
{
    drover_diskimage_config_free(image);
}

static json_t *
object_of(const struct drover_value *map, const char *key)
{
    const struct drover_value *value = drover_value_get(map, key);

    return value != NULL ? drover_value_to_json(value) : json_object();
}

static DroverDiskImageConfig *
image_new(const struct drover_value *values)
{
    DroverDiskImageConfig *image = g_new0(DroverDiskImageConfig, 1);

    image->name = g_strdup(entry_name(values));
    image->abstract = drover_value_get_boolean(values, "abstract", FALSE);
    image->pause = drover_value_get_boolean(values, "pause", FALSE);
    image->delete_after_upload = drover_value_get_boolean(values, "delete-after-upload", FALSE);
    image->formats = drover_value_get_strv(values, "formats");
    image->keep_formats = drover_value_get_strv(values, "keep-formats");
    image->elements = drover_value_get_strv(values, "elements");
    image->env_vars = object_of(values, "env-vars");
    image->metadata = object_of(values, "metadata");
    image->release = g_strdup(drover_value_get_string(values, "release", ""));
    image->dib_cmd = g_strdup(drover_value_get_string(values, "dib-cmd", NULL));
    image->username = g_strdup(drover_value_get_string(values, "username", NULL));
    image->python_path = g_strdup(drover_value_get_string(values, "python-path", NULL));
    image->shell_type = g_strdup(drover_value_get_string(values, "shell-type", NULL));
    image->rebuild_age = drover_value_get_int(values, "rebuild-age", 0);
    image->build_timeout = drover_value_get_int(values, "build-timeout", 0);
    return image;
}

GPtrArray *
drover_diskimages_new(const DroverSchema *schema, const struct drover_value *list,
                      const DroverConfigSource *source)
{
    GPtrArray *images = g_ptr_array_new_with_free_func(free_image);
    g_autoptr(GHashTable) entries = g_hash_table_new(g_str_hash, g_str_equal);
    Family family = {entries, default_values(schema), source};

    for (gsize i = 0; i < drover_value_length(list); i++) {
        const struct drover_value *entry = drover_value_item(list, i);

        g_hash_table_insert(entries, (gpointer)entry_name(entry), (gpointer)entry);
    }
    for (gsize i = 0; i < drover_value_length(list); i++) {
        const struct drover_value *entry = drover_value_item(list, i);
        struct drover_value *merged = merge_ancestry(&family, entry);

        check_parent(&family, list, entry);
        check_circle(&family, entry);
        g_ptr_array_add(images, image_new(merged));
        drover_value_free(merged);
    }
    drover_value_free(family.defaults);
    return images;
}

DroverDiskImageConfig *
drover_diskimages_find(const GPtrArray *images, const char *name)
{
    for (guint i = 0; i < images->len; i++) {
        DroverDiskImageConfig *image = images->pdata[i];

        if (g_str_equal(image->name, name))
            return image;
    }
    return NULL;
}

/* ---- Secrets ---- */

static void
report_secret(const GPtrArray *images, const struct drover_value *name,
              const DroverDiskImageConfig *image, const DroverConfigSource *source)
{
    const char *text = drover_value_string(name);
    g_autofree char *object = g_strdup_printf("diskimage %s", text), *hint = NULL;
    g_autoptr(GPtrArray) names = g_ptr_array_new();

    for (guint i = 0; i < images->len; i++)
        if (!((DroverDiskImageConfig *)images->pdata[i])->abstract)
            g_ptr_array_add(names, ((DroverDiskImageConfig *)images->pdata[i])->name);
    hint = image == NULL ? drover_suggestion(text, names) : NULL;
    drover_config_report_add(source, DROVER_CONFIG_ERROR, drover_value_line(name),
                             drover_value_column(name), object,
                             image == NULL ? "the secure file names a diskimage that is not "
                                             "defined in the main diskimages list%s"
                                           : "the secure file names an abstract diskimage, which "
                                             "is never built%s",
                             hint != NULL ? hint : "");
}

void
drover_diskimages_add_secrets(GPtrArray *images, const struct drover_value *list,
                              const DroverConfigSource *source)
{
    for (gsize i = 0; i < drover_value_length(list); i++) {
        const struct drover_value *entry = drover_value_item(list, i);
        const struct drover_value *name = drover_value_get(entry, "name");
        DroverDiskImageConfig *image;
        json_t *variables;

        if (name == NULL)
            continue;
        image = drover_diskimages_find(images, drover_value_string(name));
        if (image == NULL || image->abstract) {
            report_secret(images, name, image, source);
            continue;
        }
        variables = object_of(entry, "env-vars");
        json_object_update(image->env_vars, variables);
        json_decref(variables);
    }
}
