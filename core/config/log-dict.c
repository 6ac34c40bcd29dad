/* The form of Python's logging.config.dictConfig(), as YAML or JSON. */
#include <string.h>

#include "config/file.h"
#include "config/log-spec.h"
#include "config/yaml.h"

typedef struct {
    DroverLogSpec *spec;
    const DroverConfigSource *source;
} Reader;

/* The document's parts that are no sections, and what Drover makes of them. */
static const struct {
    const char *key, *warning; /* NULL: nothing to be said */
} other_keys[] = {
    {"version", NULL},
    {"disable_existing_loggers", NULL},
    {"filters", "filters are not supported; messages are not filtered"},
    {"incremental", "is not supported; the file is taken as a whole"},
};

static void G_GNUC_PRINTF(4, 5) complain(const Reader *reader, DroverConfigSeverity severity,
                                         const DroverYaml *place, const char *format, ...)
{
    g_autofree char *message = NULL;
    va_list args;

    va_start(args, format);
    message = g_strdup_vprintf(format, args);
    va_end(args);
    drover_config_report_add(reader->source, severity, place->line, place->column, NULL, "%s",
                             message);
}

static gboolean
is_scalar(const DroverYaml *node)
{
    return node->type != DROVER_YAML_LIST && node->type != DROVER_YAML_MAP &&
           node->type != DROVER_YAML_INVALID;
}

static char **
texts_of(const DroverYaml *value)
{
    GPtrArray *texts = g_ptr_array_new();

    if (is_scalar(value))
        g_ptr_array_add(texts, drover_yaml_plain_text(value));
    for (guint i = 0; value->type == DROVER_YAML_LIST && i < value->items->len; i++)
        g_ptr_array_add(texts, drover_yaml_plain_text(value->items->pdata[i]));
    g_ptr_array_add(texts, NULL);
    return (char **)g_ptr_array_free(texts, FALSE);
}

static gboolean
is_list_of_scalars(const DroverYaml *value)
{
    for (guint i = 0; value->type == DROVER_YAML_LIST && i < value->items->len; i++)
        if (!is_scalar(value->items->pdata[i]))
            return FALSE;
    return value->type == DROVER_YAML_LIST;
}

static void
read_options(const Reader *reader, const DroverYaml *map, DroverLogSection *section)
{
    for (guint i = 0; i < map->members->len; i++) {
        const DroverYamlMember *member = map->members->pdata[i];
        const DroverYaml *value = member->value;

        if (value->type == DROVER_YAML_NULL)
            continue; /* as if it were not there */
        if (is_scalar(value) || is_list_of_scalars(value))
            drover_log_section_set(section, member->key, texts_of(value),
                                   value->type == DROVER_YAML_LIST, value->line, value->column);
        else
            complain(reader, DROVER_CONFIG_WARNING, value, "%s: is not supported; left out",
                     member->key);
    }
}

static void
read_section(const Reader *reader, const char *name, const DroverYaml *value, GPtrArray *sections)
{
    if (value->type == DROVER_YAML_MAP)
        read_options(reader, value,
                     drover_log_section_add(sections, name, value->line, value->column));
    else
        complain(reader, DROVER_CONFIG_ERROR, value, "%s: must be a map",
                 *name != '\0' ? name : "root");
}

static void
read_sections(const Reader *reader, const DroverYamlMember *member, GPtrArray *sections)
{
    const DroverYaml *map = member->value;

    if (map->type == DROVER_YAML_NULL)
        return;
    if (map->type != DROVER_YAML_MAP) {
        complain(reader, DROVER_CONFIG_ERROR, map, "%s: must be a map", member->key);
        return;
    }
    for (guint i = 0; i < map->members->len; i++) {
        const DroverYamlMember *entry = map->members->pdata[i];

        read_section(reader, entry->key, entry->value, sections);
    }
}

static void
read_other(const Reader *reader, const DroverYamlMember *member)
{
    for (guint i = 0; i < G_N_ELEMENTS(other_keys); i++) {
        if (strcmp(member->key, other_keys[i].key) != 0)
            continue;
        if (other_keys[i].warning != NULL &&
            !(member->value->type == DROVER_YAML_BOOLEAN && !member->value->boolean))
            complain(reader, DROVER_CONFIG_WARNING, member->value, "%s: %s", member->key,
                     other_keys[i].warning);
        return;
    }
    drover_config_report_add(reader->source, DROVER_CONFIG_WARNING, member->line, member->column,
                             NULL, "unknown key %s", member->key);
}

static void
read_document(const Reader *reader, const DroverYaml *root)
{
    const DroverYaml *version = drover_yaml_get(root, "version");

    if (version == NULL || version->type != DROVER_YAML_INTEGER || version->integer != 1)
        complain(reader, DROVER_CONFIG_ERROR, version != NULL ? version : root,
                 "version: must be there, and be 1");
    for (guint i = 0; i < root->members->len; i++) {
        const DroverYamlMember *member = root->members->pdata[i];

        if (strcmp(member->key, "formatters") == 0)
            read_sections(reader, member, reader->spec->formatters);
        else if (strcmp(member->key, "handlers") == 0)
            read_sections(reader, member, reader->spec->handlers);
        else if (strcmp(member->key, "loggers") == 0)
            read_sections(reader, member, reader->spec->loggers);
        else if (strcmp(member->key, "root") == 0)
            read_section(reader, "", member->value, reader->spec->loggers);
        else
            read_other(reader, member);
    }
}

DroverLogSpec *
drover_log_spec_from_dict(const char *path, const DroverConfigSource *source)
{
    g_autoptr(DroverSubstitution) text = drover_config_read(path, FALSE, source);
    g_autoptr(DroverYaml) root = NULL;
    g_autoptr(DroverLogSpec) spec = drover_log_spec_new();
    Reader reader = {spec, source};
    DroverYamlResult result =
        text != NULL ? drover_yaml_parse(text, source, &root) : DROVER_YAML_BROKEN;

    if (result == DROVER_YAML_BROKEN)
        return NULL;
    if (result == DROVER_YAML_EMPTY || root->type != DROVER_YAML_MAP) {
        drover_config_report_add(source, DROVER_CONFIG_ERROR, 0, 0, NULL,
                                 "must be a map, as logging.config.dictConfig() takes it");
        return NULL;
    }
    read_document(&reader, root);
    return g_steal_pointer(&spec);
}
