/*
 * Which of a server's addresses is which.
 */
#ifndef OPENSTACK_ADDRESSES_H
#define OPENSTACK_ADDRESSES_H

#include "settings.h"

/* Never NULL; "" where there is none. Valid as long as the server's record. */
struct addresses {
    const char *public_ipv4, *public_ipv6, *private_ipv4;
    const char *interface; /* where the machine is reached */
    gboolean has_floating, has_fixed_ipv4;
};

/* Of a record of Nova. `networks`: those of Neutron. `host_has_ipv6`: whether this host gets to
 * IPv6 addresses. */
struct addresses addresses_choose(const struct settings *settings, const json_t *networks,
                                  const json_t *server, gboolean host_has_ipv6);

/* Whether Neutron's networks tell what each of them is good for. */
gboolean addresses_are_on_known_networks(const json_t *networks, const json_t *server);

/* Whether a server with such addresses has to get a floating IP when it may. */
gboolean addresses_need_floating_ip(const struct settings *settings,
                                    const struct addresses *addresses);

/* The record with a floating IP more, of which Nova does not know yet. A new reference. */
json_t *addresses_with_floating_ip(const json_t *server, const char *floating_ip);

/* Whether the address is for use inside of networks only, by IANA's register. */
gboolean addresses_is_private_ipv4(const char *text);
/* Whether this host has a way to IPv6 addresses. */
gboolean addresses_host_has_ipv6(void);

#endif
