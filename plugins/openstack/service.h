/*
 * The services of a cloud: what they are called in catalogs and in clouds.yaml.
 */
#ifndef OPENSTACK_SERVICE_H
#define OPENSTACK_SERVICE_H

#include <glib.h>

enum service {
    SERVICE_IDENTITY,
    SERVICE_COMPUTE,
    SERVICE_NETWORK,
    SERVICE_IMAGE,
    SERVICE_VOLUME,
    SERVICES,
};

struct service_form {
    const char *name;         /* for people */
    const char *const *types; /* of the catalog, the one that counts most first */
    const char *const *keys;  /* "compute" of "compute_endpoint_override" */
    const char *version_path; /* appended to an address that has no version; NULL: nothing */
};
extern const struct service_form service_forms[SERVICES];

#endif
