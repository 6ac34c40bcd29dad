#include "config/yaml-private.h"

#include <string.h>

DroverYaml *
drover_yaml_ref(DroverYaml *node)
{
    return g_rc_box_acquire(node);
}

static void
clear_node(gpointer data)
{
    DroverYaml *node = data;

    g_free(node->text);
    g_clear_pointer(&node->items, g_ptr_array_unref);
    g_clear_pointer(&node->members, g_ptr_array_unref);
}

void
drover_yaml_unref(DroverYaml *node)
{
    if (node != NULL)
        g_rc_box_release_full(node, clear_node);
}

void
drover_yaml_destroy(gpointer node)
{
    drover_yaml_unref(node);
}

DroverYamlMember *
drover_yaml_member_new(const char *key, gboolean is_text, guint line, guint column,
                       DroverYaml *value)
{
    DroverYamlMember *member = g_new0(DroverYamlMember, 1);

    member->key = g_strdup(key);
    member->is_text = is_text;
    member->line = line;
    member->column = column;
    member->value = drover_yaml_ref(value);
    return member;
}

void
drover_yaml_member_free(gpointer data)
{
    DroverYamlMember *member = data;

    g_free(member->key);
    drover_yaml_unref(member->value);
    g_free(member);
}

DroverYaml *
drover_yaml_new(DroverYamlType type, guint line, guint column)
{
    DroverYaml *node = g_rc_box_new0(DroverYaml);

    node->type = type;
    node->line = line;
    node->column = column;
    node->weight = 1;
    if (type == DROVER_YAML_LIST)
        node->items = g_ptr_array_new_with_free_func(drover_yaml_destroy);
    else if (type == DROVER_YAML_MAP)
        node->members = g_ptr_array_new_with_free_func(drover_yaml_member_free);
    return node;
}

const DroverYamlMember *
drover_yaml_member(const DroverYaml *map, const char *key)
{
    if (map == NULL || map->type != DROVER_YAML_MAP)
        return NULL;
    for (guint i = 0; i < map->members->len; i++) {
        const DroverYamlMember *member = map->members->pdata[i];

        if (g_str_equal(member->key, key))
            return member;
    }
    return NULL;
}

const DroverYaml *
drover_yaml_get(const DroverYaml *map, const char *key)
{
    const DroverYamlMember *member = drover_yaml_member(map, key);

    return member != NULL ? member->value : NULL;
}

char *
drover_yaml_plain_text(const DroverYaml *scalar)
{
    switch (scalar->type) {
    case DROVER_YAML_NULL:
        return g_strdup("null");
    case DROVER_YAML_BOOLEAN:
        return g_strdup(scalar->boolean ? "true" : "false");
    case DROVER_YAML_INTEGER:
        return g_strdup_printf("%" G_GINT64_FORMAT, scalar->integer);
    case DROVER_YAML_NUMBER:
        return drover_scalar_number_text(scalar->number);
    default:
        return g_strdup(scalar->text != NULL ? scalar->text : "");
    }
}
