#include "http/server.h"

#include <gio/gio.h>
#include <glib-unix.h>
#include <microhttpd.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "http/fields.h"
#include "http/parameters.h"

#define MOST_CONNECTIONS 256 /* more wait to be accepted */
#define BUSY_CONNECTIONS 192 /* with more, requests are turned away */
#define HEADER_LIMIT     (32 * 1024)
#define BODY_LIMIT       (64 * 1024)
#define DEFAULT_PATIENCE 15
#define BACKLOG          128
#define STREAM_BLOCK     4096
#define PLAIN_TEXT       "text/plain; charset=UTF-8"
#define FORM_TYPE        "application/x-www-form-urlencoded"

struct _DroverHttpServer {
    struct MHD_Daemon *daemon;
    guint16 port;
    char *allow;
    char **methods;
    char **headers; /* name, value, ... */
    DroverHttpHandler handler;
    gpointer user_data;
    guint fd_source, timer;
    guint connections;
    gboolean full;       /* it has been since the library was called last */
    GHashTable *pending; /* exchanges that are to be answered later, a set */
    GHashTable *streams; /* a set */
};

typedef struct {
    char *name, *value;
} Header;

struct _DroverHttpExchange {
    DroverHttpServer *server;
    struct MHD_Connection *connection;
    char *address; /* as it was sent */
    char *method, *path, *joined;
    GHashTable *parameters;
    GHashTable *fields; /* of the head, see fields.h */
    GByteArray *body;
    gboolean malformed; /* the head */
    gboolean began, handed_over, suspended, answered, queued;
    guint status; /* of the answer */
    char *type;
    GBytes *content;
    GArray *headers;          /* of Header */
    DroverHttpStream *stream; /* instead of content; or NULL */
};

struct _DroverHttpStream {
    DroverHttpServer *server;
    struct MHD_Connection *connection;
    GString *waiting; /* to be read by the library */
    gboolean suspended;
    DroverHttpStreamFunc closed;
    gpointer user_data;
};

/* ---- The loop ---- */

static void serve(DroverHttpServer *server);
static void serve_soon(DroverHttpServer *server);

static gboolean
on_timer(gpointer user_data)
{
    DroverHttpServer *server = user_data;

    server->timer = 0;
    serve(server);
    return G_SOURCE_REMOVE;
}

static gboolean
on_readable(gint fd, GIOCondition condition, gpointer user_data)
{
    serve(user_data);
    return G_SOURCE_CONTINUE;
}

/* The library says when it wants to be called again though nothing can be read or written. */
static void
serve(DroverHttpServer *server)
{
    MHD_UNSIGNED_LONG_LONG wait;

    MHD_run(server->daemon);
    g_clear_handle_id(&server->timer, g_source_remove);
    if (MHD_get_timeout(server->daemon, &wait) == MHD_YES)
        server->timer = g_timeout_add((guint)MIN(wait, G_MAXINT), on_timer, server);
    /* It accepts again only when it is called again, and nothing else may happen meanwhile. */
    if (server->full && server->connections < MOST_CONNECTIONS) {
        server->full = FALSE;
        serve_soon(server);
    }
}

static void
serve_soon(DroverHttpServer *server)
{
    g_clear_handle_id(&server->timer, g_source_remove);
    server->timer = g_idle_add(on_timer, server);
}

/* ---- Exchanges ---- */

static void
clear_header(gpointer data)
{
    Header *header = data;

    g_free(header->name);
    g_free(header->value);
}

static void
exchange_free(DroverHttpExchange *exchange)
{
    g_hash_table_unref(exchange->parameters);
    g_hash_table_unref(exchange->fields);
    g_byte_array_unref(exchange->body);
    g_array_unref(exchange->headers);
    if (exchange->content != NULL)
        g_bytes_unref(exchange->content);
    g_free(exchange->address);
    g_free(exchange->method);
    g_free(exchange->path);
    g_free(exchange->joined);
    g_free(exchange->type);
    g_free(exchange);
}

/* The first that the library tells of a request. */
static void *
on_address(void *data, const char *address, struct MHD_Connection *connection)
{
    DroverHttpExchange *exchange = g_new0(DroverHttpExchange, 1);

    exchange->server = data;
    exchange->connection = connection;
    exchange->address = g_strdup(address);
    exchange->parameters = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    exchange->fields = drover_http_fields_new();
    exchange->body = g_byte_array_new();
    exchange->headers = g_array_new(FALSE, FALSE, sizeof(Header));
    g_array_set_clear_func(exchange->headers, clear_header);
    return exchange;
}

static void
on_completed(void *data, struct MHD_Connection *connection, void **context,
             enum MHD_RequestTerminationCode code)
{
    DroverHttpExchange *exchange = *context;

    *context = NULL;
    if (exchange == NULL)
        return;
    /* Who keeps it answers it all the same, and then it is freed. */
    if (exchange->handed_over && !exchange->answered)
        exchange->connection = NULL;
    else
        exchange_free(exchange);
}

const char *
drover_http_method(const DroverHttpExchange *exchange)
{
    return strcmp(exchange->method, "HEAD") == 0 ? "GET" : exchange->method;
}

const char *
drover_http_path(const DroverHttpExchange *exchange)
{
    return exchange->path;
}

const char *
drover_http_parameter(const DroverHttpExchange *exchange, const char *name)
{
    return g_hash_table_lookup(exchange->parameters, name);
}

const char *
drover_http_parameters(const DroverHttpExchange *exchange)
{
    return exchange->joined;
}

const char *
drover_http_header(const DroverHttpExchange *exchange, const char *name)
{
    return drover_http_get_field(exchange->fields, name);
}

const char *
drover_http_body(const DroverHttpExchange *exchange, gsize *length)
{
    *length = exchange->body->len;
    return (const char *)exchange->body->data;
}

/* ---- Answers ---- */

void
drover_http_add_header(DroverHttpExchange *exchange, const char *name, const char *value)
{
    Header header = {g_strdup(name), g_strdup(value)};

    g_array_append_val(exchange->headers, header);
}

void
drover_http_answer(DroverHttpExchange *exchange, guint status, const char *type, GBytes *body)
{
    g_return_if_fail(!exchange->answered);
    exchange->answered = TRUE;
    exchange->status = status;
    exchange->type = g_strdup(type);
    exchange->content = body != NULL ? g_bytes_ref(body) : NULL;
    if (exchange->connection == NULL) {
        exchange_free(exchange);
    } else if (exchange->suspended) {
        exchange->suspended = FALSE;
        g_hash_table_remove(exchange->server->pending, exchange);
        MHD_resume_connection(exchange->connection);
        serve_soon(exchange->server);
    }
}

void
drover_http_answer_text(DroverHttpExchange *exchange, guint status, const char *text)
{
    g_autofree char *line = g_strconcat(text, "\n", NULL);
    gsize length = strlen(line);
    g_autoptr(GBytes) body = g_bytes_new_take(g_steal_pointer(&line), length);

    drover_http_answer(exchange, status, PLAIN_TEXT, body);
}

static void
unref_content(void *content)
{
    g_bytes_unref(content);
}

/* ---- Streams ---- */

/* Nothing to read: the connection sleeps until there is. */
static ssize_t
read_stream(void *data, uint64_t position, char *buffer, size_t most)
{
    DroverHttpStream *stream = data;
    gsize size = MIN(most, stream->waiting->len);

    if (size == 0) {
        stream->suspended = TRUE;
        MHD_suspend_connection(stream->connection);
        return 0;
    }
    memcpy(buffer, stream->waiting->str, size);
    g_string_erase(stream->waiting, 0, (gssize)size);
    return (ssize_t)size;
}

static void
end_stream(void *data)
{
    DroverHttpStream *stream = data;

    g_hash_table_remove(stream->server->streams, stream);
    stream->closed(stream, stream->user_data);
    g_string_free(stream->waiting, TRUE);
    g_free(stream);
}

static void
wake_stream(DroverHttpStream *stream)
{
    if (!stream->suspended)
        return;
    stream->suspended = FALSE;
    MHD_resume_connection(stream->connection);
}

gboolean
drover_http_stream_is_idle(const DroverHttpStream *stream)
{
    return stream->waiting->len == 0;
}

void
drover_http_stream_send(DroverHttpStream *stream, const char *text)
{
    g_string_append(stream->waiting, text);
    wake_stream(stream);
    serve_soon(stream->server);
}

DroverHttpStream *
drover_http_answer_stream(DroverHttpExchange *exchange, const char *type,
                          DroverHttpStreamFunc closed, gpointer user_data)
{
    DroverHttpStream *stream = g_new0(DroverHttpStream, 1);

    stream->server = exchange->server;
    stream->connection = exchange->connection;
    stream->waiting = g_string_new(NULL);
    stream->closed = closed;
    stream->user_data = user_data;
    g_hash_table_add(exchange->server->streams, stream);
    exchange->stream = stream;
    drover_http_answer(exchange, MHD_HTTP_OK, type, NULL);
    return stream;
}

static struct MHD_Response *
response_of(const DroverHttpExchange *exchange)
{
    gsize size = 0;
    gconstpointer data;
    struct MHD_Response *response;

    if (exchange->stream != NULL)
        return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK, read_stream,
                                                 exchange->stream, end_stream);
    if (exchange->content == NULL)
        return MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    data = g_bytes_get_data(exchange->content, &size);
    response = MHD_create_response_from_buffer_with_free_callback_cls(
        size, (void *)data, unref_content, g_bytes_ref(exchange->content));
    return response;
}

static enum MHD_Result
queue(DroverHttpExchange *exchange)
{
    struct MHD_Response *response = response_of(exchange);
    enum MHD_Result result;

    for (char **header = exchange->server->headers; *header != NULL; header += 2)
        MHD_add_response_header(response, header[0], header[1]);
    if (exchange->type != NULL)
        MHD_add_response_header(response, "Content-Type", exchange->type);
    for (guint i = 0; i < exchange->headers->len; i++) {
        const Header *header = &g_array_index(exchange->headers, Header, i);

        MHD_add_response_header(response, header->name, header->value);
    }
    exchange->queued = TRUE;
    result = MHD_queue_response(exchange->connection, exchange->status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result
refuse(DroverHttpExchange *exchange, guint status, const char *text)
{
    drover_http_add_header(exchange, "Connection", "close");
    drover_http_answer_text(exchange, status, text);
    return queue(exchange);
}

/* ---- Requests ---- */

static enum MHD_Result
read_field(void *data, enum MHD_ValueKind kind, const char *name, const char *value)
{
    DroverHttpExchange *exchange = data;

    exchange->malformed = !drover_http_add_field(exchange->fields, name, value);
    return exchange->malformed ? MHD_NO : MHD_YES;
}

static gboolean
read_fields(DroverHttpExchange *exchange)
{
    MHD_get_connection_values(exchange->connection, MHD_HEADER_KIND, read_field, exchange);
    return !exchange->malformed;
}

/* Path and query. */
static gboolean
read_address(DroverHttpExchange *exchange)
{
    const char *mark = strchr(exchange->address, '?');
    gsize length = mark != NULL ? (gsize)(mark - exchange->address) : strlen(exchange->address);

    exchange->path = drover_http_decode(exchange->address, length, FALSE);
    return exchange->path != NULL &&
           (mark == NULL ||
            drover_http_read_parameters(exchange->parameters, mark + 1, strlen(mark + 1)));
}

static gboolean
read_form(DroverHttpExchange *exchange)
{
    const char *type = drover_http_header(exchange, "Content-Type");

    return type == NULL || g_ascii_strncasecmp(type, FORM_TYPE, strlen(FORM_TYPE)) != 0 ||
           drover_http_read_parameters(exchange->parameters, (const char *)exchange->body->data,
                                       exchange->body->len);
}

static gboolean
is_too_large(const DroverHttpExchange *exchange)
{
    const char *text = drover_http_header(exchange, "Content-Length");

    return text != NULL && g_ascii_strtoull(text, NULL, 10) > BODY_LIMIT;
}

/* The head is there; a body may follow. */
static enum MHD_Result
begin(DroverHttpExchange *exchange, const char *method)
{
    const DroverHttpServer *server = exchange->server;

    exchange->began = TRUE;
    exchange->method = g_strdup(method);
    if (server->connections > BUSY_CONNECTIONS) {
        drover_http_add_header(exchange, "Retry-After", "1");
        return refuse(exchange, MHD_HTTP_SERVICE_UNAVAILABLE, "Too many connections");
    }
    if (!read_fields(exchange))
        return refuse(exchange, MHD_HTTP_BAD_REQUEST, "The header fields can be read in two ways");
    if (!g_strv_contains((const char *const *)server->methods, method)) {
        drover_http_add_header(exchange, "Allow", server->allow);
        return refuse(exchange, MHD_HTTP_METHOD_NOT_ALLOWED, "Method not allowed");
    }
    if (is_too_large(exchange))
        return refuse(exchange, MHD_HTTP_CONTENT_TOO_LARGE, "Request body too large");
    if (!read_address(exchange))
        return refuse(exchange, MHD_HTTP_BAD_REQUEST, "The address is not well encoded");
    return MHD_YES;
}

static enum MHD_Result
take_body(DroverHttpExchange *exchange, const char *data, size_t *size)
{
    /* What a client goes on sending after it was refused is not kept. */
    if (!exchange->queued && exchange->body->len + *size <= BODY_LIMIT) {
        g_byte_array_append(exchange->body, (const guint8 *)data, (guint)*size);
    } else if (!exchange->answered) {
        drover_http_add_header(exchange, "Connection", "close");
        drover_http_answer_text(exchange, MHD_HTTP_CONTENT_TOO_LARGE, "Request body too large");
    }
    *size = 0;
    return MHD_YES;
}

static enum MHD_Result
hand_over(DroverHttpExchange *exchange)
{
    if (!read_form(exchange))
        return refuse(exchange, MHD_HTTP_BAD_REQUEST, "The form is not well encoded");
    exchange->joined = drover_http_join_parameters(exchange->parameters);
    exchange->handed_over = TRUE;
    exchange->server->handler(exchange, exchange->server->user_data);
    if (exchange->answered)
        return queue(exchange);
    exchange->suspended = TRUE;
    g_hash_table_add(exchange->server->pending, exchange);
    MHD_suspend_connection(exchange->connection);
    return MHD_YES;
}

static enum MHD_Result
on_access(void *data, struct MHD_Connection *connection, const char *url, const char *method,
          const char *version, const char *upload, size_t *upload_size, void **context)
{
    DroverHttpExchange *exchange = *context;

    if (!exchange->began)
        return begin(exchange, method);
    if (*upload_size > 0)
        return take_body(exchange, upload, upload_size);
    if (exchange->answered)
        return exchange->queued ? MHD_YES : queue(exchange);
    return exchange->handed_over ? MHD_YES : hand_over(exchange);
}

static void
on_connection(void *data, struct MHD_Connection *connection, void **socket_context,
              enum MHD_ConnectionNotificationCode code)
{
    DroverHttpServer *server = data;

    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        server->connections++;
    else
        server->connections--;
    server->full = server->full || server->connections >= MOST_CONNECTIONS;
}

/* Addresses are decoded by read_address(), which refuses what is broken. */
static size_t
keep_escapes(void *data, struct MHD_Connection *connection, char *text)
{
    return strlen(text);
}

/* ---- Life ---- */

static GInetAddress *
find_address(const char *name, GError **error)
{
    GInetAddress *literal = g_inet_address_new_from_string(name);
    g_autoptr(GResolver) resolver = NULL;
    GList *found;

    if (literal != NULL)
        return literal;
    resolver = g_resolver_get_default();
    found = g_resolver_lookup_by_name(resolver, name, NULL, error);
    if (found != NULL)
        literal = g_object_ref(found->data);
    g_resolver_free_addresses(found);
    return literal;
}

static GSocket *
listen_on(const DroverHttpOptions *options, GError **error)
{
    g_autoptr(GInetAddress) address = find_address(options->address, error);
    g_autoptr(GSocketAddress) place = NULL;
    g_autoptr(GSocket) socket = NULL;

    if (address == NULL)
        return NULL;
    place = g_inet_socket_address_new(address, (guint16)options->port);
    socket = g_socket_new(g_inet_address_get_family(address), G_SOCKET_TYPE_STREAM,
                          G_SOCKET_PROTOCOL_TCP, error);
    if (socket == NULL || !g_socket_bind(socket, place, TRUE, error))
        return NULL;
    g_socket_set_listen_backlog(socket, BACKLOG);
    g_socket_set_blocking(socket, FALSE);
    return g_socket_listen(socket, error) ? g_steal_pointer(&socket) : NULL;
}

static guint16
port_of(GSocket *socket)
{
    g_autoptr(GSocketAddress) place = g_socket_get_local_address(socket, NULL);

    return place != NULL ? g_inet_socket_address_get_port(G_INET_SOCKET_ADDRESS(place)) : 0;
}

/* "Name: value\n..." as name, value, ... */
static char **
split_headers(const char *text)
{
    g_auto(GStrv) lines = g_strsplit(text != NULL ? text : "", "\n", -1);
    GPtrArray *words = g_ptr_array_new();

    for (char **line = lines; *line != NULL; line++) {
        g_auto(GStrv) halves = g_strsplit(*line, ": ", 2);

        if (g_strv_length(halves) == 2) {
            g_ptr_array_add(words, g_strdup(halves[0]));
            g_ptr_array_add(words, g_strdup(halves[1]));
        }
    }
    g_ptr_array_add(words, NULL);
    return (char **)g_ptr_array_free(words, FALSE);
}

static struct MHD_Daemon *
start(DroverHttpServer *server, int fd, guint patience)
{
    return MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, on_access, server,
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned int)MOST_CONNECTIONS,
        MHD_OPTION_CONNECTION_TIMEOUT, patience, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)HEADER_LIMIT, MHD_OPTION_URI_LOG_CALLBACK, on_address, server,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, server, MHD_OPTION_NOTIFY_CONNECTION,
        on_connection, server, MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL, MHD_OPTION_END);
}

DroverHttpServer *
drover_http_server_new(const DroverHttpOptions *options, GError **error)
{
    g_autoptr(GSocket) socket = listen_on(options, error);
    DroverHttpServer *server;
    int fd;

    if (socket == NULL) {
        g_prefix_error(error, "cannot listen on %s port %d: ", options->address, options->port);
        return NULL;
    }
    server = g_new0(DroverHttpServer, 1);
    server->pending = g_hash_table_new(NULL, NULL);
    server->streams = g_hash_table_new(NULL, NULL);
    server->port = port_of(socket);
    server->allow = g_strdup(options->allow);
    server->methods = g_strsplit(options->allow, ", ", -1);
    server->headers = split_headers(options->headers);
    server->handler = options->handler;
    server->user_data = options->user_data;
    fd = dup(g_socket_get_fd(socket)); /* the library closes its own */
    server->daemon =
        start(server, fd, options->patience > 0 ? options->patience : DEFAULT_PATIENCE);
    if (server->daemon == NULL) {
        close(fd);
        g_set_error(error, DROVER_ERROR, DROVER_ERROR_FAILED, "cannot serve on %s port %d",
                    options->address, options->port);
        drover_http_server_free(server);
        return NULL;
    }
    server->fd_source =
        g_unix_fd_add(MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd,
                      G_IO_IN, on_readable, server);
    return server;
}

/* The library ends no connection that waits. */
static void
abandon_pending(DroverHttpServer *server)
{
    GHashTableIter iter;
    gpointer exchange;

    g_hash_table_iter_init(&iter, server->pending);
    while (g_hash_table_iter_next(&iter, &exchange, NULL))
        MHD_resume_connection(((DroverHttpExchange *)exchange)->connection);
    g_hash_table_iter_init(&iter, server->streams);
    while (g_hash_table_iter_next(&iter, &exchange, NULL))
        wake_stream(exchange);
}

void
drover_http_server_free(DroverHttpServer *server)
{
    if (server == NULL)
        return;
    if (server->daemon != NULL) {
        MHD_run(server->daemon); /* sends what was answered last, as far as it goes */
        abandon_pending(server);
        MHD_stop_daemon(server->daemon);
    }
    g_clear_handle_id(&server->fd_source, g_source_remove);
    g_clear_handle_id(&server->timer, g_source_remove);
    g_hash_table_unref(server->pending);
    g_hash_table_unref(server->streams);
    g_free(server->allow);
    g_strfreev(server->methods);
    g_strfreev(server->headers);
    g_free(server);
}

guint16
drover_http_server_port(const DroverHttpServer *server)
{
    return server->port;
}
