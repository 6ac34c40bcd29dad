#include <string.h>

#include "http/server-private.h"

#define STREAM_BLOCK 4096
#define MOST_UNREAD  30 /* events */

struct _DroverHttpStream {
    DroverHttpServer *server;
    struct MHD_Connection *connection;
    DroverGuest *guest;
    GQueue events; /* of GBytes, to be read by the library */
    gsize read;    /* of the first one */
    gboolean suspended;
    DroverHttpStreamFunc closed;
    gpointer user_data;
};

/* From the first event; the event goes with its last byte. */
static gsize
read_event(DroverHttpStream *stream, char *buffer, gsize most)
{
    GBytes *event = g_queue_peek_head(&stream->events);
    gsize size;
    const char *data = g_bytes_get_data(event, &size);
    gsize part = MIN(most, size - stream->read);

    memcpy(buffer, data + stream->read, part);
    stream->read += part;
    if (stream->read == size) {
        g_bytes_unref(g_queue_pop_head(&stream->events));
        stream->read = 0;
    }
    return part;
}

/* Nothing to read: the connection sleeps until there is. */
static ssize_t
read_stream(void *data, uint64_t position, char *buffer, size_t most)
{
    DroverHttpStream *stream = data;
    gsize size = 0;

    while (size < most && !g_queue_is_empty(&stream->events))
        size += read_event(stream, buffer + size, most - size);
    if (size == 0) {
        stream->suspended = TRUE;
        MHD_suspend_connection(stream->connection);
    }
    return (ssize_t)size;
}

static void
end_stream(void *data)
{
    DroverHttpStream *stream = data;

    g_hash_table_remove(stream->server->streams, stream);
    stream->closed(stream, stream->user_data);
    g_queue_clear_full(&stream->events, (GDestroyNotify)g_bytes_unref);
    g_free(stream);
}

struct MHD_Response *
drover_http_stream_response(DroverHttpStream *stream)
{
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK, read_stream, stream,
                                             end_stream);
}

void
drover_http_stream_wake(DroverHttpStream *stream)
{
    if (!stream->suspended)
        return;
    stream->suspended = FALSE;
    MHD_resume_connection(stream->connection);
}

void
drover_http_stream_send(DroverHttpStream *stream, GBytes *event)
{
    if (g_bytes_get_size(event) == 0)
        return;
    if (g_queue_get_length(&stream->events) >= MOST_UNREAD) {
        drover_guest_cut_off(stream->guest, DROVER_HTTP_CUT_UNREAD);
    } else {
        g_queue_push_tail(&stream->events, g_bytes_ref(event));
        drover_http_stream_wake(stream);
    }
    drover_http_server_serve_soon(stream->server);
}

DroverHttpStream *
drover_http_answer_stream(DroverHttpExchange *exchange, const char *type,
                          DroverHttpStreamFunc closed, gpointer user_data)
{
    DroverHttpStream *stream = g_new0(DroverHttpStream, 1);

    stream->server = exchange->server;
    stream->connection = exchange->connection;
    stream->guest = exchange->guest;
    g_queue_init(&stream->events);
    stream->closed = closed;
    stream->user_data = user_data;
    g_hash_table_add(exchange->server->streams, stream);
    exchange->stream = stream;
    drover_http_answer(exchange, MHD_HTTP_OK, type, NULL);
    return stream;
}
