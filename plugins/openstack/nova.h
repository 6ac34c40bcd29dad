/*
 * Which versions Nova has, and its address: it is asked when it is needed first, and anew when it
 * has moved, or is not what it was.
 */
#ifndef OPENSTACK_NOVA_H
#define OPENSTACK_NOVA_H

#include "login.h"

struct nova;

/* `ended` is called when Nova has answered, or failed and become trouble; before that `refused`,
 * when it refused the token: TRUE when it is worth asking again with another. */
struct nova *nova_new(struct cloud *cloud, const struct login *login, struct trouble *trouble,
                      gboolean (*refused)(void *data), void (*ended)(void *data), void *data);
void nova_free(struct nova *nova);
void nova_reset(struct nova *nova);

/* The address in the catalog, NULL when there is none: what was known of another is forgotten. */
void nova_note_endpoint(struct nova *nova, const char *endpoint);
/* It has no such microversion any more. */
void nova_doubt(struct nova *nova, int microversion);

/* Whether all is known; until then nova_discover() is to be called. */
gboolean nova_is_known(const struct nova *nova);
/* At the address in the catalog, not while it is under way. All may be known when this returns. */
void nova_discover(struct nova *nova, const char *endpoint);
gboolean nova_is_under_way(const struct nova *nova);

/* Of its 2.1 API. */
const char *nova_url(const struct nova *nova);
/* The N of "2.N"; negative: not known. */
int nova_microversion(const struct nova *nova);

#endif
