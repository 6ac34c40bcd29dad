/*
 * What is used of what has limits: the resources of all nodes in the tree, added up by provider, by
 * pool and by tenant as they come and go, and what is promised to nodes that have no record yet.
 * Limits are never exceeded by what one launcher knows and decides.
 */
#pragma once

#include "model/node.h"

typedef struct _DroverUsage DroverUsage;
typedef struct _DroverUsagePromise DroverUsagePromise;

/* The cost of such a machine; NULL when it is not known (yet). */
typedef const DroverResources *(*DroverUsageCost)(const char *provider, const char *pool,
                                                  const char *label, gpointer user_data);

/* `cost` is asked about nodes whose record does not say what they use. */
DroverUsage *drover_usage_new(DroverUsageCost cost, gpointer user_data);
/* Promises are given back first. */
void drover_usage_free(DroverUsage *usage);

/* A node changed, or is gone (NULL). */
void drover_usage_note(DroverUsage *usage, const char *id, const DroverNode *node);
/* Costs of the provider's labels became known: its nodes without resources count anew. */
void drover_usage_note_costs(DroverUsage *usage, const char *provider);

/* A machine that is about to be recorded counts until the promise is given back. */
DroverUsagePromise *drover_usage_promise(DroverUsage *usage, const char *provider, const char *pool,
                                         const char *tenant, const DroverResources *cost);
void drover_usage_give_back(DroverUsagePromise *promise);

/* Valid until the next change. Never NULL. */
const DroverResources *drover_usage_of_provider(DroverUsage *usage, const char *provider);
const DroverResources *drover_usage_of_pool(DroverUsage *usage, const char *provider,
                                            const char *pool);
const DroverResources *drover_usage_of_tenant(DroverUsage *usage, const char *tenant);
