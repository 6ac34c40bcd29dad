#include "zk/mailbox.h"

struct _DroverMailbox {
    GMutex lock;
    GCond changed;   /* something came into the empty queue, or the last answer */
    GQueue queue;    /* to be delivered */
    GQueue expected; /* answers still to come */
    GSource *source;
    guint64 batches;
};

/* ---- Posting ---- */

void
drover_mailbox_expect(DroverMailbox *mailbox, DroverMessage *message, int rc)
{
    message->link.data = message;
    message->expected = TRUE;
    message->rc = rc;
    g_mutex_lock(&mailbox->lock);
    g_queue_push_tail_link(&mailbox->expected, &message->link);
    g_mutex_unlock(&mailbox->lock);
}

void
drover_mailbox_post(DroverMailbox *mailbox, DroverMessage *message)
{
    gboolean wake;

    g_mutex_lock(&mailbox->lock);
    if (message->expected)
        g_queue_unlink(&mailbox->expected, &message->link);
    message->expected = FALSE;
    message->link.data = message;
    wake = g_queue_is_empty(&mailbox->queue);
    g_queue_push_tail_link(&mailbox->queue, &message->link);
    if (wake)
        g_source_set_ready_time(mailbox->source, 0);
    if (wake || g_queue_is_empty(&mailbox->expected))
        g_cond_signal(&mailbox->changed);
    g_mutex_unlock(&mailbox->lock);
}

void
drover_mailbox_give_up_expected(DroverMailbox *mailbox)
{
    GList *link;

    while ((link = g_queue_peek_head_link(&mailbox->expected)) != NULL)
        drover_mailbox_post(mailbox, link->data);
}

/* ---- Delivering ---- */

gboolean
drover_mailbox_deliver(DroverMailbox *mailbox)
{
    GQueue batch;
    GList *link;

    g_mutex_lock(&mailbox->lock);
    batch = mailbox->queue;
    g_queue_init(&mailbox->queue);
    g_source_set_ready_time(mailbox->source, -1);
    g_mutex_unlock(&mailbox->lock);

    if (g_queue_is_empty(&batch))
        return FALSE;
    mailbox->batches++;
    while ((link = g_queue_pop_head_link(&batch)) != NULL) {
        DroverMessage *message = link->data;
        message->deliver(message);
    }
    return TRUE;
}

void
drover_mailbox_deliver_expected(DroverMailbox *mailbox, gint64 deadline)
{
    gboolean in_time = TRUE;

    while (in_time) {
        g_mutex_lock(&mailbox->lock);
        while (in_time && g_queue_is_empty(&mailbox->queue) &&
               !g_queue_is_empty(&mailbox->expected))
            in_time = g_cond_wait_until(&mailbox->changed, &mailbox->lock, deadline);
        g_mutex_unlock(&mailbox->lock);
        in_time = drover_mailbox_deliver(mailbox) && g_get_monotonic_time() < deadline;
    }
}

void
drover_mailbox_await_expected(DroverMailbox *mailbox, gint64 deadline)
{
    gboolean in_time = TRUE;

    g_mutex_lock(&mailbox->lock);
    while (in_time && !g_queue_is_empty(&mailbox->expected))
        in_time = g_cond_wait_until(&mailbox->changed, &mailbox->lock, deadline);
    g_mutex_unlock(&mailbox->lock);
}

static gboolean
on_ready(gpointer user_data)
{
    drover_mailbox_deliver(user_data);
    return G_SOURCE_CONTINUE;
}

static gboolean
dispatch(GSource *source, GSourceFunc callback, gpointer user_data)
{
    return callback(user_data);
}

/* ---- Life ---- */

DroverMailbox *
drover_mailbox_new(void)
{
    /* Ready when its time is set, by any thread. */
    static GSourceFuncs ready_at = {.dispatch = dispatch};
    DroverMailbox *mailbox = g_new0(DroverMailbox, 1);

    g_mutex_init(&mailbox->lock);
    g_cond_init(&mailbox->changed);
    g_queue_init(&mailbox->queue);
    g_queue_init(&mailbox->expected);
    mailbox->source = g_source_new(&ready_at, sizeof(GSource));
    g_source_set_callback(mailbox->source, on_ready, mailbox, NULL);
    g_source_attach(mailbox->source, NULL);
    return mailbox;
}

void
drover_mailbox_free(DroverMailbox *mailbox)
{
    g_source_destroy(mailbox->source);
    g_source_unref(mailbox->source);
    g_mutex_clear(&mailbox->lock);
    g_cond_clear(&mailbox->changed);
    g_free(mailbox);
}

guint64
drover_mailbox_batches(const DroverMailbox *mailbox)
{
    return mailbox->batches;
}

static guint
length_of(DroverMailbox *mailbox, GQueue *queue)
{
    guint length;

    g_mutex_lock(&mailbox->lock);
    length = g_queue_get_length(queue);
    g_mutex_unlock(&mailbox->lock);
    return length;
}

guint
drover_mailbox_expected(DroverMailbox *mailbox)
{
    return length_of(mailbox, &mailbox->expected);
}

guint
drover_mailbox_waiting(DroverMailbox *mailbox)
{
    return length_of(mailbox, &mailbox->queue);
}
