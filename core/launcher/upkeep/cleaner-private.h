/*
 * What the tasks of the cleaner have in common.
 */
#pragma once

#include "base/log.h"
#include "launcher/upkeep/cleaner.h"
#include "zk/change.h"
#include "zk/operation.h"

struct _DroverCleaner {
    grefcount references;   /* the owner, and every errand under way */
    DroverCluster *cluster; /* NULL once freed */
    DroverConfig *config;
    DroverFindManager find_manager;
    gpointer user_data;
    guint interval, timer;
    gboolean due;      /* the next run begins as soon as the caches are complete */
    gboolean hurried;  /* it begins as soon as the present one has ended */
    guint under_way;   /* errands of this run, and the run itself while it begins */
    GHashTable *taken; /* paths of what this run has an errand for, or had */
    GHashTable *locks; /* request locks without a request -> when they were made, gint64 */
    /* Nodes that were empty but locked in the last run, and in this one: id -> czxid, gint64. */
    GHashTable *empty[2];
};

/*
 * An errand is one question or change under way, or several one after the other, about one object:
 * a lock, a request with its nodes, a node, or a folder that is listed.
 */
typedef struct {
    DroverCleaner *cleaner;
    const char *task; /* its name, for the log */
    char *path;
    DroverRequest *request;
    GPtrArray *nodes;      /* of DroverNode */
    gboolean lock_present; /* the request's lock directory exists */
    guint rounds;          /* how often its lock was looked at */
    GHashTable *names;     /* of a list that was read before */
    gint64 czxid;          /* of the znode */
} DroverErrand;

/* One errand an object and run: NULL when there is or was another. */
DroverErrand *drover_errand_new(DroverCleaner *cleaner, const char *task, const char *path);
DroverErrand *drover_errand_new_for_node(DroverCleaner *cleaner, const char *task,
                                         const DroverNode *node);
/* The last errand ends the run. */
void drover_errand_free(DroverErrand *errand);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DroverErrand, drover_errand_free)

/* One more node that the errand works on. FALSE when another errand does, or did. */
gboolean drover_errand_add_node(DroverErrand *errand, const DroverNode *node);

/* An answer came. FALSE when nobody waits for it any more. */
gboolean drover_errand_goes_on(const DroverErrand *errand);
/* The same for the answer to a read that must not fail; logs why it did. */
gboolean drover_errand_has_read(const DroverErrand *errand, int rc);
/* For an object that may be gone as well. */
void drover_errand_log_failure(const DroverErrand *errand, int rc);

DroverSession *drover_errand_session(const DroverErrand *errand);
DroverLogSubject drover_errand_subject(const DroverErrand *errand);

/* The provider is in the configuration, and running. */
gboolean drover_cleaner_serves(const DroverCleaner *cleaner, const DroverNode *node);

/*
 * Marks the errand's node as to be deleted, unless it is locked or has changed. Takes the errand.
 * `why` is for the log.
 */
void drover_errand_expire_node(DroverErrand *errand, const char *why);

/* ---- The tasks ---- */

void drover_clean_request_locks(DroverCleaner *cleaner, const char *task);
void drover_clean_lost_requests(DroverCleaner *cleaner, const char *task);
void drover_clean_declined_requests(DroverCleaner *cleaner, const char *task);
void drover_clean_old_nodes(DroverCleaner *cleaner, const char *task);
void drover_clean_empty_nodes(DroverCleaner *cleaner, const char *task);
void drover_clean_orphaned_nodes(DroverCleaner *cleaner, const char *task);
