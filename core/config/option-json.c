#include "config/option-json.h"

#include <glib.h>

static const char *const type_names[] = {
    [DROVER_OPTION_STRING] = "string",   [DROVER_OPTION_INTEGER] = "integer",
    [DROVER_OPTION_NUMBER] = "number",   [DROVER_OPTION_BOOLEAN] = "boolean",
    [DROVER_OPTION_STRINGS] = "strings", [DROVER_OPTION_MAP] = "map",
    [DROVER_OPTION_LIST] = "list",       [DROVER_OPTION_ANY] = "any",
};

static gboolean
has(const struct drover_option *option, uint32_t flag)
{
    return (option->flags & flag) != 0;
}

json_t *
drover_option_to_json(const struct drover_option *option)
{
    const char *type = option->type > 0 && option->type < G_N_ELEMENTS(type_names)
                           ? type_names[option->type]
                           : "unknown";

    return json_pack("{s:s, s:s, s:b, s:b, s:b, s:s?, s:s?, s:s?, s:s?, s:s?}", "path",
                     option->path, "type", type, "required", has(option, DROVER_OPTION_REQUIRED),
                     "secret", has(option, DROVER_OPTION_SECRET), "deprecated",
                     has(option, DROVER_OPTION_DEPRECATED), "default", option->fallback,
                     "default_when", option->fallback_when, "allowed", option->allowed, "old_name",
                     option->old_name, "help", option->help);
}
