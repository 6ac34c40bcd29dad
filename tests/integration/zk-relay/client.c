#include "client.h"

#include <string.h>

enum { SESSION_MS = 10000, WAIT_SECONDS = 30 };

struct _Client {
    zhandle_t *zh;
    GMutex lock;
    GCond changed;
    guint connections;
};

static void
on_event(zhandle_t *zh, int type, int state, const char *path, void *context)
{
    Client *client = context;

    if (type != ZOO_SESSION_EVENT || state != ZOO_CONNECTED_STATE)
        return;
    g_mutex_lock(&client->lock);
    client->connections++;
    g_cond_broadcast(&client->changed);
    g_mutex_unlock(&client->lock);
}

Client *
client_new(const char *hosts)
{
    Client *client = g_new0(Client, 1);

    zoo_set_debug_level(0);
    g_mutex_init(&client->lock);
    g_cond_init(&client->changed);
    client->zh = zookeeper_init(hosts, on_event, SESSION_MS, NULL, client, 0);
    g_assert_nonnull(client->zh);
    return client;
}

void
client_free(Client *client)
{
    if (client == NULL)
        return;
    zookeeper_close(client->zh);
    g_mutex_clear(&client->lock);
    g_cond_clear(&client->changed);
    g_free(client);
}

zhandle_t *
client_handle(Client *client)
{
    return client->zh;
}

gboolean
client_is_connected(Client *client)
{
    return zoo_state(client->zh) == ZOO_CONNECTED_STATE;
}

guint
client_connections(Client *client)
{
    guint number;

    g_mutex_lock(&client->lock);
    number = client->connections;
    g_mutex_unlock(&client->lock);
    return number;
}

void
client_wait_connections(Client *client, guint number)
{
    gint64 deadline = g_get_monotonic_time() + WAIT_SECONDS * G_USEC_PER_SEC;

    g_mutex_lock(&client->lock);
    while (client->connections < number)
        g_assert_true(g_cond_wait_until(&client->changed, &client->lock, deadline));
    g_mutex_unlock(&client->lock);
}

void
client_wait_connected(Client *client)
{
    client_wait_connections(client, 1);
}

void
client_create(Client *client, const char *path, const char *data, int flags)
{
    int rc =
        zoo_create(client->zh, path, data, (int)strlen(data), &ZOO_OPEN_ACL_UNSAFE, flags, NULL, 0);

    g_assert_cmpint(rc, ==, ZOK);
}

char *
client_get(Client *client, const char *path)
{
    char data[1024];
    int size = sizeof data;

    g_assert_cmpint(zoo_get(client->zh, path, 0, data, &size, NULL), ==, ZOK);
    return g_strndup(data, (gsize)size);
}
