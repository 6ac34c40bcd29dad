#include "boot.h"

#include <string.h>

#include "addresses.h"
#include "cost.h"
#include "fault.h"
#include "floating.h"
#include "list.h"
#include "server.h"

/* A server that no list shows is asked for by itself once it is this old, and as often. */
#define UNSEEN_MILLISECONDS 60000
/* How long Nova has to say that it knows of a floating IP; Neutron is believed then. */
#define NEWS_MILLISECONDS 5000

struct boot {
    struct work work;
    char *server;   /* its id */
    int64_t looked; /* when it was seen, or asked for by itself, last */
    gboolean taken_up;
    gboolean seen;
    struct work *floating;
    gboolean has_floating; /* the work is done */
    int64_t floating_since;
};

static enum drover_step watch(struct work *work, struct drover_operation *op);

/* ---- Results ---- */

static void
show_flavor(struct cloud *cloud, struct drover_operation *op, const json_t *server,
            const json_t *flavors)
{
    const struct drover_value *label = drover_operation_label_config(op);

    cost_show_server(cloud, op, server, flavors, NULL);
    if (!drover_value_get_boolean(label, "boot-from-volume", 0))
        return;
    drover_operation_set_resource(op, "volumes", 1);
    drover_operation_set_resource(op, "volume-gb",
                                  (double)drover_value_get_integer(label, "volume-size", 50));
}

static void
show(const struct boot *boot, struct drover_operation *op, const json_t *server,
     const struct addresses *addresses)
{
    const struct cloud *cloud = boot->work.cloud;

    drover_operation_set_string(op, "interface_ip", addresses->interface);
    drover_operation_set_string(op, "public_ipv4", addresses->public_ipv4);
    drover_operation_set_string(op, "public_ipv6", addresses->public_ipv6);
    drover_operation_set_string(op, "private_ipv4",
                                *addresses->private_ipv4 != '\0' ? addresses->private_ipv4
                                                                 : addresses->public_ipv4);
    drover_operation_set_string(op, "private_ipv6", NULL);
    drover_operation_set_string(op, "az", list_text(server, "OS-EXT-AZ:availability_zone"));
    drover_operation_set_string(op, "host_id", list_text(server, "hostId"));
    drover_operation_set_string(op, "cloud", cloud->settings->cloud);
    drover_operation_set_string(op, "region",
                                drover_value_get_string(cloud->config, "region-name", NULL));
}

static enum drover_step
finish(struct boot *boot, struct drover_operation *op, const json_t *server,
       const struct addresses *addresses)
{
    const json_t *flavors;
    enum drover_step step = list_await(boot->work.cloud, LIST_FLAVORS, op, &flavors);

    if (step != DROVER_DONE)
        return step;
    show(boot, op, server, addresses);
    show_flavor(boot->work.cloud, op, server, flavors);
    return DROVER_DONE;
}

/* ---- A server that runs ---- */

static enum drover_step
follow_floating(struct work *work, struct drover_operation *op)
{
    struct boot *boot = (struct boot *)work;
    enum drover_step step = work_run(boot->floating, op);

    if (step != DROVER_DONE)
        return step;
    boot->has_floating = TRUE;
    boot->floating_since = drover_now();
    work->stage = watch;
    return DROVER_RUNNING;
}

static gboolean
may_get_floating_ip(const struct boot *boot, const struct drover_operation *op,
                    const struct addresses *addresses)
{
    return !boot->has_floating &&
           drover_value_get_boolean(drover_operation_pool_config(op), "auto-floating-ip", 1) &&
           addresses_need_floating_ip(boot->work.cloud->settings, addresses);
}

/* Nova hears of floating IPs late, and from some clouds never. */
static gboolean
waits_for_news(const struct boot *boot, const struct addresses *addresses)
{
    return floating_address(boot->floating) != NULL && !addresses->has_floating &&
           !list_is_since(boot->work.cloud, LIST_SERVERS, boot->floating_since + NEWS_MILLISECONDS);
}

/* Nova does not tell, but Neutron does. */
static enum drover_step
finish_with_floating_ip(struct boot *boot, struct drover_operation *op, const json_t *server,
                        const json_t *networks)
{
    json_t *complete = addresses_with_floating_ip(server, floating_address(boot->floating));
    struct addresses addresses =
        addresses_choose(boot->work.cloud->settings, networks, complete, addresses_host_has_ipv6());
    enum drover_step step = finish(boot, op, complete, &addresses);

    json_decref(complete);
    return step;
}

static enum drover_step
running(struct boot *boot, struct drover_operation *op, const json_t *server)
{
    struct cloud *cloud = boot->work.cloud;
    struct addresses addresses;
    const json_t *networks;
    enum drover_step step = list_await(cloud, LIST_NETWORKS, op, &networks);

    if (step == DROVER_DONE && !addresses_are_on_known_networks(networks, server))
        step = list_look_again(cloud, LIST_NETWORKS, op);
    if (step != DROVER_DONE)
        return step;
    drover_operation_set_status(op, "waiting for addresses");
    addresses = addresses_choose(cloud->settings, networks, server, addresses_host_has_ipv6());
    if (may_get_floating_ip(boot, op, &addresses)) {
        boot->floating = floating_new(cloud, boot->server, boot->taken_up);
        boot->work.stage = follow_floating;
        return DROVER_RUNNING;
    }
    if (*addresses.interface == '\0' || waits_for_news(boot, &addresses))
        return list_wait(cloud, LIST_SERVERS, op);
    if (floating_address(boot->floating) != NULL && !addresses.has_floating)
        return finish_with_floating_ip(boot, op, server, networks);
    return finish(boot, op, server, &addresses);
}

/* ---- A server that does not ---- */

static enum drover_step
broken(const struct boot *boot, struct drover_operation *op, const json_t *server)
{
    g_autofree char *fault = server_fault(server);
    enum drover_failure failure = fault_of_server(fault);

    drover_operation_log(op, failure == DROVER_FAILURE_BROKEN ? DROVER_ERR : DROVER_INFO,
                         "Server %s went to state ERROR: %s", boot->server,
                         fault != NULL ? fault : "no reason is given");
    return drover_operation_fail(op, failure, "server %s went to state ERROR: %s", boot->server,
                                 fault != NULL ? fault : "no reason is given");
}

static enum drover_step
gone(const struct boot *boot, struct drover_operation *op)
{
    return drover_operation_fail(op, DROVER_FAILURE_BROKEN, "server %s is gone", boot->server);
}

static enum drover_step judge(struct boot *boot, struct drover_operation *op, const json_t *server,
                              gboolean by_itself);

static enum drover_step
shown(struct work *work, struct drover_operation *op)
{
    struct boot *boot = (struct boot *)work;

    if (!call_is_done(work->call))
        return DROVER_RUNNING;
    if (call_found_nothing(work->call))
        return gone(boot, op);
    boot->looked = drover_now();
    work->stage = watch;
    if (call_failure(work->call) != 0)
        return list_wait(work->cloud, LIST_SERVERS, op);
    return judge(boot, op, json_object_get(call_answer(work->call), "server"), TRUE);
}

static enum drover_step
show_by_itself(struct boot *boot, struct drover_operation *op)
{
    g_autofree char *path = call_path("/servers", boot->server, "");

    return work_call(&boot->work, op,
                     call_new(boot->work.cloud, SERVICE_COMPUTE, "GET", path, NULL), shown);
}

/* ---- Watching it ---- */

static enum drover_step
judge(struct boot *boot, struct drover_operation *op, const json_t *server, gboolean by_itself)
{
    g_autofree char *fault = NULL;

    if (!server_exists(server))
        return gone(boot, op);
    if (server_is(server, "ACTIVE") && !server_is_partial(server))
        return running(boot, op, server);
    if (server_is(server, "ERROR")) {
        fault = server_fault(server);
        return fault != NULL || by_itself ? broken(boot, op, server) : show_by_itself(boot, op);
    }
    drover_operation_set_status(op, "building");
    return list_wait(boot->work.cloud, LIST_SERVERS, op);
}

/* A list may show a time when the server had not been made yet. */
static enum drover_step
watch(struct work *work, struct drover_operation *op)
{
    struct boot *boot = (struct boot *)work;
    const json_t *servers, *server;
    enum drover_step step = list_await(work->cloud, LIST_SERVERS, op, &servers);

    if (step != DROVER_DONE)
        return step;
    server = list_find(servers, "id", boot->server);
    if (server != NULL) {
        boot->seen = TRUE;
        boot->looked = drover_now();
        return judge(boot, op, server, FALSE);
    }
    if (list_is_since(work->cloud, LIST_SERVERS, boot->looked + 1) &&
        (boot->seen || drover_now() > boot->looked + UNSEEN_MILLISECONDS))
        return show_by_itself(boot, op);
    drover_operation_set_status(op, "building");
    return list_wait(work->cloud, LIST_SERVERS, op);
}

/* ---- As work ---- */

static void
clear(struct work *work)
{
    struct boot *boot = (struct boot *)work;

    work_free(boot->floating);
    g_free(boot->server);
}

static const struct work_kind boot_kind = {
    .name = "boot", .size = sizeof(struct boot), .first = watch, .clear = clear};

struct work *
boot_new(struct cloud *cloud, const char *server, gboolean taken_up)
{
    struct boot *boot = work_new(cloud, &boot_kind);

    boot->server = g_strdup(server);
    boot->taken_up = taken_up;
    boot->looked = drover_now();
    return &boot->work;
}

gboolean
boot_asks_for_floating_ip(const struct work *boot)
{
    return boot != NULL && floating_is_asked_for(((const struct boot *)boot)->floating);
}

const char *
boot_floating_ip(const struct work *boot)
{
    return boot != NULL ? floating_id(((const struct boot *)boot)->floating) : NULL;
}
