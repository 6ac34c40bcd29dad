#include "zk/relay.h"

#include "zk/host-list.h"
#include "zk/relay-connection.h"
#include "zk/relay-server.h"
#include "zk/relay-trust.h"

enum { ACCEPT_AGAIN_SECONDS = 1 };

struct _DroverZkRelay {
    DroverZkTrust *trust;
    GPtrArray *servers; /* of DroverZkRelayServer, in the caller's order; the caller's thread */
    GThread *thread;
    GMainContext *context;
    GMainLoop *loop;

    /* The relay's thread. */
    GHashTable *listening;   /* DroverZkRelayServer -> GSource that accepts its clients */
    GHashTable *connections; /* set of DroverZkRelayConnection */
    gboolean is_ending;
};

/* ---- On the relay's thread ---- */

/* What a source of the relay's thread is about. */
typedef struct {
    DroverZkRelay *relay;
    DroverZkRelayServer *server;
} Job;

static Job *
job_new(DroverZkRelay *relay, DroverZkRelayServer *server)
{
    Job *job = g_new0(Job, 1);

    job->relay = relay;
    job->server = server != NULL ? drover_zk_relay_server_ref(server) : NULL;
    return job;
}

static void
job_free(gpointer data)
{
    Job *job = data;

    g_clear_pointer(&job->server, drover_zk_relay_server_unref);
    g_free(job);
}

static void
connection_ended(DroverZkRelayConnection *connection, gpointer user_data)
{
    DroverZkRelay *relay = user_data;

    g_hash_table_remove(relay->connections, connection);
    if (relay->is_ending && g_hash_table_size(relay->connections) == 0)
        g_main_loop_quit(relay->loop);
}

static gboolean begin_listening(gpointer user_data);

static void
replace_source(const Job *job, GSource *source, GSourceFunc function)
{
    g_source_set_callback(source, function, job_new(job->relay, job->server), job_free);
    g_source_attach(source, job->relay->context);
    g_hash_table_replace(job->relay->listening, job->server, source);
}

static gboolean
on_client(GSocket *listener, GIOCondition condition, gpointer user_data)
{
    Job *job = user_data;
    g_autoptr(GError) error = NULL;
    g_autoptr(GSocket) client = drover_zk_relay_server_accept(job->server, &error);

    if (client != NULL) {
        g_hash_table_add(job->relay->connections,
                         drover_zk_relay_connection_new(client, job->server, job->relay->trust,
                                                        connection_ended, job->relay));
    } else if (error != NULL && !g_error_matches(error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK)) {
        /* Out of descriptors, most likely, and the client stays in the queue: no busy loop. */
        drover_zk_relay_server_warn(job->server, DROVER_ZK_RELAY_WARN_CLIENT,
                                    "cannot accept the client's connection: %s", error->message);
        replace_source(job, g_timeout_source_new_seconds(ACCEPT_AGAIN_SECONDS), begin_listening);
    }
    return G_SOURCE_CONTINUE;
}

static gboolean
begin_listening(gpointer user_data)
{
    Job *job = user_data;

    replace_source(job, g_socket_create_source(job->server->listener, G_IO_IN, NULL),
                   G_SOURCE_FUNC(on_client));
    return G_SOURCE_REMOVE;
}

static gboolean
stop_listening(gpointer user_data)
{
    Job *job = user_data;

    g_hash_table_remove(job->relay->listening, job->server);
    g_socket_close(job->server->listener, NULL);
    return G_SOURCE_REMOVE;
}

static gboolean
begin_end(gpointer user_data)
{
    DroverZkRelay *relay = ((Job *)user_data)->relay;
    g_autoptr(GList) connections = g_hash_table_get_keys(relay->connections);

    relay->is_ending = TRUE;
    g_hash_table_remove_all(relay->listening);
    if (connections == NULL)
        g_main_loop_quit(relay->loop);
    for (GList *each = connections; each != NULL; each = each->next)
        drover_zk_relay_connection_drain(each->data);
    return G_SOURCE_REMOVE;
}

static gpointer
run(gpointer user_data)
{
    DroverZkRelay *relay = user_data;

    g_main_context_push_thread_default(relay->context);
    g_main_loop_run(relay->loop);
    /* What cancelled operations of GIO left behind. */
    while (g_main_context_iteration(relay->context, FALSE))
        continue;
    g_main_context_pop_thread_default(relay->context);
    return NULL;
}

static void
destroy_source(gpointer data)
{
    GSource *source = data;

    g_source_destroy(source);
    g_source_unref(source);
}

/* ---- On the caller's thread ---- */

static void
post(DroverZkRelay *relay, GSourceFunc function, DroverZkRelayServer *server)
{
    GSource *source = g_idle_source_new();

    g_source_set_priority(source, G_PRIORITY_DEFAULT);
    g_source_set_callback(source, function, job_new(relay, server), job_free);
    g_source_attach(source, relay->context);
    g_source_unref(source);
}

static DroverZkRelayServer *
find_server(GPtrArray *servers, const DroverSessionServer *wanted)
{
    for (guint i = 0; i < servers->len; i++) {
        DroverZkRelayServer *server = servers->pdata[i];

        if (server->port == wanted->port && g_str_equal(server->host, wanted->host))
            return server;
    }
    return NULL;
}

static GPtrArray *
make_servers(GPtrArray *old, const DroverSessionServer *wanted, guint n, GError **error)
{
    g_autoptr(GPtrArray) servers =
        g_ptr_array_new_with_free_func((GDestroyNotify)drover_zk_relay_server_unref);

    for (guint i = 0; i < n; i++) {
        DroverZkRelayServer *server = find_server(old, &wanted[i]);

        if (find_server(servers, &wanted[i]) != NULL)
            continue;
        server = server != NULL ? drover_zk_relay_server_ref(server)
                                : drover_zk_relay_server_new(&wanted[i], error);
        if (server == NULL)
            return NULL;
        g_ptr_array_add(servers, server);
    }
    return g_steal_pointer(&servers);
}

gboolean
drover_zk_relay_set_servers(DroverZkRelay *relay, const DroverSessionServer *servers,
                            guint n_servers, GError **error)
{
    g_autoptr(GPtrArray) old = NULL;
    GPtrArray *new = make_servers(relay->servers, servers, n_servers, error);

    if (new == NULL)
        return FALSE;
    old = relay->servers;
    relay->servers = new;
    for (guint i = 0; i < old->len; i++) {
        if (!g_ptr_array_find(new, old->pdata[i], NULL))
            post(relay, stop_listening, old->pdata[i]);
    }
    for (guint i = 0; i < new->len; i++) {
        if (!g_ptr_array_find(old, new->pdata[i], NULL))
            post(relay, begin_listening, new->pdata[i]);
    }
    return TRUE;
}

char *
drover_zk_relay_hosts(const DroverZkRelay *relay)
{
    g_autoptr(GPtrArray) hosts = g_ptr_array_new();

    for (guint i = 0; i < relay->servers->len; i++)
        g_ptr_array_add(hosts, ((DroverZkRelayServer *)relay->servers->pdata[i])->local);
    g_ptr_array_add(hosts, NULL);
    return drover_host_list_join((const char *const *)hosts->pdata);
}

DroverZkRelay *
drover_zk_relay_new(const DroverSessionServer *servers, guint n_servers, const DroverZkTls *tls,
                    GError **error)
{
    DroverZkTrust *trust = drover_zk_trust_new(tls, error);
    DroverZkRelay *relay;

    if (trust == NULL)
        return NULL;
    relay = g_new0(DroverZkRelay, 1);
    relay->trust = trust;
    relay->servers = g_ptr_array_new_with_free_func((GDestroyNotify)drover_zk_relay_server_unref);
    relay->context = g_main_context_new();
    relay->loop = g_main_loop_new(relay->context, FALSE);
    relay->listening = g_hash_table_new_full(NULL, NULL, NULL, destroy_source);
    relay->connections = g_hash_table_new(NULL, NULL);
    relay->thread = g_thread_new("zookeeper-tls", run, relay);
    if (!drover_zk_relay_set_servers(relay, servers, n_servers, error)) {
        drover_zk_relay_free(relay);
        return NULL;
    }
    return relay;
}

void
drover_zk_relay_free(DroverZkRelay *relay)
{
    post(relay, begin_end, NULL);
    g_thread_join(relay->thread);
    g_hash_table_unref(relay->listening);
    g_hash_table_unref(relay->connections);
    g_ptr_array_unref(relay->servers);
    g_main_loop_unref(relay->loop);
    g_main_context_unref(relay->context);
    drover_zk_trust_free(relay->trust);
    g_free(relay);
}
