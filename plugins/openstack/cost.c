#include "cost.h"

#include <math.h>

#include "flavor.h"
#include "list.h"
#include "resources.h"
#include "server.h"
#include "work.h"

/* ---- Costs ---- */

static double
number(const json_t *object, const char *member)
{
    return fmax(json_number_value(json_object_get(object, member)), 0);
}

static void
show_flavor(struct drover_operation *op, const json_t *flavor)
{
    drover_operation_set_resource(op, "instances", 1);
    drover_operation_set_resource(op, "cores", number(flavor, "vcpus"));
    drover_operation_set_resource(op, "ram", number(flavor, "ram"));
}

void
cost_show_label(struct drover_operation *op, const json_t *flavor)
{
    const struct drover_value *label = drover_operation_label_config(op);

    show_flavor(op, flavor);
    if (!drover_value_get_boolean(label, "boot-from-volume", 0))
        return;
    drover_operation_set_resource(op, "volumes", 1);
    drover_operation_set_resource(op, "volume-gb",
                                  (double)drover_value_get_integer(label, "volume-size", 50));
}

/* From microversion 2.47 on a record has the flavor itself. */
static const json_t *
flavor_of(const struct cloud *cloud, const json_t *server, const json_t *flavors)
{
    const json_t *flavor = json_object_get(server, "flavor");
    const char *id = list_text(flavor, "id");

    if (json_object_get(flavor, "vcpus") != NULL || id == NULL)
        return flavor;
    flavor = list_find(flavors, "id", id);
    if (flavor == NULL && g_hash_table_add(cloud->told, g_strdup(id)))
        drover_provider_log(cloud->provider, DROVER_WARNING,
                            "The flavor %s of server %s is not there any more; its servers "
                            "count as one instance each, without cores and memory",
                            id, list_text(server, "id"));
    return flavor;
}

void
cost_show_server(const struct cloud *cloud, struct drover_operation *op, const json_t *server,
                 const json_t *flavors, const json_t *volumes)
{
    const json_t *attached = json_object_get(server, "os-extended-volumes:volumes_attached");
    int found = 0;
    double size = 0;
    size_t index;
    json_t *item;

    show_flavor(op, flavor_of(cloud, server, flavors));
    json_array_foreach((json_t *)attached, index, item)
    {
        const json_t *volume = list_find(volumes, "id", list_text(item, "id"));

        if (volume == NULL)
            continue;
        found++;
        size += number(volume, "size");
    }
    if (found == 0)
        return;
    drover_operation_set_resource(op, "volumes", found);
    drover_operation_set_resource(op, "volume-gb", size);
}

/* ---- As operations ---- */

enum drover_step
cost_of_label(struct cloud *cloud, struct drover_operation *op)
{
    enum drover_step step;
    const json_t *flavor = flavor_of_label(cloud, op, &step);

    if (flavor != NULL)
        cost_show_label(op, flavor);
    return step;
}

enum drover_step
cost_of_servers(struct cloud *cloud, struct drover_operation *op)
{
    /* A server that is gone, and its node with it, would be counted as somebody else's. */
    int64_t oldest = operation_began(op);
    const json_t *servers, *flavors, *volumes;
    enum drover_step step = list_get_after(cloud, LIST_SERVERS, op, oldest, &servers);
    size_t index;
    json_t *server;

    if (step == DROVER_DONE)
        step = list_get(cloud, LIST_FLAVORS, op, &flavors);
    if (step == DROVER_DONE)
        step = list_get_after(cloud, LIST_VOLUMES, op, oldest, &volumes);
    if (step != DROVER_DONE)
        return step;
    json_array_foreach((json_t *)servers, index, server)
    {
        if (!server_exists(server) || server_is_partial(server))
            continue;
        resources_show(op, "instance", server, json_object_get(server, "metadata"));
        cost_show_server(cloud, op, server, flavors, volumes);
    }
    return DROVER_DONE;
}

/* ---- Limits ---- */

struct limits {
    struct work work;
    struct call *compute, *volume;
};

static void
limits_free(void *data)
{
    struct limits *limits = data;

    call_free(limits->compute);
    call_free(limits->volume);
    g_free(limits);
}

static struct call *
ask(struct cloud *cloud, struct drover_operation *op, enum service service)
{
    struct call *call = call_new(cloud, service, "GET", "/limits", NULL);

    call_start_for(call, op);
    return call;
}

static const struct limit {
    enum service service;
    const char *member, *resource;
} limit_names[] = {
    {SERVICE_COMPUTE, "maxTotalInstances", "instances"},
    {SERVICE_COMPUTE, "maxTotalCores", "cores"},
    {SERVICE_COMPUTE, "maxTotalRAMSize", "ram"},
    {SERVICE_VOLUME, "maxTotalVolumes", "volumes"},
    {SERVICE_VOLUME, "maxTotalVolumeGigabytes", "volume-gb"},
};

/* The amount of a limit; NULL: the answer does not tell. */
static const json_t *
amount_of(const struct limits *limits, const struct limit *limit)
{
    struct call *call = limit->service == SERVICE_COMPUTE ? limits->compute : limits->volume;
    const json_t *all = json_object_get(json_object_get(call_answer(call), "limits"), "absolute");
    const json_t *amount = json_object_get(all, limit->member);

    return json_is_number(amount) ? amount : NULL;
}

/* All of them or none: what is not told must be taken neither for nothing nor for no limit. */
static enum drover_step
show_limits(const struct limits *limits, struct drover_operation *op)
{
    for (gsize i = 0; i < G_N_ELEMENTS(limit_names); i++) {
        const struct limit *limit = &limit_names[i];
        gboolean is_absent =
            limit->service == SERVICE_VOLUME && call_has_no_service(limits->volume);
        const json_t *amount = is_absent ? NULL : amount_of(limits, limit);
        double most = json_number_value(amount);

        if (amount == NULL && !is_absent)
            return drover_operation_fail(op, DROVER_FAILURE_OTHER,
                                         "the cloud's answer about its limits has no %s",
                                         limit->member);
        /* A service that there is not has nothing to give. */
        drover_operation_set_resource(op, limit->resource, most < 0 ? INFINITY : most);
    }
    return DROVER_DONE;
}

enum drover_step
cost_limits(struct cloud *cloud, struct drover_operation *op)
{
    struct limits *limits = drover_operation_state(op);

    if (limits == NULL) {
        limits = g_new0(struct limits, 1);
        drover_operation_set_state(op, limits, limits_free);
        limits->compute = ask(cloud, op, SERVICE_COMPUTE);
        limits->volume = ask(cloud, op, SERVICE_VOLUME);
    }
    drover_operation_call_after(op, DROVER_WHEN_WOKEN);
    if (!call_is_done(limits->compute) || !call_is_done(limits->volume))
        return DROVER_RUNNING;
    if (call_failure(limits->compute) != 0)
        return call_fail(limits->compute, op);
    if (call_failure(limits->volume) != 0 && !call_has_no_service(limits->volume))
        return call_fail(limits->volume, op);
    return show_limits(limits, op);
}
