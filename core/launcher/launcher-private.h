/*
 * The launcher as its own files see it: launcher.c has its life and the news, launcher-config.c the
 * configuration, launcher-stop.c how it ends, launcher-status.c what it tells of itself.
 */
#pragma once

#include "launcher/cluster/cluster.h"
#include "launcher/cluster/model-version.h"
#include "launcher/launcher.h"
#include "launcher/machine/deleter.h"
#include "launcher/machine/inheritance.h"
#include "launcher/provider/manager.h"
#include "launcher/request/pool.h"
#include "launcher/upkeep/cleaner.h"
#include "launcher/upkeep/standby.h"
#include "zk/registration.h"

struct _DroverLauncher {
    char *config_path, *secure_path;
    guint sync_interval, cleanup_interval;
    char *stamp; /* of the files, when they were last looked at */
    DroverConfig *config;
    DroverDriverHost *drivers;
    DroverSession *session;
    DroverCluster *cluster;
    DroverModelVersion *model_version;
    DroverParts parts;
    guint session_listener;
    DroverDeleter *deleter;
    DroverInheritance *inheritance; /* NULL until the pools had their turn */
    DroverCleaner *cleaner;
    DroverStandby *standby;
    struct _DroverSurvey *survey; /* or NULL */
    DroverRegistration *component;
    gboolean passed; /* the first pass is done */
    GPtrArray *managers, *pools;
    guint open_runners; /* of present and retired managers */
    guint tick_timer, ticks;
    gint64 started;    /* monotonic, microseconds */
    gboolean paused;   /* by its operator */
    gboolean graceful; /* stops when all that is under way has ended */
    guint quiet_ticks; /* since no pool was left */
    guint pass_source;
    guint stop_timer, stop_source;
    gboolean stopping;
    guint stop_limit; /* seconds */
    DroverLauncherFunc stopped;
    gpointer stopped_data;
};

/* A pass is due; many pieces of news that come together cost one. */
void drover_launcher_wake(gpointer launcher);
/* Its component tells what it does now. */
void drover_launcher_announce(DroverLauncher *launcher);
/* NULL when there is none. */
DroverPool *drover_launcher_find_pool(DroverLauncher *launcher, const char *provider,
                                      const char *name);

/* ---- Configuration ---- */

/* NULL when it cannot be used; what is wrong with it is logged. */
DroverConfig *drover_launcher_load_config(const char *path, const char *secure_path,
                                          DroverDriverHost *drivers);
/* Takes the configuration over. The provider `renewed` (may be NULL) gets a new object anyhow. */
void drover_launcher_apply_config(DroverLauncher *launcher, DroverConfig *config,
                                  const char *renewed);
/* Reloads when a file is another one than it was. */
void drover_launcher_look_at_files(DroverLauncher *launcher);

/* ---- The end ---- */

/* Something new may be accepted or made. */
gboolean drover_launcher_accepts(const DroverLauncher *launcher);
/* A pool that has just been made does as the others do. */
void drover_launcher_hold_pool(const DroverLauncher *launcher, DroverPool *pool);
/* New deletions may begin. */
gboolean drover_launcher_deletes(const DroverLauncher *launcher);
/* Each second: a graceful stop may be at its end. */
void drover_launcher_go_on_stopping(DroverLauncher *launcher);

/* Begins nothing more, and lets go of everything that is under way. */
void drover_launcher_end_work(DroverLauncher *launcher);
/* Something has ended that a stop waits for. */
void drover_launcher_note_end(DroverLauncher *launcher);
