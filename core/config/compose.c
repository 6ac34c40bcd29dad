#include "config/yaml-private.h"

#include <string.h>
#include <yaml.h>

#define DEEPEST 100           /* lists and maps in each other */
#define LARGEST (1000 * 1000) /* nodes of a document when every alias is written out */

#define TAG_PREFIX "tag:yaml.org,2002:"

typedef struct {
    yaml_parser_t parser;
    const DroverSubstitution *text;
    const DroverConfigSource *source;
    GHashTable *anchors; /* name -> DroverYaml, or NULL while it is being made */
    guint depth;
    guint64 weight;
    gboolean broken;
} Composer;

static DroverYaml *compose(Composer *self, yaml_event_t *event);

/* ---- Problems ----
 *
 * No message holds a text of the file beside keys: it may be a secret that was not put in quotes.
 */

static void
find_place(const Composer *self, const yaml_mark_t *mark, guint *line, guint *column)
{
    *line = *column = 0;
    if (self->text != NULL)
        drover_substitution_place(self->text, mark->index, line, column);
}

static DroverYaml *
node_new(const Composer *self, DroverYamlType type, const yaml_mark_t *mark)
{
    guint line, column;

    find_place(self, mark, &line, &column);
    return drover_yaml_new(type, line, column);
}

static void G_GNUC_PRINTF(4, 5) report(Composer *self, DroverConfigSeverity severity,
                                       const yaml_mark_t *mark, const char *format, ...)
{
    g_autofree char *message = NULL;
    guint line, column;
    va_list args;

    if (self->source == NULL)
        return;
    va_start(args, format);
    message = g_strdup_vprintf(format, args);
    va_end(args);
    find_place(self, mark, &line, &column);
    drover_config_report_add(self->source, severity, line, column, NULL, "%s", message);
}

/* A document that goes no further: the rest cannot be made sense of. */
#define broken(self, mark, ...)                                                                    \
    do {                                                                                           \
        report(self, DROVER_CONFIG_ERROR, mark, "YAML parsing failed: " __VA_ARGS__);              \
        (self)->broken = TRUE;                                                                     \
    } while (FALSE)

/* What libyaml has to say, with its place. */
static void
report_parser(Composer *self)
{
    const yaml_parser_t *parser = &self->parser;
    yaml_mark_t mark = parser->problem_mark;
    const char *text = self->text != NULL ? drover_substitution_text(self->text) : NULL;

    if (parser->error == YAML_READER_ERROR && text != NULL)
        mark.index = (size_t)g_utf8_pointer_to_offset(
            text, text + MIN(parser->problem_offset, strlen(text)));
    broken(self, &mark, "%s%s%s", parser->problem != NULL ? parser->problem : "not YAML",
           parser->context != NULL ? ", " : "", parser->context != NULL ? parser->context : "");
}

static gboolean
next_event(Composer *self, yaml_event_t *event)
{
    if (self->broken)
        return FALSE;
    if (yaml_parser_parse(&self->parser, event) != 0)
        return TRUE;
    report_parser(self);
    return FALSE;
}

/* ---- Scalars ---- */

static const DroverYamlType scalar_types[] = {
    [DROVER_SCALAR_STRING] = DROVER_YAML_STRING,
    [DROVER_SCALAR_NULL] = DROVER_YAML_NULL,
    [DROVER_SCALAR_BOOLEAN] = DROVER_YAML_BOOLEAN,
    [DROVER_SCALAR_INTEGER] = DROVER_YAML_INTEGER,
    [DROVER_SCALAR_BIG_INTEGER] = DROVER_YAML_BIG_INTEGER,
    [DROVER_SCALAR_NUMBER] = DROVER_YAML_NUMBER,
    [DROVER_SCALAR_TIMESTAMP] = DROVER_YAML_TIMESTAMP,
    [DROVER_SCALAR_MERGE] = DROVER_YAML_INVALID,
    [DROVER_SCALAR_VALUE] = DROVER_YAML_INVALID,
    [DROVER_SCALAR_INVALID] = DROVER_YAML_INVALID,
};

/* The tags that may be written out, and what their text may read as. */
static const struct {
    const char *tag;
    DroverYamlType type, also;
} scalar_tags[] = {
    {"str", DROVER_YAML_STRING, DROVER_YAML_STRING},
    {"null", DROVER_YAML_NULL, DROVER_YAML_NULL},
    {"bool", DROVER_YAML_BOOLEAN, DROVER_YAML_BOOLEAN},
    {"int", DROVER_YAML_INTEGER, DROVER_YAML_BIG_INTEGER},
    {"float", DROVER_YAML_NUMBER, DROVER_YAML_INTEGER},
    {"timestamp", DROVER_YAML_TIMESTAMP, DROVER_YAML_TIMESTAMP},
};

/* Applies a tag such as !!int. Returns FALSE for a text that is none, or a tag that is not known.
 */
static gboolean
apply_tag(DroverYaml *node, const char *tag)
{
    if (!g_str_has_prefix(tag, TAG_PREFIX))
        return FALSE;
    for (guint i = 0; i < G_N_ELEMENTS(scalar_tags); i++) {
        if (!g_str_equal(tag + strlen(TAG_PREFIX), scalar_tags[i].tag))
            continue;
        if (scalar_tags[i].type == DROVER_YAML_STRING || scalar_tags[i].type == DROVER_YAML_NULL)
            node->type = scalar_tags[i].type;
        else if (node->type == scalar_tags[i].also && scalar_tags[i].also == DROVER_YAML_INTEGER)
            node->type = scalar_tags[i].type;
        return node->type == scalar_tags[i].type || node->type == scalar_tags[i].also;
    }
    return FALSE;
}

static DroverYaml *
compose_scalar(Composer *self, const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    const char *tag = (const char *)event->data.scalar.tag;
    DroverYaml *node = node_new(self, DROVER_YAML_STRING, &event->start_mark);
    DroverScalar scalar;

    node->text = g_strndup(text, event->data.scalar.length);
    if (strlen(node->text) != event->data.scalar.length) {
        report(self, DROVER_CONFIG_ERROR, &event->start_mark,
               "a string may not hold the character 0");
        node->type = DROVER_YAML_INVALID;
        return node;
    }
    if (event->data.scalar.quoted_implicit)
        return node;
    drover_scalar_resolve(node->text, &scalar);
    node->type = scalar_types[scalar.type];
    node->boolean = scalar.boolean;
    node->integer = scalar.integer;
    node->number = scalar.number;
    if (tag != NULL && !g_str_equal(tag, "!") && !apply_tag(node, tag)) {
        report(self, DROVER_CONFIG_ERROR, &event->start_mark,
               "this tag is not known here, or the text is not of that kind");
        node->type = DROVER_YAML_INVALID;
    }
    return node;
}

/* A merge key's or value key's sign, or 0x_, means nothing where a value has to stand. */
static void
refuse_signs(Composer *self, const DroverYaml *node, const yaml_event_t *event)
{
    if (node->type == DROVER_YAML_INVALID && event->data.scalar.tag == NULL)
        report(self, DROVER_CONFIG_ERROR, &event->start_mark,
               "this sign is no value; write it in quotes when it is a string");
}

/* ---- Anchors ---- */

static const char *
event_anchor(const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return (const char *)event->data.scalar.anchor;
    case YAML_SEQUENCE_START_EVENT:
        return (const char *)event->data.sequence_start.anchor;
    case YAML_MAPPING_START_EVENT:
        return (const char *)event->data.mapping_start.anchor;
    default:
        return NULL;
    }
}

static DroverYaml *
compose_alias(Composer *self, const yaml_event_t *event)
{
    const char *name = (const char *)event->data.alias.anchor;
    gpointer node;

    if (!g_hash_table_lookup_extended(self->anchors, name, NULL, &node))
        broken(self, &event->start_mark, "this anchor is not defined above");
    else if (node == NULL)
        broken(self, &event->start_mark, "this anchor contains itself");
    else
        return drover_yaml_ref(node);
    return NULL;
}

/* ---- Lists and maps ---- */

static gboolean
enter(Composer *self, const yaml_event_t *event)
{
    const char *tag =
        (const char *)(event->type == YAML_SEQUENCE_START_EVENT ? event->data.sequence_start.tag
                                                                : event->data.mapping_start.tag);
    const char *own =
        event->type == YAML_SEQUENCE_START_EVENT ? TAG_PREFIX "seq" : TAG_PREFIX "map";

    if (++self->depth > DEEPEST) {
        broken(self, &event->start_mark, "more than %d lists and maps in each other", DEEPEST);
        return FALSE;
    }
    if (tag != NULL && !g_str_equal(tag, own) && !g_str_equal(tag, "!"))
        report(self, DROVER_CONFIG_ERROR, &event->start_mark, "this tag is not known here");
    return TRUE;
}

/* Counts the node of a value into its container and the document. */
static void
weigh(Composer *self, DroverYaml *container, const DroverYaml *value, const yaml_event_t *event)
{
    container->weight += value->weight;
    if (container->weight > LARGEST && !self->broken)
        broken(self, &event->start_mark, "more than %d values when every alias is written out",
               LARGEST);
}

static DroverYaml *
compose_list(Composer *self, const yaml_event_t *start)
{
    g_autoptr(DroverYaml) node = node_new(self, DROVER_YAML_LIST, &start->start_mark);

    if (!enter(self, start))
        return NULL;
    while (TRUE) {
        yaml_event_t event;
        DroverYaml *item = NULL;
        gboolean end;

        if (!next_event(self, &event))
            return NULL;
        end = event.type == YAML_SEQUENCE_END_EVENT;
        if (!end)
            item = compose(self, &event);
        if (item != NULL) {
            g_ptr_array_add(node->items, item);
            weigh(self, node, item, &event);
        }
        yaml_event_delete(&event);
        if (self->broken)
            return NULL;
        if (end)
            break;
    }
    self->depth--;
    return g_steal_pointer(&node);
}

/* Puts a member into a map, instead of the one that has this key. Returns the one it replaced. */
static DroverYamlMember *
put_member(DroverYaml *map, GHashTable *places, DroverYamlMember *member)
{
    gpointer place;
    DroverYamlMember *earlier;

    if (!g_hash_table_lookup_extended(places, member->key, NULL, &place)) {
        g_hash_table_insert(places, member->key, GUINT_TO_POINTER(map->members->len));
        g_ptr_array_add(map->members, member);
        return NULL;
    }
    earlier = map->members->pdata[GPOINTER_TO_UINT(place)];
    map->members->pdata[GPOINTER_TO_UINT(place)] = member;
    g_hash_table_replace(places, member->key, place);
    return earlier;
}

static void
merge_map(DroverYaml *map, GHashTable *places, const DroverYaml *from)
{
    for (guint i = 0; i < from->members->len; i++) {
        const DroverYamlMember *source = from->members->pdata[i];
        DroverYamlMember *member = drover_yaml_member_new(
            source->key, source->is_text, source->line, source->column, source->value);
        DroverYamlMember *earlier;

        member->merged = TRUE;
        earlier = put_member(map, places, member);
        if (earlier != NULL)
            drover_yaml_member_free(earlier);
    }
}

/* What stands behind a merge key: a map, or a list of maps of which the first wins. */
static void
merge(Composer *self, DroverYaml *map, GHashTable *places, const DroverYaml *from)
{
    gboolean good = from->type == DROVER_YAML_MAP || from->type == DROVER_YAML_LIST;

    for (guint i = 0; from->type == DROVER_YAML_LIST && i < from->items->len; i++)
        good &= ((DroverYaml *)from->items->pdata[i])->type == DROVER_YAML_MAP;
    if (!good) {
        if (from->type != DROVER_YAML_INVALID && self->source != NULL)
            drover_config_report_add(self->source, DROVER_CONFIG_ERROR, from->line, from->column,
                                     NULL, "<< needs a map, or a list of maps");
        return;
    }
    if (from->type == DROVER_YAML_MAP)
        merge_map(map, places, from);
    for (guint i = from->type == DROVER_YAML_LIST ? from->items->len : 0; i > 0; i--)
        merge_map(map, places, from->items->pdata[i - 1]);
}

static void
warn_duplicate(Composer *self, const DroverYamlMember *member, const DroverYamlMember *earlier)
{
    if (earlier->merged || self->source == NULL)
        return;
    drover_config_report_add(self->source, DROVER_CONFIG_WARNING, member->line, member->column,
                             NULL,
                             "the key %s stands here and at line %u, column %u; the last "
                             "one is used",
                             member->key, earlier->line, earlier->column);
}

/* A key as it is written, and what stands behind it. */
typedef struct {
    DroverYaml *key, *value;
} Pair;

static void
clear_pair(gpointer data)
{
    Pair *pair = data;

    g_clear_pointer(&pair->key, drover_yaml_unref);
    g_clear_pointer(&pair->value, drover_yaml_unref);
}

static gboolean
is_merge_key(const DroverYaml *key)
{
    return key->type == DROVER_YAML_INVALID && g_str_equal(key->text, "<<");
}

/* Merged members first, so that what the map says itself stands over them. */
static void
assemble_map(Composer *self, DroverYaml *map, GArray *pairs)
{
    g_autoptr(GHashTable) places = g_hash_table_new(g_str_hash, g_str_equal);

    for (guint i = 0; i < pairs->len; i++) {
        const Pair *pair = &g_array_index(pairs, Pair, i);

        if (is_merge_key(pair->key))
            merge(self, map, places, pair->value);
    }
    for (guint i = 0; i < pairs->len; i++) {
        const Pair *pair = &g_array_index(pairs, Pair, i);
        g_autofree char *key = NULL;
        DroverYamlMember *member, *earlier;

        if (is_merge_key(pair->key))
            continue;
        key = drover_yaml_plain_text(pair->key);
        member = drover_yaml_member_new(key, pair->key->type == DROVER_YAML_STRING, pair->key->line,
                                        pair->key->column, pair->value);
        earlier = put_member(map, places, member);
        if (earlier != NULL) {
            warn_duplicate(self, member, earlier);
            drover_yaml_member_free(earlier);
        }
    }
}

/* A key, which may be a scalar or an alias of one; NULL when the document is broken. */
static DroverYaml *
compose_key(Composer *self, yaml_event_t *event)
{
    g_autoptr(DroverYaml) key = NULL;
    const char *anchor = event_anchor(event);

    if (event->type == YAML_SCALAR_EVENT)
        key = compose_scalar(self, event);
    else if (event->type == YAML_ALIAS_EVENT)
        key = compose_alias(self, event);
    if (key != NULL && anchor != NULL)
        g_hash_table_insert(self->anchors, g_strdup(anchor), drover_yaml_ref(key));
    if (!self->broken && (key == NULL || key->text == NULL))
        broken(self, &event->start_mark, "a key has to be a plain word");
    return self->broken ? NULL : g_steal_pointer(&key);
}

/* One key and its value. Returns FALSE at the map's end, and when the document is broken. */
static gboolean
compose_pair(Composer *self, DroverYaml *map, GArray *pairs)
{
    yaml_event_t event;
    Pair pair = {NULL, NULL};

    if (!next_event(self, &event))
        return FALSE;
    if (event.type != YAML_MAPPING_END_EVENT)
        pair.key = compose_key(self, &event);
    yaml_event_delete(&event);
    if (pair.key == NULL || !next_event(self, &event)) {
        clear_pair(&pair);
        return FALSE;
    }
    pair.value = compose(self, &event);
    if (pair.value != NULL)
        weigh(self, map, pair.value, &event);
    yaml_event_delete(&event);
    if (self->broken || pair.value == NULL) {
        clear_pair(&pair);
        return FALSE;
    }
    g_array_append_val(pairs, pair);
    return TRUE;
}

static DroverYaml *
compose_map(Composer *self, const yaml_event_t *start)
{
    g_autoptr(DroverYaml) node = node_new(self, DROVER_YAML_MAP, &start->start_mark);
    g_autoptr(GArray) pairs = g_array_new(FALSE, FALSE, sizeof(Pair));

    g_array_set_clear_func(pairs, clear_pair);
    if (!enter(self, start))
        return NULL;
    while (compose_pair(self, node, pairs))
        ;
    if (self->broken)
        return NULL;
    assemble_map(self, node, pairs);
    self->depth--;
    return g_steal_pointer(&node);
}

/* ---- Any node ---- */

/* The node that begins with an event; NULL when the document is broken. */
static DroverYaml *
compose(Composer *self, yaml_event_t *event)
{
    const char *anchor = event_anchor(event);
    DroverYaml *node;

    if (event->type == YAML_ALIAS_EVENT)
        return compose_alias(self, event);
    if (anchor != NULL)
        g_hash_table_insert(self->anchors, g_strdup(anchor), NULL);
    if (event->type == YAML_SEQUENCE_START_EVENT)
        node = compose_list(self, event);
    else if (event->type == YAML_MAPPING_START_EVENT)
        node = compose_map(self, event);
    else {
        node = compose_scalar(self, event);
        refuse_signs(self, node, event);
    }
    if (anchor != NULL && node != NULL)
        g_hash_table_insert(self->anchors, g_strdup(anchor), drover_yaml_ref(node));
    return node;
}

/* ---- Documents ---- */

/* Reads past events that only begin something; the type of the first that does not. */
static yaml_event_type_t
begin_document(Composer *self, yaml_event_t *event)
{
    while (next_event(self, event)) {
        if (event->type != YAML_STREAM_START_EVENT && event->type != YAML_DOCUMENT_START_EVENT &&
            event->type != YAML_DOCUMENT_END_EVENT)
            return event->type;
        yaml_event_delete(event);
    }
    return YAML_NO_EVENT;
}

static DroverYaml *
compose_document(Composer *self)
{
    yaml_event_t event;
    DroverYaml *root;

    switch (begin_document(self, &event)) {
    case YAML_NO_EVENT:
        return NULL;
    case YAML_STREAM_END_EVENT:
        yaml_event_delete(&event);
        return NULL;
    default:
        root = compose(self, &event);
        yaml_event_delete(&event);
    }
    if (begin_document(self, &event) == YAML_NO_EVENT)
        return root;
    if (event.type != YAML_STREAM_END_EVENT)
        broken(self, &event.start_mark, "a second document begins here; there may be only one");
    yaml_event_delete(&event);
    return root;
}

static DroverYaml *
parse(Composer *self, const char *text)
{
    DroverYaml *root;

    self->anchors = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, drover_yaml_destroy);
    if (yaml_parser_initialize(&self->parser) == 0)
        g_error("out of memory");
    yaml_parser_set_encoding(&self->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&self->parser, (const unsigned char *)text, strlen(text));
    root = compose_document(self);
    yaml_parser_delete(&self->parser);
    g_hash_table_unref(self->anchors);
    if (self->broken)
        g_clear_pointer(&root, drover_yaml_unref);
    return root;
}

DroverYamlResult
drover_yaml_parse(const DroverSubstitution *text, const DroverConfigSource *source,
                  DroverYaml **root)
{
    Composer composer = {.text = text, .source = source};
    g_autoptr(DroverYaml) node = parse(&composer, drover_substitution_text(text));

    if (composer.broken)
        return DROVER_YAML_BROKEN;
    if (node == NULL || node->type == DROVER_YAML_NULL)
        return DROVER_YAML_EMPTY;
    *root = g_steal_pointer(&node);
    return DROVER_YAML_OK;
}

DroverYaml *
drover_yaml_parse_text(const char *text)
{
    Composer composer = {.text = NULL};
    DroverYaml *node = parse(&composer, text);

    if (node == NULL && !composer.broken)
        node = node_new(&composer, DROVER_YAML_NULL, &(yaml_mark_t){0});
    return node;
}
