#include "launcher/upkeep/standby-plan.h"

#define FIRST_DELAY   1.0
#define LONGEST_DELAY 60.0

typedef struct {
    int free, asked_for;
    double delay;    /* after the last failure; 0: none since the last success */
    double retry_at; /* nothing is needed before */
    gboolean failed; /* since requests were made last */
} Label;

struct _DroverStandbyPlan {
    GHashTable *labels; /* name -> Label */
};

DroverStandbyPlan *
drover_standby_plan_new(void)
{
    DroverStandbyPlan *plan = g_new0(DroverStandbyPlan, 1);

    plan->labels = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    return plan;
}

void
drover_standby_plan_free(DroverStandbyPlan *plan)
{
    g_hash_table_unref(plan->labels);
    g_free(plan);
}

static Label *
need_label(DroverStandbyPlan *plan, const char *name)
{
    Label *label = g_hash_table_lookup(plan->labels, name);

    if (label == NULL) {
        label = g_new0(Label, 1);
        g_hash_table_insert(plan->labels, g_strdup(name), label);
    }
    return label;
}

/* ---- What there is, and what is asked for ---- */

static void
count_node(DroverStandbyPlan *plan, const DroverNode *node, int change)
{
    for (guint i = 0; node != NULL && drover_node_is_free(node) && node->labels[i] != NULL; i++)
        need_label(plan, node->labels[i])->free += change;
}

void
drover_standby_plan_note_node(DroverStandbyPlan *plan, const DroverNode *old,
                              const DroverNode *new_node)
{
    count_node(plan, old, -1);
    count_node(plan, new_node, 1);
}

gboolean
drover_standby_is_for(const DroverRequest *request)
{
    return request != NULL && g_strcmp0(request->requestor, DROVER_STANDBY_REQUESTOR) == 0;
}

static void
count_request(DroverStandbyPlan *plan, const DroverRequest *request, int change)
{
    if (!drover_standby_is_for(request))
        return;
    for (char **label = request->labels; *label != NULL; label++)
        need_label(plan, *label)->asked_for += change;
}

void
drover_standby_plan_note_request(DroverStandbyPlan *plan, const DroverRequest *old,
                                 const DroverRequest *new_request)
{
    count_request(plan, old, -1);
    count_request(plan, new_request, 1);
}

guint
drover_standby_plan_need(DroverStandbyPlan *plan, const char *name, int min_ready, double now)
{
    const Label *label = need_label(plan, name);
    int need = min_ready - label->free - label->asked_for;

    /* Whether there are any again is found out with one. */
    if (label->delay > 0)
        need = MIN(need, 1 - label->asked_for);
    return need > 0 && now >= label->retry_at ? (guint)need : 0;
}

/* ---- What became of our requests ---- */

void
drover_standby_plan_note_made(DroverStandbyPlan *plan, const char *label)
{
    need_label(plan, label)->failed = FALSE;
}

void
drover_standby_plan_note_fulfilled(DroverStandbyPlan *plan, const char *label)
{
    need_label(plan, label)->delay = 0;
}

double
drover_standby_plan_note_failed(DroverStandbyPlan *plan, const char *name, double now)
{
    Label *label = need_label(plan, name);

    if (!label->failed)
        label->delay = CLAMP(2 * label->delay, FIRST_DELAY, LONGEST_DELAY);
    label->failed = TRUE;
    label->retry_at = now + label->delay;
    return label->delay;
}
