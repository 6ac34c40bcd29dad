/*
 * A socket that takes commands for a running program, one JSON object a line in each direction:
 *
 *     {"command": "reconfigure", "provider": "p"}   ─►
 *                                                   ◄─  {"result": {...}}  or  {"error": "..."}
 *
 * What commands there are is the program's business. Lines are answered in their order, on the core
 * loop (the default main context), which no client can hold up: nothing blocks, a client that does
 * not go on is cut off, and what it says is limited.
 */
#pragma once

#include <glib.h>
#include <jansson.h>

typedef struct _DroverCommandServer DroverCommandServer;

typedef struct {
    const char *name;
    const char *const *arguments; /* members that it may have beside "command"; NULL: none */
    /* A new reference to the result; NULL with an error, whose message is the answer. */
    json_t *(*run)(const json_t *command, gpointer user_data, GError **error);
} DroverCommandEntry;

typedef struct {
    const char *path;                /* of the socket */
    const DroverCommandEntry *table; /* ended by an entry without a name; outlives the server */
    gpointer user_data;
    guint patience; /* milliseconds for the next line, and for taking its answer; 0: 10 s */
} DroverCommandServerOptions;

/* Longer lines are refused. */
#define DROVER_COMMAND_MOST_BYTES 65536
/* More clients at once are refused. */
#define DROVER_COMMAND_MOST_CLIENTS 128

/*
 * DROVER_ERROR_BUSY when another program listens there. The file is replaced when nobody does, and
 * removed with the server.
 */
DroverCommandServer *drover_command_server_new(const DroverCommandServerOptions *options,
                                               GError **error);
/* Not from within a command. NULL is allowed. */
void drover_command_server_free(DroverCommandServer *server);
