/* Backing: calls of a driver to the core loop, events to the provider's thread. */
#include "driver/runner-private.h"

/* ---- What the driver wants ---- */

typedef struct {
    DroverRunner *runner;
    struct drover_backing_call call; /* its strings are owned */
} Call;

static void
call_free(gpointer data)
{
    Call *call = data;

    drover_runner_unref(call->runner);
    g_free((char *)call->call.label);
    g_free((char *)call->call.user_data);
    g_free((char *)call->call.backing_node);
    g_free((char *)call->call.node_id);
    g_free(call);
}

static void
on_call(gpointer data)
{
    const Call *call = data;

    drover_runner_tell_backing(call->runner, &call->call);
}

void
drover_runner_on_backing(void *data, const struct drover_backing_call *wanted)
{
    Call *call = g_new0(Call, 1);

    call->runner = drover_runner_ref(data);
    call->call = *wanted;
    call->call.label = g_strdup(wanted->label);
    call->call.user_data = g_strdup(wanted->user_data);
    call->call.backing_node = g_strdup(wanted->backing_node);
    call->call.node_id = g_strdup(wanted->node_id);
    drover_runner_tell_core(call->runner, on_call, call, call_free);
}

/* ---- What came of it ---- */

typedef struct {
    DroverRunner *runner;
    enum drover_backing_event event;
    struct drover_value *facts;
} Event;

static void
event_free(gpointer data)
{
    Event *event = data;

    drover_value_free(event->facts);
    drover_runner_unref(event->runner);
    g_free(event);
}

static void
on_event(gpointer data)
{
    const Event *event = data;
    const struct drover_driver *driver = drover_runner_driver(event->runner);

    if (!drover_runner_is_open(event->runner) || driver->backing_event == NULL)
        return;
    drover_runner_enter(event->runner, "backing_event");
    driver->backing_event(drover_runner_self(event->runner), event->event, event->facts);
    drover_runner_leave(event->runner);
}

void
drover_runner_backing_event(DroverRunner *runner, enum drover_backing_event event,
                            struct drover_value *facts)
{
    Event *posted = g_new0(Event, 1);

    posted->runner = drover_runner_ref(runner);
    posted->event = event;
    posted->facts = facts;
    drover_runner_tell_thread(runner, on_event, posted, event_free);
}
