#include "driver/frames.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HEAD 4
/* What is kept for a side that does not read. */
#define MOST_KEPT (256 * 1024 * 1024)

struct _DroverFrames {
    int fd;
    gsize most;
    gboolean patient;
    _Atomic gboolean broken;
    GByteArray *in, *out;
    pthread_mutex_t lock; /* of `out` and of sending */
    GSource *source;
    gpointer tag;
    const DroverFramesHooks *hooks;
    gpointer user_data;
};

typedef struct {
    GSource source;
    DroverFrames *frames;
} FramesSource;

/* ---- Sending ---- */

/* Sends what it can. */
static void
flush(DroverFrames *frames)
{
    while (frames->out->len > 0 && !frames->broken) {
        ssize_t sent = send(frames->fd, frames->out->data, frames->out->len,
                            MSG_NOSIGNAL | (frames->patient ? 0 : MSG_DONTWAIT));

        if (sent > 0)
            g_byte_array_remove_range(frames->out, 0, (guint)sent);
        else if (errno == EAGAIN)
            break;
        else if (errno != EINTR)
            frames->broken = TRUE;
    }
    if (!frames->patient)
        g_source_modify_unix_fd(frames->source, frames->tag,
                                G_IO_IN | (frames->out->len > 0 ? G_IO_OUT : 0));
}

void
drover_frames_send(DroverFrames *frames, json_t *frame)
{
    char *text = json_dumps(frame, JSON_COMPACT);
    gsize length = text != NULL ? strlen(text) : 0;
    guint32 head = GUINT32_TO_BE((guint32)length);

    json_decref(frame);
    pthread_mutex_lock(&frames->lock);
    if (text == NULL || frames->out->len + length > MOST_KEPT)
        frames->broken = TRUE;
    if (!frames->broken) {
        g_byte_array_append(frames->out, (const guint8 *)&head, HEAD);
        g_byte_array_append(frames->out, (const guint8 *)text, (guint)length);
        flush(frames);
    }
    pthread_mutex_unlock(&frames->lock);
    if (text != NULL) {
        explicit_bzero(text, length); /* it may hold secrets */
        free(text);
    }
}

/* ---- Receiving ---- */

/* Handles one frame. FALSE: there is none that is complete. */
static gboolean
take_frame(DroverFrames *frames)
{
    guint32 length;
    json_t *frame;

    if (frames->broken || frames->in->len < HEAD)
        return FALSE;
    memcpy(&length, frames->in->data, HEAD);
    length = GUINT32_FROM_BE(length);
    if (length > frames->most) {
        frames->broken = TRUE;
        return FALSE;
    }
    if (frames->in->len - HEAD < length)
        return FALSE;
    frame = json_loadb((const char *)frames->in->data + HEAD, length, JSON_REJECT_DUPLICATES, NULL);
    g_byte_array_remove_range(frames->in, 0, length + HEAD);
    if (!json_is_object(frame) || !frames->hooks->received(frame, frames->user_data))
        frames->broken = TRUE;
    json_decref(frame);
    return TRUE;
}

static void
receive(DroverFrames *frames)
{
    guint8 buffer[64 * 1024];
    ssize_t got = recv(frames->fd, buffer, sizeof(buffer), MSG_DONTWAIT);

    if (got > 0)
        g_byte_array_append(frames->in, buffer, (guint)got);
    else if (got == 0 || (errno != EAGAIN && errno != EINTR))
        frames->broken = TRUE;
}

gboolean
drover_frames_pump(DroverFrames *frames, int milliseconds)
{
    struct pollfd wanted = {.fd = frames->fd, .events = POLLIN};

    pthread_mutex_lock(&frames->lock);
    flush(frames);
    if (!frames->patient && frames->out->len > 0)
        wanted.events |= POLLOUT;
    pthread_mutex_unlock(&frames->lock);
    if (!frames->broken && poll(&wanted, 1, milliseconds) > 0 && (wanted.revents & ~POLLOUT) != 0)
        receive(frames);
    while (take_frame(frames))
        ;
    return !frames->broken;
}

static gboolean
dispatch(GSource *source, GSourceFunc callback, gpointer data)
{
    DroverFrames *frames = ((FramesSource *)source)->frames;

    if (!drover_frames_pump(frames, 0))
        frames->hooks->ended(frames->user_data);
    return G_SOURCE_CONTINUE;
}

static gboolean
check(GSource *source)
{
    const DroverFrames *frames = ((FramesSource *)source)->frames;

    return frames->broken || g_source_query_unix_fd(source, frames->tag) != 0;
}

static gboolean
prepare(GSource *source, gint *timeout)
{
    const DroverFrames *frames = ((FramesSource *)source)->frames;

    *timeout = -1;
    return frames->broken;
}

/* ---- Life ---- */

DroverFrames *
drover_frames_new(int fd, gsize most, gboolean patient, GMainContext *context,
                  const DroverFramesHooks *hooks, gpointer user_data)
{
    static GSourceFuncs functions = {.prepare = prepare, .check = check, .dispatch = dispatch};
    DroverFrames *frames = g_new0(DroverFrames, 1);

    frames->fd = fd;
    frames->most = most;
    frames->patient = patient;
    frames->in = g_byte_array_new();
    frames->out = g_byte_array_new();
    pthread_mutex_init(&frames->lock, NULL);
    frames->hooks = hooks;
    frames->user_data = user_data;
    frames->source = g_source_new(&functions, sizeof(FramesSource));
    ((FramesSource *)frames->source)->frames = frames;
    frames->tag = g_source_add_unix_fd(frames->source, fd, G_IO_IN);
    g_source_attach(frames->source, context);
    return frames;
}

void
drover_frames_free(DroverFrames *frames)
{
    g_source_destroy(frames->source);
    g_source_unref(frames->source);
    close(frames->fd);
    g_byte_array_unref(frames->in);
    g_byte_array_unref(frames->out);
    pthread_mutex_destroy(&frames->lock);
    g_free(frames);
}
