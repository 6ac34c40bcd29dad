/*
 * Nova's records of servers, and what is sent to make one.
 */
#ifndef OPENSTACK_SERVER_H
#define OPENSTACK_SERVER_H

#include "cloud.h"

/* FALSE for one that Nova lists although it is deleted. */
gboolean server_exists(const json_t *server);
gboolean server_is(const json_t *server, const char *status);
/* Whether a part of Nova that is down keeps most of it back. */
gboolean server_is_partial(const json_t *server);
/* What went wrong with it, for people. Free with g_free(); NULL: it does not say. */
char *server_fault(const json_t *server);
/* Whether it was made for the operation's node, and nobody deletes it. */
gboolean server_is_of_node(const struct cloud *cloud, const struct drover_operation *op,
                           const json_t *server);

/* What a server is made of. */
struct server_parts {
    const char *flavor_id, *image_id, *zone; /* the zone may be NULL */
    json_t *networks;                        /* may be NULL */
};
/* The body of POST /servers for the operation's label. A new reference. */
json_t *server_description(const struct cloud *cloud, struct drover_operation *op,
                           const struct server_parts *parts);

#endif
