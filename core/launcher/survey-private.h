/*
 * What the parts of a survey share; see survey.h.
 *
 *     survey.c           its life, the election, this process
 *     survey-cluster.c   what is about the whole cluster
 *     survey-own.c       this launcher's own pools, providers and tenants
 */
#pragma once

#include "launcher/launcher-private.h"
#include "launcher/survey.h"
#include "zk/lock.h"

struct _DroverSurvey {
    DroverLauncher *launcher;
    DroverTelemetry *telemetry;
    DroverLock *lock; /* of the election */
    gboolean waiting; /* for it */
    gboolean leads;
    guint timer;
    gint64 due; /* the next tick; monotonic */
    guint ticks;
    guint64 changes;  /* of the cluster, when it was counted last */
    gint64 counted;   /* when that was; 0: never */
    GHashTable *sent; /* keys of gauges that statsd has of us, a set */
    char *own;        /* of statsd's lines about this launcher's configuration, as sent last */
};

/* Counts everything, and sends all of it. */
void drover_survey_count_cluster(DroverSurvey *survey);
/* Another launcher does it from now on. */
void drover_survey_forget_cluster(DroverSurvey *survey);

void drover_survey_count_own(DroverSurvey *survey);
/* To statsd; unless `always`, only when something has changed. */
void drover_survey_send_own(DroverSurvey *survey, gboolean always);
