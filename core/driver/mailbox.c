#include "driver/mailbox.h"

#include <pthread.h>

typedef struct {
    DroverMailboxFunc func;
    gpointer data;
    GDestroyNotify destroy;
} Message;

struct _DroverMailbox {
    gatomicrefcount references; /* the owner's, and one while messages are handled */
    GSource *source;
    /* Not GLib's, which the thread sanitizer cannot look into. */
    pthread_mutex_t lock;
    GQueue messages; /* of Message */
    gboolean closed;
};

typedef struct {
    GSource source;
    DroverMailbox *mailbox;
} MailboxSource;

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
take(DroverMailbox *mailbox)
{
    Message *message;

    pthread_mutex_lock(&mailbox->lock);
    message = g_queue_pop_head(&mailbox->messages);
    pthread_mutex_unlock(&mailbox->lock);
    return message;
}

static gboolean
dispatch(GSource *source, GSourceFunc callback, gpointer data)
{
    DroverMailbox *mailbox = ((MailboxSource *)source)->mailbox;
    guint count;

    g_atomic_ref_count_inc(&mailbox->references);
    g_source_set_ready_time(source, -1);
    pthread_mutex_lock(&mailbox->lock);
    count = mailbox->messages.length;
    pthread_mutex_unlock(&mailbox->lock);
    /* What comes meanwhile waits for the next turn, so that other sources get theirs. */
    for (; count > 0; count--) {
        Message *message = take(mailbox);

        if (message == NULL)
            break; /* it was closed */
        message->func(message->data);
        message_free(message);
    }
    drover_mailbox_unref(mailbox);
    return G_SOURCE_CONTINUE;
}

static GSourceFuncs mailbox_source = {.dispatch = dispatch};

DroverMailbox *
drover_mailbox_new(GMainContext *context)
{
    DroverMailbox *mailbox = g_new0(DroverMailbox, 1);

    g_atomic_ref_count_init(&mailbox->references);
    pthread_mutex_init(&mailbox->lock, NULL);
    g_queue_init(&mailbox->messages);
    mailbox->source = g_source_new(&mailbox_source, sizeof(MailboxSource));
    ((MailboxSource *)mailbox->source)->mailbox = mailbox;
    g_source_attach(mailbox->source, context);
    return mailbox;
}

void
drover_mailbox_unref(DroverMailbox *mailbox)
{
    if (!g_atomic_ref_count_dec(&mailbox->references))
        return;
    g_queue_clear_full(&mailbox->messages, message_free);
    g_source_destroy(mailbox->source);
    g_source_unref(mailbox->source);
    pthread_mutex_destroy(&mailbox->lock);
    g_free(mailbox);
}

void
drover_mailbox_post(DroverMailbox *mailbox, DroverMailboxFunc func, gpointer data,
                    GDestroyNotify destroy)
{
    Message *message = g_new(Message, 1);
    gboolean taken;

    *message = (Message){.func = func, .data = data, .destroy = destroy};
    pthread_mutex_lock(&mailbox->lock);
    taken = !mailbox->closed;
    if (taken) {
        g_queue_push_tail(&mailbox->messages, message);
        g_source_set_ready_time(mailbox->source, 0);
    }
    pthread_mutex_unlock(&mailbox->lock);
    if (!taken)
        message_free(message);
}

void
drover_mailbox_close(DroverMailbox *mailbox)
{
    Message *message;

    pthread_mutex_lock(&mailbox->lock);
    mailbox->closed = TRUE;
    pthread_mutex_unlock(&mailbox->lock);
    g_source_destroy(mailbox->source);
    while ((message = take(mailbox)) != NULL)
        message_free(message);
}
