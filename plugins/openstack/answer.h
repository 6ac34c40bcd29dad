/*
 * What an answer to a request is: JSON, one that sends the request on to another address with the
 * same method and body, or one that may be another at another time.
 */
#ifndef OPENSTACK_ANSWER_H
#define OPENSTACK_ANSWER_H

#include <drover/http.h>
#include <glib.h>
#include <jansson.h>

/* A new reference; NULL: it is no JSON. */
json_t *answer_json(const struct drover_http_request *request);

/* By its status; a redirection may lead nowhere. */
gboolean answer_is_redirection(const struct drover_http_request *request);
/* The address that it leads to, and counts it; NULL: it is no redirection, it leads nowhere, or in
 * a circle. Free with g_free(). */
char *answer_redirection(const struct drover_http_request *request, unsigned *count);

/* Also when there is no answer. */
gboolean answer_is_passing(const struct drover_http_request *request);

#endif
