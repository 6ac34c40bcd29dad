/* Why a request waits. */
#include <string.h>

#include "base/error.h"
#include "cli/evidence.h"
#include "cli/explain.h"
#include "cli/request-view.h"

typedef struct {
    DroverCli *cli;
    DroverEvidence *evidence;
    DroverRequest *request;
    char *holder;     /* of the request's lock; or NULL */
    guint position;   /* among those that wait; or 0 */
    GPtrArray *nodes; /* of DroverNode: those that are allocated to it */
    json_t *pools;    /* what each registered pool has to do with it */
    json_t *findings; /* sentences */
} Case;

static void
clear_case(Case *the_case)
{
    g_clear_pointer(&the_case->evidence, drover_evidence_free);
    g_clear_pointer(&the_case->request, drover_request_unref);
    g_clear_pointer(&the_case->nodes, g_ptr_array_unref);
    g_free(the_case->holder);
    json_decref(the_case->pools);
    json_decref(the_case->findings);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Case, clear_case)

/* ---- Pools ---- */

/* The requested labels that the pool does not have, each once. */
static json_t *
missing_labels(const DroverRequest *request, const DroverComponent *pool)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    json_t *missing = json_array();

    for (char **label = request->labels; *label != NULL; label++)
        if (g_hash_table_add(seen, *label) &&
            !g_strv_contains((const char *const *)pool->supported_labels, *label))
            json_array_append_new(missing, drover_json_from_string(*label));
    return missing;
}

static char *
joined(const json_t *strings)
{
    g_autoptr(GPtrArray) words = g_ptr_array_new();
    const json_t *word;
    size_t i;

    json_array_foreach(strings, i, word)
    {
        g_ptr_array_add(words, (char *)json_string_value(word));
    }
    g_ptr_array_add(words, NULL);
    return g_strjoinv(", ", (char **)words->pdata);
}

/* What is true of a pool that says nothing about the request. */
static void
infer(const Case *the_case, const DroverComponent *pool, gboolean left_out, json_t *object)
{
    g_autofree char *missing = joined(json_object_get(object, "missing_labels"));
    const char *verdict = NULL;
    g_autofree char *reason = NULL;

    if (drover_json_boolean(object, "declined", FALSE)) {
        verdict = "decline";
        reason = g_strdup("it declined before; the launcher's log has the reason");
    } else if (*missing != '\0') {
        reason = g_strdup_printf("it does not have [%s]", missing);
    } else if (left_out) {
        reason = g_strdup("it has more requests before it than it tells about");
    } else if (g_hash_table_contains(the_case->evidence->boards, pool->id)) {
        reason = g_strdup("it has all labels and has not told yet what it decided");
    } else {
        reason = g_strdup("it has all labels and does not tell what it decides");
    }
    json_object_set_new(object, "verdict", drover_json_from_string(verdict));
    json_object_set_new(object, "reason", json_string(reason));
    json_object_set_new(object, "since", json_null());
}

static json_t *
pool_object(const Case *the_case, const DroverComponent *pool)
{
    const DroverRequest *request = the_case->request;
    json_t *object = json_object();
    gboolean left_out;
    const json_t *verdict =
        drover_evidence_verdict(the_case->evidence, pool->id, request->id, &left_out);

    drover_record_set_string(object, "provider", pool->provider_name);
    drover_record_set_string(object, "pool", pool->name);
    drover_record_set_string(object, "launcher", pool->id);
    drover_record_set_string(object, "hostname", pool->hostname);
    json_object_set_new(object, "priority", json_integer(pool->priority));
    json_object_set_new(object, "paused", json_boolean(pool->paused));
    json_object_set_new(object, "missing_labels", missing_labels(request, pool));
    json_object_set_new(object, "declined",
                        json_boolean(drover_request_is_declined_by(request, pool->id)));
    if (verdict == NULL) {
        infer(the_case, pool, left_out, object);
    } else {
        json_object_set(object, "verdict", json_object_get(verdict, "verdict"));
        json_object_set(object, "reason", json_object_get(verdict, "reason"));
        json_object_set(object, "since", json_object_get(verdict, "since"));
    }
    return object;
}

/* ---- Findings ---- */

static gboolean
some_pool_has(const Case *the_case, const char *label)
{
    const GPtrArray *pools = the_case->evidence->pools;

    for (guint i = 0; i < pools->len; i++)
        if (g_strv_contains(
                (const char *const *)((DroverComponent *)pools->pdata[i])->supported_labels, label))
            return TRUE;
    return FALSE;
}

static void
find_unknown_labels(Case *the_case)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);

    for (char **label = the_case->request->labels; *label != NULL; label++)
        if (g_hash_table_add(seen, *label) && !some_pool_has(the_case, *label))
            drover_finding_add(the_case->findings, "No registered pool has the label %s.", *label);
}

/* Pools that have all labels, and of these those that have not declined. */
static void
count_able(const Case *the_case, guint *able, guint *willing)
{
    const json_t *pool;
    size_t i;

    *able = *willing = 0;
    json_array_foreach(the_case->pools, i, pool)
    {
        gboolean has_all = json_array_size(json_object_get(pool, "missing_labels")) == 0;

        *able += has_all;
        *willing += has_all && !drover_json_boolean(pool, "declined", FALSE);
    }
}

static void
find_who_declined_and_left(Case *the_case)
{
    for (char **id = the_case->request->declined_by; *id != NULL; id++) {
        gboolean there = FALSE;

        for (guint i = 0; i < the_case->evidence->pools->len; i++)
            there = there ||
                    strcmp(((DroverComponent *)the_case->evidence->pools->pdata[i])->id, *id) == 0;
        if (!there)
            drover_finding_add(the_case->findings,
                               "It was declined by %s, which is not registered any more.", *id);
    }
}

static void
examine_requested(Case *the_case)
{
    guint able, willing;

    count_able(the_case, &able, &willing);
    if (the_case->evidence->pools->len == 0) {
        drover_finding_add(the_case->findings,
                           "No pool is registered (launchers: %u): nobody looks at requests.",
                           the_case->evidence->launchers);
        return;
    }
    find_unknown_labels(the_case);
    if (able == 0 && json_array_size(the_case->findings) == 0)
        drover_finding_add(the_case->findings, "No single pool has all of its labels.");
    if (able > 0 && willing == 0)
        drover_finding_add(the_case->findings, "Every pool that has its labels has declined it.");
    if (the_case->holder != NULL)
        drover_finding_add(the_case->findings,
                           "It is locked just now by %s: nobody else can take it.",
                           the_case->holder);
    else if (willing > 0)
        drover_finding_add(the_case->findings,
                           "It waits; %u of %u pools could serve it. See why they do not:", willing,
                           the_case->evidence->pools->len);
}

/* The pool that has accepted it, by its own word; NULL: none says so. */
static const json_t *
find_server(const Case *the_case)
{
    const json_t *pool;
    size_t i;

    json_array_foreach(the_case->pools, i, pool)
    {
        const char *verdict = drover_json_string(pool, "verdict");

        if (g_strcmp0(verdict, "serve") == 0 || g_strcmp0(verdict, "wait") == 0)
            return pool;
    }
    return NULL;
}

static void
find_nodes_of_it(Case *the_case)
{
    for (guint i = 0; i < the_case->nodes->len; i++) {
        const DroverNode *node = the_case->nodes->pdata[i];
        g_autofree char *age = drover_cli_age(node->state_time);

        drover_finding_add(the_case->findings, "Its node %s (%s) is %s for %s.", node->id,
                           node->labels[0] != NULL ? node->labels[0] : "",
                           drover_node_state_name(node->state), age);
    }
}

static void
examine_pending(Case *the_case)
{
    const json_t *server = find_server(the_case);
    const char *reason = drover_json_string(server, "reason");

    if (the_case->holder == NULL) {
        drover_finding_add(
            the_case->findings,
            "It was accepted by a launcher that is gone; another one puts it back within "
            "about a minute.");
        return;
    }
    if (server == NULL)
        drover_finding_add(the_case->findings, "It is being served by %s.", the_case->holder);
    else
        drover_finding_add(
            the_case->findings, "Pool %s of provider %s has accepted it%s%s%s.",
            drover_json_string(server, "pool"), drover_json_string(server, "provider"),
            g_strcmp0(drover_json_string(server, "verdict"), "wait") == 0 ? " and waits for room"
                                                                          : "",
            reason != NULL ? ": " : "", reason != NULL ? reason : "");
    find_nodes_of_it(the_case);
}

static void
examine(Case *the_case)
{
    switch (the_case->request->state) {
    case DROVER_REQUEST_REQUESTED:
        examine_requested(the_case);
        break;
    case DROVER_REQUEST_PENDING:
        examine_pending(the_case);
        break;
    case DROVER_REQUEST_FULFILLED:
        drover_finding_add(the_case->findings,
                           "It is fulfilled: its requestor is to take the nodes and to delete it.");
        find_nodes_of_it(the_case);
        break;
    case DROVER_REQUEST_FAILED:
        drover_finding_add(
            the_case->findings,
            "It failed: all pools that were registered then declined it. Its requestor "
            "is to delete it.");
        find_unknown_labels(the_case);
        break;
    default:
        drover_finding_add(the_case->findings, "Its state means nothing to this version.");
    }
    find_who_declined_and_left(the_case);
}

/* ---- Reading ---- */

static gboolean
read_nodes(Case *the_case, GError **error)
{
    g_autoptr(GPtrArray) records = NULL;

    the_case->nodes = g_ptr_array_new_with_free_func((GDestroyNotify)drover_node_unref);
    if (the_case->request->state != DROVER_REQUEST_PENDING &&
        the_case->request->state != DROVER_REQUEST_FULFILLED)
        return TRUE;
    records =
        drover_store_read_all(the_case->cli->store, DROVER_NODES_PATH, DROVER_READ_PLAIN, error);
    for (guint i = 0; records != NULL && i < records->len; i++) {
        const DroverRecord *record = records->pdata[i];
        g_autoptr(DroverNode) node =
            drover_node_decode(record->name, record->data, record->version, NULL);

        if (node != NULL && g_strcmp0(node->allocated_to, the_case->request->id) == 0)
            g_ptr_array_add(the_case->nodes, g_steal_pointer(&node));
    }
    return records != NULL;
}

static gboolean
read_case(Case *the_case, const char *id, GError **error)
{
    DroverStore *store = the_case->cli->store;
    g_autofree char *lock = drover_request_lock_path(id);

    the_case->request = drover_request_read(store, id, DROVER_READ_PLAIN, error);
    if (the_case->request == NULL)
        return FALSE;
    the_case->evidence = drover_evidence_read(store, error);
    if (the_case->evidence == NULL ||
        !drover_evidence_find_holder(the_case->evidence, store, lock, &the_case->holder, error) ||
        !read_nodes(the_case, error))
        return FALSE;
    the_case->position = drover_request_position(store, the_case->request);
    the_case->pools = json_array();
    the_case->findings = json_array();
    for (guint i = 0; i < the_case->evidence->pools->len; i++)
        json_array_append_new(the_case->pools,
                              pool_object(the_case, the_case->evidence->pools->pdata[i]));
    return TRUE;
}

/* ---- Printing ---- */

static json_t *
case_object(const Case *the_case)
{
    const DroverRequest *request = the_case->request;
    json_t *object = json_object(), *nodes = json_array();

    for (guint i = 0; i < the_case->nodes->len; i++) {
        const DroverNode *node = the_case->nodes->pdata[i];

        json_array_append_new(nodes, json_pack("{s:s, s:s}", "id", node->id, "state",
                                               drover_node_state_name(node->state)));
    }
    drover_record_set_string(object, "id", request->id);
    drover_record_set_string(object, "state", drover_request_state_name(request->state));
    json_object_set_new(object, "state_time", json_real(request->state_time));
    json_object_set_new(object, "labels",
                        drover_json_from_strings((const char *const *)request->labels));
    drover_record_set_string(object, "requestor", request->requestor);
    drover_record_set_string(object, "tenant_name", request->tenant_name);
    drover_record_set_string(object, "provider", request->provider);
    drover_record_set_string(object, "event_id", request->event_id);
    json_object_set_new(object, "declined_by",
                        drover_json_from_strings((const char *const *)request->declined_by));
    json_object_set_new(object, "position",
                        the_case->position > 0 ? json_integer(the_case->position) : json_null());
    drover_record_set_string(object, "locked_by", the_case->holder);
    json_object_set_new(object, "launchers", json_integer(the_case->evidence->launchers));
    json_object_set_new(object, "nodes", nodes);
    json_object_set(object, "findings", the_case->findings);
    json_object_set(object, "pools", the_case->pools);
    return object;
}

static void
print_heading(const Case *the_case)
{
    const DroverRequest *request = the_case->request;
    g_autofree char *labels = g_strjoinv(", ", request->labels);
    g_autofree char *age = drover_cli_age(request->state_time);

    drover_cli_print("request %s: %s for %s, wants %s\n", request->id,
                     drover_request_state_name(request->state), age, labels);
    if (request->requestor != NULL)
        drover_cli_print("  requested by %s\n", request->requestor);
    if (request->tenant_name != NULL)
        drover_cli_print("  for tenant %s\n", request->tenant_name);
    if (request->provider != NULL)
        drover_cli_print("  prefers provider %s\n", request->provider);
    if (the_case->position > 0)
        drover_cli_print("  number %u in the queue\n", the_case->position);
}

static void
print_text(const Case *the_case)
{

    print_heading(the_case);
    drover_cli_print("\n");
    drover_findings_print(the_case->findings);
    if (json_array_size(the_case->pools) == 0)
        return;
    drover_cli_print("\n");
    drover_verdict_table_print(the_case->pools);
}

int
drover_explain_request(DroverCli *cli, const char *id)
{
    g_auto(Case) the_case = {.cli = cli};
    g_autoptr(GError) error = NULL;

    if (!read_case(&the_case, id, &error)) {
        if (g_error_matches(error, DROVER_ERROR, DROVER_ERROR_NOT_FOUND))
            return drover_cli_fail(cli, "request %s not found", id);
        return drover_cli_fail(cli, "%s", error->message);
    }
    examine(&the_case);
    if (cli->json)
        drover_cli_print_json(case_object(&the_case));
    else
        print_text(&the_case);
    return 0;
}
