#include "yaml-json.h"

#include <string.h>
#include <yaml.h>

#define DEEPEST 100

/* ---- Scalars ---- */

static const struct {
    const char *word;
    int value;
} booleans[] = {{"true", 1}, {"false", 0}, {"yes", 1}, {"no", 0}, {"on", 1}, {"off", 0}};

static json_t *
plain_value(const char *text)
{
    if (*text == '\0' || strcmp(text, "~") == 0 || g_ascii_strcasecmp(text, "null") == 0)
        return json_null();
    for (gsize i = 0; i < G_N_ELEMENTS(booleans); i++)
        if (g_ascii_strcasecmp(text, booleans[i].word) == 0)
            return json_boolean(booleans[i].value);
    return json_string(text);
}

/* ---- Nodes ---- */

static json_t *value_of(yaml_document_t *document, int index, guint depth);

static json_t *
list_of(yaml_document_t *document, const yaml_node_t *node, guint depth)
{
    json_t *list = json_array();

    for (yaml_node_item_t *item = node->data.sequence.items.start;
         item < node->data.sequence.items.top; item++)
        json_array_append_new(list, value_of(document, *item, depth + 1));
    return list;
}

/* "<<" merges another map, or several, whose members count less; of several the first most. */
static void
set_member(json_t *map, const char *key, json_t *value)
{
    size_t index;
    json_t *one;

    if (strcmp(key, "<<") != 0) {
        json_object_set(map, key, value);
    } else if (json_is_object(value)) {
        json_object_update_missing(map, value);
    } else {
        json_array_foreach(value, index, one)
        {
            json_object_update_missing(map, one);
        }
    }
    json_decref(value);
}

static json_t *
map_of(yaml_document_t *document, const yaml_node_t *node, guint depth)
{
    json_t *map = json_object();

    for (yaml_node_pair_t *pair = node->data.mapping.pairs.start;
         pair < node->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key = yaml_document_get_node(document, pair->key);

        if (key->type == YAML_SCALAR_NODE)
            set_member(map, (const char *)key->data.scalar.value,
                       value_of(document, pair->value, depth + 1));
    }
    return map;
}

static json_t *
value_of(yaml_document_t *document, int index, guint depth)
{
    const yaml_node_t *node = yaml_document_get_node(document, index);

    if (node == NULL || depth > DEEPEST)
        return json_null();
    if (node->type == YAML_SEQUENCE_NODE)
        return list_of(document, node, depth);
    if (node->type == YAML_MAPPING_NODE)
        return map_of(document, node, depth);
    if (node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
        return plain_value((const char *)node->data.scalar.value);
    return json_string((const char *)node->data.scalar.value);
}

/* ---- Documents ---- */

json_t *
yaml_parse(const char *text, gsize length, GError **error)
{
    yaml_parser_t parser;
    yaml_document_t document;
    json_t *value = NULL;

    yaml_parser_initialize(&parser);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    if (yaml_parser_load(&parser, &document)) {
        value = yaml_document_get_root_node(&document) != NULL ? value_of(&document, 1, 0)
                                                               : json_object();
        yaml_document_delete(&document);
    } else {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "line %zu: %s",
                    parser.problem_mark.line + 1,
                    parser.problem != NULL ? parser.problem : "it is no YAML");
    }
    yaml_parser_delete(&parser);
    return value;
}

json_t *
yaml_load(const char *path, GError **error)
{
    g_autofree char *text = NULL;
    gsize length;
    json_t *value;

    if (!g_file_get_contents(path, &text, &length, error))
        return NULL;
    value = yaml_parse(text, length, error);
    if (value == NULL)
        g_prefix_error(error, "%s: ", path);
    return value;
}
