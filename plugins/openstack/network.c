#include "network.h"

#include "list.h"
#include "session.h"

#include <string.h>

/* From this microversion on Nova wants to be told that it may choose. */
#define AUTO_MICROVERSION 37

/* ---- Choosing ---- */

static gboolean
is_called(const json_t *network, const char *text)
{
    return g_strcmp0(list_text(network, "id"), text) == 0 ||
           g_strcmp0(list_text(network, "name"), text) == 0;
}

const json_t *
network_choose(const json_t *networks, const char *text, GError **error)
{
    const json_t *by_id = list_find(networks, "id", text), *found = NULL;
    guint number = 0;
    size_t index;
    json_t *network;

    if (by_id != NULL)
        return by_id;
    json_array_foreach((json_t *)networks, index, network)
    {
        if (g_strcmp0(list_text(network, "name"), text) != 0)
            continue;
        found = network;
        number++;
    }
    if (number == 1)
        return found;
    if (number == 0)
        g_set_error(error, SETTINGS_ERROR, SETTINGS_ERROR_UNKNOWN, "there is no network %s", text);
    else
        g_set_error(error, SETTINGS_ERROR, SETTINGS_ERROR_UNKNOWN,
                    "there are %u networks called %s; the id tells which one is meant", number,
                    text);
    return NULL;
}

/* ---- What the settings say ---- */

static gboolean
flag(const json_t *entry, const char *key, gboolean otherwise)
{
    const json_t *value = json_object_get(entry, key);

    return json_is_boolean(value) ? json_is_true(value) : otherwise;
}

/* 1: external, 0: internal, -1: not said. */
static int
configured(const struct settings *settings, const json_t *network)
{
    const json_t *entries = json_object_get(settings->values, "networks");
    const char *external = settings_text(settings, "external_network");
    const char *internal = settings_text(settings, "internal_network");
    size_t index;
    json_t *entry;

    json_array_foreach((json_t *)entries, index, entry)
    {
        const char *name = list_text(entry, "name");

        if (name != NULL && is_called(network, name))
            return flag(entry, "routes_ipv4_externally", flag(entry, "routes_externally", FALSE));
    }
    if (external != NULL && is_called(network, external))
        return 1;
    return internal != NULL && is_called(network, internal) ? 0 : -1;
}

const char *
network_with_part(const struct settings *settings, const char *part)
{
    const json_t *entries = json_object_get(settings->values, "networks");
    size_t index;
    json_t *entry;

    json_array_foreach((json_t *)entries, index, entry)
    {
        if (flag(entry, part, FALSE))
            return list_text(entry, "name");
    }
    return NULL;
}

/* ---- What they are good for ---- */

static gboolean
leads_outside(const json_t *network)
{
    return json_is_true(json_object_get(network, "router:external")) ||
           list_text(network, "provider:physical_network") != NULL;
}

gboolean
network_is_external(const struct settings *settings, const json_t *network)
{
    int said = configured(settings, network);

    return said >= 0 ? said : leads_outside(network);
}

gboolean
network_is_internal(const struct settings *settings, const json_t *network)
{
    return !network_is_external(settings, network);
}

gboolean
network_has_floating_ips(const struct settings *settings)
{
    const char *source = settings_text(settings, "floating_ip_source");
    const json_t *value = json_object_get(settings->values, "floating_ip_source");

    if (json_is_null(value) || (source != NULL && g_ascii_strcasecmp(source, "none") == 0))
        return FALSE;
    return settings_has_service(settings, SERVICE_NETWORK);
}

static const char *
gateway_network(const json_t *routers)
{
    size_t index;
    json_t *router;

    json_array_foreach((json_t *)routers, index, router)
    {
        const char *id = list_text(json_object_get(router, "external_gateway_info"), "network_id");

        if (json_is_true(json_object_get(router, "admin_state_up")) && id != NULL)
            return id;
    }
    return NULL;
}

const char *
network_floating_source(const struct settings *settings, const json_t *networks,
                        const json_t *routers)
{
    const char *wanted = network_with_part(settings, "nat_source");
    size_t index;
    json_t *network;

    json_array_foreach((json_t *)networks, index, network)
    {
        if (wanted != NULL ? is_called(network, wanted)
                           : json_is_true(json_object_get(network, "router:external")))
            return list_text(network, "id");
    }
    return wanted == NULL ? gateway_network(routers) : NULL;
}

/* ---- Ports ---- */

const char *
network_ipv4_of_port(const json_t *port)
{
    size_t index;
    json_t *fixed;

    json_array_foreach(json_object_get(port, "fixed_ips"), index, fixed)
    {
        const char *text = list_text(fixed, "ip_address");

        if (text != NULL && strchr(text, ':') == NULL)
            return text;
    }
    return NULL;
}

static gboolean
has_gateway(const json_t *subnets, const char *network_id)
{
    size_t index;
    json_t *subnet;

    json_array_foreach((json_t *)subnets, index, subnet)
    {
        if (g_strcmp0(list_text(subnet, "network_id"), network_id) == 0 &&
            list_text(subnet, "gateway_ip") != NULL)
            return TRUE;
    }
    return FALSE;
}

static gboolean
can_be_reached(const struct settings *settings, const json_t *networks, const json_t *subnets,
               const json_t *port)
{
    const char *wanted = network_with_part(settings, "nat_destination");
    const char *id = list_text(port, "network_id");
    const json_t *network = list_find(networks, "id", id);

    if (wanted != NULL)
        return g_strcmp0(id, wanted) == 0 || (network != NULL && is_called(network, wanted));
    return has_gateway(subnets, id) && !json_is_true(json_object_get(network, "router:external"));
}

const json_t *
network_port_for_floating_ip(const struct settings *settings, const json_t *networks,
                             const json_t *subnets, const json_t *ports, GError **error)
{
    const json_t *best = NULL;
    size_t index;
    json_t *port;

    if (json_array_size(ports) == 1)
        return json_array_get(ports, 0);
    json_array_foreach((json_t *)ports, index, port)
    {
        if (network_ipv4_of_port(port) != NULL &&
            can_be_reached(settings, networks, subnets, port) &&
            (best == NULL ||
             g_strcmp0(list_text(port, "created_at"), list_text(best, "created_at")) > 0))
            best = port;
    }
    if (best == NULL)
        g_set_error(error, SETTINGS_ERROR, SETTINGS_ERROR_UNKNOWN,
                    "none of its %zu ports can be told as that for a floating IP; configure "
                    "nat_destination for one of the networks in clouds.yaml",
                    json_array_size(ports));
    return best;
}

/* ---- Of labels ---- */

static enum drover_step
add_network(struct cloud *cloud, struct drover_operation *op, const json_t *networks,
            const char *text, json_t *wanted)
{
    g_autoptr(GError) error = NULL;
    const json_t *network = network_choose(networks, text, &error);
    enum drover_step step;

    if (network != NULL) {
        json_array_append_new(wanted, json_pack("{s:s}", "uuid", list_text(network, "id")));
        return DROVER_DONE;
    }
    step = list_look_again(cloud, LIST_NETWORKS, op);
    if (step == DROVER_DONE)
        step = drover_operation_fail(op, DROVER_FAILURE_PERMANENT, "provider %s: %s",
                                     drover_provider_name(cloud->provider), error->message);
    return step;
}

static enum drover_step
add_configured(struct cloud *cloud, struct drover_operation *op, const struct drover_value *names,
               json_t *wanted)
{
    const json_t *networks;
    enum drover_step step = list_await(cloud, LIST_NETWORKS, op, &networks);

    for (size_t i = 0; step == DROVER_DONE && i < drover_value_length(names); i++)
        step = add_network(cloud, op, networks, drover_value_string(drover_value_item(names, i)),
                           wanted);
    return step;
}

static enum drover_step
add_default(struct cloud *cloud, struct drover_operation *op, json_t *wanted)
{
    const char *name = network_with_part(cloud->settings, "default_interface");
    const json_t *networks;
    enum drover_step step;

    if (name == NULL)
        return DROVER_DONE;
    step = list_await(cloud, LIST_NETWORKS, op, &networks);
    return step == DROVER_DONE ? add_network(cloud, op, networks, name, wanted) : step;
}

/* Addresses are told apart by what clouds.yaml says of networks: it must not speak of any that
 * there is not. */
static enum drover_step
check_described(struct cloud *cloud, struct drover_operation *op)
{
    g_autoptr(GPtrArray) names = settings_networks(cloud->settings);
    json_t *found = json_array();
    const json_t *networks = NULL;
    enum drover_step step = DROVER_DONE;

    if (!settings_has_service(cloud->settings, SERVICE_NETWORK))
        g_ptr_array_set_size(names, 0);
    if (names->len > 0)
        step = list_await(cloud, LIST_NETWORKS, op, &networks);
    for (guint i = 0; step == DROVER_DONE && i < names->len; i++)
        step = add_network(cloud, op, networks, names->pdata[i], found);
    json_decref(found);
    return step;
}

enum drover_step
network_of_label(struct cloud *cloud, struct drover_operation *op, json_t **wanted)
{
    const struct drover_value *names =
        drover_value_get(drover_operation_label_config(op), "networks");
    json_t *list = json_array();
    enum drover_step step;

    if (names == NULL)
        names = drover_value_get(drover_operation_pool_config(op), "networks");
    step = check_described(cloud, op);
    if (step == DROVER_DONE)
        step = drover_value_length(names) > 0 ? add_configured(cloud, op, names, list)
                                              : add_default(cloud, op, list);
    *wanted = NULL;
    if (step == DROVER_DONE && json_array_size(list) > 0)
        *wanted = json_incref(list);
    else if (step == DROVER_DONE && session_microversion(cloud->session) >= AUTO_MICROVERSION)
        *wanted = json_string("auto");
    json_decref(list);
    return step;
}
