#include "zk/bulk.h"

#include <gio/gio.h>
#include <string.h>

#include "base/error.h"
#include "zk/jute.h"
#include "zk/session-private.h"

#define MULTI_READ_OP 22 /* ZooDefs.OpCode.multiRead, which proto.h does not have */
#define ERROR_OP      (-1)
#define AUTH_XID      (-4)
#define PASSWORD_SIZE 16
/* Records are 1 MiB at most by default, and 1 KiB as a rule. */
#define CHUNK      100
#define ANSWER_MAX (256 * 1024 * 1024)
/* Requests under way: enough to keep the server busy, and never more than the sockets buffer. */
#define WINDOW 4

typedef struct {
    DroverSession *session;
    GSocketConnection *connection;
    const DroverBulkRead *reads;
    guint n_reads, asked, answered;
    DroverReadFunc done;
} Bulk;

static gboolean
fail(GError **error, const char *what)
{
    g_set_error(error, DROVER_ERROR, DROVER_ERROR_FAILED, "reading many znodes at once: %s", what);
    return FALSE;
}

/* ---- The connection ---- */

/* To the very server that the session is connected to, which has seen all that the session has. */
static GSocketConnection *
connect_beside(DroverSession *session, guint timeout, GError **error)
{
    zhandle_t *zh = drover_session_handle(session);
    struct sockaddr_storage peer;
    socklen_t length = sizeof(peer);
    g_autoptr(GSocketAddress) address = NULL;
    g_autoptr(GSocketClient) client = g_socket_client_new();

    if (zh == NULL || zookeeper_get_connected_host(zh, (struct sockaddr *)&peer, &length) == NULL) {
        fail(error, "not connected");
        return NULL;
    }
    address = g_socket_address_new_from_native(&peer, length);
    g_socket_client_set_timeout(client, timeout);
    g_socket_client_set_enable_proxy(client, FALSE);
    return g_socket_client_connect(client, G_SOCKET_CONNECTABLE(address), NULL, error);
}

/* Requests and answers alike have their length in front. */
static gboolean
send_request(Bulk *bulk, const GByteArray *request, GError **error)
{
    GOutputStream *out = g_io_stream_get_output_stream(G_IO_STREAM(bulk->connection));
    g_autoptr(GByteArray) frame = g_byte_array_sized_new(request->len + 4);

    drover_jute_put_data(frame, request->data, request->len);
    return g_output_stream_write_all(out, frame->data, frame->len, NULL, NULL, error);
}

static gboolean
receive_all(Bulk *bulk, gpointer buffer, gsize length, GError **error)
{
    GInputStream *in = g_io_stream_get_input_stream(G_IO_STREAM(bulk->connection));
    gsize got;

    if (!g_input_stream_read_all(in, buffer, length, &got, NULL, error))
        return FALSE;
    return got == length || fail(error, "the server has closed the connection");
}

static GBytes *
receive_answer(Bulk *bulk, GError **error)
{
    g_autofree guint8 *data = NULL;
    guint32 length;

    if (!receive_all(bulk, &length, sizeof(length), error))
        return NULL;
    length = GUINT32_FROM_BE(length);
    if (length > ANSWER_MAX) {
        fail(error, "the answer is too long");
        return NULL;
    }
    data = g_malloc(length);
    if (!receive_all(bulk, data, length, error))
        return NULL;
    return g_bytes_new_take(g_steal_pointer(&data), length);
}

/* Whether the answer is that of the request. */
static gboolean
take_header(DroverJute *in, gint32 xid, GError **error)
{
    gint32 answered = drover_jute_take_int(in);
    gint32 rc;

    drover_jute_take_long(in); /* zxid */
    rc = drover_jute_take_int(in);
    if (in->is_short || answered != xid)
        return fail(error, "not the answer that was expected");
    return rc == ZOK || fail(error, zerror(rc));
}

/* ---- The session ---- */

static gboolean
begin_session(Bulk *bulk, GError **error)
{
    static const guint8 password[PASSWORD_SIZE] = {0};
    g_autoptr(GByteArray) request = g_byte_array_new();
    g_autoptr(GBytes) answer = NULL;
    DroverJute in = {0};

    drover_jute_put_int(request, 0);  /* version of the protocol */
    drover_jute_put_long(request, 0); /* zxid seen */
    drover_jute_put_int(request, drover_session_timeout(bulk->session));
    drover_jute_put_long(request, 0); /* a new session */
    drover_jute_put_data(request, password, sizeof(password));
    drover_jute_put_boolean(request, FALSE); /* not at a server that can only be read */
    if (!send_request(bulk, request, error))
        return FALSE;
    in.answer = answer = receive_answer(bulk, error);
    if (answer == NULL)
        return FALSE;
    drover_jute_take_int(&in); /* version of the protocol */
    return drover_jute_take_int(&in) > 0 || fail(error, "the server begins no session");
}

static gboolean
authenticate(Bulk *bulk, GError **error)
{
    const char *digest = drover_session_digest(bulk->session);
    g_autoptr(GByteArray) request = g_byte_array_new();
    g_autoptr(GBytes) answer = NULL;
    DroverJute in = {0};

    if (digest == NULL)
        return TRUE;
    drover_jute_put_int(request, AUTH_XID);
    drover_jute_put_int(request, ZOO_SETAUTH_OP);
    drover_jute_put_int(request, 0);
    drover_jute_put_text(request, "digest");
    drover_jute_put_text(request, digest);
    if (!send_request(bulk, request, error))
        return FALSE;
    in.answer = answer = receive_answer(bulk, error);
    return answer != NULL && take_header(&in, AUTH_XID, error);
}

/* The answer is not waited for: if the request gets lost, the session expires. */
static void
end_session(Bulk *bulk)
{
    g_autoptr(GByteArray) request = g_byte_array_new();

    drover_jute_put_int(request, (gint32)bulk->n_reads + 1);
    drover_jute_put_int(request, ZOO_CLOSE_OP);
    send_request(bulk, request, NULL);
}

/* ---- The reads ---- */

static void
put_operation(GByteArray *request, gint32 type, gboolean is_end)
{
    drover_jute_put_int(request, type);
    drover_jute_put_boolean(request, is_end);
    drover_jute_put_int(request, -1);
}

/* The number of its first read is the number of a request. */
static gboolean
ask_chunk(Bulk *bulk, GError **error)
{
    guint end = MIN(bulk->asked + CHUNK, bulk->n_reads);
    g_autoptr(GByteArray) request = g_byte_array_new();

    drover_jute_put_int(request, (gint32)bulk->asked);
    drover_jute_put_int(request, MULTI_READ_OP);
    for (; bulk->asked < end; bulk->asked++) {
        const DroverBulkRead *read = &bulk->reads[bulk->asked];
        g_autofree char *full = drover_session_full_path(bulk->session, read->path);

        put_operation(request, read->of_children ? ZOO_GETCHILDREN_OP : ZOO_GETDATA_OP, FALSE);
        drover_jute_put_text(request, full);
        drover_jute_put_boolean(request, FALSE); /* no watch */
    }
    put_operation(request, ERROR_OP, TRUE);
    return send_request(bulk, request, error);
}

/* FALSE when the answer is not of the kind that was asked for, or not whole. */
static gboolean
take_reply(DroverJute *in, const DroverBulkRead *read, DroverReadReply *reply)
{
    gint32 type = drover_jute_take_int(in);
    gboolean is_end = drover_jute_take_boolean(in);

    drover_jute_take_int(in); /* an error once more */
    if (type == ERROR_OP) {
        reply->rc = drover_jute_take_int(in);
    } else if (type == ZOO_GETDATA_OP && !read->of_children) {
        reply->data = drover_jute_take_data(in);
        drover_jute_take_stat(in, &reply->stat);
    } else if (type == ZOO_GETCHILDREN_OP && read->of_children) {
        reply->children = (const char **)drover_jute_take_texts(in, &reply->n_children);
    } else {
        return FALSE;
    }
    return !is_end && !in->is_short;
}

static gboolean
answer_next(Bulk *bulk, DroverJute *in, GError **error)
{
    const DroverBulkRead *read = &bulk->reads[bulk->answered];
    DroverReadReply reply = {.rc = ZOK};
    gboolean ok = take_reply(in, read, &reply);

    if (ok) {
        drover_session_count(bulk->session)->reads++;
        bulk->done(&reply, read->user_data);
        bulk->answered++;
    }
    g_clear_pointer(&reply.data, g_bytes_unref);
    g_strfreev((char **)reply.children);
    return ok || fail(error, "not the answer that was expected");
}

static gboolean
answer_chunk(Bulk *bulk, GError **error)
{
    guint end = MIN(bulk->answered + CHUNK, bulk->n_reads);
    g_autoptr(GBytes) answer = receive_answer(bulk, error);
    DroverJute in = {.answer = answer};

    if (answer == NULL || !take_header(&in, (gint32)bulk->answered, error))
        return FALSE;
    while (bulk->answered < end)
        if (!answer_next(bulk, &in, error))
            return FALSE;
    return TRUE;
}

static gboolean
read_all(Bulk *bulk, GError **error)
{
    while (bulk->answered < bulk->n_reads) {
        while (bulk->asked < MIN(bulk->answered + WINDOW * CHUNK, bulk->n_reads))
            if (!ask_chunk(bulk, error))
                return FALSE;
        if (!answer_chunk(bulk, error))
            return FALSE;
    }
    return TRUE;
}

gboolean
drover_bulk_read(DroverSession *session, const DroverBulkRead *reads, guint n_reads, guint timeout,
                 DroverReadFunc done, GError **error)
{
    Bulk bulk = {.session = session, .reads = reads, .n_reads = n_reads, .done = done};
    gboolean ok;

    bulk.connection = connect_beside(session, timeout, error);
    if (bulk.connection == NULL)
        return FALSE;
    ok = begin_session(&bulk, error) && authenticate(&bulk, error) && read_all(&bulk, error);
    if (ok)
        end_session(&bulk);
    g_object_unref(bulk.connection);
    return ok;
}
