#include "zk/handle.h"

#include <string.h>

#include "base/log.h"

/* The library does not look at ports when it compares addresses, so these are nobody's. */
#define NOWHERE        "127.255.255.253:1"
#define NOWHERE_ELSE   "127.255.255.254:1"
#define ANSWER_SECONDS 2

/* The library's threads see only this. Each event holds a reference. */
struct _DroverZkHandle {
    zhandle_t *zh; /* NULL once it is closed */
    DroverMailbox *mailbox;
    DroverZkHandleEvent event;
    gpointer user_data;
};

typedef struct {
    DroverMessage message; /* its owner is the handle */
    int type, state;
    char *path;
} EventMessage;

/* ---- Events ---- */

static void
deliver_event(DroverMessage *message)
{
    EventMessage *event = (EventMessage *)message;
    DroverZkHandle *handle = message->owner;

    if (handle->zh != NULL)
        handle->event(event->type, event->state, event->path, handle->user_data);
    g_atomic_rc_box_release(handle);
    g_free(event->path);
    g_free(event);
}

/* On a thread of the library. */
static void
on_watch(zhandle_t *zh, int type, int state, const char *path, void *context)
{
    DroverZkHandle *handle = context;
    EventMessage *event = g_new0(EventMessage, 1);

    event->message.deliver = deliver_event;
    event->message.owner = g_atomic_rc_box_acquire(handle);
    event->type = type;
    event->state = state;
    event->path = g_strdup(path);
    drover_mailbox_post(handle->mailbox, &event->message);
}

/* ---- Life ---- */

static void
on_library_log(const char *text)
{
    drover_log_for(DROVER_LOG_DEBUG, "zk.client", "%s", text);
}

/* The library copies the identity that it is given. */
static zhandle_t *
init_library(DroverZkHandle *handle, const DroverZkHandleOptions *options)
{
    const DroverSessionIdentity *identity = options->identity;
    clientid_t client = {.client_id = identity->id};
    const clientid_t *resume = identity->id != 0 ? &client : NULL;
    zhandle_t *zh;

    memcpy(client.passwd, identity->password, DROVER_SESSION_PASSWORD_SIZE);
    zh = zookeeper_init2(options->servers, on_watch, options->timeout, resume, handle, 0,
                         on_library_log);
    if (zh == NULL)
        return NULL;
    /* Names are looked up when it connects; by default, every time it sends or receives. */
    zoo_set_servers_resolution_delay(zh, -1);
    if (options->digest != NULL)
        zoo_add_auth(zh, "digest", options->digest, (int)strlen(options->digest), NULL, NULL);
    return zh;
}

DroverZkHandle *
drover_zk_handle_new(const DroverZkHandleOptions *options, DroverZkHandleEvent event,
                     gpointer user_data)
{
    DroverZkHandle *handle = g_atomic_rc_box_new0(DroverZkHandle);

    handle->mailbox = options->mailbox;
    handle->event = event;
    handle->user_data = user_data;
    handle->zh = init_library(handle, options);
    if (handle->zh == NULL)
        g_clear_pointer(&handle, g_atomic_rc_box_release);
    return handle;
}

void
drover_zk_handle_close(DroverZkHandle *handle)
{
    zookeeper_close(handle->zh);
    handle->zh = NULL;
    drover_mailbox_give_up_expected(handle->mailbox);
    g_atomic_rc_box_release(handle);
}

static void
forget_message(DroverMessage *message)
{
    g_free(message);
}

static void
on_woken(int rc, const struct Stat *stat, const void *context)
{
    DroverMessage *message = (DroverMessage *)context;
    DroverZkHandle *handle = message->owner;

    drover_mailbox_post(handle->mailbox, message);
}

/* The library's thread sleeps on, even when its connection is closed under it. */
static void
wake_library(DroverZkHandle *handle)
{
    DroverMessage *message = g_new0(DroverMessage, 1);

    message->deliver = forget_message;
    message->owner = handle;
    drover_mailbox_expect(handle->mailbox, message, ZCLOSING);
    if (zoo_aexists(handle->zh, "/", 0, on_woken, message) != ZOK)
        drover_mailbox_post(handle->mailbox, message);
}

/* The library ends the session of a handle that is connected, so the handle is sent to where nobody
 * listens first, and there it gives all answers. */
void
drover_zk_handle_leave(DroverZkHandle *handle)
{
    gint64 deadline = g_get_monotonic_time() + ANSWER_SECONDS * G_TIME_SPAN_SECOND;

    zoo_set_servers(handle->zh, NOWHERE);
    wake_library(handle);
    drover_mailbox_await_expected(handle->mailbox, deadline);
    /* In case that it was about to connect to a former address. */
    zoo_set_servers(handle->zh, NOWHERE_ELSE);
    drover_zk_handle_close(handle);
}

zhandle_t *
drover_zk_handle_library(const DroverZkHandle *handle)
{
    return handle->zh;
}
