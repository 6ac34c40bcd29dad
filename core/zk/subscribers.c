#include "zk/subscribers.h"

#include <string.h>

typedef struct {
    guint id;   /* 0: removed while somebody iterates */
    char *root; /* NULL: a listener */
    DroverSessionListener listener;
    DroverSessionObserver observer;
    gpointer user_data;
} Subscriber;

struct _DroverSubscribers {
    GPtrArray *list; /* of Subscriber */
    guint last_id;
    guint iterating; /* how often, one within the other */
};

static void
subscriber_free(gpointer data)
{
    Subscriber *subscriber = data;

    g_free(subscriber->root);
    g_free(subscriber);
}

DroverSubscribers *
drover_subscribers_new(void)
{
    DroverSubscribers *subscribers = g_new0(DroverSubscribers, 1);

    subscribers->list = g_ptr_array_new_with_free_func(subscriber_free);
    return subscribers;
}

void
drover_subscribers_free(DroverSubscribers *subscribers)
{
    g_ptr_array_unref(subscribers->list);
    g_free(subscribers);
}

/* ---- Coming and going ---- */

static guint
add(DroverSubscribers *subscribers, Subscriber *subscriber)
{
    subscriber->id = ++subscribers->last_id;
    g_ptr_array_add(subscribers->list, subscriber);
    return subscriber->id;
}

guint
drover_subscribers_add_listener(DroverSubscribers *subscribers, DroverSessionListener listener,
                                gpointer user_data)
{
    Subscriber *subscriber = g_new0(Subscriber, 1);

    subscriber->listener = listener;
    subscriber->user_data = user_data;
    return add(subscribers, subscriber);
}

guint
drover_subscribers_add_observer(DroverSubscribers *subscribers, const char *root,
                                const DroverSessionObserver *observer, gpointer user_data)
{
    Subscriber *subscriber = g_new0(Subscriber, 1);

    subscriber->root = g_strdup(root);
    subscriber->observer = *observer;
    subscriber->user_data = user_data;
    return add(subscribers, subscriber);
}

static void
sweep_removed(DroverSubscribers *subscribers)
{
    for (guint i = subscribers->list->len; i > 0; i--) {
        Subscriber *subscriber = g_ptr_array_index(subscribers->list, i - 1);

        if (subscriber->id == 0)
            g_ptr_array_remove_index(subscribers->list, i - 1);
    }
}

void
drover_subscribers_remove(DroverSubscribers *subscribers, guint id)
{
    for (guint i = 0; id != 0 && i < subscribers->list->len; i++) {
        Subscriber *subscriber = g_ptr_array_index(subscribers->list, i);

        if (subscriber->id == id)
            subscriber->id = 0;
    }
    if (subscribers->iterating == 0)
        sweep_removed(subscribers);
}

/* ---- Telling ---- */

/* Runs the code that follows for each one that is there now. */
#define for_each_subscriber(subscribers, subscriber, code)                                         \
    do {                                                                                           \
        guint count_ = (subscribers)->list->len;                                                   \
        (subscribers)->iterating++;                                                                \
        for (guint i_ = 0; i_ < count_; i_++) {                                                    \
            Subscriber *subscriber = g_ptr_array_index((subscribers)->list, i_);                   \
            if (subscriber->id != 0)                                                               \
                code;                                                                              \
        }                                                                                          \
        if (--(subscribers)->iterating == 0)                                                       \
            sweep_removed(subscribers);                                                            \
    } while (0)

static gboolean
is_about(const Subscriber *subscriber, const char *path)
{
    gsize length = subscriber->root != NULL ? strlen(subscriber->root) : 0;

    return length > 0 && strncmp(path, subscriber->root, length) == 0 &&
           (path[length] == '\0' || path[length] == '/');
}

void
drover_subscribers_tell_state(DroverSubscribers *subscribers, DroverSession *session,
                              DroverSessionState state)
{
    for_each_subscriber(subscribers, subscriber, {
        if (subscriber->listener != NULL)
            subscriber->listener(session, state, subscriber->user_data);
    });
}

void
drover_subscribers_tell_event(DroverSubscribers *subscribers, const char *path, int type)
{
    for_each_subscriber(subscribers, subscriber, {
        if (is_about(subscriber, path) && subscriber->observer.event != NULL)
            subscriber->observer.event(path, type, subscriber->user_data);
    });
}

void
drover_subscribers_tell_write(DroverSubscribers *subscribers, const char *path, GBytes *data,
                              gint32 version, gint64 mzxid)
{
    for_each_subscriber(subscribers, subscriber, {
        if (is_about(subscriber, path) && subscriber->observer.wrote != NULL)
            subscriber->observer.wrote(path, data, version, mzxid, subscriber->user_data);
    });
}
