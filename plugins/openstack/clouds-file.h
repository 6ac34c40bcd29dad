/*
 * The files that describe clouds: clouds.yaml, secure.yaml, clouds-public.yaml, and the variables
 * OS_* of the environment.
 */
#ifndef OPENSTACK_CLOUDS_FILE_H
#define OPENSTACK_CLOUDS_FILE_H

#include <glib.h>
#include <jansson.h>

/*
 * {"clouds": {...}, "public-clouds": {...}} with secure.yaml merged over clouds.yaml, and what the
 * environment says as one cloud more. `warnings`, an array of texts, gets what was passed over. A
 * new reference; NULL with an error.
 */
json_t *clouds_file_load(json_t *warnings, GError **error);

/* What `over` says counts, map by map. */
void clouds_file_merge(json_t *base, const json_t *over);

/* Changes when one of the files does. Free with g_free(). */
char *clouds_file_stamp(void);

#endif
