#include "zk/session.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "zk/handle.h"
#include "zk/host-list.h"
#include "zk/relay.h"
#include "zk/session-private.h"
#include "zk/state-file.h"
#include "zk/subscribers.h"

#define LOGGER         "zk.ZooKeeper"
#define RETRY_SECONDS  10
#define REOPEN_SECONDS 2
#define ANSWER_SECONDS 2

struct _DroverSession {
    char *servers; /* as the client library wants them, without chroot */
    char *chroot;  /* "" for none */
    gboolean leave_chroot;
    char *digest;
    int timeout; /* milliseconds, as asked for */
    DroverZkRelay *relay;

    char *state_dir;
    int state_lock;
    DroverSessionIdentity identity;
    gboolean resumed, abandoned;

    DroverZkHandle *handle;
    gboolean connected; /* the library says so; announced once the chroot is there */
    DroverSessionState state;
    guint retry_timer, reopen_timer;

    DroverSubscribers *subscribers;
    DroverMailbox *mailbox;
    DroverSessionCounters counters;
};

/* ---- Messages of the library's threads ---- */

void
drover_session_expect(DroverSession *session, DroverMessage *message)
{
    message->owner = session;
    drover_mailbox_expect(session->mailbox, message, ZCLOSING);
}

void
drover_session_post(DroverSession *session, DroverMessage *message)
{
    message->owner = session;
    drover_mailbox_post(session->mailbox, message);
}

/* Until when answers may come that are waited for. */
static gint64
soon(void)
{
    return g_get_monotonic_time() + ANSWER_SECONDS * G_TIME_SPAN_SECOND;
}

/* ---- Subscribers ---- */

guint
drover_session_add_listener(DroverSession *session, DroverSessionListener listener,
                            gpointer user_data)
{
    return drover_subscribers_add_listener(session->subscribers, listener, user_data);
}

guint
drover_session_add_observer(DroverSession *session, const char *root,
                            const DroverSessionObserver *observer, gpointer user_data)
{
    return drover_subscribers_add_observer(session->subscribers, root, observer, user_data);
}

void
drover_session_remove(DroverSession *session, guint id)
{
    drover_subscribers_remove(session->subscribers, id);
}

void
drover_session_notify_write(DroverSession *session, const char *path, GBytes *data, gint32 version,
                            gint64 mzxid)
{
    drover_subscribers_tell_write(session->subscribers, path, data, version, mzxid);
}

static void
enter_state(DroverSession *session, DroverSessionState state)
{
    session->state = state;
    drover_subscribers_tell_state(session->subscribers, session, state);
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
    const char *rest =
        g_str_has_prefix(path, session->chroot) ? path + strlen(session->chroot) : path;

    return rest[0] != '\0' ? rest : "/";
}

/* ---- The handle of the client library ---- */

static void on_event(int type, int state, const char *path, gpointer user_data);

/* NULL when none of the servers has an address. */
static DroverZkHandle *
handle_new(DroverSession *session, const char *servers)
{
    DroverZkHandleOptions options = {.servers = servers,
                                     .timeout = session->timeout,
                                     .identity = &session->identity,
                                     .digest = session->digest,
                                     .mailbox = session->mailbox};

    return drover_zk_handle_new(&options, on_event, session);
}

static void open_handle(DroverSession *session);

static gboolean
reopen(gpointer user_data)
{
    DroverSession *session = user_data;

    session->reopen_timer = 0;
    open_handle(session);
    return G_SOURCE_REMOVE;
}

static void
reopen_later(DroverSession *session)
{
    session->reopen_timer = g_timeout_add_seconds(REOPEN_SECONDS, reopen, session);
}

static void
open_handle(DroverSession *session)
{
    session->handle = handle_new(session, session->servers);
    if (session->handle == NULL) {
        drover_log_for(DROVER_LOG_WARNING, LOGGER, "cannot reach ZooKeeper at %s: %s",
                       session->servers, g_strerror(errno));
        reopen_later(session);
    }
}

static void
close_handle(DroverSession *session)
{
    session->connected = FALSE;
    g_clear_pointer(&session->handle, drover_zk_handle_close);
}

static void
leave_handle(DroverSession *session)
{
    session->connected = FALSE;
    g_clear_pointer(&session->handle, drover_zk_handle_leave);
}

/* ---- States of the connection ---- */

static void prepare_chroot(DroverSession *session);

static gboolean
retry(gpointer user_data)
{
    DroverSession *session = user_data;

    if (session->connected)
        prepare_chroot(session);
    else
        drover_log_for(DROVER_LOG_WARNING, LOGGER, "Retrying zookeeper connection");
    return G_SOURCE_CONTINUE;
}

static void
expect_connection(DroverSession *session)
{
    if (session->retry_timer == 0)
        session->retry_timer = g_timeout_add_seconds(RETRY_SECONDS, retry, session);
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
on_chroot(const DroverReadReply *reply, gpointer user_data)
{
    DroverSession *session = user_data;

    if (!session->connected || session->state == DROVER_SESSION_CONNECTED)
        return;
    if (reply->rc == ZNONODE && session->leave_chroot) {
        drover_log_for(DROVER_LOG_WARNING, LOGGER, "there is no chroot %s in ZooKeeper",
                       session->chroot);
    } else if (reply->rc != ZOK) {
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
    enter_state(session, DROVER_SESSION_CONNECTED);
}

static void
prepare_chroot(DroverSession *session)
{
    if (session->leave_chroot)
        drover_session_exists(session, "/", FALSE, on_chroot, session);
    else
        drover_session_ensure(session, "/", on_chroot, session);
}

static void
suspend(DroverSession *session)
{
    session->connected = FALSE;
    expect_connection(session);
    if (session->state != DROVER_SESSION_CONNECTED)
        return;
    drover_log_for(DROVER_LOG_WARNING, LOGGER, "ZooKeeper connection suspended");
    enter_state(session, DROVER_SESSION_SUSPENDED);
}

static void
on_disconnected(DroverSession *session)
{
    gboolean answered = !session->connected || session->state == DROVER_SESSION_CONNECTED;

    suspend(session);
    if (!answered) {
        /* The library sets its watches again when it connects, with one request, and servers hang
         * up on requests that are too large. A new handle has no watches. */
        leave_handle(session);
        open_handle(session);
    }
}

static void
on_connected(DroverSession *session)
{
    const clientid_t *client = zoo_client_id(drover_zk_handle_library(session->handle));

    /* The library closes its connection without a word when it cannot wake its own thread. */
    if (session->state == DROVER_SESSION_CONNECTED)
        suspend(session);
    session->counters.connections++;
    if (client->client_id != session->identity.id)
        session->counters.sessions++;
    session->connected = TRUE;
    remember_identity(session, client);
    prepare_chroot(session);
}

static void
on_expired(DroverSession *session)
{
    drover_log_for(DROVER_LOG_WARNING, LOGGER, "ZooKeeper session lost; beginning a new one");
    session->connected = FALSE;
    session->resumed = FALSE;
    session->identity.id = 0;
    enter_state(session, DROVER_SESSION_LOST);
    /* The library answers what was under way after it told of the loss. */
    drover_mailbox_await_expected(session->mailbox, soon());
    close_handle(session);
    expect_connection(session);
    session->state = DROVER_SESSION_CONNECTING;
    open_handle(session);
}

static void
on_auth_failed(DroverSession *session)
{
    drover_log_for(DROVER_LOG_ERROR, LOGGER,
                   "ZooKeeper refuses the digest identity of the configuration");
    suspend(session);
    close_handle(session);
    reopen_later(session);
}

static void
on_session_event(DroverSession *session, int state)
{
    if (state == ZOO_CONNECTED_STATE)
        on_connected(session);
    else if (state == ZOO_EXPIRED_SESSION_STATE)
        on_expired(session);
    else if (state == ZOO_AUTH_FAILED_STATE)
        on_auth_failed(session);
    else
        on_disconnected(session);
}

static void
on_event(int type, int state, const char *path, gpointer user_data)
{
    DroverSession *session = user_data;

    if (type == ZOO_SESSION_EVENT) {
        on_session_event(session, state);
        return;
    }
    session->counters.events++;
    drover_subscribers_tell_event(session->subscribers, drover_session_strip_chroot(session, path),
                                  type);
}

/* ---- Life ---- */

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
    session->resumed = drover_state_load(session->state_dir, session->chroot, &session->identity);
    if (session->resumed)
        drover_log_for(DROVER_LOG_INFO, LOGGER, "taking up session 0x%" G_GINT64_MODIFIER "x",
                       (guint64)session->identity.id);
    return TRUE;
}

static void
make_holder(DroverSessionIdentity *identity)
{
    g_snprintf(identity->holder, sizeof(identity->holder), "%08x%08x", g_random_int(),
               g_random_int());
}

static void
session_free(DroverSession *session)
{
    g_clear_handle_id(&session->retry_timer, g_source_remove);
    g_clear_handle_id(&session->reopen_timer, g_source_remove);
    drover_mailbox_free(session->mailbox);
    g_clear_pointer(&session->relay, drover_zk_relay_free);
    if (session->state_lock >= 0)
        close(session->state_lock);
    drover_subscribers_free(session->subscribers);
    g_free(session->servers);
    g_free(session->chroot);
    g_free(session->digest);
    g_free(session->state_dir);
    g_free(session);
}

static DroverSession *
session_alloc(const DroverSessionOptions *options)
{
    DroverSession *session = g_new0(DroverSession, 1);

    session->servers = drover_host_list(options->servers, options->n_servers);
    session->chroot = g_strdup(
        options->chroot != NULL && strcmp(options->chroot, "/") != 0 ? options->chroot : "");
    session->leave_chroot = options->leave_chroot;
    session->digest = g_strdup(options->digest);
    session->timeout = (int)(options->timeout * 1000);
    session->state_lock = -1;
    make_holder(&session->identity);
    session->subscribers = drover_subscribers_new();
    session->mailbox = drover_mailbox_new();
    return session;
}

static gboolean
check_digest(const DroverSessionOptions *options, GError **error)
{
    if (options->digest == NULL || strchr(options->digest, ':') != NULL)
        return TRUE;
    g_set_error(error, DROVER_ERROR, DROVER_ERROR_CONFIG,
                "the digest identity for ZooKeeper has not the form \"user:password\"");
    return FALSE;
}

DroverSession *
drover_session_new(const DroverSessionOptions *options, GError **error)
{
    DroverSession *session = session_alloc(options);

    if (!check_digest(options, error) ||
        (options->tls_cert != NULL && !begin_tls(session, options, error)) ||
        (options->state_dir != NULL && !begin_state(session, options, error))) {
        session_free(session);
        return NULL;
    }
    /* Its warnings print the list of servers, which zoo_set_servers() frees meanwhile. */
    zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
    expect_connection(session);
    open_handle(session);
    return session;
}

void
drover_session_abandon(DroverSession *session)
{
    if (session->connected)
        drover_mailbox_deliver_expected(session->mailbox, soon());
    session->abandoned = TRUE;
    g_clear_handle_id(&session->retry_timer, g_source_remove);
    g_clear_handle_id(&session->reopen_timer, g_source_remove);
    leave_handle(session);
    if (session->state == DROVER_SESSION_CONNECTED)
        enter_state(session, DROVER_SESSION_SUSPENDED);
}

void
drover_session_close(DroverSession *session)
{
    /* Our last writes, and the answers to them, which the library would leak. */
    if (session->connected)
        drover_mailbox_deliver_expected(session->mailbox, soon());
    enter_state(session, DROVER_SESSION_LOST);
    close_handle(session);
    while (drover_mailbox_deliver(session->mailbox))
        continue;
    if (session->state_dir != NULL && !session->abandoned)
        drover_state_forget(session->state_dir);
    session_free(session);
}

/* "a:1,b:2" for the library; the relay's addresses with TLS. */
static char *
new_servers(DroverSession *session, const DroverSessionServer *servers, guint n_servers,
            GError **error)
{
    if (session->relay == NULL)
        return drover_host_list(servers, n_servers);
    if (!drover_zk_relay_set_servers(session->relay, servers, n_servers, error))
        return NULL;
    return drover_zk_relay_hosts(session->relay);
}

/*
 * With a new handle: the library takes a list that differs in ports only for the old one. The new
 * handle is made first, to see whether the list is any good.
 */
static gboolean
change_servers(DroverSession *session, const char *servers, GError **error)
{
    DroverZkHandle *handle = handle_new(session, servers);

    if (handle == NULL) {
        g_set_error(error, DROVER_ERROR, DROVER_ERROR_CONFIG,
                    "none of the ZooKeeper servers %s has an address", servers);
        return FALSE;
    }
    g_clear_handle_id(&session->reopen_timer, g_source_remove);
    leave_handle(session);
    suspend(session);
    session->handle = handle;
    return TRUE;
}

gboolean
drover_session_set_servers(DroverSession *session, const DroverSessionServer *servers,
                           guint n_servers, GError **error)
{
    g_autofree char *text = new_servers(session, servers, n_servers, error);

    if (text == NULL)
        return FALSE;
    if (strcmp(text, session->servers) == 0)
        return TRUE;
    if (!change_servers(session, text, error))
        return FALSE;
    g_free(session->servers);
    session->servers = g_steal_pointer(&text);
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
    return session->handle != NULL ? zoo_recv_timeout(drover_zk_handle_library(session->handle))
                                   : session->timeout;
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
    return session->connected ? drover_zk_handle_library(session->handle) : NULL;
}

const char *
drover_session_digest(const DroverSession *session)
{
    return session->digest;
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
drover_session_counters(DroverSession *session)
{
    session->counters.batches = drover_mailbox_batches(session->mailbox);
    session->counters.pending = drover_mailbox_expected(session->mailbox);
    session->counters.waiting = drover_mailbox_waiting(session->mailbox);
    return &session->counters;
}
