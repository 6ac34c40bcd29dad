#include "cleaning.h"

#include <string.h>

#include "call.h"
#include "list.h"
#include "network.h"
#include "server.h"
#include "session.h"

/* What is cleaned. */
struct kind {
    const char *name;    /* one of them, for people */
    const char *counted; /* what they are called in metrics */
    enum service service;
    const char *collection;
    gboolean (*is_free)(const json_t *item, const json_t *servers);
};

/* What was free when it was last looked at; what is free still goes. */
struct memory {
    GHashTable *ids; /* a set; NULL: nothing was looked at yet */
    int64_t looked;
};

struct cleaning {
    struct cloud *cloud;
    struct memory ports, floating_ips;
    GHashTable *servers; /* ids of those that have to go, a set */
    int64_t servers_looked;
    GPtrArray *calls; /* deletions under way, of struct deletion */
};

/* ---- Deleting, in the background ---- */

/* What one look has found; it is counted when the last deletion has ended. */
struct batch {
    const struct drover_provider *provider;
    const struct kind *kind;
    guint deletions; /* under way */
    uint32_t deleted;
};

struct deletion {
    struct cleaning *cleaning;
    struct batch *batch;
    struct call *call;
    char *id;
};

static struct batch *
batch_new(const struct cleaning *cleaning, const struct kind *kind)
{
    struct batch *batch = g_new0(struct batch, 1);

    batch->provider = cleaning->cloud->provider;
    batch->kind = kind;
    return batch;
}

static void
batch_end(struct batch *batch)
{
    if (batch->deletions > 0)
        return;
    drover_provider_cleaned(batch->provider, batch->kind->counted, batch->deleted);
    g_free(batch);
}

static void
deletion_free(void *data)
{
    struct deletion *deletion = data;

    call_free(deletion->call);
    deletion->batch->deletions--;
    batch_end(deletion->batch);
    g_free(deletion->id);
    g_free(deletion);
}

static void
on_deleted(struct call *call, void *data)
{
    struct deletion *deletion = data;
    struct batch *batch = deletion->batch;

    if (call_failure(call) != 0 && !call_found_nothing(call))
        drover_provider_log(batch->provider, DROVER_WARNING,
                            "The leaked %s %s cannot be deleted: %s", batch->kind->name,
                            deletion->id, call_message(call));
    else
        drover_provider_log(batch->provider, DROVER_INFO, "The leaked %s %s is deleted",
                            batch->kind->name, deletion->id);
    batch->deleted += call_failure(call) == 0;
    g_ptr_array_remove(deletion->cleaning->calls, deletion);
}

static void delete (struct cleaning *cleaning, struct batch *batch, const char *id)
{
    struct deletion *deletion = g_new0(struct deletion, 1);
    g_autofree char *path = call_path(batch->kind->collection, id, "");

    deletion->cleaning = cleaning;
    deletion->batch = batch;
    deletion->id = g_strdup(id);
    deletion->call = call_new(cleaning->cloud, batch->kind->service, "DELETE", path, NULL);
    batch->deletions++;
    g_ptr_array_add(cleaning->calls, deletion);
    call_start(deletion->call, on_deleted, deletion);
}

/* ---- What is free ---- */

/* That of a server which takes long to start, or was stopped, is DOWN and needed all the same. */
static gboolean
is_free_port(const json_t *port, const json_t *servers)
{
    const char *owner = list_text(port, "device_owner");
    const json_t *server = list_find(servers, "id", list_text(port, "device_id"));

    return g_strcmp0(list_text(port, "status"), "DOWN") == 0 &&
           (owner == NULL || *owner == '\0' || g_str_has_prefix(owner, "compute:")) &&
           (server == NULL || !server_exists(server));
}

static gboolean
is_free_floating_ip(const json_t *floating_ip, const json_t *servers)
{
    return list_text(floating_ip, "port_id") == NULL;
}

static const struct kind server = {"server", "instances", SERVICE_COMPUTE, "/servers", NULL};
static const struct kind port = {"port", "ports", SERVICE_NETWORK, "/ports", is_free_port};
static const struct kind floating_ip = {"floating IP", "floatingips", SERVICE_NETWORK,
                                        "/floatingips", is_free_floating_ip};

/* An administrator may see other projects' too; so does one whose login has no project. */
static gboolean
is_own(const struct cleaning *cleaning, const json_t *item)
{
    const char *project = session_project(cleaning->cloud->session);
    const char *owner = list_text(item, "project_id");

    if (owner == NULL)
        owner = list_text(item, "tenant_id");
    return project != NULL && g_strcmp0(owner, project) == 0;
}

static void
remember(struct memory *memory, GHashTable *ids)
{
    if (memory->ids != NULL)
        g_hash_table_unref(memory->ids);
    memory->ids = ids;
    memory->looked = drover_now();
}

/* Deletes what was free before and is still. TRUE when there was anything. */
static gboolean
compare(struct cleaning *cleaning, const struct kind *kind, struct memory *memory,
        const json_t *items, const json_t *servers)
{
    GHashTable *ids = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    struct batch *batch = batch_new(cleaning, kind);
    gboolean any;
    size_t index;
    json_t *item;

    json_array_foreach((json_t *)items, index, item)
    {
        const char *id = list_text(item, "id");

        if (!is_own(cleaning, item) || !kind->is_free(item, servers))
            continue;
        if (memory->ids != NULL && g_hash_table_contains(memory->ids, id))
            delete (cleaning, batch, id);
        else
            g_hash_table_add(ids, g_strdup(id));
    }
    any = batch->deletions > 0;
    batch_end(batch);
    remember(memory, ids);
    return any;
}

/* ---- A round ---- */

static enum drover_step
look_at_ports(struct cleaning *cleaning, struct drover_operation *op, int64_t began)
{
    struct cloud *cloud = cleaning->cloud;
    int64_t interval = drover_value_get_integer(cloud->config, "port-cleanup-interval", 600) * 1000;
    struct memory *memory = &cleaning->ports;
    const json_t *ports, *servers;
    enum drover_step step;

    if (interval == 0 || (memory->ids != NULL && drover_now() <= memory->looked + interval) ||
        !settings_has_service(cloud->settings, SERVICE_NETWORK))
        return DROVER_DONE;
    step = list_get_after_if_any(cloud, LIST_DOWN_PORTS, op, began, &ports);
    if (step == DROVER_DONE)
        step = list_get_after_if_any(cloud, LIST_SERVERS, op, began, &servers);
    if (step == DROVER_DONE && ports != NULL && servers != NULL &&
        compare(cleaning, &port, memory, ports, servers))
        list_expire(cloud, LIST_DOWN_PORTS);
    return step;
}

static enum drover_step
look_at_floating_ips(struct cleaning *cleaning, struct drover_operation *op, int64_t began)
{
    struct cloud *cloud = cleaning->cloud;
    struct memory *memory = &cleaning->floating_ips;
    const json_t *floating_ips;
    enum drover_step step;

    if (!drover_value_get_boolean(cloud->config, "clean-floating-ips", 0) ||
        !network_has_floating_ips(cloud->settings) || memory->looked >= began)
        return DROVER_DONE;
    step = list_get_after_if_any(cloud, LIST_FLOATING_IPS, op, began, &floating_ips);
    if (step == DROVER_DONE && floating_ips != NULL &&
        compare(cleaning, &floating_ip, memory, floating_ips, NULL))
        list_expire(cloud, LIST_FLOATING_IPS);
    return step;
}

/* ---- Servers that have to go ---- */

void
cleaning_note_server(struct cleaning *cleaning, const char *id)
{
    g_hash_table_add(cleaning->servers, g_strdup(id));
}

static void
delete_servers(struct cleaning *cleaning, const json_t *servers)
{
    struct batch *batch = batch_new(cleaning, &server);
    GHashTableIter iter;
    gpointer id;

    g_hash_table_iter_init(&iter, cleaning->servers);
    while (g_hash_table_iter_next(&iter, &id, NULL)) {
        const json_t *present = list_find(servers, "id", id);

        if (present == NULL || !server_exists(present))
            g_hash_table_iter_remove(&iter);
        else if (g_strcmp0(list_text(present, "OS-EXT-STS:task_state"), "deleting") != 0)
            delete (cleaning, batch, id);
    }
    batch_end(batch);
}

static enum drover_step
look_at_servers(struct cleaning *cleaning, struct drover_operation *op, int64_t began)
{
    const json_t *servers;
    enum drover_step step;

    if (g_hash_table_size(cleaning->servers) == 0 || cleaning->servers_looked >= began)
        return DROVER_DONE;
    step = list_get_after_if_any(cleaning->cloud, LIST_SERVERS, op, began, &servers);
    if (step == DROVER_DONE)
        cleaning->servers_looked = drover_now();
    if (step == DROVER_DONE && servers != NULL)
        delete_servers(cleaning, servers);
    return step;
}

enum drover_step
cleaning_step(struct cleaning *cleaning, struct drover_operation *op, int64_t began)
{
    enum drover_step step = look_at_ports(cleaning, op, began);

    if (step == DROVER_DONE)
        step = look_at_floating_ips(cleaning, op, began);
    return step == DROVER_DONE ? look_at_servers(cleaning, op, began) : step;
}

/* ---- Life ---- */

struct cleaning *
cleaning_new(struct cloud *cloud)
{
    struct cleaning *cleaning = g_new0(struct cleaning, 1);

    cleaning->cloud = cloud;
    cleaning->servers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    cleaning->calls = g_ptr_array_new_with_free_func(deletion_free);
    return cleaning;
}

void
cleaning_free(struct cleaning *cleaning)
{
    if (cleaning == NULL)
        return;
    if (cleaning->ports.ids != NULL)
        g_hash_table_unref(cleaning->ports.ids);
    if (cleaning->floating_ips.ids != NULL)
        g_hash_table_unref(cleaning->floating_ips.ids);
    g_hash_table_unref(cleaning->servers);
    g_ptr_array_unref(cleaning->calls);
    g_free(cleaning);
}
