/*
 * The driver under test, as a process of its own sees it, which says of each check what came of it.
 *
 * A group of checks runs in a child process, so that a driver that crashes, hangs or leaks costs
 * that group and nothing else:
 *
 *     parent: reports, waits at most the limit for each check
 *        │ fork                ▲ "begins", "ok", "failed", "skipped", a line each
 *        ▼                     │
 *     child: loads the driver, works on it
 */
#pragma once

#include <drover/driver.h>
#include <glib.h>

#include "check/report.h"
#include "check/secrets.h"
#include "config/config.h"

/* What is wanted. Strings may be NULL where the comment says so. */
typedef struct {
    const char *path;     /* of the driver's file */
    const char *name;     /* of the driver, from its file name */
    const char *config;   /* a launcher's configuration */
    gboolean made_up;     /* the configuration is one that has no option of the driver's */
    const char *provider; /* of the configuration; NULL: the first one of this driver */
    const char *label;    /* that the provider serves; NULL: the first one */
    const char *image;    /* a file to upload; NULL: none is uploaded */
    guint limit;          /* seconds, for each check */
} DroverCheckWish;

typedef struct {
    const DroverCheckWish *wish;
    int answers; /* where lines for the parent go */
    const char *current;
    gboolean answered; /* something was said of the current check */
    /* Set by drover_subject_load(). */
    void *library;
    const struct drover_driver *driver;
    /* Set by drover_subject_configure(). */
    DroverConfig *configuration;
    const DroverProviderConfig *provider;
    DroverCheckSecrets *secrets; /* of the provider; none of them reaches the parent */
} DroverSubject;

typedef struct {
    const char *const *checks; /* their names, in order; ends with NULL */
    void (*run)(DroverSubject *subject);
} DroverCheckGroup;

/* Of the check that has begun, the first word counts. One that nothing is said of was ok. */
void drover_subject_begin(DroverSubject *subject, const char *check);
void drover_subject_ok(DroverSubject *subject, const char *format, ...) G_GNUC_PRINTF(2, 3);
void drover_subject_fail(DroverSubject *subject, const char *format, ...) G_GNUC_PRINTF(2, 3);
void drover_subject_skip(DroverSubject *subject, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* The current check takes longer than one operation does, and goes on. */
void drover_subject_go_on(DroverSubject *subject);
/* The current check is over. */
void drover_subject_end(DroverSubject *subject);

/* Runs a group, and adds what came of it; or adds that all of it is skipped. */
void drover_subject_run(const DroverCheckWish *wish, const DroverCheckGroup *group,
                        DroverCheckReport *report);
void drover_subject_pass_over(const DroverCheckGroup *group, const char *reason,
                              DroverCheckReport *report);
