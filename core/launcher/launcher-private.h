/*
 * The launcher as its own files see it: launcher.c has its life and the news, launcher-config.c the
 * configuration, launcher-stop.c how it ends, launcher-status.c what it tells of itself.
 */
#pragma once

#include "launcher/cleaner.h"
#include "launcher/cluster.h"
#include "launcher/deleter.h"
#include "launcher/inheritance.h"
#include "launcher/launcher.h"
#include "launcher/manager.h"
#include "launcher/pool.h"
#include "launcher/standby.h"
#include "zk/registration.h"

struct _DroverLauncher {
    char *config_path, *secure_path;
    guint sync_interval, cleanup_interval;
    char *stamp; /* of the files, when they were last looked at */
    DroverConfig *config;
    DroverDriverHost *drivers;
    DroverSession *session;
    DroverCluster *cluster;
    DroverParts parts;
    guint session_listener;
    DroverDeleter *deleter;
    DroverInheritance *inheritance; /* NULL until the pools had their turn */
    DroverCleaner *cleaner;
    DroverStandby *standby;
    DroverRegistration *component;
    gboolean passed; /* the first pass is done */
    GPtrArray *managers, *pools;
    guint open_runners; /* of present and retired managers */
    guint tick_timer, ticks;
    guint pass_source;
    guint stop_timer, stop_source;
    gboolean stopping;
    DroverLauncherFunc stopped;
    gpointer stopped_data;
};

/* A pass is due; many pieces of news that come together cost one. */
void drover_launcher_wake(gpointer launcher);
/* NULL when there is none. */
DroverPool *drover_launcher_find_pool(DroverLauncher *launcher, const char *provider,
                                      const char *name);

/* ---- Configuration ---- */

/* NULL when it cannot be used; what is wrong with it is logged. */
DroverConfig *drover_launcher_load_config(const char *path, const char *secure_path,
                                          DroverDriverHost *drivers);
/* Takes the configuration over. */
void drover_launcher_apply_config(DroverLauncher *launcher, DroverConfig *config);
/* Reloads when a file is another one than it was. */
void drover_launcher_look_at_files(DroverLauncher *launcher);

/* ---- The end ---- */

/* Begins nothing more, and lets go of everything that is under way. */
void drover_launcher_end_work(DroverLauncher *launcher);
/* Something has ended that a stop waits for. */
void drover_launcher_note_end(DroverLauncher *launcher);
