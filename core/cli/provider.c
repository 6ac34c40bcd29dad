#include "cli/provider.h"

#include "base/error.h"

#define OPEN_SECONDS   60
#define CANCEL_SECONDS 10

struct _DroverCliProvider {
    DroverStore *store;
    DroverRunner *runner;
};

/* What is waited for. It outlives the wait when the driver does not come back in time. */
typedef struct {
    gboolean done, abandoned;
    GError *error;
    GPtrArray *items;
} Wait;

static void
wait_free(Wait *wait)
{
    g_clear_error(&wait->error);
    g_clear_pointer(&wait->items, g_ptr_array_unref);
    g_free(wait);
}

static void
end_wait(Wait *wait)
{
    wait->done = TRUE;
    if (wait->abandoned)
        wait_free(wait);
}

static gboolean
wait_for(const DroverCliProvider *provider, const Wait *wait, guint seconds)
{
    return drover_store_wait(provider->store, &wait->done,
                             g_get_monotonic_time() + seconds * G_TIME_SPAN_SECOND);
}

/* Ends the wait: TRUE when what was waited for succeeded. */
static gboolean
take_result(Wait *wait, GPtrArray **items, GError **error)
{
    gboolean ok = wait->done && wait->error == NULL;

    if (wait->error != NULL)
        g_propagate_error(error, g_steal_pointer(&wait->error));
    else if (!ok)
        g_set_error(error, DROVER_ERROR, DROVER_ERROR_TIMEOUT, "the driver does not come back");
    if (ok && items != NULL)
        *items = g_steal_pointer(&wait->items);
    if (wait->done)
        wait_free(wait);
    else
        wait->abandoned = TRUE;
    return ok;
}

/* ---- Opening and closing ---- */

static void
on_opened(DroverRunner *runner, const GPtrArray *machines, const GError *error, gpointer user_data)
{
    Wait *wait = user_data;

    if (error != NULL)
        wait->error = g_error_copy(error);
    end_wait(wait);
}

static void
on_closed(gpointer user_data)
{
    end_wait(user_data);
}

void
drover_cli_provider_close(DroverCliProvider *provider)
{
    Wait *wait = g_new0(Wait, 1);

    drover_runner_close(provider->runner, TRUE, on_closed, wait);
    wait_for(provider, wait, CANCEL_SECONDS);
    take_result(wait, NULL, NULL);
    g_free(provider);
}

DroverCliProvider *
drover_cli_provider_open(DroverCli *cli, const DroverProviderConfig *config, GError **error)
{
    const struct drover_driver *driver =
        drover_driver_host_find(drover_cli_drivers(cli), config->driver, error);
    DroverCliProvider *provider;
    Wait *wait;

    if (driver == NULL)
        return NULL;
    provider = g_new0(DroverCliProvider, 1);
    provider->store = cli->store;
    provider->runner = drover_runner_new(driver, config->name, config->values);
    wait = g_new0(Wait, 1);
    drover_runner_open(provider->runner, on_opened, wait);
    wait_for(provider, wait, OPEN_SECONDS);
    if (!take_result(wait, NULL, error))
        g_clear_pointer(&provider, drover_cli_provider_close);
    return provider;
}

/* ---- Tasks ---- */

gboolean
drover_cli_provider_can(const DroverCliProvider *provider, enum drover_capability capability)
{
    return drover_runner_can(provider->runner, capability);
}

static GError *
error_of(const DroverTaskResult *result)
{
    DroverErrorCode code = DROVER_ERROR_FAILED;

    if (result->failure == DROVER_FAILURE_NOT_FOUND)
        code = DROVER_ERROR_NOT_FOUND;
    else if (result->failure == DROVER_FAILURE_TIMEOUT)
        code = DROVER_ERROR_TIMEOUT;
    return g_error_new_literal(DROVER_ERROR, code, result->message);
}

static void
on_done(const DroverTaskResult *result, gpointer user_data)
{
    Wait *wait = user_data;

    if (!result->ok)
        wait->error = error_of(result);
    wait->items = g_ptr_array_new_with_free_func((GDestroyNotify)json_decref);
    for (guint i = 0; result->ok && result->items != NULL && i < result->items->len; i++)
        g_ptr_array_add(wait->items, json_incref(result->items->pdata[i]));
    end_wait(wait);
}

gboolean
drover_cli_provider_run(DroverCliProvider *provider, DroverTaskKind kind,
                        const DroverTaskInput *input, guint seconds, GPtrArray **items,
                        GError **error)
{
    Wait *wait = g_new0(Wait, 1);
    DroverTask *task = drover_runner_submit(provider->runner, kind, input, on_done, NULL, wait);

    if (wait_for(provider, wait, seconds))
        return take_result(wait, items, error);
    drover_task_cancel(task);
    wait_for(provider, wait, CANCEL_SECONDS);
    take_result(wait, NULL, NULL);
    g_set_error(error, DROVER_ERROR, DROVER_ERROR_TIMEOUT, "not done within %u s", seconds);
    return FALSE;
}
