#include "config/spot.h"

#include <string.h>

#define SHOWN 60 /* bytes of a found string that a message shows */

/* ---- What it is about ---- */

char *
drover_entry_kind(const char *list)
{
    if (g_str_equal(list, "tenant-resource-limits"))
        return g_strdup("tenant");
    return g_strndup(list, strlen(list) - (g_str_has_suffix(list, "s") ? 1 : 0));
}

char *
drover_scope_name(const DroverScope *scope)
{
    const DroverYaml *name = drover_yaml_get(scope->entry, scope->identifier);

    if (name == NULL || name->text == NULL || name->type == DROVER_YAML_NULL)
        return NULL;
    return drover_yaml_plain_text(name);
}

/* "provider static-vms, pool main, node 2" */
static char *
object_text(const DroverScope *scope)
{
    GString *text;

    if (scope == NULL)
        return NULL;
    text = g_string_new(NULL);
    for (; scope != NULL; scope = scope->parent) {
        g_autofree char *kind = drover_entry_kind(scope->list), *name = drover_scope_name(scope);
        g_autofree char *part = name != NULL ? g_strdup_printf("%s %s", kind, name)
                                             : g_strdup_printf("%s %u", kind, scope->index + 1);

        if (text->len > 0)
            g_string_prepend(text, ", ");
        g_string_prepend(text, part);
    }
    return g_string_free(text, FALSE);
}

char *
drover_scope_enclosing(const DroverScope *scope, const char *list)
{
    for (; scope != NULL; scope = scope->parent)
        if (g_str_equal(scope->list, list))
            return drover_scope_name(scope);
    return NULL;
}

/* ---- Problems ---- */

static void G_GNUC_PRINTF(5, 0)
    report(const DroverCheck *check, DroverConfigSeverity severity, const DroverSpot *spot,
           const char *prefix, const char *format, va_list args)
{
    g_autofree char *text = g_strdup_vprintf(format, args);
    g_autofree char *object = object_text(spot->scope);

    drover_config_report_add(check->source, severity, spot->node->line, spot->node->column, object,
                             "%s%s", prefix, text);
}

void
drover_spot_problem(const DroverCheck *check, DroverConfigSeverity severity, const DroverSpot *spot,
                    const char *format, ...)
{
    gboolean validating = check->source->strict && severity == DROVER_CONFIG_ERROR;
    va_list args;

    va_start(args, format);
    report(check, severity, spot, validating ? "Schema validation failed: " : "", format, args);
    va_end(args);
}

void
drover_spot_misfit(const DroverCheck *check, DroverConfigSeverity severity, const DroverSpot *spot,
                   const char *format, ...)
{
    va_list args;

    va_start(args, format);
    report(check, severity, spot, "", format, args);
    va_end(args);
}

static const char *const kinds[] = {
    [DROVER_YAML_NULL] = "null",       [DROVER_YAML_BOOLEAN] = "boolean",
    [DROVER_YAML_INTEGER] = "integer", [DROVER_YAML_BIG_INTEGER] = "too large integer",
    [DROVER_YAML_NUMBER] = "number",   [DROVER_YAML_STRING] = "string",
    [DROVER_YAML_TIMESTAMP] = "date",  [DROVER_YAML_LIST] = "list",
    [DROVER_YAML_MAP] = "map",         [DROVER_YAML_INVALID] = "value",
};

static const char *const expectations[] = {
    [DROVER_OPTION_STRING] = "a string",           [DROVER_OPTION_INTEGER] = "an integer",
    [DROVER_OPTION_NUMBER] = "a number",           [DROVER_OPTION_BOOLEAN] = "true or false",
    [DROVER_OPTION_STRINGS] = "a list of strings", [DROVER_OPTION_MAP] = "a map",
    [DROVER_OPTION_LIST] = "a list of maps",       [DROVER_OPTION_ANY] = "a value",
};

gboolean
drover_spot_is_secret(const DroverCheck *check, const DroverSpot *spot)
{
    return check->source->secret || (spot->schema->flags & DROVER_OPTION_SECRET) != 0;
}

char *
drover_spot_found(const DroverCheck *check, const DroverSpot *spot)
{
    const DroverYaml *node = spot->node;
    const char *kind = kinds[node->type];
    const char *end, *quote = node->type == DROVER_YAML_STRING ? "\"" : "";
    g_autofree char *shown = NULL;

    if (node->type == DROVER_YAML_NULL)
        return g_strdup(kind);
    if (node->text == NULL || drover_spot_is_secret(check, spot))
        return g_strdup_printf("%s %s", kind[0] == 'i' ? "an" : "a", kind);
    shown = g_strndup(node->text, SHOWN);
    if (!g_utf8_validate(shown, -1, &end))
        shown[end - shown] = '\0';
    return g_strdup_printf("the %s %s%s%s%s", kind, quote, shown,
                           strlen(node->text) > strlen(shown) ? "..." : "", quote);
}

const char *
drover_spot_expectation(const DroverSpot *spot)
{
    return expectations[spot->schema->type];
}

static gboolean
wants_text(const DroverSchema *schema)
{
    return schema->type == DROVER_OPTION_STRING || schema->type == DROVER_OPTION_STRINGS;
}

/* How the value could be written to be what is wanted. */
static const char *
quoting_hint(const DroverSpot *spot)
{
    DroverScalar scalar;

    if (wants_text(spot->schema))
        return spot->node->text != NULL && spot->node->type != DROVER_YAML_STRING &&
                       spot->node->type != DROVER_YAML_NULL
                   ? "; write it in quotes"
                   : "";
    if (spot->node->type != DROVER_YAML_STRING)
        return "";
    drover_scalar_resolve(spot->node->text, &scalar);
    if ((spot->schema->type == DROVER_OPTION_BOOLEAN && scalar.type == DROVER_SCALAR_BOOLEAN) ||
        (spot->schema->type == DROVER_OPTION_INTEGER && scalar.type == DROVER_SCALAR_INTEGER) ||
        (spot->schema->type == DROVER_OPTION_NUMBER &&
         (scalar.type == DROVER_SCALAR_INTEGER || scalar.type == DROVER_SCALAR_NUMBER)))
        return "; write it without quotes";
    return "";
}

struct drover_value *
drover_spot_mismatch(const DroverCheck *check, const DroverSpot *spot)
{
    g_autofree char *found = drover_spot_found(check, spot);

    drover_spot_problem(check, DROVER_CONFIG_ERROR, spot, "%s: found %s, must be %s%s",
                        spot->name != NULL ? spot->name : "entry", found,
                        drover_spot_expectation(spot), quoting_hint(spot));
    return NULL;
}

void
drover_spot_converted(const DroverCheck *check, const DroverSpot *spot, const char *taken)
{
    g_autofree char *found = drover_spot_found(check, spot);

    drover_spot_problem(check, drover_config_lenient(check->source), spot,
                        "%s: found %s, must be %s%s; it is taken as %s", spot->name, found,
                        drover_spot_expectation(spot), quoting_hint(spot),
                        drover_spot_is_secret(check, spot) ? "such" : taken);
}

struct drover_value *
drover_spot_place(const DroverSpot *spot, struct drover_value *value)
{
    drover_value_set_place(value, spot->node->line, spot->node->column);
    return value;
}
