/*
 * What clouds say went wrong, and what it means.
 */
#ifndef OPENSTACK_FAULT_H
#define OPENSTACK_FAULT_H

#include <drover/driver.h>
#include <glib.h>
#include <jansson.h>

/* The words for people in an answer's body, whichever service it is from. Free with g_free(); NULL:
 * there are none. */
char *fault_words(const char *body);

/* What a refused call means: an enum drover_failure. `failure` is the SDK's opinion; `words` may be
 * NULL. */
enum drover_failure fault_of_call(int status, const char *words, enum drover_failure failure);
/* The same for a create of a server. */
enum drover_failure fault_of_create(int status, const char *words, enum drover_failure failure);
/* What the fault of a server in state ERROR means. `words` may be NULL. */
enum drover_failure fault_of_server(const char *words);

#endif
