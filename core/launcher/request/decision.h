/*
 * What a pool does about a request: the rules of assignment, in their order, as one table of pure
 * functions. Nothing here touches ZooKeeper, so each rule can be tested by itself.
 */
#pragma once

#include "model/component.h"
#include "model/request.h"

typedef enum {
    DROVER_ROOM_FITS,
    DROVER_ROOM_FULL,
    DROVER_ROOM_NEVER,   /* of a tenant: not even if it had nothing else */
    DROVER_ROOM_REFUSED, /* the cloud has just refused what should have fitted: look again later */
    DROVER_ROOM_UNKNOWN, /* the driver has been asked; look again when it has answered */
} DroverRoom;

/* Questions about a cloud and what may be used of it. Each sets a reason unless it fits. */
typedef struct {
    /* The images that the labels need are there. */
    DroverRoom (*images)(const DroverRequest *request, char **reason, gpointer user_data);
    /* All machines of the request, if nothing else were there. */
    DroverRoom (*ever)(const DroverRequest *request, char **reason, gpointer user_data);
    /* Whether the label can never work as it is configured. */
    gboolean (*is_broken)(const char *label, gpointer user_data);
    gpointer user_data;
} DroverCloudView;

/* What the request's tenant may have beside what it has. Sets a reason unless it fits. */
typedef struct {
    DroverRoom (*room)(const DroverRequest *request, char **reason, gpointer user_data);
    gpointer user_data;
} DroverTenantView;

/* What a pool knows when it looks at a request. */
typedef struct {
    const char *launcher_id;
    const char *provider;
    gint64 priority;
    const char *const *labels;      /* that this pool offers */
    gboolean disabled;              /* max-servers is 0 or less */
    gboolean paused;                /* a request accepted earlier waits for quota */
    const char *held;               /* why nothing new is accepted; or NULL */
    gboolean at_max_concurrency;    /* of the provider */
    GHashTable *stock;              /* label -> GINT_TO_POINTER(free nodes); NULL: unlimited */
    const DroverCloudView *cloud;   /* NULL: its machines exist already */
    const DroverTenantView *tenant; /* NULL: no tenant has limits */
    const GPtrArray *registered;    /* DroverComponent: the pools of all launchers */
    /* The labels (char **) of each pool of this launcher that is about to register; or NULL. */
    const GPtrArray *coming;
} DroverPoolView;

typedef enum {
    DROVER_VERDICT_SKIP,    /* not to be decided: being served, or declined by us already */
    DROVER_VERDICT_YIELD,   /* another pool should have it first */
    DROVER_VERDICT_DEFER,   /* we can serve it, but not now */
    DROVER_VERDICT_DECLINE, /* we can never serve it */
    DROVER_VERDICT_ACCEPT,
} DroverVerdict;

typedef struct {
    DroverVerdict verdict;
    char *reason; /* for people; NULL when accepted or skipped. Free with g_free */
} DroverDecision;

DroverDecision drover_decide(const DroverPoolView *pool, const DroverRequest *request);

/* Why the pool can never serve the request, looking at nothing else; NULL: it can. Free with
 * g_free. */
char *drover_decision_find_obstacle(const DroverPoolView *pool, const DroverRequest *request);

/* How many of the requested labels the pool does not have: what it can serve is looked at first. */
guint drover_decision_missing_labels(const DroverPoolView *pool, const DroverRequest *request);

/* TRUE when, with our own decline, every registered pool has declined. */
gboolean drover_decision_is_last(const DroverPoolView *pool, const DroverRequest *request);

const char *drover_verdict_name(DroverVerdict verdict);
