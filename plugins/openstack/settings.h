/*
 * What is known of one cloud: its entry of clouds.yaml with profile, region and secrets merged,
 * text filled in, old forms made new. Never changed once loaded.
 */
#ifndef OPENSTACK_SETTINGS_H
#define OPENSTACK_SETTINGS_H

#include <glib.h>
#include <jansson.h>

#include "service.h"

struct settings {
    char *cloud;
    char *region;     /* whose endpoints are used; NULL: any */
    json_t *values;   /* "auth" has all that is needed to log in */
    json_t *warnings; /* texts */
};

#define SETTINGS_ERROR (settings_error_quark())
GQuark settings_error_quark(void);
enum settings_error {
    SETTINGS_ERROR_UNKNOWN = 1, /* there is no such cloud or region */
    SETTINGS_ERROR_DOMAIN,      /* a name without its domain */
    SETTINGS_ERROR_UNSUPPORTED, /* something that this driver does not do */
    SETTINGS_ERROR_FILE,        /* a file makes no sense */
};

/* NULL with an error; its text never holds a secret. `region` may be NULL. */
struct settings *settings_load(const char *cloud, const char *region, GError **error);
/* The same of what clouds_file_load() returns. */
struct settings *settings_new(const json_t *all, const char *cloud, const char *region,
                              GError **error);
void settings_free(struct settings *settings);
gboolean settings_equal(const struct settings *a, const struct settings *b);

/* Whether the driver can do with them; an error of settings_check_domains() too. */
gboolean settings_check(const struct settings *settings, GError **error);
gboolean settings_check_domains(const struct settings *settings, GError **error);

/* Values. NULL, or `otherwise`: not given. */
const char *settings_text(const struct settings *settings, const char *key);
gboolean settings_flag(const struct settings *settings, const char *key, gboolean otherwise);
const char *settings_auth(const struct settings *settings, const char *key);
/* "<service>_<suffix>" under any of the service's names. */
const char *settings_of_service(const struct settings *settings, enum service service,
                                const char *suffix);
gboolean settings_has_service(const struct settings *settings, enum service service);
/* "public", "internal" or "admin". Free with g_free(). */
char *settings_interface(const struct settings *settings, enum service service);
/* A file's path with "~" filled in. Free with g_free(); NULL: not given. */
char *settings_path(const struct settings *settings, const char *key);
/* Names or ids of all networks that they say something of. Free with g_ptr_array_unref(). */
GPtrArray *settings_networks(const struct settings *settings);
gboolean settings_verify(const struct settings *settings);
/* The login method: "password", "application_credential", "token", "none"; NULL: another one. */
const char *settings_method(const struct settings *settings);

#endif
