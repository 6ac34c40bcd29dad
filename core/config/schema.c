#include "config/schema.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

/* ---- Life ---- */

static void
free_schema(gpointer data)
{
    drover_schema_free(data);
}

static DroverSchema *
schema_new(const char *name, enum drover_option_type type, guint flags)
{
    DroverSchema *schema = g_new0(DroverSchema, 1);

    schema->name = g_strdup(name);
    schema->type = type;
    schema->flags = flags;
    schema->minimum = -INFINITY;
    schema->maximum = INFINITY;
    schema->members = g_ptr_array_new_with_free_func(free_schema);
    return schema;
}

DroverSchema *
drover_schema_new(void)
{
    return schema_new("", DROVER_OPTION_MAP, 0);
}

void
drover_schema_free(DroverSchema *schema)
{
    if (schema == NULL)
        return;
    g_ptr_array_unref(schema->members);
    drover_schema_free(schema->others);
    drover_yaml_unref(schema->fallback);
    drover_yaml_unref(schema->when_fallback);
    g_strfreev(schema->choices);
    g_strfreev(schema->unique);
    g_free(schema->when);
    g_free(schema->when_value);
    g_free(schema->name);
    g_free(schema);
}

/* ---- From tables ---- */

static DroverSchema *
find_named(const DroverSchema *schema, const char *name)
{
    if (g_str_equal(name, "*"))
        return schema->others;
    for (guint i = 0; i < schema->members->len; i++) {
        DroverSchema *member = schema->members->pdata[i];

        if (g_str_equal(member->name, name))
            return member;
    }
    return NULL;
}

/* One step down a path. A list or map that was not declared is taken as declared. */
static DroverSchema *
step_into(DroverSchema *schema, const char *part)
{
    gboolean list = g_str_has_suffix(part, "[]");
    g_autofree char *name = g_strndup(part, strlen(part) - (list ? strlen("[]") : 0));
    DroverSchema *member = find_named(schema, name);

    if (member != NULL)
        return member;
    member = schema_new(name, list ? DROVER_OPTION_LIST : DROVER_OPTION_MAP,
                        schema->flags & DROVER_OPTION_SECRET);
    if (g_str_equal(name, "*"))
        schema->others = member;
    else
        g_ptr_array_add(schema->members, member);
    return member;
}

/* "a|b|c", or "1..65535" with either end missing. */
static void
read_allowed(DroverSchema *schema, const char *allowed)
{
    const char *dots = strstr(allowed, "..");
    char *end;

    schema->allowed = allowed;
    if (dots == NULL) {
        schema->choices = g_strsplit(allowed, "|", -1);
        return;
    }
    if (dots > allowed)
        schema->minimum = g_ascii_strtod(allowed, &end);
    if (dots[strlen("..")] != '\0')
        schema->maximum = g_ascii_strtod(dots + strlen(".."), &end);
}

static gboolean
read_default(DroverSchema *schema, const char *text, DroverYaml **fallback, GError **error)
{
    g_clear_pointer(fallback, drover_yaml_unref);
    *fallback = drover_yaml_parse_text(text);
    if (*fallback == NULL)
        g_set_error(error, DROVER_ERROR, DROVER_ERROR_MALFORMED,
                    "the default of the option %s is not YAML", schema->name);
    return *fallback != NULL;
}

/* "connection-type=winrm: 5986" */
static gboolean
read_condition(DroverSchema *schema, const char *text, GError **error)
{
    const char *equals = strchr(text, '='), *colon = equals != NULL ? strchr(equals, ':') : NULL;

    if (colon == NULL) {
        g_set_error(error, DROVER_ERROR, DROVER_ERROR_MALFORMED,
                    "the other default of the option %s has no \"sibling=value: default\"",
                    schema->name);
        return FALSE;
    }
    schema->when = g_strndup(text, (gsize)(equals - text));
    schema->when_value = g_strndup(equals + 1, (gsize)(colon - equals - 1));
    return read_default(schema, colon + 1, &schema->when_fallback, error);
}

/* What one entry of a table says. A later entry of the same path adds to the earlier one. */
static gboolean
fill_in(DroverSchema *schema, const struct drover_option *option, GError **error)
{
    gboolean good = option->type >= DROVER_OPTION_STRING && option->type <= DROVER_OPTION_ANY;

    schema->type = good ? option->type : DROVER_OPTION_ANY;
    schema->flags |= option->flags;
    if (!good)
        g_set_error(error, DROVER_ERROR, DROVER_ERROR_MALFORMED, "the option %s has no known type",
                    schema->name);
    if (option->help != NULL)
        schema->help = option->help;
    if (option->refers_to != NULL)
        schema->refers_to = option->refers_to;
    if (option->old_name != NULL)
        schema->old_name = option->old_name;
    if (option->allowed != NULL && schema->allowed == NULL)
        read_allowed(schema, option->allowed);
    if (option->unique != NULL && schema->unique == NULL)
        schema->unique = g_strsplit(option->unique, ",", -1);
    if (good && option->fallback != NULL)
        good = read_default(schema, option->fallback, &schema->fallback, error);
    if (good && option->fallback_when != NULL && schema->when == NULL)
        good = read_condition(schema, option->fallback_when, error);
    return good;
}

static gboolean
add_option(DroverSchema *schema, const struct drover_option *option, const char *path,
           GError **error)
{
    g_auto(GStrv) parts = g_strsplit(path, ".", -1);

    for (char **part = parts; *part != NULL; part++)
        schema = step_into(schema, *part);
    return fill_in(schema, option, error);
}

gboolean
drover_schema_add(DroverSchema *schema, const struct drover_option *options, gsize size,
                  const char *prefix, GError **error)
{
    const char *place = (const char *)options;
    gboolean good = TRUE;

    if (size == 0)
        size = sizeof(struct drover_option);
    for (; place != NULL; place += size) {
        struct drover_option option = {0};

        memcpy(&option, place, MIN(size, sizeof option));
        if (option.path == NULL)
            break;
        if (g_str_has_prefix(option.path, prefix) && option.path[strlen(prefix)] != '\0')
            good &= add_option(schema, &option, option.path + strlen(prefix), good ? error : NULL);
    }
    return good;
}

const DroverSchema *
drover_schema_member(const DroverSchema *schema, const char *key)
{
    for (guint i = 0; i < schema->members->len; i++) {
        const DroverSchema *member = schema->members->pdata[i];

        if (g_str_equal(member->name, key) ||
            (member->old_name != NULL && g_str_equal(member->old_name, key)))
            return member;
    }
    return schema->others;
}

/* ---- References ---- */

typedef struct {
    const char *target;
    GPtrArray *names; /* in the order of the file */
    GHashTable *seen; /* the same names, as a set */
} References;

static void
add_reference(References *references, const char *name)
{
    char *copy;

    if (name == NULL || g_hash_table_contains(references->seen, name))
        return;
    copy = g_strdup(name);
    g_hash_table_add(references->seen, copy);
    g_ptr_array_add(references->names, copy);
}

static void
collect(const DroverSchema *schema, const struct drover_value *value, References *references)
{
    gsize length = drover_value_length(value);

    if (g_strcmp0(schema->refers_to, references->target) == 0) {
        add_reference(references, drover_value_string(value));
        for (gsize i = 0; i < length; i++)
            add_reference(references, drover_value_string(drover_value_item(value, i)));
        return;
    }
    for (gsize i = 0; i < length; i++) {
        const char *key = drover_value_key(value, i);
        const DroverSchema *member = key != NULL ? drover_schema_member(schema, key) : schema;

        if (member != NULL)
            collect(member, drover_value_item(value, i), references);
    }
}

char **
drover_schema_references(const DroverSchema *schema, const struct drover_value *value,
                         const char *target)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    References references = {target, g_ptr_array_new(), seen};

    collect(schema, value, &references);
    g_ptr_array_add(references.names, NULL);
    return (char **)g_ptr_array_free(references.names, FALSE);
}
