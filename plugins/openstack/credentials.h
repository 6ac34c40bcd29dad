/*
 * What Keystone is sent to log in, and what it answers.
 */
#ifndef OPENSTACK_CREDENTIALS_H
#define OPENSTACK_CREDENTIALS_H

#include "settings.h"

/* The body of POST /auth/tokens. A new reference; holds secrets. */
json_t *credentials_request(const struct settings *settings);

/* Whether the address is Keystone's version 3 already. */
gboolean credentials_url_is_v3(const char *auth_url);
/* The address of version 3 by the answer about versions, which may be NULL. Free with g_free();
 * NULL: `auth_url` is that of version 2, and no other is told. */
char *credentials_v3_url(const char *auth_url, const json_t *versions);

/* A time of the cloud, "2026-12-01T06:29:01.000000Z", as microseconds since 1970; 0: it is none. */
gint64 credentials_time(const char *text);
/* Milliseconds from when a token, as in Keystone's answer, was issued to its end, both by the
 * cloud's clock: ours may be another. 0: it is not known. */
int64_t credentials_life(const json_t *token);

#endif
