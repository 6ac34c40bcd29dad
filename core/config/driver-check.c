#include "config/driver-check.h"

#include "config/spot.h"

typedef struct {
    const DroverProviderConfig *provider;
    const DroverConfigSource *source;
} Check;

/* A value that is looked for within another, and what is learnt on the way to it. */
typedef struct {
    const struct drover_value *wanted;
    GString *object;    /* the entries of lists around it */
    guint line, column; /* of the innermost value around it that stands in the file */
} Search;

static void
enter_entry(Search *search, const char *list, const struct drover_value *entry, gsize index)
{
    const char *name = drover_value_get_string(entry, "name", NULL);
    g_autofree char *kind = drover_entry_kind(list);

    if (name != NULL)
        g_string_append_printf(search->object, ", %s %s", kind, name);
    else
        g_string_append_printf(search->object, ", %s %" G_GSIZE_FORMAT, kind, index + 1);
}

/* `key` is that of `value` in the map around it, or NULL. */
static gboolean
find(Search *search, const char *key, const struct drover_value *value)
{
    gsize length = search->object->len;
    guint line = search->line, column = search->column;

    if (drover_value_line(value) > 0) {
        search->line = drover_value_line(value);
        search->column = drover_value_column(value);
    }
    if (value == search->wanted)
        return TRUE;
    for (gsize i = 0; i < drover_value_length(value); i++) {
        const struct drover_value *item = drover_value_item(value, i);

        if (key != NULL && drover_value_type(item) == DROVER_VALUE_MAP &&
            drover_value_type(value) == DROVER_VALUE_LIST)
            enter_entry(search, key, item, i);
        if (find(search, drover_value_key(value, i), item))
            return TRUE;
        g_string_truncate(search->object, length);
    }
    search->line = line;
    search->column = column;
    return FALSE;
}

static void
add_mistake(void *data, enum drover_log_level level, const struct drover_value *where,
            const char *text)
{
    const Check *check = data;
    g_autofree char *provider = g_strdup_printf("provider %s", check->provider->name);
    Search search = {where, g_string_new(provider), 0, 0};

    if (!find(&search, NULL, check->provider->values)) {
        search.line = drover_value_line(check->provider->values);
        search.column = drover_value_column(check->provider->values);
    }
    drover_config_report_add(check->source,
                             level >= DROVER_ERR ? DROVER_CONFIG_ERROR : DROVER_CONFIG_WARNING,
                             search.line, search.column, search.object->str, "%s", text);
    g_string_free(search.object, TRUE);
}

void
drover_driver_check(const struct drover_driver *driver, const DroverProviderConfig *provider,
                    const DroverConfigSource *source)
{
    Check check = {provider, source};
    struct drover_report *report;

    if (driver->config_check == NULL)
        return;
    report = drover_host_report_new(add_mistake, &check);
    driver->config_check(provider->values, report);
    drover_host_report_free(report);
}
