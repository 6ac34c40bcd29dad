#include "config/check-types.h"

#include <math.h>
#include <string.h>

#include "config/nearest.h"

/* ---- References ---- */

/* What may be named: top-level entries, or those of a list of the provider's own. */
static GHashTable *
names_of(const DroverCheck *check, const char *target)
{
    if (g_str_equal(target, "labels"))
        return check->labels != NULL ? g_hash_table_ref(check->labels) : NULL;
    if (g_str_equal(target, "diskimages"))
        return check->diskimages != NULL ? g_hash_table_ref(check->diskimages) : NULL;
    return check->section != NULL ? drover_check_names(drover_yaml_get(check->section, target))
                                  : NULL;
}

static void
check_reference(const DroverCheck *check, const DroverSpot *spot, const char *name)
{
    const char *target = spot->schema->refers_to;
    g_autoptr(GHashTable) names = target != NULL ? names_of(check, target) : NULL;
    g_autoptr(GPtrArray) sorted = NULL;
    g_autofree char *hint = NULL, *provider = NULL, *label = NULL;

    if (names == NULL || g_hash_table_contains(names, name))
        return;
    sorted = drover_check_sorted(names);
    hint = drover_suggestion(name, sorted);
    provider = drover_scope_enclosing(spot->scope, "providers");
    label = drover_scope_enclosing(spot->scope, "labels");
    if (provider == NULL)
        provider = g_strdup("without name");
    if (g_str_equal(target, "labels"))
        drover_spot_misfit(check, DROVER_CONFIG_ERROR, spot,
                           "label %s in provider %s not in top-level labels%s", name, provider,
                           hint);
    else if (g_str_equal(target, "diskimages") && label != NULL)
        drover_spot_misfit(
            check, DROVER_CONFIG_ERROR, spot,
            "label %s in provider %s uses diskimage %s which is not defined in the main "
            "diskimages list%s",
            label, provider, name, hint);
    else if (g_str_equal(target, "diskimages"))
        drover_spot_misfit(
            check, DROVER_CONFIG_ERROR, spot,
            "diskimage %s in provider %s is not defined in the main diskimages list%s", name,
            provider, hint);
    else
        drover_spot_misfit(check, DROVER_CONFIG_ERROR, spot, "%s: %s is not in %s of provider %s%s",
                           spot->name, name, target, provider, hint);
}

/* ---- Scalars ---- */

static void
check_choice(const DroverCheck *check, const DroverSpot *spot, const char *text)
{
    g_autoptr(GPtrArray) choices = NULL;
    g_autofree char *found = NULL, *listed = NULL;
    const char *nearest;

    if (spot->schema->choices == NULL ||
        g_strv_contains((const char *const *)spot->schema->choices, text))
        return;
    choices = g_ptr_array_new();
    for (char **choice = spot->schema->choices; *choice != NULL; choice++)
        g_ptr_array_add(choices, *choice);
    nearest = drover_spot_is_secret(check, spot) ? NULL : drover_nearest(text, choices);
    found = drover_spot_found(check, spot);
    listed = g_strjoinv(", ", spot->schema->choices);
    drover_spot_problem(check, DROVER_CONFIG_ERROR, spot, "%s: found %s, must be one of %s%s%s%s",
                        spot->name, found, listed, nearest != NULL ? "; did you mean " : "",
                        nearest != NULL ? nearest : "", nearest != NULL ? "?" : "");
}

static void
check_range(const DroverCheck *check, const DroverSpot *spot, double number)
{
    const DroverSchema *schema = spot->schema;
    g_autofree char *found = NULL, *range = NULL, *least = NULL, *most = NULL;

    if (number >= schema->minimum && number <= schema->maximum)
        return;
    if (isinf(schema->minimum) && isinf(schema->maximum) && !isnan(number))
        return;
    least = g_strdup_printf("%.15g", schema->minimum);
    most = g_strdup_printf("%.15g", schema->maximum);
    if (isinf(schema->minimum) && isinf(schema->maximum))
        range = g_strdup("a number that can be compared");
    else if (isinf(schema->maximum))
        range = g_strdup_printf("at least %s", least);
    else if (isinf(schema->minimum))
        range = g_strdup_printf("at most %s", most);
    else
        range = g_strdup_printf("from %s to %s", least, most);
    found = drover_spot_found(check, spot);
    drover_spot_problem(check, DROVER_CONFIG_ERROR, spot, "%s: found %s, must be %s", spot->name,
                        found, range);
}

/* A scalar as text, or NULL when it is none and may not be taken as such. */
static char *
scalar_text(const DroverCheck *check, const DroverSpot *spot)
{
    const DroverYaml *node = spot->node;
    gboolean lenient = (spot->schema->flags & DROVER_OPTION_LENIENT) != 0;
    g_autofree char *text = drover_yaml_plain_text(node);

    switch (node->type) {
    case DROVER_YAML_STRING:
        return g_steal_pointer(&text);
    case DROVER_YAML_INTEGER:
        if (spot->schema->flags & DROVER_OPTION_OR_INTEGER)
            return g_steal_pointer(&text);
        break;
    case DROVER_YAML_BOOLEAN:
        g_free(text);
        text = g_strdup(node->boolean ? "True" : "False");
        break;
    case DROVER_YAML_NUMBER:
        break;
    default:
        lenient = FALSE;
    }
    if (!lenient) {
        drover_spot_mismatch(check, spot);
        return NULL;
    }
    drover_spot_converted(check, spot, text);
    return g_steal_pointer(&text);
}

/* A text that is good as such: one of those allowed, and a name that is known. */
static struct drover_value *
check_text(const DroverCheck *check, const DroverSpot *spot, const char *text)
{
    if (*text == '\0' && (spot->schema->flags & DROVER_OPTION_REQUIRED)) {
        drover_spot_problem(check, DROVER_CONFIG_ERROR, spot, "%s: must not be empty", spot->name);
        return NULL;
    }
    check_choice(check, spot, text);
    check_reference(check, spot, text);
    return drover_spot_place(spot, drover_value_new_string(text));
}

struct drover_value *
drover_check_string(DroverCheck *check, const DroverSpot *spot)
{
    g_autofree char *text = scalar_text(check, spot);

    return text != NULL ? check_text(check, spot, text) : NULL;
}

struct drover_value *
drover_check_integer(DroverCheck *check, const DroverSpot *spot)
{
    const DroverYaml *node = spot->node;
    gint64 integer = node->integer;
    DroverScalar scalar;

    if (node->type == DROVER_YAML_STRING && (spot->schema->flags & DROVER_OPTION_LENIENT)) {
        drover_scalar_resolve(node->text, &scalar);
        if (scalar.type != DROVER_SCALAR_INTEGER)
            return drover_spot_mismatch(check, spot);
        integer = scalar.integer;
        drover_spot_converted(check, spot, "such");
    } else if (node->type == DROVER_YAML_NUMBER && fabs(node->number) < 0x1p62) {
        g_autofree char *taken = NULL;

        integer = (gint64)node->number;
        taken = g_strdup_printf("%" G_GINT64_FORMAT, integer);
        drover_spot_converted(check, spot, taken);
    } else if (node->type != DROVER_YAML_INTEGER) {
        return drover_spot_mismatch(check, spot);
    }
    check_range(check, spot, (double)integer);
    return drover_spot_place(spot, drover_value_new_integer(integer));
}

struct drover_value *
drover_check_number(DroverCheck *check, const DroverSpot *spot)
{
    const DroverYaml *node = spot->node;
    double number = node->number;
    DroverScalar scalar;

    if (node->type == DROVER_YAML_STRING && (spot->schema->flags & DROVER_OPTION_LENIENT)) {
        drover_scalar_resolve(node->text, &scalar);
        if (scalar.type != DROVER_SCALAR_INTEGER && scalar.type != DROVER_SCALAR_NUMBER)
            return drover_spot_mismatch(check, spot);
        number = scalar.number;
        drover_spot_converted(check, spot, "such");
    } else if (node->type != DROVER_YAML_INTEGER && node->type != DROVER_YAML_BIG_INTEGER &&
               node->type != DROVER_YAML_NUMBER) {
        return drover_spot_mismatch(check, spot);
    }
    check_range(check, spot, number);
    return drover_spot_place(spot, drover_value_new_number(number));
}

/* With LENIENT, what Python takes as true: any text but the empty one, any number but 0. */
struct drover_value *
drover_check_boolean(DroverCheck *check, const DroverSpot *spot)
{
    const DroverYaml *node = spot->node;
    gboolean truth = node->boolean;

    if (node->type != DROVER_YAML_BOOLEAN) {
        if (!(spot->schema->flags & DROVER_OPTION_LENIENT) || node->text == NULL ||
            node->type == DROVER_YAML_TIMESTAMP)
            return drover_spot_mismatch(check, spot);
        truth = node->type == DROVER_YAML_STRING ? *node->text != '\0' : node->number != 0;
        drover_spot_converted(check, spot, truth ? "true" : "false");
    }
    return drover_spot_place(spot, drover_value_new_boolean(truth));
}

/* ---- Lists of texts ---- */

static void
append_text(const DroverCheck *check, const DroverSpot *spot, const char *text,
            struct drover_value *list)
{
    g_auto(GStrv) words = NULL;

    if (!(spot->schema->flags & DROVER_OPTION_SPLIT)) {
        drover_value_append(list, check_text(check, spot, text));
        return;
    }
    words = g_strsplit_set(text, " \t\n\r\f\v", -1);
    for (char **word = words; *word != NULL; word++)
        if (**word != '\0')
            drover_value_append(list, check_text(check, spot, *word));
}

struct drover_value *
drover_check_strings(DroverCheck *check, const DroverSpot *spot)
{
    struct drover_value *list;

    if (spot->node->type == DROVER_YAML_MAP ||
        (spot->node->type != DROVER_YAML_LIST && (spot->schema->flags & DROVER_OPTION_LIST_ONLY)))
        return drover_spot_mismatch(check, spot);
    list = drover_spot_place(spot, drover_value_new_list());
    for (guint i = 0; i < (spot->node->type == DROVER_YAML_LIST ? spot->node->items->len : 1);
         i++) {
        DroverSpot item = *spot;
        g_autofree char *text = NULL;

        if (spot->node->type == DROVER_YAML_LIST)
            item.node = spot->node->items->pdata[i];
        if (item.node->type == DROVER_YAML_INVALID)
            continue;
        text = scalar_text(check, &item);
        if (text != NULL)
            append_text(check, &item, text, list);
    }
    return list;
}

/* ---- Any value ---- */

static struct drover_value *
any_list(DroverCheck *check, const DroverSpot *spot)
{
    struct drover_value *list = drover_value_new_list();

    for (guint i = 0; i < spot->node->items->len; i++) {
        DroverSpot item = *spot;

        item.node = spot->node->items->pdata[i];
        drover_value_append(list, drover_check_any(check, &item));
    }
    return list;
}

static struct drover_value *
any_map(DroverCheck *check, const DroverSpot *spot)
{
    struct drover_value *map = drover_value_new_map();

    for (guint i = 0; i < spot->node->members->len; i++) {
        const DroverYamlMember *member = spot->node->members->pdata[i];
        DroverSpot inner = *spot;

        inner.node = member->value;
        drover_value_set(map, member->key, drover_check_any(check, &inner));
    }
    return map;
}

static struct drover_value *
any_scalar(const DroverCheck *check, const DroverSpot *spot)
{
    switch (spot->node->type) {
    case DROVER_YAML_BOOLEAN:
        return drover_value_new_boolean(spot->node->boolean);
    case DROVER_YAML_INTEGER:
        return drover_value_new_integer(spot->node->integer);
    case DROVER_YAML_BIG_INTEGER:
    case DROVER_YAML_NUMBER:
        return drover_value_new_number(spot->node->number);
    case DROVER_YAML_TIMESTAMP:
        drover_spot_problem(check, DROVER_CONFIG_WARNING, spot,
                            "%s: a date is taken as a string; write it in quotes", spot->name);
        return drover_value_new_string(spot->node->text);
    case DROVER_YAML_STRING:
        return drover_value_new_string(spot->node->text);
    default:
        return drover_value_new_null();
    }
}

struct drover_value *
drover_check_any(DroverCheck *check, const DroverSpot *spot)
{
    struct drover_value *value;

    if (spot->node->type == DROVER_YAML_LIST)
        value = any_list(check, spot);
    else if (spot->node->type == DROVER_YAML_MAP)
        value = any_map(check, spot);
    else
        value = any_scalar(check, spot);
    return drover_spot_place(spot, value);
}
