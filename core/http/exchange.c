#include <string.h>

#include "http/fields.h"
#include "http/parameters.h"
#include "http/server-private.h"

#define BODY_LIMIT (64 * 1024)
#define PLAIN_TEXT "text/plain; charset=UTF-8"
#define FORM_TYPE  "application/x-www-form-urlencoded"

/* ---- Life ---- */

static void
clear_header(gpointer data)
{
    DroverHttpAnswerHeader *header = data;

    g_free(header->name);
    g_free(header->value);
}

DroverHttpExchange *
drover_http_exchange_new(DroverHttpServer *server, struct MHD_Connection *connection,
                         const char *address, DroverGuest *guest)
{
    DroverHttpExchange *exchange = g_new0(DroverHttpExchange, 1);

    exchange->server = server;
    exchange->connection = connection;
    exchange->guest = guest;
    exchange->address = g_strdup(address);
    exchange->parameters = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    exchange->fields = drover_http_fields_new();
    exchange->body = g_byte_array_new();
    exchange->headers = g_array_new(FALSE, FALSE, sizeof(DroverHttpAnswerHeader));
    g_array_set_clear_func(exchange->headers, clear_header);
    drover_guest_enter(guest, DROVER_GUEST_ASKING, NULL);
    return exchange;
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
    g_free(exchange->type);
    g_free(exchange);
}

void
drover_http_exchange_end(DroverHttpExchange *exchange)
{
    drover_guest_enter(exchange->guest, DROVER_GUEST_COMING, NULL);
    if (exchange->handed_over && !exchange->answered)
        exchange->connection = NULL;
    else
        exchange_free(exchange);
}

/* ---- What is asked ---- */

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
    DroverHttpAnswerHeader header = {g_strdup(name), g_strdup(value)};

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
        drover_http_server_serve_soon(exchange->server);
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

/* "a", W/"b", ...; or * for any. */
static gboolean
has_tag(const char *list, const char *tag)
{
    g_auto(GStrv) tags = g_strsplit(list != NULL ? list : "", ",", -1);

    for (char **one = tags; *one != NULL; one++) {
        const char *text = g_strstrip(*one);

        if (g_str_has_prefix(text, "W/"))
            text += strlen("W/");
        if (strcmp(text, tag) == 0 || strcmp(text, "*") == 0)
            return TRUE;
    }
    return FALSE;
}

/* The quickest sum there is: nobody gains by two bodies with one tag. */
char *
drover_http_tag(GBytes *body)
{
    g_autofree char *sum = g_compute_checksum_for_bytes(G_CHECKSUM_MD5, body);

    return g_strdup_printf("\"%s\"", sum);
}

gboolean
drover_http_client_has(DroverHttpExchange *exchange, const char *tag)
{
    return has_tag(drover_http_header(exchange, "If-None-Match"), tag);
}

void
drover_http_answer_tagged(DroverHttpExchange *exchange, const char *type, GBytes *body)
{
    g_autofree char *tag = drover_http_tag(body);

    drover_http_add_header(exchange, "ETag", tag);
    if (drover_http_client_has(exchange, tag))
        drover_http_answer(exchange, MHD_HTTP_NOT_MODIFIED, NULL, NULL);
    else
        drover_http_answer(exchange, MHD_HTTP_OK, type, body);
}

static void
unref_content(void *content)
{
    g_bytes_unref(content);
}

static struct MHD_Response *
response_of(const DroverHttpExchange *exchange)
{
    gsize size = 0;
    gconstpointer data;

    if (exchange->stream != NULL)
        return drover_http_stream_response(exchange->stream);
    if (exchange->content == NULL)
        return MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    data = g_bytes_get_data(exchange->content, &size);
    return MHD_create_response_from_buffer_with_free_callback_cls(size, (void *)data, unref_content,
                                                                  g_bytes_ref(exchange->content));
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
        const DroverHttpAnswerHeader *header =
            &g_array_index(exchange->headers, DroverHttpAnswerHeader, i);

        MHD_add_response_header(response, header->name, header->value);
    }
    exchange->queued = TRUE;
    if (exchange->stream == NULL)
        drover_guest_enter(exchange->guest, DROVER_GUEST_TAKING, exchange->content);
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

void
drover_http_exchange_abandon(DroverHttpExchange *exchange)
{
    MHD_resume_connection(exchange->connection);
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
    if (!drover_guests_may_wait(&exchange->server->guests)) {
        drover_http_add_header(exchange, "Retry-After", "1");
        return refuse(exchange, MHD_HTTP_SERVICE_UNAVAILABLE, "Too many wait already");
    }
    exchange->handed_over = TRUE;
    drover_guest_enter(exchange->guest, DROVER_GUEST_WAITING, NULL);
    exchange->server->handler(exchange, exchange->server->user_data);
    if (exchange->answered)
        return queue(exchange);
    exchange->suspended = TRUE;
    g_hash_table_add(exchange->server->pending, exchange);
    MHD_suspend_connection(exchange->connection);
    return MHD_YES;
}

enum MHD_Result
drover_http_exchange_go_on(DroverHttpExchange *exchange, const char *method, const char *upload,
                           size_t *upload_size)
{
    if (!exchange->began)
        return begin(exchange, method);
    if (*upload_size > 0)
        return take_body(exchange, upload, upload_size);
    if (exchange->answered)
        return exchange->queued ? MHD_YES : queue(exchange);
    return exchange->handed_over ? MHD_YES : hand_over(exchange);
}
