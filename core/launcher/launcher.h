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

typedef struct _DroverLauncher DroverLauncher;

typedef struct {
    const char *config_path, *secure_path; /* secure_path may be NULL */
    const char *state_dir;                 /* NULL: the session ends with the process */
    /* Seconds; 0: the default, 60. */
    guint sync_interval;    /* between comparisons of an inventory */
    guint cleanup_interval; /* from the end of one cleanup to the next */
} DroverLauncherOptions;

typedef void (*DroverLauncherFunc)(gpointer user_data);

/*
 * Reads the configuration and begins; waits for ZooKeeper for as long as it takes. NULL when the
 * configuration has errors (they are logged, each with its place) or the state folder is taken.
 */
DroverLauncher *drover_launcher_new(const DroverLauncherOptions *options, GError **error);

/* Looks at the configuration files now. */
void drover_launcher_reload(DroverLauncher *launcher);

/*
 * Orderly stop: nothing new, the drivers are closed, the session ends and with it every lock and
 * registration. `stopped` is called once, at the latest after `limit` seconds. Then free it.
 */
void drover_launcher_stop(DroverLauncher *launcher, guint limit, DroverLauncherFunc stopped,
                          gpointer user_data);
void drover_launcher_free(DroverLauncher *launcher);

/* Numbers for people who look for what is wrong: one line of text. Free with g_free. */
char *drover_launcher_dump(DroverLauncher *launcher);
