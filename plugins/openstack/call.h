/*
 * One call of a service's API: it waits for a login, is sent with its token, follows redirections,
 * and is repeated once with a new token when the old one is refused.
 */
#ifndef OPENSTACK_CALL_H
#define OPENSTACK_CALL_H

#include "cloud.h"

struct call;

/* `path` begins with a slash; takes `body` over, NULL: none. */
struct call *call_new(struct cloud *cloud, enum service service, const char *method,
                      const char *path, json_t *body);
/* In any state. NULL is allowed. */
void call_free(struct call *call);

/* ---- Before the start ---- */

void call_add_query(struct call *call, const char *name, const char *value);
/* All operations wait for it: it is sent beside those that one of them waits for, not after them.
 */
void call_set_shared(struct call *call);
/* Only what belongs to the project of the login. */
void call_set_own(struct call *call);
/* The whole query, as a link to the next page has it. */
void call_set_query(struct call *call, const char *query);
/* A file as the body, sent for as long as it moves at all. */
void call_set_file(struct call *call, const char *path);

/* `done` is called exactly once, never before this returns, unless the call is freed. */
void call_start(struct call *call, void (*done)(struct call *call, void *data), void *data);
/* The operation is woken instead, and not stepped before. */
void call_start_for(struct call *call, struct drover_operation *op);

/* ---- The answer: valid as long as the call ---- */

gboolean call_is_done(const struct call *call);
/* An enum drover_failure; 0: none. */
int call_failure(const struct call *call);
/* One sentence without secrets, with the cloud's own words. */
const char *call_message(const struct call *call);
/* The cloud's own words; NULL: none. */
const char *call_words(const struct call *call);
/* 0: there was no answer. */
int call_status(const struct call *call);
/* An object; NULL when the answer is something else. */
const json_t *call_answer(struct call *call);
const char *call_header(const struct call *call, const char *name);
/* Whether the service has said that there is no such thing. */
gboolean call_found_nothing(const struct call *call);
/* Whether the cloud has no such service, so that nobody was asked. */
gboolean call_has_no_service(const struct call *call);
uint64_t call_sent(const struct call *call);

/* Ends the operation: `return call_fail(call, op);`. With DROVER_FAILURE_NOT_FOUND only when the
 * service has said that. */
enum drover_step call_fail(const struct call *call, struct drover_operation *op);
enum drover_step call_fail_as(const struct call *call, struct drover_operation *op,
                              enum drover_failure failure);

/* "/servers/ID" and what follows it, the id escaped. Free with g_free(). */
char *call_path(const char *collection, const char *id, const char *rest);

#endif
