#include "zk/session.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "zk/relay.h"
#include "zk/session-private.h"
#include "zk/state-file.h"

#define LOGGER                "zk.ZooKeeper"
#define RETRY_WARNING_SECONDS 10
#define REOPEN_SECONDS        2
#define CLOSE_SECONDS         2

/* One connected zhandle; the library's threads see only this. */
typedef struct {
    DroverSession *session;
    zhandle_t *zh;
    guint number;
} Handle;

typedef struct {
    guint id;   /* 0: removed while somebody iterates */
    char *root; /* NULL: a listener */
    DroverSessionListener listener;
    DroverSessionObserver observer;
    gpointer user_data;
} Subscriber;

typedef struct {
    DroverMessage message;
    guint handle; /* its number */
    int type, state;
    char *path;
} EventMessage;

struct _DroverSession {
    char *servers; /* as the client library wants them, without chroot */
    char *chroot;  /* "" for none */
    char *digest;
    char *tls_cert, *tls_key, *tls_ca;
    gboolean tls_any_hostname;
    int timeout; /* milliseconds, as asked for */
    DroverZkRelay *relay;

    char *state_dir;
    int state_lock;
    DroverSessionIdentity identity;
    gboolean resumed;

    Handle *handle;
    guint handles;      /* how many there were */
    gboolean connected; /* the library says so; announced once the chroot is there */
    DroverSessionState state;
    guint retry_timer, reopen_timer;

    GPtrArray *subscribers;
    guint next_id;
    guint iterating;

    GMutex queue_lock;
    GCond queue_filled;
    GQueue queue;
    guint under_way; /* operations without an answer */
    GSource *source;
    DroverSessionCounters counters;
};

/* ---- The queue from the library's threads ---- */

void
drover_session_post(DroverSession *session, DroverMessage *message)
{
    gboolean wake;

    message->link.data = message;
    message->session = session;
    g_mutex_lock(&session->queue_lock);
    wake = g_queue_is_empty(&session->queue);
    g_queue_push_tail_link(&session->queue, &message->link);
    if (wake) {
        g_source_set_ready_time(session->source, 0);
        g_cond_signal(&session->queue_filled);
    }
    g_mutex_unlock(&session->queue_lock);
}

static gboolean
deliver_batch(DroverSession *session)
{
    GQueue batch;
    GList *link;

    g_mutex_lock(&session->queue_lock);
    batch = session->queue;
    g_queue_init(&session->queue);
    g_source_set_ready_time(session->source, -1);
    g_mutex_unlock(&session->queue_lock);

    if (g_queue_is_empty(&batch))
        return FALSE;
    session->counters.batches++;
    while ((link = g_queue_pop_head_link(&batch)) != NULL) {
        DroverMessage *message = link->data;
        message->deliver(message);
    }
    return TRUE;
}

/* FALSE when nothing came until then. */
static gboolean
wait_for_queue(DroverSession *session, gint64 deadline)
{
    gboolean filled = TRUE;

    g_mutex_lock(&session->queue_lock);
    while (filled && g_queue_is_empty(&session->queue))
        filled = g_cond_wait_until(&session->queue_filled, &session->queue_lock, deadline);
    g_mutex_unlock(&session->queue_lock);
    return filled;
}

static gboolean
on_queue_ready(gpointer user_data)
{
    deliver_batch(user_data);
    return G_SOURCE_CONTINUE;
}

static gboolean
run_callback(GSource *source, GSourceFunc callback, gpointer user_data)
{
    return callback(user_data);
}

/* Ready when its time is set, by any thread. */
static GSourceFuncs queue_source = {.dispatch = run_callback};

/* ---- Subscribers ---- */

static void
subscriber_free(Subscriber *subscriber)
{
    g_free(subscriber->root);
    g_free(subscriber);
}

static guint
subscribe(DroverSession *session, Subscriber *subscriber)
{
    subscriber->id = ++session->next_id;
    g_ptr_array_add(session->subscribers, subscriber);
    return subscriber->id;
}

guint
drover_session_add_listener(DroverSession *session, DroverSessionListener listener,
                            gpointer user_data)
{
    Subscriber *subscriber = g_new0(Subscriber, 1);

    subscriber->listener = listener;
    subscriber->user_data = user_data;
    return subscribe(session, subscriber);
}

guint
drover_session_add_observer(DroverSession *session, const char *root,
                            const DroverSessionObserver *observer, gpointer user_data)
{
    Subscriber *subscriber = g_new0(Subscriber, 1);

    subscriber->root = g_strdup(root);
    subscriber->observer = *observer;
    subscriber->user_data = user_data;
    return subscribe(session, subscriber);
}

static void
sweep_removed(DroverSession *session)
{
    for (guint i = session->subscribers->len; i > 0; i--) {
        Subscriber *subscriber = g_ptr_array_index(session->subscribers, i - 1);
        if (subscriber->id == 0)
            g_ptr_array_remove_index(session->subscribers, i - 1);
    }
}

void
drover_session_remove(DroverSession *session, guint id)
{
    for (guint i = 0; id != 0 && i < session->subscribers->len; i++) {
        Subscriber *subscriber = g_ptr_array_index(session->subscribers, i);
        if (subscriber->id == id)
            subscriber->id = 0;
    }
    if (session->iterating == 0)
        sweep_removed(session);
}

static gboolean
is_below(const char *path, const char *root)
{
    gsize length = strlen(root);

    return strncmp(path, root, length) == 0 && (path[length] == '\0' || path[length] == '/');
}

/* Calls `visit` for each subscriber that is there now; they may come and go meanwhile. */
#define for_each_subscriber(session, subscriber, body)                                             \
    do {                                                                                           \
        guint count_ = (session)->subscribers->len;                                                \
        (session)->iterating++;                                                                    \
        for (guint i_ = 0; i_ < count_; i_++) {                                                    \
            Subscriber *subscriber = g_ptr_array_index((session)->subscribers, i_);                \
            if (subscriber->id != 0)                                                               \
                body;                                                                              \
        }                                                                                          \
        if (--(session)->iterating == 0)                                                           \
            sweep_removed(session);                                                                \
    } while (0)

static void
notify_state(DroverSession *session, DroverSessionState state)
{
    session->state = state;
    for_each_subscriber(session, subscriber, {
        if (subscriber->listener != NULL)
            subscriber->listener(session, state, subscriber->user_data);
    });
}

static void
notify_event(DroverSession *session, const char *path, int type)
{
    session->counters.events++;
    for_each_subscriber(session, subscriber, {
        if (subscriber->root != NULL && subscriber->observer.event != NULL &&
            is_below(path, subscriber->root))
            subscriber->observer.event(path, type, subscriber->user_data);
    });
}

void
drover_session_notify_write(DroverSession *session, const char *path, GBytes *data, gint32 version,
                            gint64 mzxid)
{
    for_each_subscriber(session, subscriber, {
        if (subscriber->root != NULL && subscriber->observer.wrote != NULL &&
            is_below(path, subscriber->root))
            subscriber->observer.wrote(path, data, version, mzxid, subscriber->user_data);
    });
}

/* ---- Paths ---- */

char *
drover_session_full_path(const DroverSession *session, const char *path)
{
    if (session->chroot[0] != '\0' && strcmp(path, "/") == 0)
        return g_strdup(session->chroot);
    return g_strconcat(session->chroot, path, NULL);
}

const char *
drover_session_strip_chroot(const DroverSession *session, const char *path)
{
    return g_str_has_prefix(path, session->chroot) ? path + strlen(session->chroot) : path;
}

/* ---- States of the connection ---- */

static void open_handle(DroverSession *session);

static gboolean
warn_unconnected(gpointer user_data)
{
    drover_log_for(DROVER_LOG_WARNING, LOGGER, "Retrying zookeeper connection");
    return G_SOURCE_CONTINUE;
}

static void
expect_connection(DroverSession *session)
{
    if (session->retry_timer == 0)
        session->retry_timer =
            g_timeout_add_seconds(RETRY_WARNING_SECONDS, warn_unconnected, session);
}

static void
forget_handle(DroverSession *session)
{
    Handle *handle = g_steal_pointer(&session->handle);

    session->connected = FALSE;
    if (handle == NULL)
        return;
    /* Answers every operation under way, from this thread. */
    zookeeper_close(handle->zh);
    g_free(handle);
}

static void
new_identity(DroverSession *session)
{
    g_autofree char *uuid = g_uuid_string_random();

    memset(&session->identity, 0, sizeof(session->identity));
    for (guint from = 0, to = 0; to < 16; from++)
        if (uuid[from] != '-')
            session->identity.holder[to++] = uuid[from];
    session->resumed = FALSE;
}

static void
on_expired(DroverSession *session)
{
    drover_log_for(DROVER_LOG_WARNING, LOGGER, "ZooKeeper session lost; beginning a new one");
    session->connected = FALSE;
    new_identity(session);
    notify_state(session, DROVER_SESSION_LOST);
    forget_handle(session);
    expect_connection(session);
    session->state = DROVER_SESSION_CONNECTING;
    open_handle(session);
}

static void
remember_identity(DroverSession *session, const clientid_t *client)
{
    g_autoptr(GError) error = NULL;

    session->identity.id = client->client_id;
    memcpy(session->identity.password, client->passwd, DROVER_SESSION_PASSWORD_SIZE);
    if (session->state_dir != NULL &&
        !drover_state_save(session->state_dir, session->chroot, &session->identity, &error))
        drover_log_for(DROVER_LOG_ERROR, LOGGER, "cannot save the session: %s", error->message);
}

static void
announce_connected(const DroverReadReply *reply, gpointer user_data)
{
    DroverSession *session = user_data;

    if (!session->connected || session->state == DROVER_SESSION_CONNECTED)
        return;
    if (reply->rc != ZOK) {
        /* A lost connection answers by itself; anything else has to be mended by people. */
        if (!drover_rc_is_unknown(reply->rc))
            drover_log_for(DROVER_LOG_ERROR, LOGGER, "cannot create the chroot %s: %s",
                           session->chroot, zerror(reply->rc));
        return;
    }
    g_clear_handle_id(&session->retry_timer, g_source_remove);
    drover_log_for(DROVER_LOG_INFO, LOGGER,
                   "ZooKeeper connection established, session 0x%" G_GINT64_MODIFIER "x%s, "
                   "time-out %d ms",
                   (guint64)session->identity.id, session->resumed ? " (taken up again)" : "",
                   drover_session_timeout(session));
    notify_state(session, DROVER_SESSION_CONNECTED);
}

static void
on_connected(DroverSession *session)
{
    const clientid_t *client = zoo_client_id(session->handle->zh);

    session->counters.connections++;
    session->connected = TRUE;
    if (client->client_id != session->identity.id) {
        session->counters.sessions++;
        if (session->identity.id != 0)
            new_identity(session);
    } else if (session->state == DROVER_SESSION_CONNECTING) {
        session->resumed = TRUE;
    }
    remember_identity(session, client);
    drover_session_ensure(session, "/", announce_connected, session);
}

static void
on_disconnected(DroverSession *session)
{
    session->connected = FALSE;
    expect_connection(session);
    if (session->state == DROVER_SESSION_CONNECTED) {
        drover_log_for(DROVER_LOG_WARNING, LOGGER, "ZooKeeper connection suspended");
        notify_state(session, DROVER_SESSION_SUSPENDED);
    }
}

static void
deliver_event(DroverMessage *message)
{
    EventMessage *event = (EventMessage *)message;
    DroverSession *session = message->session;

    /* Events of a session that is over say nothing about the present one. */
    if (session->handle != NULL && event->handle == session->handle->number) {
        if (event->type != ZOO_SESSION_EVENT)
            notify_event(session, drover_session_strip_chroot(session, event->path), event->type);
        else if (event->state == ZOO_CONNECTED_STATE)
            on_connected(session);
        else if (event->state == ZOO_EXPIRED_SESSION_STATE)
            on_expired(session);
        else if (event->state == ZOO_AUTH_FAILED_STATE)
            drover_log_for(DROVER_LOG_ERROR, LOGGER,
                           "ZooKeeper refuses the digest identity of the configuration");
        else
            on_disconnected(session);
    }
    g_free(event->path);
    g_free(event);
}

/* On a thread of the library. */
static void
on_watch(zhandle_t *zh, int type, int state, const char *path, void *context)
{
    Handle *handle = context;
    EventMessage *event = g_new0(EventMessage, 1);

    event->message.deliver = deliver_event;
    event->handle = handle->number;
    event->type = type;
    event->state = state;
    event->path = g_strdup(path);
    drover_session_post(handle->session, &event->message);
}

static void
on_library_log(const char *text)
{
    drover_log_for(DROVER_LOG_DEBUG, "zk.client", "%s", text);
}

static gboolean
reopen(gpointer user_data)
{
    DroverSession *session = user_data;

    session->reopen_timer = 0;
    open_handle(session);
    return G_SOURCE_REMOVE;
}

/* The library copies the identity that it is given. */
static zhandle_t *
init_handle(DroverSession *session, Handle *handle)
{
    clientid_t client = {.client_id = session->identity.id};
    const clientid_t *resume = session->identity.id != 0 ? &client : NULL;

    memcpy(client.passwd, session->identity.password, DROVER_SESSION_PASSWORD_SIZE);
#ifdef HAVE_OPENSSL_H
    /* The library's own TLS cannot check the server's name; the relay can. */
    if (session->tls_cert != NULL && session->relay == NULL) {
        g_autofree char *files =
            g_strjoin(",", session->tls_ca, session->tls_cert, session->tls_key, NULL);
        return zookeeper_init_ssl(session->servers, files, on_watch, session->timeout, resume,
                                  handle, 0);
    }
#endif
    return zookeeper_init2(session->servers, on_watch, session->timeout, resume, handle, 0,
                           on_library_log);
}

static void
open_handle(DroverSession *session)
{
    Handle *handle = g_new0(Handle, 1);

    handle->session = session;
    handle->number = ++session->handles;
    session->handle = handle;
    handle->zh = init_handle(session, handle);
    if (handle->zh == NULL) {
        drover_log_for(DROVER_LOG_WARNING, LOGGER, "cannot reach ZooKeeper at %s: %s",
                       session->servers, g_strerror(errno));
        g_clear_pointer(&session->handle, g_free);
        session->reopen_timer = g_timeout_add_seconds(REOPEN_SECONDS, reopen, session);
        return;
    }
    if (session->digest != NULL)
        zoo_add_auth(handle->zh, "digest", session->digest, (int)strlen(session->digest), NULL,
                     NULL);
}

/* ---- Life ---- */

static char *
plain_servers(const DroverSessionServer *servers, guint n_servers)
{
    g_autoptr(GString) text = g_string_new(NULL);

    for (guint i = 0; i < n_servers; i++)
        g_string_append_printf(text, strchr(servers[i].host, ':') != NULL ? "%s[%s]:%u" : "%s%s:%u",
                               i > 0 ? "," : "", servers[i].host, servers[i].port);
    return g_string_free(g_steal_pointer(&text), FALSE);
}

static gboolean
begin_tls(DroverSession *session, const DroverSessionOptions *options, GError **error)
{
    DroverZkTls tls = {.cert = options->tls_cert,
                       .key = options->tls_key,
                       .ca = options->tls_ca,
                       .any_hostname = options->tls_any_hostname};

    session->relay = drover_zk_relay_new(options->servers, options->n_servers, &tls, error);
    if (session->relay == NULL)
        return FALSE;
    g_free(session->servers);
    session->servers = drover_zk_relay_hosts(session->relay);
    return TRUE;
}

static gboolean
begin_state(DroverSession *session, const DroverSessionOptions *options, GError **error)
{
    session->state_dir = g_strdup(options->state_dir);
    session->state_lock = drover_state_lock(session->state_dir, error);
    if (session->state_lock < 0)
        return FALSE;
    if (drover_state_load(session->state_dir, session->chroot, &session->identity))
        drover_log_for(DROVER_LOG_INFO, LOGGER, "taking up session 0x%" G_GINT64_MODIFIER "x",
                       (guint64)session->identity.id);
    return TRUE;
}

static void
session_free(DroverSession *session)
{
    g_clear_handle_id(&session->retry_timer, g_source_remove);
    g_clear_handle_id(&session->reopen_timer, g_source_remove);
    g_source_destroy(session->source);
    g_source_unref(session->source);
    g_clear_pointer(&session->relay, drover_zk_relay_free);
    if (session->state_lock >= 0)
        close(session->state_lock);
    g_ptr_array_unref(session->subscribers);
    g_mutex_clear(&session->queue_lock);
    g_cond_clear(&session->queue_filled);
    g_free(session->servers);
    g_free(session->chroot);
    g_free(session->digest);
    g_free(session->tls_cert);
    g_free(session->tls_key);
    g_free(session->tls_ca);
    g_free(session->state_dir);
    g_free(session);
}

DroverSession *
drover_session_new(const DroverSessionOptions *options, GError **error)
{
    DroverSession *session = g_new0(DroverSession, 1);

    session->servers = plain_servers(options->servers, options->n_servers);
    session->chroot = g_strdup(
        options->chroot != NULL && strcmp(options->chroot, "/") != 0 ? options->chroot : "");
    session->digest = g_strdup(options->digest);
    session->tls_cert = g_strdup(options->tls_cert);
    session->tls_key = g_strdup(options->tls_key);
    session->tls_ca = g_strdup(options->tls_ca);
    session->tls_any_hostname = options->tls_any_hostname;
    session->timeout = (int)(options->timeout * 1000);
    session->state_lock = -1;
    session->subscribers = g_ptr_array_new_with_free_func((GDestroyNotify)subscriber_free);
    g_mutex_init(&session->queue_lock);
    g_cond_init(&session->queue_filled);
    g_queue_init(&session->queue);
    session->source = g_source_new(&queue_source, sizeof(GSource));
    g_source_set_callback(session->source, on_queue_ready, session, NULL);
    g_source_attach(session->source, NULL);
    new_identity(session);

    if ((options->tls_cert != NULL && !begin_tls(session, options, error)) ||
        (options->state_dir != NULL && !begin_state(session, options, error))) {
        session_free(session);
        return NULL;
    }
    zoo_set_debug_level(ZOO_LOG_LEVEL_WARN);
    expect_connection(session);
    open_handle(session);
    return session;
}

/* Our last writes, and the answers to them, which the library would leak. */
static void
finish_operations(DroverSession *session)
{
    gint64 deadline = g_get_monotonic_time() + CLOSE_SECONDS * G_TIME_SPAN_SECOND;

    while (session->connected && session->under_way > 0 && wait_for_queue(session, deadline))
        deliver_batch(session);
}

void
drover_session_close(DroverSession *session)
{
    finish_operations(session);
    notify_state(session, DROVER_SESSION_LOST);
    forget_handle(session);
    while (deliver_batch(session))
        continue;
    if (session->state_dir != NULL)
        drover_state_forget(session->state_dir);
    session_free(session);
}

void
drover_session_abandon(DroverSession *session)
{
    /* The library's threads go on until the process ends, so nothing they touch may be freed. The
     * lock file is released by the end of the process only: there is never a second holder. */
    g_clear_handle_id(&session->retry_timer, g_source_remove);
    g_clear_handle_id(&session->reopen_timer, g_source_remove);
    g_source_destroy(session->source);
    session->connected = FALSE;
}

gboolean
drover_session_set_servers(DroverSession *session, const DroverSessionServer *servers,
                           guint n_servers, GError **error)
{
    if (session->relay != NULL) {
        if (!drover_zk_relay_set_servers(session->relay, servers, n_servers, error))
            return FALSE;
        g_free(session->servers);
        session->servers = drover_zk_relay_hosts(session->relay);
    } else {
        g_free(session->servers);
        session->servers = plain_servers(servers, n_servers);
    }
    if (session->handle != NULL && zoo_set_servers(session->handle->zh, session->servers) != ZOK) {
        g_set_error(error, DROVER_ERROR, DROVER_ERROR_FAILED,
                    "the ZooKeeper servers %s cannot be resolved", session->servers);
        return FALSE;
    }
    return TRUE;
}

/* ---- Questions ---- */

DroverSessionState
drover_session_state(const DroverSession *session)
{
    return session->state;
}

gint64
drover_session_id(const DroverSession *session)
{
    return session->identity.id;
}

int
drover_session_timeout(const DroverSession *session)
{
    return session->handle != NULL ? zoo_recv_timeout(session->handle->zh) : session->timeout;
}

gboolean
drover_session_is_resumed(const DroverSession *session)
{
    return session->resumed;
}

const char *
drover_session_holder(const DroverSession *session)
{
    return session->identity.holder;
}

zhandle_t *
drover_session_handle(DroverSession *session)
{
    return session->connected ? session->handle->zh : NULL;
}

void
drover_session_begin_operation(DroverSession *session)
{
    session->under_way++;
}

void
drover_session_end_operation(DroverSession *session)
{
    session->under_way--;
}

const struct ACL_vector *
drover_session_acl(const DroverSession *session)
{
    return session->digest != NULL ? &ZOO_CREATOR_ALL_ACL : &ZOO_OPEN_ACL_UNSAFE;
}

DroverSessionCounters *
drover_session_count(DroverSession *session)
{
    return &session->counters;
}

const DroverSessionCounters *
drover_session_counters(const DroverSession *session)
{
    return &session->counters;
}
