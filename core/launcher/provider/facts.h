/*
 * What a provider's driver says of its cloud, asked for when it is needed and remembered: limits
 * less what others use there, what a machine of a label costs, whether its image is there, which
 * zones there are.
 *
 *     question ─► remembered? ─► answer
 *                     └─ no, or too old ─► the driver is asked (again) ─► changed()
 *
 * No question waits. What is not known yet, or too old, is answered with NULL or UNKNOWN. A driver
 * that fails is asked again at growing intervals; meanwhile the last answer is used, however old.
 * A new object of the provider begins with nothing.
 */
#pragma once

#include "config/config.h"
#include "driver/runner.h"
#include "launcher/cluster/cluster.h"

typedef struct _DroverFacts DroverFacts;

typedef enum {
    DROVER_FACT_UNKNOWN,
    DROVER_FACT_NO,
    DROVER_FACT_YES,
} DroverFactAnswer;

/* An answer came, of whatever kind. */
typedef void (*DroverFactsFunc)(gpointer user_data);

DroverFacts *drover_facts_new(DroverCluster *cluster, DroverRunner *runner,
                              const struct drover_driver *driver,
                              const DroverProviderConfig *config, DroverFactsFunc changed,
                              gpointer user_data);
/* Before the runner is closed. */
void drover_facts_free(DroverFacts *facts);

/* Limits less unmanaged use; kept for 300 s. NULL: not known yet. */
const DroverResources *drover_facts_available(DroverFacts *facts);
/* As it was known last; nobody is asked. NULL: it never was, or there are no limits. */
const DroverResources *drover_facts_last_available(DroverFacts *facts);
/*
 * The cloud refused what should have fitted. Until it has told its limits anew, which is not at
 * once when this happens again and again, nothing is known of what is available.
 */
void drover_facts_note_refusal(DroverFacts *facts);
gboolean drover_facts_is_refused(DroverFacts *facts);
/* Somebody waits because of it: it is asked for again sooner. */
void drover_facts_doubt_available(DroverFacts *facts);
/* A machine is gone: what waits for room may look again now. */
void drover_facts_note_deleted(DroverFacts *facts);

/* Asked once, unless there was no answer but that the label cannot work. NULL: not known yet. */
const DroverResources *drover_facts_cost(DroverFacts *facts, const char *pool, const char *label);
/* Whether a machine of the label could be made if there were room. */
DroverFactAnswer drover_facts_label_ready(DroverFacts *facts, const char *pool, const char *label);
/* The cloud's zones, of which there may be none. FALSE: not known yet. */
gboolean drover_facts_zones(DroverFacts *facts, const char *const **zones);
/* A machine could not be made in one of them: they may be others now. */
void drover_facts_forget_zones(DroverFacts *facts);

/* Labels that can never work as they are configured: the error set. They get another chance from
 * time to time; their cost is asked for again then. */
void drover_facts_break_label(DroverFacts *facts, const char *label, const char *why);
/* Why it is in the error set, or NULL. */
const char *drover_facts_label_error(const DroverFacts *facts, const char *label);

/* A launch of the label failed. FALSE: of the same as the one before. */
gboolean drover_facts_note_failed(DroverFacts *facts, const char *label, const char *why);
void drover_facts_note_made(DroverFacts *facts, const char *label);
