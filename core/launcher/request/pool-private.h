/*
 * A pool as its own files see it: pool.c has its life, its component and the news, pool-serving.c
 * what it does about requests, pool-count.c and pool-describe.c what it tells of itself.
 */
#pragma once

#include "base/log.h"
#include "launcher/cluster/verdict-board.h"
#include "launcher/request/decision.h"
#include "launcher/request/handler.h"
#include "launcher/request/pool.h"
#include "zk/registration.h"

struct _DroverPool {
    grefcount references; /* the owner, and every decline under way */
    DroverCluster *cluster;
    DroverTelemetry *telemetry;
    DroverManager *manager;         /* NULL while there is none, and once freed */
    const DroverPoolConfig *config; /* NULL without a manager */
    const GPtrArray *tenants;       /* of DroverTenantConfig */
    DroverWakeFunc wake;
    gpointer user_data;

    char *provider, *name;
    char *logger;
    char *launcher_id;
    DroverRegistration *registration;
    gboolean seen;    /* our component was in the registry */
    gboolean paused;  /* a pending request waits for room */
    const char *held; /* why nothing new is accepted; or NULL */
    gboolean took_up; /* what an earlier process had accepted */
    DroverStock *stock;
    GHashTable *handlers;  /* request id -> DroverHandler */
    GHashTable *declining; /* request ids */
    GHashTable *hopeless; /* ids of requests that were warned of: more than their tenant may have */
    DroverCloudView cloud;
    DroverTenantView tenant;
    DroverVerdicts *verdicts;
    DroverVerdictBoard *board;
};

void drover_pool_unref(DroverPool *pool);
/* For the log: of a request. */
DroverLogSubject drover_pool_subject(const DroverPool *pool, const DroverRequest *request);
/* Its component tells what it is now. */
void drover_pool_update_component(DroverPool *pool);
/* Of one of its handlers it became known that it waits for room, or does not any more. */
void drover_pool_note_paused(DroverPool *pool);
/* ---- pool-count.c ---- */

void drover_pool_count_decline(const DroverPool *pool, const char *reason);
/* The request was fulfilled, or, if it was declined by all, failed. */
void drover_pool_count_fulfilled(const DroverPool *pool, const DroverRequest *request);
void drover_pool_count_failed(const DroverPool *pool, const char *request_id);

/* Once: the questions about the cloud and tenants are asked of this pool. */
void drover_pool_begin_view(DroverPool *pool);
