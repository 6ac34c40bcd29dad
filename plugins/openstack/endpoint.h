/*
 * Where a service is, and which versions of its API it has.
 */
#ifndef OPENSTACK_ENDPOINT_H
#define OPENSTACK_ENDPOINT_H

#include "settings.h"

/*
 * The address of a service without a slash at its end: that of the settings, else that of the
 * token's catalog. `project_id` may be NULL. Free with g_free(); NULL: there is none.
 */
char *endpoint_find(const struct settings *settings, const json_t *catalog, enum service service,
                    const char *project_id);

/*
 * Nova's address for its 2.1 API, made of the one in the catalog; free with g_free().
 * `versions`, freed likewise, gets the address of what tells its versions.
 */
char *endpoint_of_compute(const char *url, char **versions);

/* Whether the settings say all of it: nothing is asked for then. */
gboolean endpoint_compute_is_fixed(const struct settings *settings);

/* Nova's version 2.1 in its answer about versions; NULL: the answer makes no sense. */
const json_t *endpoint_version(const json_t *answer);
/* The N of microversion "2.N"; -1 when it is none. */
int endpoint_microversion(const char *text);
/*
 * The microversion to use, by Nova's answer about its versions; without any the one that all have.
 * -1 with an error when the settings
 * ask for one that Nova does not have.
 */
int endpoint_choose_microversion(const struct settings *settings, const json_t *answer,
                                 GError **error);

#endif
