#include "driver/channel.h"

#include <pthread.h>

typedef struct {
    DroverChannelFunc func;
    gpointer data;
    GDestroyNotify destroy;
} Message;

struct _DroverChannel {
    gint references; /* atomic: the owner's, and one while messages are handled */
    GSource *source;
    /* Not GLib's, which the thread sanitizer cannot look into. */
    pthread_mutex_t lock;
    GQueue messages; /* of Message */
    gboolean closed;
};

typedef struct {
    GSource source;
    DroverChannel *channel;
} ChannelSource;

static void
message_free(gpointer data)
{
    Message *message = data;

    if (message->destroy != NULL)
        message->destroy(message->data);
    g_free(message);
}

/* The oldest message; NULL when there is none. */
static Message *
take(DroverChannel *channel)
{
    Message *message;

    pthread_mutex_lock(&channel->lock);
    message = g_queue_pop_head(&channel->messages);
    pthread_mutex_unlock(&channel->lock);
    return message;
}

static gboolean
dispatch(GSource *source, GSourceFunc callback, gpointer data)
{
    DroverChannel *channel = ((ChannelSource *)source)->channel;
    guint count;

    g_atomic_int_inc(&channel->references);
    g_source_set_ready_time(source, -1);
    pthread_mutex_lock(&channel->lock);
    count = channel->messages.length;
    pthread_mutex_unlock(&channel->lock);
    /* What comes meanwhile waits for the next turn, so that other sources get theirs. */
    for (; count > 0; count--) {
        Message *message = take(channel);

        if (message == NULL)
            break; /* it was closed */
        message->func(message->data);
        message_free(message);
    }
    drover_channel_unref(channel);
    return G_SOURCE_CONTINUE;
}

static GSourceFuncs channel_source = {.dispatch = dispatch};

DroverChannel *
drover_channel_new(GMainContext *context)
{
    DroverChannel *channel = g_new0(DroverChannel, 1);

    channel->references = 1;
    pthread_mutex_init(&channel->lock, NULL);
    g_queue_init(&channel->messages);
    channel->source = g_source_new(&channel_source, sizeof(ChannelSource));
    ((ChannelSource *)channel->source)->channel = channel;
    g_source_attach(channel->source, context);
    return channel;
}

void
drover_channel_unref(DroverChannel *channel)
{
    if (!g_atomic_int_dec_and_test(&channel->references))
        return;
    g_queue_clear_full(&channel->messages, message_free);
    g_source_destroy(channel->source);
    g_source_unref(channel->source);
    pthread_mutex_destroy(&channel->lock);
    g_free(channel);
}

void
drover_channel_post(DroverChannel *channel, DroverChannelFunc func, gpointer data,
                    GDestroyNotify destroy)
{
    Message *message = g_new(Message, 1);
    gboolean taken;

    *message = (Message){.func = func, .data = data, .destroy = destroy};
    pthread_mutex_lock(&channel->lock);
    taken = !channel->closed;
    if (taken) {
        g_queue_push_tail(&channel->messages, message);
        g_source_set_ready_time(channel->source, 0);
    }
    pthread_mutex_unlock(&channel->lock);
    if (!taken)
        message_free(message);
}

void
drover_channel_close(DroverChannel *channel)
{
    Message *message;

    pthread_mutex_lock(&channel->lock);
    channel->closed = TRUE;
    pthread_mutex_unlock(&channel->lock);
    g_source_destroy(channel->source);
    while ((message = take(channel)) != NULL)
        message_free(message);
}
