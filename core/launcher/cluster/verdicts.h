/*
 * What a pool decided last about each request that is still there, and why, for people who ask why
 * a request waits. Only the last word is kept, and it costs nothing as long as it stays the same.
 */
#pragma once

#include <glib.h>
#include <jansson.h>

typedef struct _DroverVerdicts DroverVerdicts;

/* What is done about an accepted request; the verdicts of decision.h have their own names. */
#define DROVER_VERDICT_SERVE "serve" /* its nodes are being found or made */
#define DROVER_VERDICT_WAIT  "wait"  /* it is accepted, and waits for room */

DroverVerdicts *drover_verdicts_new(void);
void drover_verdicts_free(DroverVerdicts *verdicts);

/* `verdict` is a literal; `reason` is for people, and may be NULL. */
void drover_verdicts_note(DroverVerdicts *verdicts, const char *request_id, const char *verdict,
                          const char *reason);
void drover_verdicts_forget(DroverVerdicts *verdicts, const char *request_id);

/* How often something has changed. */
guint64 drover_verdicts_changes(const DroverVerdicts *verdicts);

/* {"id", "verdict", "reason", "since": seconds since the epoch}; NULL when there is none. */
json_t *drover_verdicts_find(const DroverVerdicts *verdicts, const char *request_id);
/*
 * Those of the requests (elements are DroverRequest), in their order, and of these the first ones
 * that are no more than `most` and, as text, than about so many bytes. `left_out` is how many are
 * not in the list.
 */
json_t *drover_verdicts_list(const DroverVerdicts *verdicts, const GPtrArray *requests, guint most,
                             gsize most_bytes, guint *left_out);
