/*
 * Looks over the cluster and this launcher each second, and exports what can be counted there: for
 * who scrapes, and for statsd. What is about the whole cluster is one launcher's: the stats leader,
 * the winner of the election that Nodepool's launchers take part in, too. Core loop only.
 *
 *     caches, configuration, usage ─► survey ─┬─► registry ─► scraped
 *                                             └─► statsd: on change, and again from time to time
 */
#pragma once

#include "launcher/launcher.h"

typedef struct _DroverSurvey DroverSurvey;

/* Begins. The launcher lives longer. */
DroverSurvey *drover_survey_new(DroverLauncher *launcher);
/* Before the session is closed. */
void drover_survey_free(DroverSurvey *survey);

/* Brings up to date what changes without an event, before a scrape. */
void drover_survey_refresh(DroverSurvey *survey);
