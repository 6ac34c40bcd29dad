#include "floating.h"

#include <string.h>

#include "list.h"
#include "network.h"

/* In which Neutron has to make it work. */
#define ACTIVE_MILLISECONDS 60000

struct floating {
    struct work work;
    char *server;
    char *source; /* the network that it is from */
    json_t *ports;
    char *id, *address;
    int64_t made;
};

static enum drover_step wait_until_active(struct work *work, struct drover_operation *op);

/* ---- Making it ---- */

/* No router joins the server's network to the outside: it has to do without. */
static gboolean
is_out_of_reach(const struct call *call)
{
    const char *words = call_words(call);

    return call_status(call) == 404 && words != NULL && strstr(words, "is not reachable") != NULL;
}

static void
take(struct floating *floating, const json_t *floating_ip)
{
    g_free(floating->id);
    floating->id = g_strdup(list_id(floating_ip));
    floating->address = g_strdup(list_text(floating_ip, "floating_ip_address"));
    floating->made = drover_now();
}

static enum drover_step
made(struct work *work, struct drover_operation *op)
{
    struct floating *floating = (struct floating *)work;
    const json_t *floating_ip;

    if (!call_is_done(work->call))
        return DROVER_RUNNING;
    if (is_out_of_reach(work->call)) {
        drover_operation_log(op, DROVER_WARNING, "Server %s gets no floating IP: %s",
                             floating->server, call_words(work->call));
        return DROVER_DONE;
    }
    if (call_failure(work->call) != 0)
        return call_fail(work->call, op);
    list_expire(work->cloud, LIST_FLOATING_IPS);
    floating_ip = json_object_get(call_answer(work->call), "floatingip");
    take(floating, floating_ip);
    if (floating->id == NULL || floating->address == NULL)
        return drover_operation_fail(op, DROVER_FAILURE_OTHER,
                                     "the cloud's answer about a floating IP makes no sense");
    drover_operation_log(op, DROVER_INFO, "Floating IP %s is made for server %s", floating->address,
                         floating->server);
    if (g_strcmp0(list_text(floating_ip, "status"), "ACTIVE") == 0)
        return DROVER_DONE;
    work->stage = wait_until_active;
    return DROVER_RUNNING;
}

static enum drover_step
make(struct floating *floating, struct drover_operation *op, const json_t *port)
{
    struct cloud *cloud = floating->work.cloud;
    json_t *body =
        json_pack("{s:{s:s, s:s?, s:s*}}", "floatingip", "floating_network_id", floating->source,
                  "port_id", list_text(port, "id"), "fixed_ip_address", network_ipv4_of_port(port));

    drover_operation_set_status(op, "floating IP");
    return work_call(&floating->work, op,
                     call_new(cloud, SERVICE_NETWORK, "POST", "/floatingips", body), made);
}

/* ---- Which port ---- */

static enum drover_step
choose_port(struct work *work, struct drover_operation *op)
{
    struct floating *floating = (struct floating *)work;
    g_autoptr(GError) error = NULL;
    const json_t *networks, *subnets = NULL, *port;
    enum drover_step step = list_await(work->cloud, LIST_NETWORKS, op, &networks);

    if (step == DROVER_DONE && json_array_size(floating->ports) > 1)
        step = list_await(work->cloud, LIST_SUBNETS, op, &subnets);
    if (step != DROVER_DONE || json_array_size(floating->ports) == 0)
        return step;
    port = network_port_for_floating_ip(work->cloud->settings, networks, subnets, floating->ports,
                                        &error);
    if (port == NULL)
        return drover_operation_fail(op, DROVER_FAILURE_NO_ADDRESS, "server %s: %s",
                                     floating->server, error->message);
    return make(floating, op, port);
}

/* ---- Whether there is one already ---- */

/* One that a process made which has not lived to say so. */
static const json_t *
find_present(const struct floating *floating, const json_t *floating_ips)
{
    size_t index;
    json_t *floating_ip;

    json_array_foreach((json_t *)floating_ips, index, floating_ip)
    {
        const char *port = list_text(floating_ip, "port_id");

        if (port != NULL && list_find(floating->ports, "id", port) != NULL)
            return floating_ip;
    }
    return NULL;
}

static enum drover_step
look_for_present(struct work *work, struct drover_operation *op)
{
    struct floating *floating = (struct floating *)work;
    const json_t *floating_ips, *present;
    enum drover_step step =
        list_await_after(work->cloud, LIST_FLOATING_IPS, op, floating->made, &floating_ips);

    if (step != DROVER_DONE)
        return step;
    present = find_present(floating, floating_ips);
    if (present != NULL)
        take(floating, present);
    work->stage = floating->address != NULL ? wait_until_active : choose_port;
    return DROVER_RUNNING;
}

static enum drover_step
ports_known(struct work *work, struct drover_operation *op)
{
    struct floating *floating = (struct floating *)work;

    if (!call_is_done(work->call))
        return DROVER_RUNNING;
    if (call_failure(work->call) != 0)
        return call_fail(work->call, op);
    floating->ports = json_incref(json_object_get(call_answer(work->call), "ports"));
    if (!json_is_array(floating->ports))
        return drover_operation_fail(op, DROVER_FAILURE_OTHER,
                                     "the cloud's answer about ports makes no sense");
    work->stage = floating->made != 0 ? look_for_present : choose_port;
    return DROVER_RUNNING;
}

static enum drover_step
ask_for_ports(struct work *work, struct drover_operation *op)
{
    const struct floating *floating = (struct floating *)work;
    struct call *call = call_new(work->cloud, SERVICE_NETWORK, "GET", "/ports", NULL);

    call_add_query(call, "device_id", floating->server);
    return work_call(work, op, call, ports_known);
}

static enum drover_step
find_source(struct work *work, struct drover_operation *op)
{
    struct floating *floating = (struct floating *)work;
    const struct settings *settings = work->cloud->settings;
    const json_t *networks, *routers = NULL;
    enum drover_step step = list_await(work->cloud, LIST_NETWORKS, op, &networks);

    if (step == DROVER_DONE && network_floating_source(settings, networks, NULL) == NULL)
        step = list_await(work->cloud, LIST_ROUTERS, op, &routers);
    if (step != DROVER_DONE)
        return step;
    floating->source = g_strdup(network_floating_source(settings, networks, routers));
    if (floating->source == NULL)
        return DROVER_DONE;
    work->stage = ask_for_ports;
    return DROVER_RUNNING;
}

/* ---- Waiting ---- */

static enum drover_step
given_up(struct work *work, struct drover_operation *op)
{
    const struct floating *floating = (struct floating *)work;

    if (!call_is_done(work->call))
        return DROVER_RUNNING;
    return drover_operation_fail(op, DROVER_FAILURE_NO_ADDRESS,
                                 "floating IP %s of server %s did not become active in %d s",
                                 floating->address, floating->server, ACTIVE_MILLISECONDS / 1000);
}

static enum drover_step
give_up(struct work *work, struct drover_operation *op)
{
    const struct floating *floating = (struct floating *)work;
    g_autofree char *path = call_path("/floatingips", floating->id, "");

    return work_call(work, op, call_new(work->cloud, SERVICE_NETWORK, "DELETE", path, NULL),
                     given_up);
}

static enum drover_step
wait_until_active(struct work *work, struct drover_operation *op)
{
    const struct floating *floating = (struct floating *)work;
    const json_t *floating_ips, *own;
    enum drover_step step =
        list_await_after(work->cloud, LIST_FLOATING_IPS, op, floating->made, &floating_ips);

    if (step == DROVER_DONE) {
        own = list_find(floating_ips, "id", floating->id);
        if (g_strcmp0(list_text(own, "status"), "ACTIVE") == 0)
            return DROVER_DONE;
        step = list_wait(work->cloud, LIST_FLOATING_IPS, op);
    }
    if (step == DROVER_RUNNING && drover_now() > floating->made + ACTIVE_MILLISECONDS)
        work->stage = give_up;
    return step;
}

/* ---- As work ---- */

static void
clear(struct work *work)
{
    struct floating *floating = (struct floating *)work;

    g_free(floating->server);
    g_free(floating->source);
    g_free(floating->id);
    g_free(floating->address);
    json_decref(floating->ports);
}

const struct work_kind floating_kind = {
    .name = "floating", .size = sizeof(struct floating), .first = find_source, .clear = clear};

struct work *
floating_new(struct cloud *cloud, const char *server, gboolean may_be_there)
{
    struct floating *floating = work_new(cloud, &floating_kind);

    floating->server = g_strdup(server);
    if (may_be_there)
        floating->made = drover_now();
    return &floating->work;
}

gboolean
floating_is_asked_for(const struct work *work)
{
    return work != NULL && work->stage == made && !call_is_done(work->call);
}

const char *
floating_id(const struct work *work)
{
    return work != NULL ? ((const struct floating *)work)->id : NULL;
}

const char *
floating_address(const struct work *work)
{
    return work != NULL ? ((const struct floating *)work)->address : NULL;
}
