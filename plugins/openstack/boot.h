/*
 * Following a server from the time when it was asked for until it can be reached.
 */
#ifndef OPENSTACK_BOOT_H
#define OPENSTACK_BOOT_H

#include "work.h"

/* Work that is done when the operation has all results. `taken_up`: another process may have done
 * some of it already. Freed with work_free(). */
struct work *boot_new(struct cloud *cloud, const char *server, gboolean taken_up);
/* Whether the cloud is asked for a floating IP just now. `boot` may be NULL. */
gboolean boot_asks_for_floating_ip(const struct work *boot);
/* The id of the floating IP that it has made; NULL: none. `boot` may be NULL. */
const char *boot_floating_ip(const struct work *boot);

#endif
