#include "config/log-spec.h"

#include <string.h>

static void
option_free(gpointer data)
{
    DroverLogOption *option = data;

    g_free(option->name);
    g_strfreev(option->texts);
    g_free(option);
}

static void
section_free(gpointer data)
{
    DroverLogSection *section = data;

    g_free(section->name);
    g_ptr_array_unref(section->options);
    g_free(section);
}

DroverLogSpec *
drover_log_spec_new(void)
{
    DroverLogSpec *spec = g_new0(DroverLogSpec, 1);

    spec->formatters = g_ptr_array_new_with_free_func(section_free);
    spec->handlers = g_ptr_array_new_with_free_func(section_free);
    spec->loggers = g_ptr_array_new_with_free_func(section_free);
    return spec;
}

void
drover_log_spec_free(DroverLogSpec *spec)
{
    if (spec == NULL)
        return;
    g_ptr_array_unref(spec->formatters);
    g_ptr_array_unref(spec->handlers);
    g_ptr_array_unref(spec->loggers);
    g_free(spec);
}

DroverLogSection *
drover_log_section_add(GPtrArray *sections, const char *name, guint line, guint column)
{
    DroverLogSection *section = g_new0(DroverLogSection, 1);

    section->name = g_strdup(name);
    section->options = g_ptr_array_new_with_free_func(option_free);
    section->line = line;
    section->column = column;
    g_ptr_array_add(sections, section);
    return section;
}

static DroverLogOption *
find_option(const DroverLogSection *section, const char *name)
{
    for (guint i = 0; i < section->options->len; i++) {
        DroverLogOption *option = section->options->pdata[i];

        if (strcmp(option->name, name) == 0)
            return option;
    }
    return NULL;
}

void
drover_log_section_set(DroverLogSection *section, const char *name, char **texts, gboolean is_list,
                       guint line, guint column)
{
    DroverLogOption *option = find_option(section, name);

    if (option == NULL) {
        option = g_new0(DroverLogOption, 1);
        option->name = g_strdup(name);
        g_ptr_array_add(section->options, option);
    }
    g_strfreev(option->texts);
    option->texts = texts;
    option->is_list = is_list;
    option->line = line;
    option->column = column;
}

const DroverLogOption *
drover_log_section_get(const DroverLogSection *section, const char *name)
{
    return find_option(section, name);
}

const DroverLogSection *
drover_log_section_find(const GPtrArray *sections, const char *name)
{
    for (guint i = 0; i < sections->len; i++) {
        const DroverLogSection *section = sections->pdata[i];

        if (strcmp(section->name, name) == 0)
            return section;
    }
    return NULL;
}
