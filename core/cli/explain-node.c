/* What a node does, and what it waits for. */
#include <string.h>

#include "base/error.h"
#include "cli/evidence.h"
#include "cli/explain.h"
#include "model/node.h"
#include "model/request.h"

typedef struct {
    DroverEvidence *evidence;
    DroverNode *node;
    DroverRequest *request; /* that it is allocated to, if that is there */
    char *holder;           /* of its lock; or NULL */
    gboolean is_served;     /* a registered pool has its provider */
    json_t *findings;       /* sentences */
} Case;

static void
clear_case(Case *the_case)
{
    g_clear_pointer(&the_case->evidence, drover_evidence_free);
    g_clear_pointer(&the_case->node, drover_node_unref);
    g_clear_pointer(&the_case->request, drover_request_unref);
    g_free(the_case->holder);
    json_decref(the_case->findings);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Case, clear_case)

/* ---- Findings ---- */

static void
examine_made(Case *the_case)
{
    if (the_case->holder != NULL)
        drover_finding_add(the_case->findings, "It is being made by %s.", the_case->holder);
    else
        drover_finding_add(the_case->findings,
                           "Whoever made it is gone. It is going to be deleted.");
}

static void
examine_allocated(Case *the_case)
{
    const char *id = the_case->node->allocated_to;

    if (the_case->request == NULL && the_case->holder != NULL)
        drover_finding_add(the_case->findings,
                           "Its request %s is gone; %s has it locked, and is about to use it.", id,
                           the_case->holder);
    else if (the_case->request == NULL)
        drover_finding_add(the_case->findings,
                           "Its request %s is gone. It is going to be free again.", id);
    else if (the_case->request->state == DROVER_REQUEST_FULFILLED)
        drover_finding_add(the_case->findings,
                           "It waits for the requestor of %s, which is fulfilled, to take it.", id);
    else
        drover_finding_add(the_case->findings,
                           "It waits until request %s, which is %s, has all of its nodes.", id,
                           drover_request_state_name(the_case->request->state));
}

static void
examine_ready(Case *the_case)
{
    if (the_case->node->allocated_to != NULL)
        examine_allocated(the_case);
    else if (the_case->holder != NULL)
        drover_finding_add(the_case->findings, "It is free, but locked by %s: no request gets it.",
                           the_case->holder);
    else
        drover_finding_add(the_case->findings,
                           "It is free: the next request for one of its labels may get it.");
}

static void
examine_in_use(Case *the_case)
{
    if (the_case->holder != NULL)
        drover_finding_add(the_case->findings, "It is used by %s.", the_case->holder);
    else
        drover_finding_add(the_case->findings,
                           "Whoever used it is gone. It is going to be deleted.");
}

static void
examine_held(Case *the_case)
{
    g_autoptr(json_t) record = drover_node_record(the_case->node);
    const char *comment = drover_json_string(record, "comment");

    if (the_case->node->hold_expiration > 0)
        drover_finding_add(the_case->findings, "It is held for %" G_GINT64_FORMAT " s at most.",
                           the_case->node->hold_expiration);
    else
        drover_finding_add(the_case->findings,
                           "It is held until it is deleted, or max-hold-age is over.");
    if (comment != NULL)
        drover_finding_add(the_case->findings, "Comment: %s", comment);
}

static void
examine_deleted(Case *the_case)
{
    const char *provider = the_case->node->provider;

    if (the_case->holder != NULL)
        drover_finding_add(the_case->findings,
                           "It is locked by %s, who deletes it or still uses it.",
                           the_case->holder);
    else if (the_case->is_served)
        drover_finding_add(the_case->findings,
                           "It waits to be deleted, which a launcher with provider %s does within "
                           "seconds.",
                           provider);
    if (!the_case->is_served)
        drover_finding_add(the_case->findings,
                           "No registered pool has provider %s: nobody deletes it.",
                           provider != NULL ? provider : "(none)");
}

static void
examine(Case *the_case)
{
    switch (the_case->node->state) {
    case DROVER_NODE_INIT:
    case DROVER_NODE_BUILDING:
        examine_made(the_case);
        break;
    case DROVER_NODE_READY:
        examine_ready(the_case);
        break;
    case DROVER_NODE_IN_USE:
        examine_in_use(the_case);
        break;
    case DROVER_NODE_HOLD:
        examine_held(the_case);
        break;
    case DROVER_NODE_USED:
    case DROVER_NODE_DELETING:
    case DROVER_NODE_FAILED:
    case DROVER_NODE_ABORTED:
    case DROVER_NODE_DELETED:
        examine_deleted(the_case);
        break;
    default:
        drover_finding_add(the_case->findings, "Its state means nothing to this version.");
    }
}

/* ---- Reading ---- */

/* No request is no error: it may be gone. */
static gboolean
read_request(Case *the_case, DroverStore *store, GError **error)
{
    g_autoptr(DroverRecord) record = NULL;
    g_autoptr(GError) problem = NULL;

    if (the_case->node->allocated_to == NULL)
        return TRUE;
    record = drover_store_read(store, DROVER_REQUESTS_PATH, the_case->node->allocated_to,
                               DROVER_READ_PLAIN, &problem);
    if (record != NULL)
        the_case->request =
            drover_request_decode(record->name, record->data, record->version, NULL);
    else if (!g_error_matches(problem, DROVER_ERROR, DROVER_ERROR_NOT_FOUND)) {
        g_propagate_error(error, g_steal_pointer(&problem));
        return FALSE;
    }
    return TRUE;
}

static gboolean
read_case(Case *the_case, DroverStore *store, const char *id, GError **error)
{
    g_autofree char *lock = drover_node_lock_path(id);
    g_autoptr(DroverRecord) record =
        drover_store_read(store, DROVER_NODES_PATH, id, DROVER_READ_PLAIN, error);

    if (record == NULL)
        return FALSE;
    the_case->node = drover_node_decode(id, record->data, record->version, error);
    if (the_case->node == NULL)
        return FALSE;
    the_case->evidence = drover_evidence_read(store, error);
    if (the_case->evidence == NULL ||
        !drover_evidence_find_holder(the_case->evidence, store, lock, &the_case->holder, error) ||
        !read_request(the_case, store, error))
        return FALSE;
    the_case->findings = json_array();
    for (guint i = 0; i < the_case->evidence->pools->len; i++) {
        const DroverComponent *pool = the_case->evidence->pools->pdata[i];

        if (g_strcmp0(pool->provider_name, the_case->node->provider) == 0)
            the_case->is_served = TRUE;
    }
    return TRUE;
}

/* ---- Printing ---- */

static json_t *
case_object(const Case *the_case)
{
    const DroverNode *node = the_case->node;
    json_t *object = json_object();

    drover_record_set_string(object, "id", node->id);
    drover_record_set_string(object, "state", drover_node_state_name(node->state));
    json_object_set_new(object, "state_time", json_real(node->state_time));
    drover_record_set_string(object, "provider", node->provider);
    drover_record_set_string(object, "pool", node->pool);
    json_object_set_new(object, "labels",
                        drover_json_from_strings((const char *const *)node->labels));
    drover_record_set_string(object, "launcher", node->launcher);
    drover_record_set_string(object, "allocated_to", node->allocated_to);
    drover_record_set_string(
        object, "request_state",
        the_case->request != NULL ? drover_request_state_name(the_case->request->state) : NULL);
    drover_record_set_string(object, "locked_by", the_case->holder);
    json_object_set_new(object, "provider_registered", json_boolean(the_case->is_served));
    json_object_set(object, "findings", the_case->findings);
    return object;
}

static void
print_text(const Case *the_case)
{
    const DroverNode *node = the_case->node;
    g_autofree char *labels = g_strjoinv(", ", (char **)node->labels);
    g_autofree char *age = drover_cli_age(node->state_time);

    drover_cli_print("node %s: %s for %s, provider %s, pool %s, label %s\n", node->id,
                     drover_node_state_name(node->state), age,
                     node->provider != NULL ? node->provider : "(none)",
                     node->pool != NULL ? node->pool : "(none)", labels);
    if (node->allocated_to != NULL)
        drover_cli_print("  allocated to request %s\n", node->allocated_to);
    drover_cli_print("  locked by %s\n\n", the_case->holder != NULL ? the_case->holder : "nobody");
    drover_findings_print(the_case->findings);
}

int
drover_explain_node(DroverCli *cli, const char *id)
{
    g_auto(Case) the_case = {0};
    g_autoptr(GError) error = NULL;

    if (!read_case(&the_case, cli->store, id, &error)) {
        if (g_error_matches(error, DROVER_ERROR, DROVER_ERROR_NOT_FOUND))
            return drover_cli_fail(cli, "node %s not found", id);
        return drover_cli_fail(cli, "node %s: %s", id, error->message);
    }
    examine(&the_case);
    if (cli->json)
        drover_cli_print_json(case_object(&the_case));
    else
        print_text(&the_case);
    return 0;
}
