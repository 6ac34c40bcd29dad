/*
 * bench-load PORT raw N       N writes of a node record's size, pipelined: the store's own limit
 * bench-load PORT reads N     N reads of a record of that size, all under way at once
 * bench-load PORT read N      N reads, one after the other: a round trip
 * bench-load PORT write N     N writes, one after the other: a round trip
 * bench-load PORT requests N CONCURRENCY
 *                             N node requests for label l, as Zuul makes and uses them
 * bench-load PORT read|write|requests N 1 PAUSE
 *                             the same with PAUSE milliseconds between one and the next, so that
 *                             each finds everything at rest
 *
 * Prints one JSON object; times in seconds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/node.h"
#include "model/request.h"
#include "zk/lock.h"
#include "zk/operation.h"

#define WINDOW      512
#define RECORD_SIZE 900

typedef struct _Load Load;

/* One request at a time, again and again. */
typedef struct {
    Load *load;
    char *request_path;
    char *request_id;
    char *node_path;
    json_t *node;
    DroverLock *lock;
    gint64 began;
    guint observer;
} Client;

struct _Load {
    GMainLoop *loop;
    DroverSession *session;
    guint wanted, begun, ended, failed;
    GArray *fulfilled, *complete; /* of double, one for each request or round trip */
    gint64 began, round_trip_began;
    guint pause; /* milliseconds */
    GBytes *record;
    guint under_way; /* writes sent and not answered */
    gboolean writes; /* the round trips are writes */
};

static double
since(gint64 began)
{
    return (double)(g_get_monotonic_time() - began) / G_USEC_PER_SEC;
}

/* Calls NEXT(DATA), after the pause when there is one. */
static void
after_pause(Load *load, GSourceOnceFunc next, gpointer data)
{
    if (load->pause > 0)
        g_timeout_add_once(load->pause, next, data);
    else
        next(data);
}

/* ---- The store by itself ---- */

static void send_writes(Load *load);

static void
on_written(const DroverCommitReply *reply, gpointer user_data)
{
    Load *load = user_data;

    load->under_way--;
    load->failed += reply->rc != ZOK;
    if (++load->ended == load->wanted)
        g_main_loop_quit(load->loop);
    else
        send_writes(load);
}

static void
send_writes(Load *load)
{
    while (load->under_way < WINDOW && load->begun < load->wanted) {
        DroverTransaction *write = drover_transaction_new();

        drover_transaction_set(write, "/bench", load->record, -1);
        load->under_way++;
        load->begun++;
        drover_session_commit(load->session, write, on_written, load);
    }
}

static void
on_read_at_once(const DroverReadReply *reply, gpointer user_data)
{
    Load *load = user_data;

    load->failed += reply->rc != ZOK;
    if (++load->ended == load->wanted)
        g_main_loop_quit(load->loop);
}

static void
send_reads(Load *load)
{
    DroverTransaction *write = drover_transaction_new();

    drover_transaction_set(write, "/bench", load->record, -1);
    drover_session_commit(load->session, write, NULL, NULL);
    for (guint i = 0; i < load->wanted; i++)
        drover_session_get(load->session, "/bench", FALSE, on_read_at_once, load);
}

static void send_round_trip(gpointer data);

static void
end_round_trip(Load *load)
{
    double seconds = since(load->round_trip_began);

    g_array_append_val(load->complete, seconds);
    if (++load->ended == load->wanted)
        g_main_loop_quit(load->loop);
    else
        after_pause(load, send_round_trip, load);
}

static void
on_read(const DroverReadReply *reply, gpointer user_data)
{
    end_round_trip(user_data);
}

static void
on_round_trip_written(const DroverCommitReply *reply, gpointer user_data)
{
    end_round_trip(user_data);
}

static void
send_round_trip(gpointer data)
{
    Load *load = data;

    load->round_trip_began = g_get_monotonic_time();
    if (load->writes) {
        DroverTransaction *write = drover_transaction_new();

        drover_transaction_set(write, "/bench", load->record, -1);
        drover_session_commit(load->session, write, on_round_trip_written, load);
    } else {
        drover_session_exists(load->session, "/bench", FALSE, on_read, load);
    }
}

/* ---- One request ---- */

static void begin_request(gpointer user_data);

static void
end_request(Client *client, gboolean good)
{
    Load *load = client->load;
    double seconds = since(client->began);

    g_array_append_val(load->complete, seconds);
    load->failed += !good;
    drover_session_remove(load->session, client->observer);
    g_clear_pointer(&client->lock, drover_lock_free);
    g_clear_pointer(&client->node, json_decref);
    g_clear_pointer(&client->request_path, g_free);
    g_clear_pointer(&client->request_id, g_free);
    g_clear_pointer(&client->node_path, g_free);
    if (++load->ended == load->wanted)
        g_main_loop_quit(load->loop);
    else if (load->begun < load->wanted)
        after_pause(load, begin_request, client);
}

static void
on_used(const DroverCommitReply *reply, gpointer user_data)
{
    Client *client = user_data;

    drover_lock_release(client->lock);
    end_request(client, reply->rc == ZOK);
}

static void
write_node(Client *client, DroverNodeState state, DroverCommitFunc done)
{
    DroverTransaction *write = drover_transaction_new();
    g_autoptr(GBytes) data = NULL;

    drover_node_record_set_state(client->node, state);
    data = drover_record_bytes(client->node);
    drover_transaction_set(write, client->node_path, data, -1);
    drover_session_commit(client->load->session, write, done, client);
}

static void
on_in_use(const DroverCommitReply *reply, gpointer user_data)
{
    write_node(user_data, DROVER_NODE_USED, on_used);
}

static void
on_request_deleted(const DroverCommitReply *reply, gpointer user_data)
{
    write_node(user_data, DROVER_NODE_IN_USE, on_in_use);
}

static void
on_locked(DroverLock *lock, DroverLockOutcome outcome, gpointer user_data)
{
    Client *client = user_data;
    DroverTransaction *removal = drover_transaction_new();

    if (outcome != DROVER_LOCK_HELD)
        g_error("%s is not locked: %d", client->node_path, outcome);
    drover_transaction_delete(removal, client->request_path, -1);
    drover_session_commit(client->load->session, removal, on_request_deleted, client);
}

static void
on_node(const DroverReadReply *reply, gpointer user_data)
{
    Client *client = user_data;
    g_autofree char *directory = g_strconcat(client->node_path, "/lock", NULL);
    gsize length;
    const char *text = g_bytes_get_data(reply->data, &length);

    client->node = drover_json_parse_object(text, length, NULL);
    if (g_strcmp0(drover_json_string(client->node, "allocated_to"), client->request_id) != 0)
        g_error("%s belongs to %s, not to %s", client->node_path,
                drover_json_string(client->node, "allocated_to"), client->request_id);
    client->lock = drover_lock_new(client->load->session, directory, FALSE, NULL);
    drover_lock_acquire(client->lock, 30000, on_locked, client);
}

static void
on_request(const DroverReadReply *reply, gpointer user_data)
{
    Client *client = user_data;
    g_autoptr(DroverRequest) request = NULL;
    double seconds;

    if (reply->rc != ZOK || client->node_path != NULL)
        return;
    request = drover_request_decode(client->request_id, reply->data, reply->stat.version, NULL);
    if (request->state == DROVER_REQUEST_FAILED)
        g_error("request %s failed", request->id);
    if (request->state != DROVER_REQUEST_FULFILLED)
        return;
    seconds = since(client->began);
    g_array_append_val(client->load->fulfilled, seconds);
    client->node_path = drover_node_path(request->nodes[0]);
    drover_session_get(client->load->session, client->node_path, FALSE, on_node, client);
}

static void
on_event(const char *path, int type, gpointer user_data)
{
    Client *client = user_data;

    if (type == ZOO_CHANGED_EVENT && client->node_path == NULL)
        drover_session_get(client->load->session, path, TRUE, on_request, client);
}

static void
on_submitted(const DroverCommitReply *reply, gpointer user_data)
{
    static const DroverSessionObserver observer = {.event = on_event};
    Client *client = user_data;

    if (reply->rc != ZOK)
        g_error("a request was not stored: %s", zerror(reply->rc));
    client->request_path = g_strdup(reply->paths[0]);
    client->request_id = g_strdup(strrchr(client->request_path, '/') + 1);
    client->observer =
        drover_session_add_observer(client->load->session, client->request_path, &observer, client);
    drover_session_get(client->load->session, client->request_path, TRUE, on_request, client);
}

static void
begin_request(gpointer user_data)
{
    Client *client = user_data;
    static const char *const labels[] = {"l", NULL};
    g_autoptr(json_t) record = drover_request_new_record(labels, "bench", TRUE);
    g_autoptr(GBytes) data = drover_record_bytes(record);
    DroverTransaction *creation = drover_transaction_new();

    client->began = g_get_monotonic_time();
    client->load->begun++;
    drover_transaction_create(creation, DROVER_REQUESTS_PATH "/200-", data, ZOO_SEQUENCE);
    drover_session_commit(client->load->session, creation, on_submitted, client);
}

/* ---- The program ---- */

static int
compare_doubles(gconstpointer a, gconstpointer b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static double
quantile(GArray *seconds, double part)
{
    if (seconds->len == 0)
        return 0;
    g_array_sort(seconds, compare_doubles);
    return g_array_index(seconds, double, (guint)(part * (seconds->len - 1)));
}

static void
on_state(DroverSession *session, DroverSessionState state, gpointer user_data)
{
    if (state == DROVER_SESSION_CONNECTED)
        g_main_loop_quit(((Load *)user_data)->loop);
}

int
main(int argc, char **argv)
{
    DroverSessionServer server = {"127.0.0.1", 0};
    DroverSessionOptions options = {.servers = &server, .n_servers = 1, .timeout = 30};
    Load load = {.loop = g_main_loop_new(NULL, FALSE)};
    g_autofree char *filling = g_strnfill(RECORD_SIZE, 'x');
    g_autofree Client *clients = NULL;
    guint concurrency = argc > 4 ? (guint)atoi(argv[4]) : 1;
    const DroverSessionCounters *counters;

    if (argc < 4)
        g_error("bench-load PORT raw|reads|read|write|requests N [CONCURRENCY [PAUSE]]");
    server.port = (guint16)atoi(argv[1]);
    load.wanted = (guint)atoi(argv[3]);
    load.fulfilled = g_array_new(FALSE, FALSE, sizeof(double));
    load.complete = g_array_new(FALSE, FALSE, sizeof(double));
    load.record = g_bytes_new(filling, RECORD_SIZE);
    load.session = drover_session_new(&options, NULL);
    drover_session_add_listener(load.session, on_state, &load);
    g_main_loop_run(load.loop);
    drover_session_ensure(load.session, "/bench", NULL, NULL);
    drover_session_ensure(load.session, DROVER_REQUESTS_PATH, NULL, NULL);

    load.began = g_get_monotonic_time();
    clients = g_new0(Client, concurrency);
    load.pause = argc > 5 ? (guint)atoi(argv[5]) : 0;
    load.writes = strcmp(argv[2], "write") == 0;
    if (strcmp(argv[2], "raw") == 0) {
        send_writes(&load);
    } else if (strcmp(argv[2], "reads") == 0) {
        send_reads(&load);
    } else if (load.writes || strcmp(argv[2], "read") == 0) {
        send_round_trip(&load);
    } else {
        for (guint i = 0; i < concurrency && load.begun < load.wanted; i++) {
            clients[i].load = &load;
            begin_request(&clients[i]);
        }
    }
    g_main_loop_run(load.loop);

    counters = drover_session_counters(load.session);
    printf("{\"seconds\": %.6f, \"failed\": %u, \"writes\": %" G_GUINT64_FORMAT
           ", \"fulfilled_p50\": %.6f, \"fulfilled_p95\": %.6f, \"complete_p50\": %.6f, "
           "\"complete_p95\": %.6f}\n",
           since(load.began), load.failed, counters->writes, quantile(load.fulfilled, 0.5),
           quantile(load.fulfilled, 0.95), quantile(load.complete, 0.5),
           quantile(load.complete, 0.95));
    drover_session_close(load.session);
    g_main_loop_unref(load.loop);
    g_array_unref(load.fulfilled);
    g_array_unref(load.complete);
    g_bytes_unref(load.record);
    return load.failed > 0;
}
