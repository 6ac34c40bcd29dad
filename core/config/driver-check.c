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

/* ---- All of them ---- */

struct _DroverDriverChecks {
    const DroverConfigSource *source;
    GPtrArray *checks; /* of Check */
    GArray *trials;    /* of DroverConfigTrial, one for each */
};

static void
clear_trial(gpointer data)
{
    DroverConfigTrial *trial = data;

    drover_host_report_free(trial->report);
    g_free(trial->failure);
}

DroverDriverChecks *
drover_driver_checks_new(const DroverConfigSource *source)
{
    DroverDriverChecks *checks = g_new0(DroverDriverChecks, 1);

    checks->source = source;
    checks->checks = g_ptr_array_new_with_free_func(g_free);
    checks->trials = g_array_new(FALSE, FALSE, sizeof(DroverConfigTrial));
    g_array_set_clear_func(checks->trials, clear_trial);
    return checks;
}

void
drover_driver_checks_free(DroverDriverChecks *checks)
{
    g_array_unref(checks->trials);
    g_ptr_array_unref(checks->checks);
    g_free(checks);
}

void
drover_driver_checks_add(DroverDriverChecks *checks, const struct drover_driver *driver,
                         const DroverProviderConfig *provider)
{
    DroverConfigTrial trial = {.driver = driver, .config = provider->values};
    Check *check;

    if (driver->config_check == NULL)
        return;
    check = g_new0(Check, 1);
    check->provider = provider;
    check->source = checks->source;
    trial.report = drover_host_report_new(add_mistake, check);
    g_ptr_array_add(checks->checks, check);
    g_array_append_val(checks->trials, trial);
}

static void
make_call(DroverConfigTrial *trials, guint count, gpointer user_data)
{
    for (guint i = 0; i < count; i++)
        trials[i].driver->config_check(trials[i].config, trials[i].report);
}

void
drover_driver_checks_run(DroverDriverChecks *checks, const DroverConfigDrivers *drivers)
{
    gboolean own = drivers != NULL && drivers->try_out != NULL;
    DroverConfigTrial *trials = (DroverConfigTrial *)checks->trials->data;

    (own ? drivers->try_out : make_call)(trials, checks->trials->len,
                                         own ? drivers->user_data : NULL);
    for (guint i = 0; i < checks->trials->len; i++) {
        g_autofree char *text = trials[i].failure != NULL
                                    ? g_strdup_printf("the driver %s cannot check this section: %s",
                                                      trials[i].driver->name, trials[i].failure)
                                    : NULL;

        if (text != NULL)
            add_mistake(checks->checks->pdata[i], DROVER_ERR, NULL, text);
    }
}
