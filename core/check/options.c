/* Whether the table of a driver's options says what can be true. */
#include <string.h>

#include "check/groups.h"
#include "config/check.h"

/* What the host takes care of itself. */
static const char *const hosts_own[] = {
    "name",    "driver",       "priority",         "max-concurrency",     "pools",
    "pools[]", "pools[].name", "pools[].priority", "pools[].max-servers", "pools[].node-attributes",
};

typedef struct {
    const struct drover_option *options;
    GString *mistakes;
} Look;

static void complain(Look *look, const struct drover_option *option, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

static void
complain(Look *look, const struct drover_option *option, const char *format, ...)
{
    g_autofree char *text = NULL;
    va_list arguments;

    va_start(arguments, format);
    text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_string_append_printf(look->mistakes, "%s%s: %s", look->mistakes->len > 0 ? "; " : "",
                           option->path, text);
}

/* The declared option of a path of that length; NULL when none was declared before `end`. */
static const struct drover_option *
find(const Look *look, const struct drover_option *end, const char *path, gsize length)
{
    for (const struct drover_option *other = look->options; other < end; other++)
        if (strlen(other->path) == length && strncmp(other->path, path, length) == 0)
            return other;
    return NULL;
}

/* A list or map is declared before its members; that of the pools is the host's. */
static void
look_at_parents(Look *look, const struct drover_option *option)
{
    const char *dot = option->path;

    while ((dot = strchr(dot, '.')) != NULL) {
        gsize length = (gsize)(dot - option->path);
        const struct drover_option *parent = find(look, option, option->path, length);

        if (parent == NULL && strncmp(option->path, "pools[]", length) != 0)
            complain(look, option, "%.*s is not declared before it", (int)length, option->path);
        else if (parent != NULL && parent->type != DROVER_OPTION_MAP &&
                 parent->type != DROVER_OPTION_LIST)
            complain(look, option, "%s is neither a map nor a list", parent->path);
        dot++;
    }
}

static void
look_at_path(Look *look, const struct drover_option *option)
{
    gboolean is_list = g_str_has_suffix(option->path, "[]");

    for (guint i = 0; i < G_N_ELEMENTS(hosts_own); i++)
        if (strcmp(option->path, hosts_own[i]) == 0)
            complain(look, option, "this option is the host's");
    if (find(look, option, option->path, strlen(option->path)) != NULL)
        complain(look, option, "declared twice");
    if (option->path[0] == '\0' || strstr(option->path, "..") != NULL ||
        g_str_has_suffix(option->path, "."))
        complain(look, option, "a part of the path is empty");
    if (is_list != (option->type == DROVER_OPTION_LIST))
        complain(look, option, "the path of a list, and of nothing else, ends in \"[]\"");
    look_at_parents(look, option);
}

static void
look_at_words(Look *look, const struct drover_option *option)
{
    if (option->help == NULL || option->help[0] == '\0')
        complain(look, option, "it has no help");
    else if (strchr(option->help, '\n') != NULL || !g_utf8_validate(option->help, -1, NULL))
        complain(look, option, "its help is more than one line, or not UTF-8");
    if ((option->flags & DROVER_OPTION_SECRET) != 0 && option->fallback != NULL)
        complain(look, option, "a secret has no default");
    if ((option->flags & DROVER_OPTION_REQUIRED) != 0 && option->fallback != NULL)
        complain(look, option, "what is required needs no default");
    if (option->unique != NULL && option->type != DROVER_OPTION_LIST)
        complain(look, option, "only entries of lists can be unique");
    if ((option->flags & DROVER_OPTION_SPLIT) != 0 && option->type != DROVER_OPTION_STRINGS)
        complain(look, option, "only strings can be split");
    if (option->refers_to != NULL && option->type != DROVER_OPTION_STRING &&
        option->type != DROVER_OPTION_STRINGS)
        complain(look, option, "only strings can refer to something");
}

/* ---- Defaults: what the option itself would say of them in a configuration ---- */

static void
look_at_default(Look *look, const struct drover_option *option, const char *text)
{
    const struct drover_option table[] = {
        {.path = "value",
         .type = option->type,
         .flags = option->flags & DROVER_OPTION_SPLIT,
         .allowed = option->allowed},
        {.path = NULL},
    };
    g_autofree char *section = g_strconcat("value: ", text, NULL);
    g_autoptr(DroverYaml) yaml = drover_yaml_parse_text(section);
    g_autoptr(DroverSchema) schema = drover_schema_new();
    g_autoptr(DroverConfigReport) report = drover_config_report_new();
    const DroverConfigSource source = {.report = report, .file = "", .strict = TRUE};
    const GPtrArray *problems = drover_config_report_problems(report);
    g_auto(DroverCheck) check = {.source = &source};

    if (yaml == NULL || !drover_schema_add(schema, table, sizeof(*table), "", NULL)) {
        complain(look, option, "its default (%s) is not YAML", text);
        return;
    }
    /* Members have defaults of their own. */
    if (option->type == DROVER_OPTION_LIST || option->type == DROVER_OPTION_MAP)
        return;
    drover_value_free(drover_check_map(&check, schema, yaml));
    for (guint i = 0; i < problems->len; i++)
        complain(look, option, "its default (%s): %s", text,
                 ((DroverConfigProblem *)problems->pdata[i])->message);
}

/* "connection-type=winrm: 5986": the sibling is an option too. */
static void
look_at_condition(Look *look, const struct drover_option *option)
{
    const char *equals = strchr(option->fallback_when, '=');
    const char *colon = equals != NULL ? strchr(equals, ':') : NULL;
    const char *dot = strrchr(option->path, '.');
    g_autofree char *sibling = NULL;
    gboolean known = FALSE;

    if (colon == NULL) {
        complain(look, option, "its other default is not \"sibling=value: default\"");
        return;
    }
    sibling =
        g_strdup_printf("%.*s%.*s", dot != NULL ? (int)(dot - option->path + 1) : 0, option->path,
                        (int)(equals - option->fallback_when), option->fallback_when);
    for (const struct drover_option *other = look->options; other->path != NULL; other++)
        known |= strcmp(other->path, sibling) == 0;
    if (!known)
        complain(look, option, "its other default speaks of %s, which is no option", sibling);
    look_at_default(look, option, colon + 1);
}

char *
drover_check_options(const struct drover_driver *driver)
{
    Look look = {driver->options, g_string_new(NULL)};

    for (const struct drover_option *option = driver->options; option->path != NULL; option++) {
        look_at_path(&look, option);
        look_at_words(&look, option);
        if (option->fallback != NULL)
            look_at_default(&look, option, option->fallback);
        if (option->fallback_when != NULL)
            look_at_condition(&look, option);
    }
    return g_string_free(look.mistakes, look.mistakes->len == 0);
}
