/*
 * The launcher: everything that serves node requests, wired together. Core loop only.
 *
 *     files ─► configuration ─► managers (one a provider) ─► runners, registrars
 *                           └─► pools ─► decisions, handlers
 *     ZooKeeper ─► cluster (caches) ─► pools, registrars, deleter
 *
 * Each piece of news wakes what it concerns at once; a tick each second catches what is left.
 */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "config/config.h"
#include "launcher/cluster/cluster.h"
#include "metrics/registry.h"

typedef struct _DroverLauncher DroverLauncher;

typedef void (*DroverLauncherFunc)(gpointer user_data);

typedef struct {
    const char *config_path, *secure_path; /* secure_path may be NULL */
    const char *state_dir;                 /* NULL: the session ends with the process */
    /* Seconds; 0: the default, 60. */
    guint sync_interval;    /* between comparisons of an inventory */
    guint cleanup_interval; /* from the end of one cleanup to the next */
    guint delete_timeout;   /* of one attempt to delete a machine; default 600 */
    guint stop_limit;       /* seconds, of an orderly stop */
    /* Called once, when a stop has come to its end, from the loop. Then free the launcher. */
    DroverLauncherFunc stopped;
    gpointer stopped_data;
} DroverLauncherOptions;

/*
 * Reads the configuration and begins; waits for ZooKeeper for as long as it takes. NULL when the
 * configuration has errors (they are logged, each with its place) or the state folder is taken.
 */
DroverLauncher *drover_launcher_new(const DroverLauncherOptions *options, GError **error);
void drover_launcher_free(DroverLauncher *launcher);

/*
 * Reads the configuration now, and makes a new object of the provider, if one is named. When the
 * configuration has errors the running one stays in force.
 */
gboolean drover_launcher_reload(DroverLauncher *launcher, const char *provider, GError **error);

/*
 * Nothing new is accepted or made. Requests that can never be served are declined all the same, and
 * what was accepted goes on. FALSE when the launcher is about to stop.
 */
gboolean drover_launcher_pause(DroverLauncher *launcher, gboolean paused, GError **error);

/* As paused, for good; when all that is under way has ended, an orderly stop. */
void drover_launcher_stop_gracefully(DroverLauncher *launcher);

/*
 * Orderly stop: nothing new, the drivers are closed, the session ends and with it every lock and
 * registration.
 */
void drover_launcher_stop(DroverLauncher *launcher);

/* ---- What it shows; the programs and the web look at it, nothing else ---- */

/* "initializing" until the first pass, "running", "paused" by its operator, "stopped" from the stop
 * on. */
const char *drover_launcher_state(const DroverLauncher *launcher);
/* The first pass was done: TRUE for ever from then on. */
gboolean drover_launcher_has_passed(const DroverLauncher *launcher);
DroverCluster *drover_launcher_cluster(const DroverLauncher *launcher);
/* The one in force. */
const DroverConfig *drover_launcher_config(const DroverLauncher *launcher);
/*
 * Begins to count what is there, see survey.h. Where statsd is switched on the launcher has begun
 * by itself.
 */
void drover_launcher_begin_survey(DroverLauncher *launcher);
/* Appends all that is exported; see metrics/registry.h. */
void drover_launcher_write_metrics(DroverLauncher *launcher, DroverExposition form, GString *text);

/* ---- What it tells of itself; new references ---- */

/* State, session, providers, pools, counters. */
json_t *drover_launcher_status(DroverLauncher *launcher);
/* Also what stands in the caches, and the requests in hand. */
json_t *drover_launcher_details(DroverLauncher *launcher);
/* A list of what each pool last decided about the request; see verdicts.h. */
json_t *drover_launcher_explain(DroverLauncher *launcher, const char *request_id);
/* Numbers for the log: one line of text. Free with g_free. */
char *drover_launcher_dump(DroverLauncher *launcher);
