/*
 * A provider: what all of its operations share.
 */
#ifndef OPENSTACK_CLOUD_H
#define OPENSTACK_CLOUD_H

#include <drover/http.h>

#include "settings.h"

struct list;
struct session;
struct cleaning;

/* What is fetched as a whole. */
enum list_kind {
    LIST_FLAVORS,
    LIST_ZONES,
    LIST_IMAGES,   /* all that can be seen */
    LIST_NETWORKS, /* all that can be seen */
    LIST_SUBNETS,
    LIST_ROUTERS,
    LIST_SERVERS,
    LIST_VOLUMES,
    LIST_FLOATING_IPS, /* of the project */
    LIST_DOWN_PORTS,   /* of the project */
    LIST_OWN_IMAGES,   /* that bear the provider's name */
    LIST_PRIVATE_IMAGES,
    LISTS,
};

struct cloud {
    struct drover_provider *provider;
    const struct drover_value *config;
    struct settings *settings;
    struct settings *former; /* those before: a step that began with them ends with them */
    GHashTable *told;        /* ids of flavors that were said to be gone, a set */
    char *stamp;             /* of the files that the settings are from */
    int64_t stamp_checked;
    struct drover_http *http;        /* for what one operation waits for */
    struct drover_http *shared_http; /* for what all wait for: logins and lists */
    struct drover_limiter *limiters[SERVICES];
    struct session *session;
    struct list *lists[LISTS];
    struct cleaning *cleaning; /* of ports and floating IPs */
};

/* NULL after drover_provider_fail(). */
struct cloud *cloud_open(struct drover_provider *provider);
void cloud_close(struct cloud *cloud);

/* Looks whether clouds.yaml says something new, at most once a second. TRUE: it did, and is used
 * from now on. */
gboolean cloud_refresh(struct cloud *cloud);
/* The next look is not put off: what the settings say was refused. */
void cloud_doubt(struct cloud *cloud);
/* What creates depend on was refused by the cloud: all of it is asked for anew. */
void cloud_forget(struct cloud *cloud);

#endif
