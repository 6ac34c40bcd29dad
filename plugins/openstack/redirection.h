/*
 * Answers that send a call on to another address, with the same method and body.
 */
#ifndef OPENSTACK_REDIRECTION_H
#define OPENSTACK_REDIRECTION_H

#include <drover/http.h>
#include <glib.h>

/* For one call. */
#define MOST_REDIRECTIONS 30

gboolean redirection_is(int status);
/* The address that the answer leads to; NULL: it is no such answer, or leads nowhere. Free with
 * g_free(). */
char *redirection_of(const struct drover_http_request *request);

#endif
