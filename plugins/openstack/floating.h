/*
 * Giving a server a floating IP.
 */
#ifndef OPENSTACK_FLOATING_H
#define OPENSTACK_FLOATING_H

#include "work.h"

extern const struct work_kind floating_kind;

/* Work that is done when the server can be reached by a floating IP, or cannot have one.
 * `may_be_there`: another process may have made it already. Freed with work_free(). */
struct work *floating_new(struct cloud *cloud, const char *server, gboolean may_be_there);
/* Whether the cloud is asked to make it just now. */
gboolean floating_is_asked_for(const struct work *floating);
/* Its id; NULL: none was made. */
const char *floating_id(const struct work *work);
/* Its address; NULL: there is none. */
const char *floating_address(const struct work *work);

#endif
