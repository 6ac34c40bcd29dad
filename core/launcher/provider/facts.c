#include "launcher/provider/facts.h"

#include <math.h>
#include <string.h>

#include "base/log.h"
#include "driver/tags.h"
#include "launcher/provider/label-errors.h"
#include "launcher/provider/label.h"

#define LOGGER               "driver.facts"
#define FIRST_RETRY_SECONDS  1
#define LAST_RETRY_SECONDS   60
#define LAST_REFUSAL_SECONDS 30
/* How old an answer may be when somebody waits because of it. */
#define DOUBT_SECONDS 10
/* Refusals that are further apart have nothing to do with each other. */
#define REFUSAL_MEMORY_SECONDS 60
#define FOR_EVER               G_MAXINT64

typedef enum { LIMITS, USAGE, COST, READY, ZONES } Subject;

typedef struct {
    grefcount references; /* the facts, and a question under way */
    DroverFacts *facts;   /* NULL once they are freed */
    Subject subject;
    char *pool, *label;      /* NULL when it is about the provider */
    DroverTask *task;        /* a question under way */
    gboolean known, failing; /* there was an answer; the last question got none */
    /* Monotonic, in microseconds. Asked for again from `renew` on, if it may be by then; not used
     * from `expires` on, unless the driver is failing. */
    gint64 answered, renew, expires, not_before;
    guint retry_seconds;
    /* The answer. */
    DroverResources *resources;
    DroverFactAnswer yes_or_no;
    char **zones;
} Fact;

struct _DroverFacts {
    DroverCluster *cluster;
    DroverRunner *runner;
    const struct drover_driver *driver;
    const DroverProviderConfig *config;
    DroverFactsFunc changed;
    gpointer user_data;
    Fact *limits, *usage, *zones;
    GHashTable *costs, *ready; /* "pool\nlabel" -> Fact */
    DroverLabelErrors *broken;
    GHashTable *failed; /* label -> why its last launch failed */
    DroverResources *available, *unlimited, *one_instance;
    /* What was available is not believed until there is a new answer, or for some time. */
    gboolean refused;
    guint refusals;
    gint64 refused_at, refused_until;
};

/* ---- Answers ---- */

static void
take_resources(Fact *fact, const DroverTaskResult *result)
{
    drover_resources_unref(fact->resources);
    fact->resources =
        drover_resources_from_json(result->resources, fact->subject == LIMITS ? INFINITY : 0);
}

/* A machine of ours whose node is in the tree is counted there. */
static gboolean
is_managed(const Fact *fact, const json_t *item)
{
    g_autoptr(json_t) tags = drover_tags_parse(drover_json_string(item, "tags"));
    const char *node_id = drover_json_string(tags, DROVER_TAG_NODE);

    return g_strcmp0(drover_json_string(tags, DROVER_TAG_PROVIDER), fact->facts->config->name) ==
               0 &&
           node_id != NULL && drover_cluster_node(fact->facts->cluster, node_id) != NULL;
}

static void
take_usage(Fact *fact, const DroverTaskResult *result)
{
    DroverResources *sum = drover_resources_new(0);

    for (guint i = 0; i < result->items->len; i++) {
        const json_t *item = result->items->pdata[i];
        g_autoptr(DroverResources) cost = NULL;

        if (is_managed(fact, item))
            continue;
        cost = drover_resources_from_json(json_object_get(item, "resources"), 0);
        drover_resources_add(sum, cost);
    }
    drover_resources_unref(fact->resources);
    fact->resources = sum;
}

static void
take_yes(Fact *fact, const DroverTaskResult *result)
{
    fact->yes_or_no = DROVER_FACT_YES;
}

static void
take_zones(Fact *fact, const DroverTaskResult *result)
{
    g_autoptr(GStrvBuilder) zones = g_strv_builder_new();

    for (guint i = 0; i < result->items->len; i++) {
        const char *name = drover_json_string(result->items->pdata[i], "id");
        if (name != NULL)
            g_strv_builder_add(zones, name);
    }
    g_strfreev(fact->zones);
    fact->zones = g_strv_builder_end(zones);
}

static const struct {
    DroverTaskKind task;
    gint64 keep_seconds;
    void (*take)(Fact *fact, const DroverTaskResult *result);
    const char *name;
} subjects[] = {
    [LIMITS] = {DROVER_TASK_QUOTA_LIMITS, 300, take_resources, "limits"},
    [USAGE] = {DROVER_TASK_QUOTA_USAGE, 300, take_usage, "use"},
    [COST] = {DROVER_TASK_QUOTA_LABEL, FOR_EVER, take_resources, "cost"},
    [READY] = {DROVER_TASK_LABEL_READY, 10, take_yes, "image"},
    [ZONES] = {DROVER_TASK_ZONE_LIST, 300, take_zones, "zones"},
};

/* ---- Asking ---- */

static Fact *
fact_new(DroverFacts *facts, Subject subject, const char *pool, const char *label)
{
    Fact *fact = g_new0(Fact, 1);

    g_ref_count_init(&fact->references);
    fact->facts = facts;
    fact->subject = subject;
    fact->pool = g_strdup(pool);
    fact->label = g_strdup(label);
    fact->retry_seconds = FIRST_RETRY_SECONDS;
    return fact;
}

static void
fact_unref(gpointer data)
{
    Fact *fact = data;

    if (!g_ref_count_dec(&fact->references))
        return;
    g_free(fact->pool);
    g_free(fact->label);
    drover_resources_unref(fact->resources);
    g_strfreev(fact->zones);
    g_free(fact);
}

static void
fact_drop(gpointer data)
{
    Fact *fact = data;

    fact->facts = NULL;
    if (fact->task != NULL)
        drover_task_cancel(fact->task);
    fact_unref(fact);
}

static void
note_answer(Fact *fact, gint64 keep)
{
    fact->known = TRUE;
    fact->failing = FALSE;
    fact->answered = g_get_monotonic_time();
    fact->renew = fact->expires =
        keep == FOR_EVER ? FOR_EVER : fact->answered + keep * G_USEC_PER_SEC;
    fact->retry_seconds = FIRST_RETRY_SECONDS;
}

static void
note_failure(Fact *fact, const DroverTaskResult *result)
{
    g_autofree char *about =
        fact->label != NULL ? g_strconcat(" of label ", fact->label, NULL) : g_strdup("");

    drover_log_for(DROVER_LOG_ERROR, LOGGER, "Provider %s does not tell the %s%s: %s%s",
                   fact->facts->config->name, subjects[fact->subject].name, about, result->message,
                   fact->known ? "; the last known value is used" : "");
    fact->failing = TRUE;
    fact->not_before = g_get_monotonic_time() + MAX((gint64)fact->retry_seconds * G_USEC_PER_SEC,
                                                    result->retry_after * 1000);
    fact->retry_seconds = MIN(fact->retry_seconds * 2, LAST_RETRY_SECONDS);
}

/* The label can never work, or its image is not there: that is an answer, too. */
static gboolean
take_refusal(Fact *fact, const DroverTaskResult *result)
{
    gboolean permanent = result->failure == DROVER_FAILURE_PERMANENT;

    if (fact->subject == COST && permanent) {
        drover_facts_break_label(fact->facts, fact->label, result->message);
        drover_resources_unref(fact->resources);
        fact->resources = drover_resources_new(0);
        return TRUE;
    }
    if (fact->subject == READY && (permanent || result->failure == DROVER_FAILURE_NOT_FOUND)) {
        if (fact->yes_or_no != DROVER_FACT_NO)
            drover_log_for(DROVER_LOG_INFO, LOGGER, "Provider %s has no image for label %s: %s",
                           fact->facts->config->name, fact->label, result->message);
        fact->yes_or_no = DROVER_FACT_NO;
        return TRUE;
    }
    return FALSE;
}

static void
on_answer(const DroverTaskResult *result, gpointer user_data)
{
    Fact *fact = user_data;
    DroverFacts *facts = fact->facts;

    fact->task = NULL;
    if (facts != NULL) {
        if (result->ok)
            subjects[fact->subject].take(fact, result);
        if (result->ok)
            note_answer(fact, subjects[fact->subject].keep_seconds);
        else if (take_refusal(fact, result))
            note_answer(fact,
                        MIN(subjects[fact->subject].keep_seconds, DROVER_LABEL_ERROR_SECONDS));
        else
            note_failure(fact, result);
        g_clear_pointer(&facts->available, drover_resources_unref);
        if (fact->subject == LIMITS)
            facts->refused = FALSE;
        facts->changed(facts->user_data);
    }
    fact_unref(fact);
}

/* Sees to it that the fact becomes known, or is renewed. TRUE when there is an answer. */
static gboolean
need(Fact *fact)
{
    gint64 now = g_get_monotonic_time();
    DroverFacts *facts = fact->facts;
    const DroverPoolConfig *pool = NULL;
    DroverTaskInput input = {.pool = fact->pool, .label = fact->label};

    gboolean usable = fact->known && (now < fact->expires || fact->failing);

    if ((fact->known && now < fact->renew) || fact->task != NULL || now < fact->not_before)
        return usable;
    if (fact->pool != NULL)
        pool = drover_provider_config_find_pool(facts->config, fact->pool);
    input.pool_config = pool != NULL ? pool->values : NULL;
    input.label_config = drover_label_values(pool, fact->label);
    g_ref_count_inc(&fact->references);
    fact->task = drover_runner_submit(facts->runner, subjects[fact->subject].task, &input,
                                      on_answer, NULL, fact);
    return usable;
}

static Fact *
find_fact(GHashTable *table, DroverFacts *facts, Subject subject, const char *pool,
          const char *label)
{
    g_autofree char *key = g_strconcat(pool, "\n", label, NULL);
    Fact *fact = g_hash_table_lookup(table, key);

    if (fact == NULL) {
        fact = fact_new(facts, subject, pool, label);
        g_hash_table_insert(table, g_steal_pointer(&key), fact);
    }
    return fact;
}

/* ---- Questions ---- */

static gboolean
has_quota(const DroverFacts *facts)
{
    return (facts->driver->capabilities & DROVER_CAN_QUOTA) != 0;
}

static gboolean
has_limits(const DroverFacts *facts)
{
    return has_quota(facts) && facts->driver->quota_limits != NULL;
}

const DroverResources *
drover_facts_last_available(DroverFacts *facts)
{
    if (facts->available == NULL && facts->limits->resources != NULL) {
        facts->available = drover_resources_copy(facts->limits->resources);
        if (facts->usage->resources != NULL)
            drover_resources_subtract(facts->available, facts->usage->resources);
    }
    return facts->available;
}

const DroverResources *
drover_facts_available(DroverFacts *facts)
{
    gboolean known;

    if (!has_limits(facts))
        return facts->unlimited;
    known = need(facts->limits);
    if (facts->driver->quota_usage != NULL)
        known = need(facts->usage) && known;
    if (!known || facts->refused)
        return NULL;
    return drover_facts_last_available(facts);
}

void
drover_facts_note_refusal(DroverFacts *facts)
{
    gint64 now = g_get_monotonic_time();
    guint pause;

    if (now - facts->refused_at > REFUSAL_MEMORY_SECONDS * G_USEC_PER_SEC)
        facts->refusals = 0;
    pause = facts->refusals == 0 ? 0 : MIN(1U << MIN(facts->refusals - 1, 8), LAST_REFUSAL_SECONDS);
    facts->refusals++;
    facts->refused = TRUE;
    facts->refused_at = now;
    facts->refused_until = now + MAX(pause, 1) * G_USEC_PER_SEC;
    facts->limits->renew = facts->usage->renew = 0;
    facts->limits->not_before = now + pause * G_USEC_PER_SEC;
}

gboolean
drover_facts_is_refused(DroverFacts *facts)
{
    if (facts->refused && has_limits(facts))
        need(facts->limits);
    else if (facts->refused && g_get_monotonic_time() >= facts->refused_until)
        facts->refused = FALSE;
    return facts->refused;
}

void
drover_facts_doubt_available(DroverFacts *facts)
{
    gint64 latest = g_get_monotonic_time() - DOUBT_SECONDS * G_USEC_PER_SEC;

    if (facts->limits->answered < latest)
        facts->limits->renew = facts->usage->renew = 0;
}

void
drover_facts_note_deleted(DroverFacts *facts)
{
    if (facts->refused)
        facts->limits->not_before = facts->refused_until = 0;
}

const DroverResources *
drover_facts_cost(DroverFacts *facts, const char *pool, const char *label)
{
    Fact *fact;

    /* So that max-servers counts them all the same. */
    if (!has_quota(facts) || facts->driver->quota_label == NULL)
        return facts->one_instance;
    fact = find_fact(facts->costs, facts, COST, pool, label);
    return need(fact) ? fact->resources : NULL;
}

DroverFactAnswer
drover_facts_label_ready(DroverFacts *facts, const char *pool, const char *label)
{
    Fact *fact;

    if (facts->driver->label_ready == NULL)
        return DROVER_FACT_YES;
    fact = find_fact(facts->ready, facts, READY, pool, label);
    return need(fact) ? fact->yes_or_no : DROVER_FACT_UNKNOWN;
}

gboolean
drover_facts_zones(DroverFacts *facts, const char *const **zones)
{
    static const char *const none[] = {NULL};

    *zones = none;
    if (facts->driver->zone_list == NULL)
        return TRUE;
    if (!need(facts->zones))
        return FALSE;
    *zones = (const char *const *)facts->zones->zones;
    return TRUE;
}

void
drover_facts_forget_zones(DroverFacts *facts)
{
    facts->zones->renew = facts->zones->expires = 0;
}

void
drover_facts_break_label(DroverFacts *facts, const char *label, const char *why)
{
    if (drover_label_errors_add(facts->broken, label, why, g_get_monotonic_time()))
        drover_log_for(DROVER_LOG_ERROR, LOGGER,
                       "Label %s cannot work in provider %s as it is configured: %s", label,
                       facts->config->name, why);
}

const char *
drover_facts_label_error(const DroverFacts *facts, const char *label)
{
    return drover_label_errors_why(facts->broken, label, g_get_monotonic_time());
}

gboolean
drover_facts_note_failed(DroverFacts *facts, const char *label, const char *why)
{
    if (g_strcmp0(g_hash_table_lookup(facts->failed, label), why) == 0)
        return FALSE;
    g_hash_table_insert(facts->failed, g_strdup(label), g_strdup(why));
    return TRUE;
}

void
drover_facts_note_made(DroverFacts *facts, const char *label)
{
    g_hash_table_remove(facts->failed, label);
    drover_label_errors_remove(facts->broken, label);
}

/* ---- Life ---- */

DroverFacts *
drover_facts_new(DroverCluster *cluster, DroverRunner *runner, const struct drover_driver *driver,
                 const DroverProviderConfig *config, DroverFactsFunc changed, gpointer user_data)
{
    DroverFacts *facts = g_new0(DroverFacts, 1);

    facts->cluster = cluster;
    facts->runner = runner;
    facts->driver = driver;
    facts->config = config;
    facts->changed = changed;
    facts->user_data = user_data;
    facts->limits = fact_new(facts, LIMITS, NULL, NULL);
    facts->usage = fact_new(facts, USAGE, NULL, NULL);
    facts->zones = fact_new(facts, ZONES, NULL, NULL);
    facts->costs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, fact_drop);
    facts->ready = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, fact_drop);
    facts->broken = drover_label_errors_new();
    facts->failed = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    facts->unlimited = drover_resources_new(INFINITY);
    facts->one_instance = drover_resources_new(0);
    drover_resources_set(facts->one_instance, "instances", 1);
    return facts;
}

void
drover_facts_free(DroverFacts *facts)
{
    if (facts == NULL)
        return;
    fact_drop(facts->limits);
    fact_drop(facts->usage);
    fact_drop(facts->zones);
    g_hash_table_unref(facts->costs);
    g_hash_table_unref(facts->ready);
    drover_label_errors_free(facts->broken);
    g_hash_table_unref(facts->failed);
    drover_resources_unref(facts->available);
    drover_resources_unref(facts->unlimited);
    drover_resources_unref(facts->one_instance);
    g_free(facts);
}
