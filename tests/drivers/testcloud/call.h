/*
 * Calls of the cloud's API. A call is a request of the SDK; in blocking style it is done when
 * call_start() returns, else the operation is woken when it is.
 */
#ifndef TESTCLOUD_CALL_H
#define TESTCLOUD_CALL_H

#include <jansson.h>

#include "cloud.h"

/* Takes `body` over; NULL: none. `path` begins with a slash. */
struct drover_http_request *call_new(struct cloud *cloud, const char *method, const char *path,
                                     json_t *body);
void call_start(struct cloud *cloud, struct drover_http_request *call, struct drover_operation *op);
/* Both. */
struct drover_http_request *call_begin(struct cloud *cloud, struct drover_operation *op,
                                       const char *method, const char *path, json_t *body);

/*
 * For operations that are no more than one GET: begins it in the first step, and has it in the
 * others. The operation's state.
 */
struct drover_http_request *call_of_operation(struct cloud *cloud, struct drover_operation *op,
                                              const char *path);

/* "/machines/ID", the id escaped, and what follows it. Free with free(). */
char *call_path(const char *collection, const char *id, const char *rest);

/*
 * What went wrong, as an enum drover_failure; 0: nothing. The cloud's own words decide where the
 * status alone does not.
 */
int call_failure(const struct drover_http_request *call);
/* A sentence for people, with the cloud's own words. Free with free(). */
char *call_message(const struct drover_http_request *call);
/* Ends the operation with both. */
enum drover_step call_fail(const struct drover_http_request *call, struct drover_operation *op);

/* The answer, a JSON object; NULL when it is something else. Release with json_decref(). */
json_t *call_answer(const struct drover_http_request *call);
/* Ends the operation because of an answer that makes no sense. */
enum drover_step call_fail_for_nonsense(const struct drover_http_request *call,
                                        struct drover_operation *op);

#endif
