/*
 * Networks: which ones a machine gets, and what each is good for.
 */
#ifndef OPENSTACK_NETWORK_H
#define OPENSTACK_NETWORK_H

#include "cloud.h"

/* The network of that name or id. NULL with an error: there is none, or there are several. */
const json_t *network_choose(const json_t *networks, const char *text, GError **error);

/* Whether it leads to the outside, and whether it is one of our own, for IPv4. */
gboolean network_is_external(const struct settings *settings, const json_t *network);
gboolean network_is_internal(const struct settings *settings, const json_t *network);
/* The name or id that the settings give that part ("default_interface", "nat_destination",
 * "nat_source"); NULL: to no network. */
const char *network_with_part(const struct settings *settings, const char *part);

/* The id of the network that floating IPs are from; NULL: there is none. `routers` may be NULL. */
const char *network_floating_source(const struct settings *settings, const json_t *networks,
                                    const json_t *routers);
/* Whether floating IPs may be used at all. */
gboolean network_has_floating_ips(const struct settings *settings);

/* The first IPv4 address that a port has; NULL: none. */
const char *network_ipv4_of_port(const json_t *port);
/*
 * The port of a server that a floating IP is to lead to, the newest if there are several that can
 * be. NULL with an error: which one it is has to be configured.
 */
const json_t *network_port_for_floating_ip(const struct settings *settings, const json_t *networks,
                                           const json_t *subnets, const json_t *ports,
                                           GError **error);

/*
 * What a create names: [{"uuid": ...}, ...], "auto", or nothing where that is not known yet. A new
 * reference in `wanted`, which is NULL for nothing. As a step.
 */
enum drover_step network_of_label(struct cloud *cloud, struct drover_operation *op,
                                  json_t **wanted);

#endif
