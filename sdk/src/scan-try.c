#include "scan-try.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <libssh/libssh.h>
#include <string.h>
#include <sys/socket.h>

struct _DroverTry {
    DroverTryFunc done;
    gpointer user_data;
    char *key_types;
    guint handshake_limit;

    GSocket *socket;     /* until it is connected */
    ssh_session session; /* from then on, when a host key is wanted */
    gboolean version_seen;

    GSource *io;
    GIOCondition io_condition;
    GSource *timer;
    DroverTryOutcome late_outcome; /* found within drover_try_start(), told afterwards */
    char *late_text;
};

/*
 * No authentication follows, so no secret depends on the algorithms: what old network devices offer
 * is allowed too, and what costs least time comes first. Names that libssh does not know are left
 * out by itself. The user name is never sent; naming one and the folder spares libssh to look up
 * the account that this program runs under, which need not exist.
 */
#define KEY_EXCHANGES                                                                              \
    "curve25519-sha256,curve25519-sha256@libssh.org,ecdh-sha2-nistp256,ecdh-sha2-nistp384,"        \
    "ecdh-sha2-nistp521,mlkem768x25519-sha256,sntrup761x25519-sha512,"                             \
    "sntrup761x25519-sha512@openssh.com,diffie-hellman-group14-sha256,"                            \
    "diffie-hellman-group16-sha512,diffie-hellman-group18-sha512,"                                 \
    "diffie-hellman-group-exchange-sha256,diffie-hellman-group14-sha1"
#define CIPHERS                                                                                    \
    "aes128-ctr,aes192-ctr,aes256-ctr,aes128-gcm@openssh.com,aes256-gcm@openssh.com,"              \
    "chacha20-poly1305@openssh.com,aes128-cbc,aes192-cbc,aes256-cbc,3des-cbc"
#define MACS                                                                                       \
    "hmac-sha2-256-etm@openssh.com,hmac-sha2-512-etm@openssh.com,hmac-sha1-etm@openssh.com,"       \
    "hmac-sha2-256,hmac-sha2-512,hmac-sha1"

static const struct {
    enum ssh_options_e option;
    const char *value;
} ssh_options[] = {
    {SSH_OPTIONS_HOST, "machine"},
    {SSH_OPTIONS_USER, "nobody"},
    {SSH_OPTIONS_SSH_DIR, "/dev/null"},
    {SSH_OPTIONS_KNOWNHOSTS, "/dev/null"},
    {SSH_OPTIONS_GLOBAL_KNOWNHOSTS, "/dev/null"},
    {SSH_OPTIONS_KEY_EXCHANGE, KEY_EXCHANGES},
    {SSH_OPTIONS_CIPHERS_C_S, CIPHERS},
    {SSH_OPTIONS_CIPHERS_S_C, CIPHERS},
    {SSH_OPTIONS_HMAC_C_S, MACS},
    {SSH_OPTIONS_HMAC_S_C, MACS},
};

/* How libssh says that the server has no host key of the types asked for. */
#define NO_COMMON_TYPE "no match for method server host key algo"

/* Puts a new source to work in the place of an earlier one, and takes it over. */
static void
set_source(GSource **slot, GSource *source, GSourceFunc callback, DroverTry *attempt)
{
    drover_clear_source(slot);
    g_source_set_callback(source, callback, attempt, NULL);
    g_source_attach(source, g_main_context_get_thread_default());
    *slot = source;
}

static void
close_connection(DroverTry *attempt)
{
    drover_clear_source(&attempt->io);
    drover_clear_source(&attempt->timer);
    if (attempt->socket != NULL)
        g_socket_close(attempt->socket, NULL);
    g_clear_object(&attempt->socket);
    g_clear_pointer(&attempt->session, ssh_free);
}

void
drover_try_free(DroverTry *attempt)
{
    if (attempt == NULL)
        return;
    close_connection(attempt);
    g_free(attempt->key_types);
    g_free(attempt->late_text);
    g_free(attempt);
}

/* Tells the result. The try may not exist any more afterwards. */
static void
finish(DroverTry *attempt, DroverTryOutcome outcome, const char *text)
{
    g_autofree char *copy = g_strdup(text);

    close_connection(attempt);
    attempt->done(outcome, copy, attempt->user_data);
}

/* ---- The SSH key exchange ---- */

/* A message of libssh may quote the peer: only printable text and not too much of it. */
static char *
ssh_error_text(ssh_session session)
{
    enum { LONGEST = 300 };
    char *text = g_strndup(ssh_get_error(session), LONGEST);

    for (char *c = text; *c != '\0'; c++)
        if (!g_ascii_isprint(*c))
            *c = '?';
    if (*text == '\0') {
        g_free(text);
        return g_strdup("the key exchange failed");
    }
    return text;
}

static void
finish_with_ssh_error(DroverTry *attempt)
{
    g_autofree char *text = ssh_error_text(attempt->session);
    gboolean no_common_type = strstr(text, NO_COMMON_TYPE) != NULL;

    finish(attempt, no_common_type ? DROVER_TRY_NO_COMMON_TYPE : DROVER_TRY_FAILED, text);
}

static void
finish_with_key(DroverTry *attempt)
{
    g_autofree char *text = NULL;
    char *base64 = NULL;
    ssh_key key = NULL;

    if (ssh_get_server_publickey(attempt->session, &key) == SSH_OK &&
        ssh_pki_export_pubkey_base64(key, &base64) == SSH_OK)
        text = g_strdup_printf("%s %s", ssh_key_type_to_char(ssh_key_type(key)), base64);
    ssh_string_free_char(base64);
    ssh_key_free(key);
    if (text != NULL)
        finish(attempt, DROVER_TRY_DONE, text);
    else
        finish(attempt, DROVER_TRY_FAILED, "the host key cannot be read");
}

static gboolean
handshake_is_late(gpointer user_data)
{
    DroverTry *attempt = user_data;

    finish(attempt, DROVER_TRY_FAILED,
           attempt->version_seen ? "the SSH key exchange was not completed in time"
                                 : "connected, but no SSH server answered in time");
    return G_SOURCE_REMOVE;
}

static void step_handshake(DroverTry *attempt);

static gboolean
handshake_io(int fd, GIOCondition condition, gpointer user_data)
{
    step_handshake(user_data);
    return G_SOURCE_CONTINUE;
}

static void
watch_session(DroverTry *attempt)
{
    int wanted = ssh_get_poll_flags(attempt->session);
    GIOCondition condition = G_IO_IN | ((wanted & SSH_WRITE_PENDING) ? G_IO_OUT : 0);

    if (attempt->io != NULL && attempt->io_condition == condition)
        return;
    attempt->io_condition = condition;
    set_source(&attempt->io, g_unix_fd_source_new(ssh_get_fd(attempt->session), condition),
               G_SOURCE_FUNC(handshake_io), attempt);
}

/* Goes on as far as possible without waiting. */
static void
step_handshake(DroverTry *attempt)
{
    int state = ssh_connect(attempt->session);

    if (state == SSH_OK) {
        finish_with_key(attempt);
    } else if (state == SSH_AGAIN) {
        if (!attempt->version_seen && ssh_get_serverbanner(attempt->session) != NULL) {
            attempt->version_seen = TRUE;
            set_source(&attempt->timer, g_timeout_source_new(attempt->handshake_limit),
                       handshake_is_late, attempt);
        }
        watch_session(attempt);
    } else {
        finish_with_ssh_error(attempt);
    }
}

static ssh_session
new_session(const char *key_types)
{
    ssh_session session = ssh_new();
    int process_config = 0;

    if (session == NULL)
        g_error("libssh: out of memory");
    ssh_set_blocking(session, 0);
    ssh_options_set(session, SSH_OPTIONS_PROCESS_CONFIG, &process_config);
    for (guint i = 0; i < G_N_ELEMENTS(ssh_options); i++)
        ssh_options_set(session, ssh_options[i].option, ssh_options[i].value);
    if (ssh_options_set(session, SSH_OPTIONS_HOSTKEYS, key_types) == SSH_OK)
        return session;
    ssh_free(session);
    return NULL;
}

/*
 * libssh makes the socket blocking and closes it in the end. It writes only when the kernel has
 * room; a peer that never reads could still make it wait, so writing gets a limit.
 */
static int
take_over_socket(DroverTry *attempt)
{
    struct timeval limit = {.tv_sec = 1};
    int fd = fcntl(g_socket_get_fd(attempt->socket), F_DUPFD_CLOEXEC, 0);

    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    g_clear_object(&attempt->socket);
    return fd;
}

static void
begin_handshake(DroverTry *attempt)
{
    ssh_session session = new_session(attempt->key_types);
    int fd;

    if (session == NULL) {
        finish(attempt, DROVER_TRY_NO_COMMON_TYPE, "libssh does not know this type of key");
        return;
    }
    fd = take_over_socket(attempt);
    if (fd < 0) {
        ssh_free(session);
        finish(attempt, DROVER_TRY_NOT_CONNECTED, g_strerror(errno));
        return;
    }
    ssh_options_set(session, SSH_OPTIONS_FD, &fd);
    attempt->session = session;
    set_source(&attempt->timer, g_timeout_source_new(attempt->handshake_limit), handshake_is_late,
               attempt);
    step_handshake(attempt);
}

/* ---- The TCP connection ---- */

static gboolean
connecting_is_late(gpointer user_data)
{
    finish(user_data, DROVER_TRY_NOT_CONNECTED, "no answer in time");
    return G_SOURCE_REMOVE;
}

static gboolean
connecting_io(GSocket *socket, GIOCondition condition, gpointer user_data)
{
    DroverTry *attempt = user_data;
    g_autoptr(GError) error = NULL;

    drover_clear_source(&attempt->io);
    if (!g_socket_check_connect_result(socket, &error))
        finish(attempt, DROVER_TRY_NOT_CONNECTED, error->message);
    else if (attempt->key_types == NULL)
        finish(attempt, DROVER_TRY_DONE, NULL);
    else
        begin_handshake(attempt);
    return G_SOURCE_REMOVE;
}

static gboolean
tell_late(gpointer user_data)
{
    DroverTry *attempt = user_data;

    finish(attempt, attempt->late_outcome, attempt->late_text);
    return G_SOURCE_REMOVE;
}

static gboolean
begin_connecting(DroverTry *attempt, const DroverTryPlan *plan, GError **error)
{
    g_autoptr(GError) connect_error = NULL;

    attempt->socket = g_socket_new(g_socket_address_get_family(plan->address), G_SOCKET_TYPE_STREAM,
                                   G_SOCKET_PROTOCOL_TCP, error);
    if (attempt->socket == NULL)
        return FALSE;
    g_socket_set_blocking(attempt->socket, FALSE);
    if (!g_socket_connect(attempt->socket, plan->address, NULL, &connect_error) &&
        !g_error_matches(connect_error, G_IO_ERROR, G_IO_ERROR_PENDING)) {
        g_propagate_error(error, g_steal_pointer(&connect_error));
        return FALSE;
    }
    set_source(&attempt->io, g_socket_create_source(attempt->socket, G_IO_OUT, NULL),
               G_SOURCE_FUNC(connecting_io), attempt);
    set_source(&attempt->timer, g_timeout_source_new(plan->connect_limit), connecting_is_late,
               attempt);
    return TRUE;
}

DroverTry *
drover_try_start(const DroverTryPlan *plan, DroverTryFunc done, gpointer user_data)
{
    DroverTry *attempt = g_new0(DroverTry, 1);
    g_autoptr(GError) error = NULL;

    attempt->done = done;
    attempt->user_data = user_data;
    attempt->key_types = g_strdup(plan->key_types);
    attempt->handshake_limit = plan->handshake_limit;
    if (!begin_connecting(attempt, plan, &error)) {
        attempt->late_outcome = DROVER_TRY_NOT_CONNECTED;
        attempt->late_text = g_strdup(error->message);
        set_source(&attempt->timer, g_timeout_source_new(0), tell_late, attempt);
    }
    return attempt;
}
