/* The process of a driver that is elsewhere: started, watched, ended, started again. */
#include <string.h>

#include "base/json.h"
#include "base/process.h"
#include "driver/helper.h"
#include "driver/remote-private.h"

#define FIRST_PAUSE_MILLISECONDS 500
#define LAST_PAUSE_MILLISECONDS  60000
/* After so long it is taken as healthy again. */
#define GOOD_SECONDS 60

typedef struct {
    gint64 number, operation;
    const char *order, *function;
} Order;

char *
drover_remote_kill(DroverRemote *remote)
{
    g_autofree char *end = NULL;
    int status = 0;

    g_clear_pointer(&remote->frames, drover_frames_free);
    g_queue_clear_full(&remote->orders, g_free);
    remote->state = DROVER_REMOTE_DOWN;
    if (remote->pid == 0)
        return g_strdup("the driver's process is not there");
    if (drover_helper_end(remote->pid, &status))
        end = drover_process_describe_end(status);
    remote->pid = 0;
    return g_strdup_printf("the driver's process %s", end != NULL ? end : "was killed");
}

/* ---- Starting again ---- */

static gboolean
on_restart(gpointer data)
{
    DroverRemote *remote = data;

    g_clear_pointer(&remote->restart, g_source_unref);
    drover_remote_start(remote);
    return G_SOURCE_REMOVE;
}

static GSource *
add_timer(DroverRemote *remote, guint milliseconds, GSourceFunc func)
{
    GSource *timer = g_timeout_source_new(milliseconds);

    g_source_set_callback(timer, func, remote, NULL);
    g_source_attach(timer, remote->context);
    return timer;
}

static void
plan_restart(DroverRemote *remote)
{
    if (g_get_monotonic_time() - remote->started > GOOD_SECONDS * G_TIME_SPAN_SECOND)
        remote->pause = 0;
    remote->pause = remote->pause == 0 ? FIRST_PAUSE_MILLISECONDS
                                       : MIN(remote->pause * 2, LAST_PAUSE_MILLISECONDS);
    if (remote->restart == NULL)
        remote->restart = add_timer(remote, remote->pause, on_restart);
}

/* The process is of no use any more. */
static void
lose(DroverRemote *remote, const char *reason)
{
    g_autofree char *end = drover_remote_kill(remote);
    g_autofree char *why = reason != NULL ? g_strconcat(reason, "; ", end, NULL) : g_strdup(end);
    g_autofree char *trouble = NULL;

    if (!remote->opened) {
        g_free(remote->problem);
        remote->problem = g_steal_pointer(&why);
        return;
    }
    plan_restart(remote);
    trouble = g_strdup_printf("%s; next start in %u ms", why, remote->pause);
    drover_host_provider_trouble(remote->provider, trouble);
    drover_remote_operations_lost(remote, why);
}

/* ---- Orders ---- */

void
drover_remote_order(DroverRemote *remote, const char *order, const char *function, gint64 operation,
                    json_t *frame)
{
    Order *own = g_new0(Order, 1);

    own->number = ++remote->last_order;
    own->operation = operation;
    own->order = order;
    own->function = function;
    if (remote->orders.length == 0)
        remote->since = g_get_monotonic_time();
    g_queue_push_tail(&remote->orders, own);
    json_object_set_new(frame, "do", json_string(order));
    json_object_set_new(frame, "order", json_integer(own->number));
    if (operation != 0)
        json_object_set_new(frame, "op", json_integer(operation));
    drover_frames_send(remote->frames, frame);
}

/* Answers come in the order of the orders. */
static gboolean
take_answer(DroverRemote *remote, const json_t *frame)
{
    g_autofree Order *order = g_queue_pop_head(&remote->orders);

    if (order == NULL || drover_json_integer(frame, "order", 0) != order->number)
        return FALSE;
    remote->since = g_get_monotonic_time();
    if (strcmp(order->order, "open") == 0)
        drover_remote_note_opened(remote, frame);
    else if (strcmp(order->order, "begin") == 0)
        drover_remote_operation_began(remote, order->operation, frame);
    else if (strcmp(order->order, "step") == 0)
        drover_remote_operation_stepped(remote, order->operation, frame);
    return TRUE;
}

static gboolean
take_log(DroverRemote *remote, const json_t *frame)
{
    const char *text = drover_json_string(frame, "text");

    drover_provider_log(remote->provider,
                        (enum drover_log_level)drover_json_integer(frame, "level", DROVER_WARNING),
                        "%s", text != NULL ? text : "");
    return TRUE;
}

static gboolean
take_call(DroverRemote *remote, const json_t *frame)
{
    const char *method = drover_json_string(frame, "method");
    const char *url = drover_json_string(frame, "url");

    if (method == NULL || url == NULL)
        return FALSE;
    drover_host_provider_called(remote->provider, method, url,
                                (int)drover_json_integer(frame, "status", 0),
                                drover_json_integer(frame, "ms", 0));
    return TRUE;
}

/* The runner looks at what it says. */
static gboolean
take_cleaned(DroverRemote *remote, const json_t *frame)
{
    gint64 count = drover_json_integer(frame, "count", -1);

    if (count < 0 || count > G_MAXUINT32)
        return FALSE;
    drover_provider_cleaned(remote->provider, drover_json_string(frame, "what"), (uint32_t)count);
    return TRUE;
}

static const struct {
    const char *name;
    gboolean (*take)(DroverRemote *remote, const json_t *frame);
} frames[] = {
    {"did", take_answer},  {"say", drover_remote_operation_said},   {"log", take_log},
    {"called", take_call}, {"machine", drover_remote_note_machine}, {"cleaned", take_cleaned},
};

static gboolean
on_frame(const json_t *frame, gpointer data)
{
    const char *name = drover_json_string(frame, "is");

    for (guint i = 0; name != NULL && i < G_N_ELEMENTS(frames); i++)
        if (strcmp(frames[i].name, name) == 0)
            return frames[i].take(data, frame);
    return FALSE;
}

static void
on_ended(gpointer data)
{
    lose(data, NULL);
}

/* ---- Watching ---- */

/* Why the process is to be killed; NULL: it is not. */
static char *
overdue(const DroverRemote *remote)
{
    const Order *oldest = g_queue_peek_head((GQueue *)&remote->orders);

    if (oldest == NULL ||
        g_get_monotonic_time() - remote->since < remote->limit * G_TIME_SPAN_SECOND)
        return NULL;
    return g_strdup_printf("the driver has not come back from %s() for more than %u s",
                           oldest->function, remote->limit);
}

static gboolean
on_watch(gpointer data)
{
    DroverRemote *remote = data;
    g_autofree char *why = overdue(remote);

    if (why != NULL)
        lose(remote, why);
    return G_SOURCE_CONTINUE;
}

gboolean
drover_remote_settle(DroverRemote *remote)
{
    while (remote->frames != NULL && remote->orders.length > 0) {
        g_autofree char *why = overdue(remote);

        if (why == NULL && drover_frames_pump(remote->frames, 100))
            continue;
        lose(remote, why);
        return FALSE;
    }
    return remote->frames != NULL;
}

/* ---- Starting ---- */

static gboolean
start_process(DroverRemote *remote, GError **error)
{
    static const DroverFramesHooks hooks = {.received = on_frame, .ended = on_ended};
    int fd;

    if (!drover_helper_start(drover_provider_name(remote->provider), &remote->pid, &fd, error))
        return FALSE;
    remote->frames =
        drover_frames_new(fd, DROVER_TRANSPORT_MOST_SAID, FALSE, remote->context, &hooks, remote);
    return TRUE;
}

gboolean
drover_remote_start(DroverRemote *remote)
{
    g_autoptr(GError) error = NULL;

    remote->started = g_get_monotonic_time();
    if (!start_process(remote, &error)) {
        remote->pid = 0;
        lose(remote, error->message);
        return FALSE;
    }
    if (remote->watch == NULL)
        remote->watch = add_timer(remote, 1000, on_watch);
    remote->state = DROVER_REMOTE_OPENING;
    drover_remote_order(remote, "open", "provider_open", 0,
                        json_pack("{s:i, s:s, s:s, s:s, s:o}", "version", DROVER_TRANSPORT_VERSION,
                                  "file", remote->path, "driver", remote->driver->name, "provider",
                                  drover_provider_name(remote->provider), "config",
                                  drover_transport_pack(drover_provider_config(remote->provider))));
    return TRUE;
}
