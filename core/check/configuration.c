/* The configuration that a driver is tried with. */
#include <string.h>

#include "base/error.h"
#include "check/groups.h"

/* Of the driver under test alone: providers of others are not looked at. */
static const struct drover_driver *
find_driver(const char *name, gpointer user_data, GError **error)
{
    const DroverSubject *subject = user_data;

    if (strcmp(name, subject->driver->name) == 0)
        return subject->driver;
    g_set_error(error, DROVER_ERROR, DROVER_ERROR_NOT_FOUND, "driver %s is not looked at", name);
    return NULL;
}

static char *
errors_of(const DroverConfigReport *report)
{
    const GPtrArray *problems = drover_config_report_problems(report);
    g_autoptr(GString) text = g_string_new(NULL);

    for (guint i = 0; i < problems->len; i++) {
        const DroverConfigProblem *problem = problems->pdata[i];
        g_autofree char *line = drover_config_problem_text(problem);

        if (problem->severity == DROVER_CONFIG_ERROR)
            g_string_append_printf(text, "%s%s", text->len > 0 ? "; " : "", line);
    }
    return g_string_free(g_steal_pointer(&text), FALSE);
}

static const DroverProviderConfig *
choose_provider(const DroverSubject *subject)
{
    const DroverConfig *config = subject->configuration;

    for (guint i = 0; i < config->providers->len; i++) {
        const DroverProviderConfig *provider = config->providers->pdata[i];

        if (strcmp(provider->driver, subject->driver->name) == 0 &&
            (subject->wish->provider == NULL ||
             strcmp(provider->name, subject->wish->provider) == 0))
            return provider;
    }
    return NULL;
}

gboolean
drover_subject_configure(DroverSubject *subject)
{
    g_autoptr(DroverConfigReport) report = drover_config_report_new();
    /* This is a process of its own already. */
    const DroverConfigDrivers drivers = {find_driver, NULL, subject};
    g_autofree char *errors = NULL;

    subject->configuration =
        drover_config_load(subject->wish->config, NULL, FALSE, &drivers, report);
    errors = errors_of(report);
    if (subject->configuration == NULL && subject->wish->made_up)
        drover_subject_skip(subject, "it needs one, see --config");
    else if (subject->configuration == NULL)
        drover_subject_fail(subject, "%s", errors);
    else if ((subject->provider = choose_provider(subject)) == NULL)
        drover_subject_fail(subject, "%s has no provider %s with driver: %s", subject->wish->config,
                            subject->wish->provider != NULL ? subject->wish->provider : "",
                            subject->driver->name);
    else
        subject->secrets = drover_check_secrets_new(subject->driver, subject->provider->values);
    return subject->provider != NULL;
}
