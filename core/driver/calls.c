/* Calls of a driver to its cloud's API: from the provider's thread to the core loop. */
#include "driver/runner-private.h"

typedef struct {
    DroverRunner *runner;
    char *method, *url;
    int status;
    gint64 milliseconds;
} Call;

static void
call_free(gpointer data)
{
    Call *call = data;

    drover_runner_unref(call->runner);
    g_free(call->method);
    g_free(call->url);
    g_free(call);
}

static void
on_call(gpointer data)
{
    const Call *call = data;

    drover_runner_tell_call(call->runner, call->method, call->url, call->status,
                            call->milliseconds);
}

void
drover_runner_on_called(void *data, const char *method, const char *url, int status,
                        int64_t milliseconds)
{
    Call *call = g_new0(Call, 1);

    call->runner = drover_runner_ref(data);
    call->method = g_strdup(method);
    call->url = g_strdup(url);
    call->status = status;
    call->milliseconds = milliseconds;
    drover_runner_tell_core(call->runner, on_call, call, call_free);
}
