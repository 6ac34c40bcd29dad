#include "command/server.h"

#include <glib/gstdio.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/log.h"
#include "command/socket.h"

#define LOGGER           "command"
#define DEFAULT_PATIENCE 10000 /* milliseconds */
#define ACCEPT_PAUSE     1000  /* milliseconds, when no descriptor is left */
#define CHUNK            4096

struct _DroverCommandServer {
    char *path;
    const DroverCommandEntry *table;
    gpointer user_data;
    guint patience;
    GSocket *socket;
    GSource *source; /* NULL during a pause */
    guint pause;
    GHashTable *clients;
};

typedef struct {
    DroverCommandServer *server;
    GSocket *socket;
    GSource *source;
    GIOCondition awaited; /* by the source */
    guint timer;
    GByteArray *input; /* what is not answered yet */
    GByteArray *output;
    guint sent;     /* of the output */
    gboolean ended; /* nothing more is read: closed when the output is sent */
} Client;

static void
client_free(gpointer data)
{
    Client *client = data;

    g_clear_handle_id(&client->timer, g_source_remove);
    if (client->source != NULL)
        g_source_destroy(client->source);
    g_clear_pointer(&client->source, g_source_unref);
    g_socket_close(client->socket, NULL);
    g_object_unref(client->socket);
    g_byte_array_unref(client->input);
    g_byte_array_unref(client->output);
    g_free(client);
}

/* ---- One command ---- */

static const DroverCommandEntry *
find_entry(const DroverCommandServer *server, const char *name)
{
    for (const DroverCommandEntry *entry = server->table; entry->name != NULL; entry++)
        if (g_strcmp0(entry->name, name) == 0)
            return entry;
    return NULL;
}

static gboolean
knows_members(const DroverCommandEntry *entry, json_t *command, GError **error)
{
    const char *key;
    json_t *value;

    json_object_foreach(command, key, value)
    {
        if (strcmp(key, "command") == 0 ||
            (entry->arguments != NULL && g_strv_contains(entry->arguments, key)))
            continue;
        g_set_error(error, DROVER_ERROR, DROVER_ERROR_MALFORMED,
                    "the command %s has no argument \"%s\"", entry->name, key);
        return FALSE;
    }
    return TRUE;
}

static json_t *
run(const DroverCommandServer *server, const char *line, gsize length, GError **error)
{
    g_autoptr(json_t) command = drover_json_parse_object(line, length, error);
    const char *name = drover_json_string(command, "command");
    const DroverCommandEntry *entry = find_entry(server, name);

    if (command == NULL)
        return NULL;
    if (name == NULL || entry == NULL) {
        g_set_error(error, DROVER_ERROR, DROVER_ERROR_MALFORMED, "there is no command \"%s\"",
                    name != NULL ? name : "");
        return NULL;
    }
    drover_log_for(DROVER_LOG_DEBUG, LOGGER, "Command %s", name);
    return knows_members(entry, command, error) ? entry->run(command, server->user_data, error)
                                                : NULL;
}

/* ---- Answers ---- */

/* Takes the value over. */
static void
say(Client *client, const char *member, json_t *value)
{
    g_autoptr(json_t) answer = json_object();
    g_autofree char *text = NULL;

    json_object_set_new(answer, member, value);
    text = drover_json_text(answer);
    g_byte_array_append(client->output, (const guint8 *)text, (guint)strlen(text));
    g_byte_array_append(client->output, (const guint8 *)"\n", 1);
}

static void
answer_line(Client *client, gsize length)
{
    g_autoptr(GError) error = NULL;
    json_t *result = run(client->server, (const char *)client->input->data, length, &error);

    if (result != NULL)
        say(client, "result", result);
    else
        say(client, "error", drover_json_from_string(error->message));
}

static void
refuse(Client *client, const char *why)
{
    say(client, "error", json_string(why));
    client->ended = TRUE;
}

/* ---- One client ---- */

static gboolean
on_impatient(gpointer user_data)
{
    Client *client = user_data;

    client->timer = 0;
    drover_log_for(DROVER_LOG_DEBUG, LOGGER, "A client was silent for too long");
    g_hash_table_remove(client->server->clients, client);
    return G_SOURCE_REMOVE;
}

static void
restart_timer(Client *client)
{
    g_clear_handle_id(&client->timer, g_source_remove);
    client->timer = g_timeout_add(client->server->patience, on_impatient, client);
}

/* Sends what the socket takes. FALSE when the client is gone. */
static gboolean
flush(Client *client)
{
    while (client->sent < client->output->len) {
        g_autoptr(GError) error = NULL;
        gssize n = g_socket_send(client->socket, (const char *)client->output->data + client->sent,
                                 client->output->len - client->sent, NULL, &error);

        if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK))
            return TRUE;
        if (n < 0)
            return FALSE;
        client->sent += (guint)n;
    }
    if (client->sent > 0)
        restart_timer(client);
    g_byte_array_set_size(client->output, 0);
    client->sent = 0;
    return TRUE;
}

/* Reads once. FALSE when the client is gone; what it said before its end is answered. */
static gboolean
receive(Client *client)
{
    char chunk[CHUNK];
    g_autoptr(GError) error = NULL;
    gssize n = g_socket_receive(client->socket, chunk, sizeof(chunk), NULL, &error);

    if (n > 0)
        g_byte_array_append(client->input, (const guint8 *)chunk, (guint)n);
    else if (n == 0)
        client->ended = TRUE;
    return n >= 0 || g_error_matches(error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK);
}

/* One line after the other, each when the answer to the one before is sent. */
static gboolean
answer(Client *client)
{
    const guint8 *end;

    while (client->output->len == 0 && client->input->len > 0 &&
           (end = memchr(client->input->data, '\n', client->input->len)) != NULL) {
        guint length = (guint)(end - client->input->data);

        answer_line(client, length);
        g_byte_array_remove_range(client->input, 0, length + 1);
        if (!flush(client))
            return FALSE;
    }
    if (client->output->len > 0 || client->input->len <= DROVER_COMMAND_MOST_BYTES)
        return TRUE;
    g_byte_array_set_size(client->input, 0);
    refuse(client, "the line is too long");
    return flush(client);
}

static gboolean
is_done(const Client *client)
{
    return client->ended && client->output->len == 0 &&
           (client->input->len == 0 ||
            memchr(client->input->data, '\n', client->input->len) == NULL);
}

static gboolean on_ready(GSocket *socket, GIOCondition condition, gpointer user_data);

/* Nothing is read while an answer has not been taken. */
static void
await(Client *client)
{
    GIOCondition wanted = client->output->len > 0 ? G_IO_OUT : G_IO_IN;

    if (client->source != NULL && client->awaited == wanted)
        return;
    if (client->source != NULL)
        g_source_destroy(client->source);
    g_clear_pointer(&client->source, g_source_unref);
    client->awaited = wanted;
    client->source = g_socket_create_source(client->socket, wanted, NULL);
    g_source_set_callback(client->source, G_SOURCE_FUNC(on_ready), client, NULL);
    g_source_attach(client->source, NULL);
}

static gboolean
on_ready(GSocket *socket, GIOCondition condition, gpointer user_data)
{
    Client *client = user_data;
    gboolean there = client->output->len > 0 ? flush(client) : receive(client);

    if (!there || !answer(client) || is_done(client))
        g_hash_table_remove(client->server->clients, client);
    else
        await(client);
    return G_SOURCE_CONTINUE;
}

/* ---- The server ---- */

static void
welcome(DroverCommandServer *server, GSocket *socket)
{
    Client *client = g_new0(Client, 1);

    g_socket_set_blocking(socket, FALSE);
    client->server = server;
    client->socket = socket;
    client->input = g_byte_array_new();
    client->output = g_byte_array_new();
    restart_timer(client);
    g_hash_table_add(server->clients, client);
    if (g_hash_table_size(server->clients) > DROVER_COMMAND_MOST_CLIENTS) {
        refuse(client, "too many clients");
        flush(client);
        g_hash_table_remove(server->clients, client);
        return;
    }
    await(client);
}

static void listen_again(DroverCommandServer *server);

static gboolean
on_pause_over(gpointer user_data)
{
    DroverCommandServer *server = user_data;

    server->pause = 0;
    listen_again(server);
    return G_SOURCE_REMOVE;
}

/* Whoever waits to be let in would wake the loop again and again. */
static gboolean
pause_accepting(DroverCommandServer *server, const GError *problem)
{
    drover_log_for(DROVER_LOG_WARNING, LOGGER, "Cannot accept a client at %s: %s", server->path,
                   problem->message);
    g_clear_pointer(&server->source, g_source_unref);
    server->pause = g_timeout_add(ACCEPT_PAUSE, on_pause_over, server);
    return G_SOURCE_REMOVE;
}

static gboolean
on_incoming(GSocket *listener, GIOCondition condition, gpointer user_data)
{
    DroverCommandServer *server = user_data;
    g_autoptr(GError) error = NULL;
    GSocket *socket = g_socket_accept(listener, NULL, &error);

    if (socket != NULL)
        welcome(server, socket);
    else if (!g_error_matches(error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK))
        return pause_accepting(server, error);
    return G_SOURCE_CONTINUE;
}

static void
listen_again(DroverCommandServer *server)
{
    server->source = g_socket_create_source(server->socket, G_IO_IN, NULL);
    g_source_set_callback(server->source, G_SOURCE_FUNC(on_incoming), server, NULL);
    g_source_attach(server->source, NULL);
}

DroverCommandServer *
drover_command_server_new(const DroverCommandServerOptions *options, GError **error)
{
    GSocket *socket = drover_command_listen(options->path, error);
    DroverCommandServer *server;

    if (socket == NULL)
        return NULL;
    server = g_new0(DroverCommandServer, 1);
    server->path = g_strdup(options->path);
    server->table = options->table;
    server->user_data = options->user_data;
    server->patience = options->patience > 0 ? options->patience : DEFAULT_PATIENCE;
    server->socket = socket;
    server->clients = g_hash_table_new_full(NULL, NULL, client_free, NULL);
    listen_again(server);
    return server;
}

void
drover_command_server_free(DroverCommandServer *server)
{
    if (server == NULL)
        return;
    g_unlink(server->path);
    g_clear_handle_id(&server->pause, g_source_remove);
    if (server->source != NULL)
        g_source_destroy(server->source);
    g_clear_pointer(&server->source, g_source_unref);
    g_hash_table_unref(server->clients);
    g_socket_close(server->socket, NULL);
    g_object_unref(server->socket);
    g_free(server->path);
    g_free(server);
}
