#include "config/check.h"

#include <string.h>

#include "base/compare.h"
#include "config/check-types.h"
#include "config/nearest.h"

typedef struct drover_value *(*Checker)(DroverCheck *check, const DroverSpot *spot);

static struct drover_value *check_value(DroverCheck *check, const DroverSpot *spot);

/* ---- Maps: what stands there ---- */

static void
report_unknown(const DroverCheck *check, const DroverSpot *map, const DroverYamlMember *member)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    g_autofree char *hint = NULL;
    DroverYaml place = {.line = member->line, .column = member->column};
    DroverSpot spot = *map;

    for (guint i = 0; i < map->schema->members->len; i++)
        g_ptr_array_add(names, ((DroverSchema *)map->schema->members->pdata[i])->name);
    hint = drover_suggestion(member->key, names);
    spot.node = &place;
    drover_spot_problem(check,
                        check->tolerate_unknown ? DROVER_CONFIG_WARNING
                                                : drover_config_lenient(check->source),
                        &spot, "unknown key %s%s%s%s", member->key, map->name != NULL ? " in " : "",
                        map->name != NULL ? map->name : "", hint);
}

/* A null is as good as nothing. Nodepool's validator accepts it nowhere; of lists it is common. */
static void
report_null(const DroverCheck *check, const DroverSpot *spot)
{
    gboolean list =
        spot->schema->type == DROVER_OPTION_LIST || spot->schema->type == DROVER_OPTION_STRINGS;

    drover_spot_problem(check, list ? DROVER_CONFIG_WARNING : drover_config_lenient(check->source),
                        spot, "%s: found null, must be %s; it counts as not given", spot->name,
                        drover_spot_expectation(spot));
}

/* Says what is to be said about the key alone. Returns whether its value counts. */
static gboolean
check_key(const DroverCheck *check, const DroverSpot *spot, const DroverYaml *map,
          const DroverYamlMember *member)
{
    const DroverSchema *schema = spot->schema;
    gboolean old = schema->old_name != NULL && g_str_equal(schema->old_name, member->key);
    gboolean both = old && drover_yaml_get(map, schema->name) != NULL;

    if (!member->is_text)
        drover_spot_problem(check, drover_config_lenient(check->source), spot,
                            "the key %s is not a string; write it in quotes", member->key);
    if (old)
        drover_spot_problem(check, DROVER_CONFIG_WARNING, spot, "%s is the old name of %s%s",
                            member->key, schema->name,
                            both ? ", which is given too; the old one does not count" : "");
    if (schema->flags & DROVER_OPTION_DEPRECATED)
        drover_spot_problem(check, DROVER_CONFIG_WARNING, spot, "%s is deprecated%s%s", spot->name,
                            schema->help != NULL ? ": " : "",
                            schema->help != NULL ? schema->help : "");
    return !both;
}

/* The name of a map's member, with those of the maps around it. */
static char *
member_name(const DroverSpot *map, const char *key)
{
    return map->name != NULL ? g_strdup_printf("%s.%s", map->name, key) : g_strdup(key);
}

static void
check_member(DroverCheck *check, const DroverSpot *map, const DroverYamlMember *member,
             struct drover_value *values)
{
    const DroverSchema *schema = drover_schema_member(map->schema, member->key);
    g_autofree char *name = member_name(map, member->key);
    DroverSpot spot = {schema, member->value, name, map->scope};

    if (schema == NULL) {
        spot.schema = map->schema;
        if (map->schema->open)
            drover_value_set(values, member->key, drover_check_any(check, &spot));
        else
            report_unknown(check, map, member);
        return;
    }
    if (!check_key(check, &spot, map->node, member))
        return;
    drover_value_set(values, schema == map->schema->others ? member->key : schema->name,
                     check_value(check, &spot));
}

/* ---- Maps: what does not stand there ---- */

static const DroverYaml *
given(const DroverYaml *map, const DroverSchema *schema)
{
    const DroverYaml *node = drover_yaml_get(map, schema->name);

    if (node == NULL && schema->old_name != NULL)
        node = drover_yaml_get(map, schema->old_name);
    return node != NULL && node->type != DROVER_YAML_NULL ? node : NULL;
}

/* A scalar value as it stands in `fallback_when`; NULL for others. Free with g_free. */
static char *
value_text(const struct drover_value *map, const char *key)
{
    const struct drover_value *value = drover_value_get(map, key);

    switch (drover_value_type(value)) {
    case DROVER_VALUE_STRING:
        return g_strdup(drover_value_string(value));
    case DROVER_VALUE_INTEGER:
        return g_strdup_printf("%" G_GINT64_FORMAT, drover_value_integer(value, 0));
    case DROVER_VALUE_NUMBER:
        return drover_scalar_number_text(drover_value_number(value, 0));
    case DROVER_VALUE_BOOLEAN:
        return g_strdup(drover_value_boolean(value, 0) ? "true" : "false");
    default:
        return NULL;
    }
}

static const DroverYaml *
default_of(const DroverSchema *schema, const struct drover_value *siblings)
{
    g_autofree char *sibling = schema->when != NULL ? value_text(siblings, schema->when) : NULL;

    if (sibling != NULL && g_str_equal(sibling, schema->when_value))
        return schema->when_fallback;
    return schema->fallback;
}

static void
fill_in(DroverCheck *check, const DroverSpot *map, const DroverSchema *schema,
        struct drover_value *values)
{
    const DroverYaml *fallback = default_of(schema, values);
    g_autofree char *name = member_name(map, schema->name);
    DroverSpot spot = {schema, fallback, name, map->scope};

    if (given(map->node, schema) != NULL)
        return;
    if (schema->flags & DROVER_OPTION_REQUIRED) {
        spot.node = map->node;
        drover_spot_problem(check, DROVER_CONFIG_ERROR, &spot, "%s is missing, must be %s", name,
                            drover_spot_expectation(&spot));
    } else if (fallback != NULL && fallback->type != DROVER_YAML_NULL) {
        drover_value_set(values, schema->name, check_value(check, &spot));
    }
}

/* Defaults that look at a sibling come after all others, so that the sibling may be a default. */
static void
fill_in_all(DroverCheck *check, const DroverSpot *map, struct drover_value *values)
{
    for (int looking = 0; looking <= 1; looking++)
        for (guint i = 0; i < map->schema->members->len; i++) {
            const DroverSchema *schema = map->schema->members->pdata[i];

            if ((schema->when != NULL) == (looking == 1))
                fill_in(check, map, schema, values);
        }
}

static struct drover_value *
check_members(DroverCheck *check, const DroverSpot *map)
{
    struct drover_value *values = drover_spot_place(map, drover_value_new_map());

    for (guint i = 0; i < map->node->members->len; i++)
        check_member(check, map, map->node->members->pdata[i], values);
    fill_in_all(check, map, values);
    return values;
}

static struct drover_value *
check_map(DroverCheck *check, const DroverSpot *spot)
{
    if (spot->node->type != DROVER_YAML_MAP)
        return drover_spot_mismatch(check, spot);
    if (spot->schema->members->len == 0 && spot->schema->others == NULL)
        return drover_check_any(check, spot);
    return check_members(check, spot);
}

/* ---- Lists of maps ---- */

/* What tells an entry from others; NULL when it lacks the first part. */
static char *
identity(const DroverSchema *schema, const struct drover_value *entry)
{
    GString *text = g_string_new(NULL);

    for (char **part = schema->unique; *part != NULL; part++) {
        g_autofree char *value = value_text(entry, *part);

        if (value == NULL && part == schema->unique) {
            g_string_free(text, TRUE);
            return NULL;
        }
        g_string_append_printf(text, "%s%c", value != NULL ? value : "", 31);
    }
    return g_string_free(text, FALSE);
}

static void
report_twice(const DroverCheck *check, const DroverSpot *spot, const struct drover_value *earlier)
{
    g_autofree char *kind = drover_entry_kind(spot->scope->list),
                    *name = drover_scope_name(spot->scope);
    g_autofree char *parts = g_strjoinv(", ", spot->schema->unique);
    gboolean lenient = (spot->schema->flags & DROVER_OPTION_LENIENT) != 0;
    gboolean plain = g_strv_length(spot->schema->unique) == 1;

    drover_spot_misfit(check, lenient ? drover_config_lenient(check->source) : DROVER_CONFIG_ERROR,
                       spot, "%s %s already defined at line %u, column %u%s%s%s", kind,
                       name != NULL ? name : "", drover_value_line(earlier),
                       drover_value_column(earlier), plain ? "" : " with the same ",
                       plain ? "" : parts, lenient ? "; the last one is used" : "");
}

static gboolean
lies_within(const struct drover_value *value, const struct drover_value *container)
{
    if (value == container)
        return TRUE;
    for (gsize i = 0; i < drover_value_length(container); i++)
        if (lies_within(value, drover_value_item(container, i)))
            return TRUE;
    return FALSE;
}

static gboolean
is_forgotten(gpointer key, gpointer value, gpointer container)
{
    return lies_within(value, container);
}

/* An entry that a later one replaces leaves no trace. */
static void
drop_entry(DroverCheck *check, GPtrArray *entries, struct drover_value *entry)
{
    if (check->seen != NULL)
        g_hash_table_foreach_remove(check->seen, is_forgotten, entry);
    g_ptr_array_remove(entries, entry);
    drover_value_free(entry);
}

/*
 * Compares the last of `entries` with those before it: with LENIENT those of the same list, else
 * those of the whole section.
 */
static void
check_unique(DroverCheck *check, const DroverSpot *spot, GHashTable *own, GPtrArray *entries)
{
    gboolean lenient = (spot->schema->flags & DROVER_OPTION_LENIENT) != 0;
    GHashTable *seen = lenient || check->seen == NULL ? own : check->seen;
    struct drover_value *entry = entries->pdata[entries->len - 1], *earlier;
    g_autofree char *text = spot->schema->unique != NULL ? identity(spot->schema, entry) : NULL;
    g_autofree char *key = NULL;

    if (text == NULL)
        return;
    key = g_strdup_printf("%p %s", (const void *)spot->schema, text);
    earlier = g_hash_table_lookup(seen, key);
    if (earlier != NULL)
        report_twice(check, spot, earlier);
    if (earlier == NULL || lenient)
        g_hash_table_insert(seen, g_steal_pointer(&key), entry);
    if (earlier != NULL && lenient)
        drop_entry(check, entries, earlier);
}

static struct drover_value *
check_entry(DroverCheck *check, const DroverSpot *entry)
{
    guint errors = drover_config_report_errors(check->source->report);
    struct drover_value *value;
    DroverSpot spot = *entry;

    if (spot.node->type == DROVER_YAML_INVALID)
        return NULL;
    if (spot.node->type != DROVER_YAML_MAP) {
        g_autofree char *found = drover_spot_found(check, entry);

        drover_spot_problem(check, DROVER_CONFIG_ERROR, entry, "found %s, must be a map", found);
        return NULL;
    }
    if (entry->schema->choose != NULL)
        spot.schema = entry->schema->choose(entry->node, entry->schema->choose_data);
    value = check_members(check, &spot);
    if (entry->schema->checked != NULL)
        entry->schema->checked(value, drover_config_report_errors(check->source->report) == errors,
                               entry->schema->choose_data);
    return value;
}

static struct drover_value *
check_list(DroverCheck *check, const DroverSpot *spot)
{
    const DroverSchema *schema = spot->schema;
    g_autoptr(GHashTable) own = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GPtrArray) entries = g_ptr_array_new();
    struct drover_value *list;

    if (spot->node->type != DROVER_YAML_LIST)
        return drover_spot_mismatch(check, spot);
    for (guint i = 0; i < spot->node->items->len; i++) {
        const DroverYaml *node = spot->node->items->pdata[i];
        DroverScope scope = {spot->scope, schema->name,
                             schema->unique != NULL ? schema->unique[0] : "name", node, i};
        DroverSpot entry = {schema, node, NULL, &scope};
        struct drover_value *value = check_entry(check, &entry);

        if (value == NULL)
            continue;
        g_ptr_array_add(entries, value);
        check_unique(check, &entry, own, entries);
    }
    list = drover_spot_place(spot, drover_value_new_list());
    for (guint i = 0; i < entries->len; i++)
        drover_value_append(list, entries->pdata[i]);
    return list;
}

/* ---- All types ---- */

static const Checker checkers[] = {
    [DROVER_OPTION_STRING] = drover_check_string,
    [DROVER_OPTION_INTEGER] = drover_check_integer,
    [DROVER_OPTION_NUMBER] = drover_check_number,
    [DROVER_OPTION_BOOLEAN] = drover_check_boolean,
    [DROVER_OPTION_STRINGS] = drover_check_strings,
    [DROVER_OPTION_MAP] = check_map,
    [DROVER_OPTION_LIST] = check_list,
    [DROVER_OPTION_ANY] = drover_check_any,
};

static struct drover_value *
check_value(DroverCheck *check, const DroverSpot *spot)
{
    if (spot->node->type == DROVER_YAML_INVALID)
        return NULL;
    if (spot->node->type == DROVER_YAML_NULL && spot->schema->type != DROVER_OPTION_ANY) {
        if (!(spot->schema->flags & DROVER_OPTION_REQUIRED))
            report_null(check, spot);
        return NULL;
    }
    return checkers[spot->schema->type](check, spot);
}

void
drover_check_begin_section(DroverCheck *check, const DroverYaml *section)
{
    drover_check_clear(check);
    check->section = section;
    check->seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

void
drover_check_clear(DroverCheck *check)
{
    check->section = NULL;
    g_clear_pointer(&check->seen, g_hash_table_unref);
}

struct drover_value *
drover_check_map(DroverCheck *check, const DroverSchema *schema, const DroverYaml *map)
{
    DroverSpot spot = {schema, map, NULL, NULL};

    return check_members(check, &spot);
}

/* ---- Names ---- */

GHashTable *
drover_check_names(const DroverYaml *list)
{
    GHashTable *names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

    for (guint i = 0; list != NULL && list->items != NULL && i < list->items->len; i++) {
        const DroverYaml *name = drover_yaml_get(list->items->pdata[i], "name");

        if (name != NULL && name->text != NULL && name->type != DROVER_YAML_NULL)
            g_hash_table_add(names, drover_yaml_plain_text(name));
    }
    return names;
}

GPtrArray *
drover_check_sorted(GHashTable *names)
{
    GPtrArray *sorted = g_ptr_array_new();
    GHashTableIter iter;
    gpointer name;

    g_hash_table_iter_init(&iter, names);
    while (g_hash_table_iter_next(&iter, &name, NULL))
        g_ptr_array_add(sorted, name);
    g_ptr_array_sort(sorted, drover_compare_strings);
    return sorted;
}
