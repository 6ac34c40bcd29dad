/*
 * What the parts of a launch share; see launch.h.
 *
 *     launch.c          its life; what is stored
 *     launch-attempt.c  its attempts, and what comes of each
 *     launch-make.c     the driver makes the machine, or deletes what a former attempt made
 *     launch-bind.c     the node gets a slot of a backing node
 *     launch-reach.c    the machine is scanned
 */
#pragma once

#include "base/log.h"
#include "launcher/cluster/held-node.h"
#include "launcher/machine/launch.h"

#define DROVER_LAUNCH_LOGGER "NodeLauncher"

typedef void (*DroverLaunchThen)(DroverLaunch *launch);

/* A slot that is to be stored, together with its proof; `fields` NULL: there is none. */
typedef struct {
    json_t *fields;
    DroverHeldOther proof;
    DroverBackingBoundFunc done;
    gpointer user_data;
} DroverLaunchBinding;

struct _DroverLaunch {
    grefcount references; /* itself, and every answer still to come */
    gboolean dropped;     /* answers mean nothing any more */
    gboolean recording;   /* its record is being made and locked */
    gboolean leaving;     /* it ends when that is done */
    DroverManager *manager;
    DroverParts *parts;
    DroverRequest *request;
    const DroverPoolConfig *pool; /* the manager's */
    char *label, *zone;
    char *provider_name, *pool_name; /* for the log */
    char *image;                 /* the external id of an uploaded one; NULL: the label has none */
    gboolean image_missing;      /* though it should have one */
    struct drover_value *filled; /* the label's section with its templates; NULL: it has none */
    DroverUsagePromise *promise; /* until the record is there */
    DroverHeldNode *node;
    json_t *unsaved; /* fields that are to be stored */
    DroverLaunchBinding binding;
    gboolean saving, release;
    DroverLaunchThen then; /* what comes when all is stored */
    guint attempt;
    gint64 began;   /* the first one, monotonic; 0: none has */
    guint deadline; /* of the attempt */
    guint pause;    /* before something is tried again */
    gboolean timed_out;
    DroverTask *task;
    DroverScannerJob *scan;
    char *address;               /* being scanned */
    DroverJournalEntry *resumed; /* what an earlier process left; NULL: nothing, or used up */
    DroverLaunchFunc done;
    gpointer user_data;
};

/* ---- launch.c ---- */

void drover_launch_unref(DroverLaunch *launch);
DroverLogSubject drover_launch_subject(const DroverLaunch *launch);
int drover_launch_setting(const DroverLaunch *launch, const char *option, int otherwise);
gboolean drover_launch_is_decided(const DroverLaunch *launch);
void drover_launch_note_saved(DroverLaunch *launch, gboolean made, const char *saved);
void drover_launch_on_saved(const char *saved, gpointer user_data);
void drover_launch_store(DroverLaunch *launch, json_t *fields, DroverLaunchThen then);
/* What was to be stored is: whatever comes next. */
void drover_launch_go_on(DroverLaunch *launch);
void drover_launch_finish(DroverLaunch *launch, DroverLaunchOutcome outcome);
/* The node is left to be deleted, and with it, by its tags, what may have been made for it. */
void drover_launch_try_another_node(DroverLaunch *launch);

/* ---- launch-attempt.c ---- */

void drover_launch_begin_attempt(DroverLaunch *launch);
void drover_launch_start_deadline(DroverLaunch *launch);
void drover_launch_stop_timers(DroverLaunch *launch);
/* The launch ends. `fields` of the machine go with the last write. */
void drover_launch_become_ready(DroverLaunch *launch, json_t *fields);
void drover_launch_abort(DroverLaunch *launch);
void drover_launch_abort_for_quota(DroverLaunch *launch, const char *message);
/* The node's record or lock is gone. */
void drover_launch_lose(DroverLaunch *launch);
/* Why an attempt has failed. */
typedef struct {
    DroverLogLevel level;
    const char *kind; /* for statistics */
    const char *message;
    gboolean final;   /* another attempt cannot end otherwise */
    gboolean refused; /* nothing was made */
    guint pause;      /* milliseconds before the next attempt */
} DroverLaunchFailure;
void drover_launch_fail_attempt(DroverLaunch *launch, const DroverLaunchFailure *failure);
void drover_launch_fail_for(DroverLaunch *launch, const DroverTaskResult *result);
void drover_launch_fail_for_time(DroverLaunch *launch);

/* ---- launch-make.c ---- */

void drover_launch_choose_image(DroverLaunch *launch, json_t *fields);
void drover_launch_submit(DroverLaunch *launch, DroverTaskKind kind, const char *id,
                          const char *const *inputs, DroverTaskFunc done,
                          DroverTaskIdFunc id_known);
char *drover_launch_external_id(const DroverLaunch *launch);
void drover_launch_make(DroverLaunch *launch);
void drover_launch_clear(DroverLaunch *launch);

/* ---- launch-bind.c ---- */

/* From now on the node can be given a slot, until it is unbound. */
void drover_launch_offer(DroverLaunch *launch);
void drover_launch_store_binding(DroverLaunch *launch);
/* What was stored with the slot is not the driver's to say. */
void drover_launch_keep_slot(const DroverLaunch *launch, json_t *fields);
void drover_launch_unbind(DroverLaunch *launch);
/* Nobody wants the node, and it only waits for a backing node: it gives up. */
void drover_launch_end_waiting(DroverLaunch *launch);

/* ---- launch-reach.c ---- */

gboolean drover_launch_is_scanned(const DroverLaunch *launch, const json_t *fields);
void drover_launch_scan(DroverLaunch *launch);
