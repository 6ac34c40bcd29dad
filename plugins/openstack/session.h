/*
 * The login at Keystone, shared by all calls of a provider: a token, which is renewed before it
 * ends and after a service refused it, the catalog that came with it, and the version of Nova.
 */
#ifndef OPENSTACK_SESSION_H
#define OPENSTACK_SESSION_H

#include "cloud.h"

struct session;

struct session *session_new(struct cloud *cloud);
void session_free(struct session *session);
/* Forgets everything: the settings are others. */
void session_reset(struct session *session);

enum session_state {
    SESSION_READY = 1,
    SESSION_WAIT,   /* something is asked for */
    SESSION_FAILED, /* see session_failure() and session_message() */
};

/* Whether a call to the service can be made; begins what is missing. */
enum session_state session_need(struct session *session, enum service service);
enum drover_failure session_failure(const struct session *session);
const char *session_message(const struct session *session);

/* Calls `ready` once after the next change; no more after session_leave(). */
void session_wait(struct session *session, void (*ready)(void *data), void *data);
void session_leave(struct session *session, void *data);

/* When ready. Valid until the next step or call back. */
const char *session_token(const struct session *session); /* NULL: none is needed */
/* Counts logins. */
unsigned session_generation(const struct session *session);
/* NULL when it is not known. */
const char *session_project(const struct session *session);
/* The service's address. Free with g_free(). */
char *session_url(const struct session *session, enum service service);
/* Whether there is such a service; only known when a session was ready. */
gboolean session_has(const struct session *session, enum service service);
/* The N of "2.N" for Nova. */
int session_microversion(const struct session *session);

/* A service refused the token of that generation. TRUE: worth another try with a new one. */
gboolean session_refused(struct session *session, enum service service, unsigned generation);
/* A service refused a new token too. */
void session_refused_again(struct session *session, enum service service);
/* A service accepted the token. */
void session_accepted(struct session *session, enum service service);

/* Nova does not have that microversion any more: its versions are asked for anew. */
void session_doubt_version(struct session *session, int microversion);

#endif
