#include "launcher/request/decision.h"

#include <string.h>

typedef struct {
    const DroverPoolView *pool;
    const DroverRequest *request;
    GPtrArray *candidates; /* registered pools that could serve it and have not declined */
    gboolean asked;        /* the cloud: */
    DroverRoom images, ever;
    char *images_reason, *ever_reason;
} Case;

/* TRUE when the rule settles the case; the reason may stay NULL. */
typedef gboolean (*Rule)(Case *the_case, char **reason);

static const DroverComponent *
candidate_at(const Case *the_case, guint index)
{
    return g_ptr_array_index(the_case->candidates, index);
}

static gboolean
has_candidate_of(const Case *the_case, const char *provider)
{
    for (guint i = 0; i < the_case->candidates->len; i++)
        if (g_strcmp0(candidate_at(the_case, i)->provider_name, provider) == 0)
            return TRUE;
    return FALSE;
}

static gboolean
not_requested(Case *the_case, char **reason)
{
    return the_case->request->state != DROVER_REQUEST_REQUESTED;
}

static gboolean
declined_already(Case *the_case, char **reason)
{
    return drover_request_is_declined_by(the_case->request, the_case->pool->launcher_id);
}

static gboolean
another_provider_is_preferred(Case *the_case, char **reason)
{
    const char *preferred = the_case->request->provider;

    if (preferred == NULL || strcmp(preferred, the_case->pool->provider) == 0 ||
        !has_candidate_of(the_case, preferred))
        return FALSE;
    *reason = g_strdup_printf("it prefers provider %s, which can serve it", preferred);
    return TRUE;
}

/* Between a preference and priorities the preference wins; else two pools could yield for ever. */
static gboolean
another_pool_goes_first(Case *the_case, char **reason)
{
    const char *preferred = the_case->request->provider;
    gboolean only_preferred = preferred != NULL && has_candidate_of(the_case, preferred);

    for (guint i = 0; i < the_case->candidates->len; i++) {
        const DroverComponent *other = candidate_at(the_case, i);

        if (only_preferred && g_strcmp0(other->provider_name, preferred) != 0)
            continue;
        if (other->priority < the_case->pool->priority && !other->paused) {
            *reason = g_strdup_printf("pool %s of provider %s has priority %" G_GINT64_FORMAT
                                      ", this one %" G_GINT64_FORMAT,
                                      other->name, other->provider_name, other->priority,
                                      the_case->pool->priority);
            return TRUE;
        }
    }
    return FALSE;
}

static gboolean
has_label(const DroverPoolView *pool, const char *label)
{
    return g_strv_contains(pool->labels, label);
}

static gboolean
is_broken(const DroverPoolView *pool, const char *label)
{
    return pool->cloud != NULL && pool->cloud->is_broken(label, pool->cloud->user_data);
}

static gboolean
another_pool_has_the_labels(Case *the_case, char **reason)
{
    if (drover_decision_missing_labels(the_case->pool, the_case->request) == 0 ||
        the_case->candidates->len == 0)
        return FALSE;
    *reason = g_strdup("another pool has all of its labels");
    return TRUE;
}

static gboolean
coming_pool_has_the_labels(const Case *the_case)
{
    const GPtrArray *coming = the_case->pool->coming;

    for (guint i = 0; coming != NULL && i < coming->len; i++) {
        const char *const *labels = g_ptr_array_index(coming, i);
        char **wanted = the_case->request->labels;

        while (*wanted != NULL && g_strv_contains(labels, *wanted))
            wanted++;
        if (*wanted == NULL)
            return TRUE;
    }
    return FALSE;
}

/*
 * While a launcher starts, its first pool must not take itself for the only one, and fail what the
 * next one could serve.
 */
static gboolean
a_coming_pool_may_serve_it(Case *the_case, char **reason)
{
    if ((!the_case->pool->disabled &&
         drover_decision_missing_labels(the_case->pool, the_case->request) == 0) ||
        !coming_pool_has_the_labels(the_case))
        return FALSE;
    *reason = g_strdup("a pool that is about to register has all of its labels");
    return TRUE;
}

static gboolean
pool_is_disabled(Case *the_case, char **reason)
{
    if (!the_case->pool->disabled)
        return FALSE;
    *reason = g_strdup("pool is disabled by max_servers");
    return TRUE;
}

static gboolean
labels_are_missing(Case *the_case, char **reason)
{
    g_autoptr(GPtrArray) missing = g_ptr_array_new();
    g_autofree char *names = NULL;

    for (char **label = the_case->request->labels; *label != NULL; label++)
        if (!has_label(the_case->pool, *label) || is_broken(the_case->pool, *label))
            g_ptr_array_add(missing, *label);
    if (missing->len == 0)
        return FALSE;
    g_ptr_array_add(missing, NULL);
    names = g_strjoinv(", ", (char **)missing->pdata);
    *reason = g_strdup_printf("node type(s) [%s] not available", names);
    return TRUE;
}

/* Once for all the rules that want to know. */
static void
ask_cloud(Case *the_case)
{
    const DroverCloudView *cloud = the_case->pool->cloud;

    if (the_case->asked)
        return;
    the_case->asked = TRUE;
    the_case->images = the_case->ever = DROVER_ROOM_FITS;
    if (cloud == NULL)
        return;
    the_case->images = cloud->images(the_case->request, &the_case->images_reason, cloud->user_data);
    the_case->ever = cloud->ever(the_case->request, &the_case->ever_reason, cloud->user_data);
}

static gboolean
images_are_missing(Case *the_case, char **reason)
{
    ask_cloud(the_case);
    if (the_case->images != DROVER_ROOM_FULL)
        return FALSE;
    *reason = g_strdup(the_case->images_reason);
    return TRUE;
}

static gboolean
it_never_fits(Case *the_case, char **reason)
{
    ask_cloud(the_case);
    if (the_case->ever != DROVER_ROOM_FULL)
        return FALSE;
    *reason = g_strdup(the_case->ever_reason);
    return TRUE;
}

static gboolean
an_answer_is_missing(Case *the_case, char **reason)
{
    ask_cloud(the_case);
    if (the_case->images != DROVER_ROOM_UNKNOWN && the_case->ever != DROVER_ROOM_UNKNOWN)
        return FALSE;
    *reason = g_strdup(the_case->images == DROVER_ROOM_UNKNOWN ? the_case->images_reason
                                                               : the_case->ever_reason);
    return TRUE;
}

static gboolean
tenant_has_enough(Case *the_case, char **reason)
{
    const DroverTenantView *tenant = the_case->pool->tenant;

    return tenant != NULL &&
           tenant->room(the_case->request, reason, tenant->user_data) != DROVER_ROOM_FITS;
}

static gint
times_wanted(const DroverRequest *request, const char *label)
{
    gint times = 0;

    for (char **wanted = request->labels; *wanted != NULL; wanted++)
        times += strcmp(*wanted, label) == 0;
    return times;
}

static gboolean
a_label_is_out_of_stock(Case *the_case, char **reason)
{
    for (char **label = the_case->request->labels; the_case->pool->stock != NULL && *label != NULL;
         label++) {
        gint wanted = times_wanted(the_case->request, *label);
        gint there = GPOINTER_TO_INT(g_hash_table_lookup(the_case->pool->stock, *label));

        if (there >= wanted)
            continue;
        *reason =
            g_strdup_printf("%d node(s) with label %s are free, %d wanted", there, *label, wanted);
        return TRUE;
    }
    return FALSE;
}

/* Nobody but those who keep standby nodes asks for it. A fixed stock never has one. */
static gboolean
a_new_node_is_wanted(Case *the_case, char **reason)
{
    if (the_case->request->reuse || the_case->pool->stock == NULL)
        return FALSE;
    *reason = g_strdup("it wants new nodes; this pool has only those that are there");
    return TRUE;
}

static gboolean
nothing_new_is_accepted(Case *the_case, char **reason)
{
    if (the_case->pool->held == NULL)
        return FALSE;
    *reason = g_strdup(the_case->pool->held);
    return TRUE;
}

static gboolean
pool_is_paused(Case *the_case, char **reason)
{
    if (!the_case->pool->paused)
        return FALSE;
    *reason = g_strdup("a request accepted earlier waits for quota");
    return TRUE;
}

static gboolean
provider_is_busy(Case *the_case, char **reason)
{
    if (!the_case->pool->at_max_concurrency)
        return FALSE;
    *reason = g_strdup("the provider's max-concurrency is reached");
    return TRUE;
}

/*
 * The first rule that applies decides. Reasons to decline come before what can change by itself, so
 * a request that nobody can ever serve fails even while this pool is full or paused.
 */
static const struct {
    Rule applies;
    DroverVerdict verdict;
} rules[] = {
    {not_requested, DROVER_VERDICT_SKIP},
    {declined_already, DROVER_VERDICT_SKIP},
    {another_provider_is_preferred, DROVER_VERDICT_YIELD},
    {another_pool_goes_first, DROVER_VERDICT_YIELD},
    {another_pool_has_the_labels, DROVER_VERDICT_YIELD},
    {a_coming_pool_may_serve_it, DROVER_VERDICT_YIELD},
    {pool_is_disabled, DROVER_VERDICT_DECLINE},
    {labels_are_missing, DROVER_VERDICT_DECLINE},
    {images_are_missing, DROVER_VERDICT_DECLINE},
    {it_never_fits, DROVER_VERDICT_DECLINE},
    {an_answer_is_missing, DROVER_VERDICT_DEFER},
    {a_label_is_out_of_stock, DROVER_VERDICT_DEFER},
    {a_new_node_is_wanted, DROVER_VERDICT_DECLINE},
    {nothing_new_is_accepted, DROVER_VERDICT_DEFER},
    {tenant_has_enough, DROVER_VERDICT_DEFER},
    {pool_is_paused, DROVER_VERDICT_DEFER},
    {provider_is_busy, DROVER_VERDICT_DEFER},
};

static GPtrArray *
find_candidates(const DroverPoolView *pool, const DroverRequest *request)
{
    GPtrArray *candidates = g_ptr_array_new();

    for (guint i = 0; i < pool->registered->len; i++) {
        DroverComponent *other = g_ptr_array_index(pool->registered, i);

        if (other->id != NULL &&
            drover_component_supports(other, (const char *const *)request->labels) &&
            !drover_request_is_declined_by(request, other->id))
            g_ptr_array_add(candidates, other);
    }
    return candidates;
}

static void
clear_case(Case *the_case)
{
    if (the_case->candidates != NULL)
        g_ptr_array_unref(the_case->candidates);
    g_free(the_case->images_reason);
    g_free(the_case->ever_reason);
}

DroverDecision
drover_decide(const DroverPoolView *pool, const DroverRequest *request)
{
    Case the_case = {.pool = pool, .request = request, find_candidates(pool, request)};
    DroverDecision decision = {DROVER_VERDICT_ACCEPT, NULL};

    for (guint i = 0; i < G_N_ELEMENTS(rules); i++) {
        if (rules[i].applies(&the_case, &decision.reason)) {
            decision.verdict = rules[i].verdict;
            break;
        }
    }
    clear_case(&the_case);
    return decision;
}

char *
drover_decision_find_obstacle(const DroverPoolView *pool, const DroverRequest *request)
{
    Case the_case = {.pool = pool, .request = request};
    char *reason = NULL;

    for (guint i = 0; i < G_N_ELEMENTS(rules) && reason == NULL; i++)
        if (rules[i].verdict == DROVER_VERDICT_DECLINE)
            rules[i].applies(&the_case, &reason);
    clear_case(&the_case);
    return reason;
}

guint
drover_decision_missing_labels(const DroverPoolView *pool, const DroverRequest *request)
{
    guint missing = 0;

    for (char **label = request->labels; *label != NULL; label++)
        missing += !has_label(pool, *label);
    return missing;
}

gboolean
drover_decision_is_last(const DroverPoolView *pool, const DroverRequest *request)
{
    gboolean registered = FALSE;

    for (guint i = 0; i < pool->registered->len; i++) {
        const DroverComponent *other = g_ptr_array_index(pool->registered, i);

        if (g_strcmp0(other->id, pool->launcher_id) == 0)
            registered = TRUE;
        else if (other->id != NULL && !drover_request_is_declined_by(request, other->id))
            return FALSE;
    }
    /* Without ourselves in it the registry is not what it should be: nobody's request fails. */
    return registered;
}

const char *
drover_verdict_name(DroverVerdict verdict)
{
    static const char *const names[] = {"skip", "yield", "defer", "decline", "accept"};

    return names[verdict];
}
