/*
 * A plain ZooKeeper C client, with calls that wait. A call that fails ends the test.
 */
#pragma once

#include <glib.h>
#include <zookeeper/zookeeper.h>

typedef struct _Client Client;

/* Begins to connect. */
Client *client_new(const char *hosts);
/* Closes the session; free of the connection's fate. */
void client_free(Client *client);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Client, client_free)

zhandle_t *client_handle(Client *client);
void client_wait_connected(Client *client);
gboolean client_is_connected(Client *client);
/* How often it has been connected so far. */
guint client_connections(Client *client);
void client_wait_connections(Client *client, guint number);

void client_create(Client *client, const char *path, const char *data, int flags);
/* Free with g_free. */
char *client_get(Client *client, const char *path);
