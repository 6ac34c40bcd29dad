#include "removal.h"

#include <string.h>

#include "addresses.h"
#include "list.h"
#include "network.h"
#include "server.h"

/* A server that does not even begin to go for so long is asked to go once more. */
#define STUCK_MILLISECONDS 60000

struct removal {
    struct work work;
    char *server;            /* its id */
    GPtrArray *floating_ips; /* ids of those still to be removed */
    GHashTable *removed;     /* ids of those that Neutron had agreed to remove, a set */
    int64_t began;
    int64_t asked; /* when Nova had agreed to remove it */
};

static enum drover_step delete_floating_ip(struct work *work, struct drover_operation *op);
static enum drover_step delete_server(struct work *work, struct drover_operation *op);
static enum drover_step wait_until_gone(struct work *work, struct drover_operation *op);

/* ---- Floating IPs ---- */

static gboolean
is_used(const struct cloud *cloud)
{
    const struct drover_value *pools = drover_value_get(cloud->config, "pools");

    for (size_t i = 0; i < drover_value_length(pools); i++)
        if (drover_value_get_boolean(drover_value_item(pools, i), "auto-floating-ip", 1))
            return network_has_floating_ips(cloud->settings);
    return FALSE;
}

/* Whether there is a network that they would be from. Where nobody tells there may be one. */
static enum drover_step
find_source(struct cloud *cloud, struct drover_operation *op, const json_t *networks,
            gboolean *found)
{
    const json_t *routers;
    enum drover_step step;

    *found = networks == NULL || network_floating_source(cloud->settings, networks, NULL) != NULL;
    if (*found)
        return DROVER_DONE;
    step = list_get_if_any(cloud, LIST_ROUTERS, op, &routers);
    *found = routers == NULL || network_floating_source(cloud->settings, networks, routers) != NULL;
    return step;
}

/* Nova may have lost sight of the addresses of a server that ran. */
static gboolean
tells_no_address(const json_t *server)
{
    return json_object_size(json_object_get(server, "addresses")) == 0 &&
           !server_is(server, "BUILD") && !server_is(server, "ERROR");
}

/* Nova may not know, or not yet, of a floating IP that leads to the server. */
static enum {
    HAS_NONE,
    SHOWS_THEM,
    MAY_HIDE_THEM,
} floating_ips_of(const struct cloud *cloud, const json_t *server, const json_t *networks,
                  gboolean has_source)
{
    struct addresses addresses = addresses_choose(cloud->settings, networks, server, FALSE);

    if (addresses.has_floating)
        return SHOWS_THEM;
    return has_source && (addresses_need_floating_ip(cloud->settings, &addresses) ||
                          tells_no_address(server))
               ? MAY_HIDE_THEM
               : HAS_NONE;
}

/* Fixed ones may be the same as floating ones of another network. */
static gboolean
has_floating_address(const json_t *server, const char *text)
{
    const char *network;
    json_t *items;

    json_object_foreach(json_object_get(server, "addresses"), network, items)
    {
        size_t index;
        json_t *item;

        json_array_foreach(items, index, item)
        {
            if (g_strcmp0(list_text(item, "addr"), text) == 0 &&
                g_strcmp0(list_text(item, "OS-EXT-IPS:type"), "floating") == 0)
                return TRUE;
        }
    }
    return FALSE;
}

/* `ports`: the server's; NULL: not known. */
static gboolean
leads_to(const json_t *floating_ip, const json_t *server, const json_t *ports)
{
    const char *port = list_text(floating_ip, "port_id");
    const char *address = list_text(floating_ip, "floating_ip_address");

    return (port != NULL && list_find(ports, "id", port) != NULL) ||
           (address != NULL && has_floating_address(server, address));
}

static void
note_floating_ips(struct removal *removal, const json_t *floating_ips, const json_t *server,
                  const json_t *ports)
{
    size_t index;
    json_t *floating_ip;

    json_array_foreach((json_t *)floating_ips, index, floating_ip)
    {
        const char *id = list_text(floating_ip, "id");

        if (leads_to(floating_ip, server, ports) && id != NULL &&
            !g_ptr_array_find_with_equal_func(removal->floating_ips, id, g_str_equal, NULL))
            g_ptr_array_add(removal->floating_ips, g_strdup(id));
    }
}

/* ---- What there is ---- */

static enum drover_step
look_for_floating_ips(struct removal *removal, struct drover_operation *op, const json_t *server,
                      const json_t *ports)
{
    struct cloud *cloud = removal->work.cloud;
    const json_t *floating_ips;
    enum drover_step step =
        list_await_after(cloud, LIST_FLOATING_IPS, op, removal->began, &floating_ips);

    if (step != DROVER_DONE)
        return step;
    note_floating_ips(removal, floating_ips, server, ports);
    removal->work.stage = delete_floating_ip;
    return DROVER_RUNNING;
}

static enum drover_step
ports_known(struct work *work, struct drover_operation *op)
{
    struct removal *removal = (struct removal *)work;
    const json_t *ports;

    if (!call_is_done(work->call))
        return DROVER_RUNNING;
    /* That there are no ports there does not mean that there is no server. */
    if (call_found_nothing(work->call))
        return call_fail_as(work->call, op, DROVER_FAILURE_OTHER);
    if (call_failure(work->call) != 0)
        return call_fail(work->call, op);
    ports = json_object_get(call_answer(work->call), "ports");
    if (!json_is_array(ports))
        return drover_operation_fail(op, DROVER_FAILURE_OTHER,
                                     "the cloud's answer about ports makes no sense");
    return look_for_floating_ips(removal, op, NULL, ports);
}

static enum drover_step
ask_for_ports(struct removal *removal, struct drover_operation *op)
{
    struct call *call = call_new(removal->work.cloud, SERVICE_NETWORK, "GET", "/ports", NULL);

    call_add_query(call, "device_id", removal->server);
    return work_call(&removal->work, op, call, ports_known);
}

static enum drover_step
look(struct work *work, struct drover_operation *op)
{
    struct removal *removal = (struct removal *)work;
    const json_t *servers, *networks, *server;
    gboolean has_source = FALSE;
    enum drover_step step = list_await(work->cloud, LIST_SERVERS, op, &servers);

    if (step == DROVER_DONE)
        step = list_get_if_any(work->cloud, LIST_NETWORKS, op, &networks);
    if (step == DROVER_DONE && is_used(work->cloud))
        step = find_source(work->cloud, op, networks, &has_source);
    if (step != DROVER_DONE)
        return step;
    server = list_find(servers, "id", removal->server);
    if (server != NULL && !server_exists(server) && removal->floating_ips->len == 0)
        return DROVER_DONE;
    switch (server != NULL ? floating_ips_of(work->cloud, server, networks, has_source)
                           : HAS_NONE) {
    case SHOWS_THEM:
        return look_for_floating_ips(removal, op, server, NULL);
    case MAY_HIDE_THEM:
        return ask_for_ports(removal, op);
    case HAS_NONE:
        break;
    }
    work->stage = delete_floating_ip;
    return DROVER_RUNNING;
}

/* ---- Removing ---- */

static enum drover_step
floating_ip_deleted(struct work *work, struct drover_operation *op)
{
    struct removal *removal = (struct removal *)work;

    if (!call_is_done(work->call))
        return DROVER_RUNNING;
    if (call_failure(work->call) != 0 && !call_found_nothing(work->call))
        return call_fail(work->call, op);
    list_expire(work->cloud, LIST_FLOATING_IPS);
    g_hash_table_add(removal->removed, g_ptr_array_steal_index(removal->floating_ips, 0));
    work->stage = delete_floating_ip;
    return DROVER_RUNNING;
}

static enum drover_step
delete_floating_ip(struct work *work, struct drover_operation *op)
{
    struct removal *removal = (struct removal *)work;
    g_autofree char *path = NULL;

    if (removal->floating_ips->len == 0) {
        work->stage = delete_server;
        return DROVER_RUNNING;
    }
    drover_operation_set_status(op, "deleting floating IP");
    path = call_path("/floatingips", removal->floating_ips->pdata[0], "");
    return work_call(work, op, call_new(work->cloud, SERVICE_NETWORK, "DELETE", path, NULL),
                     floating_ip_deleted);
}

static enum drover_step
server_deleted(struct work *work, struct drover_operation *op)
{
    struct removal *removal = (struct removal *)work;

    if (!call_is_done(work->call))
        return DROVER_RUNNING;
    /* That it is not there the list has to confirm: what says so may not be Nova. */
    if (call_failure(work->call) != 0 && !call_found_nothing(work->call))
        return call_fail(work->call, op);
    removal->asked = drover_now();
    work->stage = wait_until_gone;
    return DROVER_RUNNING;
}

static enum drover_step
delete_server(struct work *work, struct drover_operation *op)
{
    const struct removal *removal = (struct removal *)work;
    g_autofree char *path = call_path("/servers", removal->server, "");

    drover_operation_set_status(op, "deleting");
    return work_call(work, op, call_new(work->cloud, SERVICE_COMPUTE, "DELETE", path, NULL),
                     server_deleted);
}

static gboolean
is_stuck(const struct removal *removal, const json_t *server)
{
    return list_text(server, "OS-EXT-STS:task_state") == NULL &&
           drover_now() > removal->asked + STUCK_MILLISECONDS;
}

/* The server is gone, and with it all that tells whose its floating IPs were. */
static enum drover_step
check_floating_ips(struct work *work, struct drover_operation *op)
{
    struct removal *removal = (struct removal *)work;
    const json_t *floating_ips = NULL;
    enum drover_step step = DROVER_DONE;
    GHashTableIter iter;
    gpointer id;

    if (g_hash_table_size(removal->removed) > 0)
        step = list_get_after_if_any(work->cloud, LIST_FLOATING_IPS, op, removal->asked,
                                     &floating_ips);
    if (step != DROVER_DONE)
        return step;
    g_hash_table_iter_init(&iter, removal->removed);
    while (g_hash_table_iter_next(&iter, &id, NULL)) {
        if (list_find(floating_ips, "id", id) != NULL)
            g_ptr_array_add(removal->floating_ips, id);
        else
            g_free(id);
        g_hash_table_iter_steal(&iter);
    }
    if (removal->floating_ips->len == 0)
        return DROVER_DONE;
    work->stage = delete_floating_ip;
    return DROVER_RUNNING;
}

static enum drover_step
wait_until_gone(struct work *work, struct drover_operation *op)
{
    const struct removal *removal = (struct removal *)work;
    const json_t *servers, *server;
    enum drover_step step =
        list_await_after(work->cloud, LIST_SERVERS, op, removal->asked, &servers);

    if (step != DROVER_DONE)
        return step;
    drover_operation_set_status(op, "waiting for deletion");
    server = list_find(servers, "id", removal->server);
    if (server == NULL || !server_exists(server)) {
        work->stage = check_floating_ips;
        return DROVER_RUNNING;
    }
    if (!is_stuck(removal, server))
        return list_wait(work->cloud, LIST_SERVERS, op);
    work->stage = delete_server;
    return DROVER_RUNNING;
}

/* ---- As work ---- */

static void
clear(struct work *work)
{
    struct removal *removal = (struct removal *)work;

    g_free(removal->server);
    if (removal->floating_ips != NULL)
        g_ptr_array_unref(removal->floating_ips);
    if (removal->removed != NULL)
        g_hash_table_unref(removal->removed);
}

static void
set_server(struct removal *removal, const char *server)
{
    removal->server = g_strdup(server);
    removal->floating_ips = g_ptr_array_new_with_free_func(g_free);
    removal->removed = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    removal->began = drover_now();
}

static enum drover_step
begin(struct work *work, struct drover_operation *op)
{
    struct removal *removal = (struct removal *)work;
    const char *id = drover_operation_external_id(op);

    if (removal->server == NULL && (id == NULL || *id == '\0'))
        return drover_operation_fail(op, DROVER_FAILURE_NOT_FOUND, "there is no external id");
    if (removal->server == NULL)
        set_server(removal, id);
    work->stage = look;
    return DROVER_RUNNING;
}

static json_t *
save(const struct work *work)
{
    const struct removal *removal = (const struct removal *)work;

    return removal->server != NULL ? json_pack("{s:s}", "server", removal->server) : NULL;
}

static gboolean
resume(struct work *work, struct drover_operation *op, const json_t *saved)
{
    const char *server = list_text(saved, "server");

    if (server == NULL)
        return FALSE;
    set_server((struct removal *)work, server);
    work->stage = look;
    return TRUE;
}

const struct work_kind removal_kind = {.name = "delete",
                                       .size = sizeof(struct removal),
                                       .first = begin,
                                       .save = save,
                                       .resume = resume,
                                       .clear = clear};

struct work *
removal_new(struct cloud *cloud, const char *server, const char *floating_ip)
{
    struct removal *removal = work_new(cloud, &removal_kind);

    set_server(removal, server);
    if (floating_ip != NULL)
        g_ptr_array_add(removal->floating_ips, g_strdup(floating_ip));
    return &removal->work;
}

enum drover_step
removal_step(struct cloud *cloud, struct drover_operation *op)
{
    return work_step(cloud, op, &removal_kind);
}

/* ---- Images ---- */

static enum drover_step
image_deleted(struct work *work, struct drover_operation *op)
{
    if (!call_is_done(work->call))
        return DROVER_RUNNING;
    if (call_failure(work->call) != 0 && !call_found_nothing(work->call))
        return call_fail(work->call, op);
    list_expire(work->cloud, LIST_OWN_IMAGES);
    return DROVER_DONE;
}

static enum drover_step
delete_image(struct work *work, struct drover_operation *op)
{
    const char *id = drover_operation_external_id(op);
    g_autofree char *path = id != NULL && *id != '\0' ? call_path("/images", id, "") : NULL;

    if (path == NULL)
        return drover_operation_fail(op, DROVER_FAILURE_NOT_FOUND, "there is no external id");
    return work_call(work, op, call_new(work->cloud, SERVICE_IMAGE, "DELETE", path, NULL),
                     image_deleted);
}

static const struct work_kind image_removal_kind = {
    .name = "delete-image", .size = sizeof(struct work), .first = delete_image};

enum drover_step
removal_step_image(struct cloud *cloud, struct drover_operation *op)
{
    return work_step(cloud, op, &image_removal_kind);
}

enum drover_step
removal_step_resource(struct cloud *cloud, struct drover_operation *op)
{
    const char *kind = drover_operation_input(op, "kind");

    if (g_strcmp0(kind, "instance") == 0)
        return removal_step(cloud, op);
    if (g_strcmp0(kind, "image") == 0)
        return removal_step_image(cloud, op);
    return drover_operation_fail(op, DROVER_FAILURE_NOT_FOUND, "there are no resources of kind %s",
                                 kind != NULL ? kind : "");
}
