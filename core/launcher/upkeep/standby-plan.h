/*
 * Which labels lack standby nodes: what there is, what is asked for, and how long to wait after a
 * failure. Knows only what it is told; times are seconds of any clock that does not jump.
 */
#pragma once

#include "model/node.h"
#include "model/request.h"

typedef struct _DroverStandbyPlan DroverStandbyPlan;

DroverStandbyPlan *drover_standby_plan_new(void);
void drover_standby_plan_free(DroverStandbyPlan *plan);

/* News of every node, of all providers: free ones count for each of their labels. */
void drover_standby_plan_note_node(DroverStandbyPlan *plan, const DroverNode *old,
                                   const DroverNode *new_node);
/* News of every request, whoever made it: those for standby nodes count until they are gone. */
void drover_standby_plan_note_request(DroverStandbyPlan *plan, const DroverRequest *old,
                                      const DroverRequest *new_request);

/* How many requests to make now, with `min_ready` nodes wanted. */
guint drover_standby_plan_need(DroverStandbyPlan *plan, const char *label, int min_ready,
                               double now);

/* What became of our own requests for a label. */
void drover_standby_plan_note_made(DroverStandbyPlan *plan, const char *label);
void drover_standby_plan_note_fulfilled(DroverStandbyPlan *plan, const char *label);
/*
 * Nothing is needed for a while: twice as long after each failure, up to a minute; then one at a
 * time until one is fulfilled. Several failures of requests that were made at the same time are
 * one. Returns the seconds.
 */
double drover_standby_plan_note_failed(DroverStandbyPlan *plan, const char *label, double now);

/* Whether it is a request for standby nodes. NULL is none. */
gboolean drover_standby_is_for(const DroverRequest *request);
