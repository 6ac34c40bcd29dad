#include <string.h>

#include "launcher/cluster/node-claim.h"
#include "launcher/provider/backing-private.h"
#include "zk/lock.h"
#include "zk/operation.h"

#define REQUEST_PREFIX DROVER_REQUESTS_PATH "/100-"
/* How long a node of ours that somebody has locked is waited for. */
#define PATIENCE (30 * G_USEC_PER_SEC)

/* A backing node that was asked for. */
typedef struct {
    grefcount references; /* the table, and an answer still to come */
    DroverBacking *backing;
    guint64 number;
    char *user_data;
    char *event_id;   /* of its request, and of no other */
    char *request_id; /* NULL until it is made, or found */
    gboolean busy;    /* an answer is still to come */
    gboolean unsure;  /* the answer to its creation was lost */
    gboolean withdrawn;
    gint64 patience; /* until when a locked node is waited for; 0: none was met */
} Ticket;

static void
ticket_unref(Ticket *ticket)
{
    if (!g_ref_count_dec(&ticket->references))
        return;
    drover_backing_unref(ticket->backing);
    g_free(ticket->user_data);
    g_free(ticket->event_id);
    g_free(ticket->request_id);
    g_free(ticket);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Ticket, ticket_unref)

void
drover_backing_free_ticket(gpointer ticket)
{
    ticket_unref(ticket);
}

static Ticket *
expect_answer(Ticket *ticket)
{
    g_ref_count_inc(&ticket->references);
    ticket->busy = TRUE;
    return ticket;
}

static DroverLogSubject
subject_of(const Ticket *ticket)
{
    return (DroverLogSubject){.logger = DROVER_BACKING_LOGGER,
                              .request_id = ticket->request_id,
                              .provider = ticket->backing->provider};
}

/* ---- The end ---- */

static void
on_deleted(const DroverChangeResult *result, gpointer user_data)
{
    DroverBacking *backing = user_data;

    if (result->outcome == DROVER_CHANGE_UNKNOWN && backing->parts != NULL) {
        backing->sweeping = TRUE;
        backing->wake(backing->user_data);
    }
    drover_backing_unref(backing);
}

static void
delete_request(DroverBacking *backing, const char *path)
{
    DroverChange *change = drover_change_new(backing->session);

    drover_change_delete(change, path, -1);
    drover_change_commit(change, on_deleted, drover_backing_ref(backing));
}

static void
withdraw(const Ticket *ticket)
{
    g_autofree char *path = drover_request_path(ticket->request_id);

    delete_request(ticket->backing, path);
}

static void
forget(Ticket *ticket)
{
    g_hash_table_remove(ticket->backing->tickets, &ticket->number);
}

static void
fail(Ticket *ticket, const char *reason)
{
    DroverLogSubject subject = subject_of(ticket);

    drover_log(DROVER_LOG_WARNING, &subject, "No backing node: %s", reason);
    drover_backing_tell(
        ticket->backing, DROVER_BACKING_FAILED,
        json_pack("{s:I, s:s}", "ticket", (json_int_t)ticket->number, "reason", reason));
    forget(ticket);
}

/* Nobody is to answer the request any more. */
static void
give_up(Ticket *ticket, const char *reason)
{
    withdraw(ticket);
    fail(ticket, reason);
}

/* A node that it had got meanwhile is freed as that of any request that is gone. */
static void
end(Ticket *ticket)
{
    DroverLogSubject subject = subject_of(ticket);

    drover_log(DROVER_LOG_INFO, &subject, "The request for a backing node is withdrawn");
    withdraw(ticket);
    forget(ticket);
}

void
drover_backing_withdraw_ticket(DroverBacking *backing, guint64 number)
{
    Ticket *ticket = g_hash_table_lookup(backing->tickets, &number);

    if (ticket == NULL)
        return;
    ticket->withdrawn = TRUE;
    if (!ticket->busy && !ticket->unsure)
        end(ticket);
}

/* ---- The beginning ---- */

/* It has its request, under this id. */
static void
go_on(Ticket *ticket, const char *request_id)
{
    DroverLogSubject subject;

    ticket->request_id = g_strdup(request_id);
    subject = subject_of(ticket);
    drover_log(DROVER_LOG_INFO, &subject, "Asked for a backing node");
    if (ticket->withdrawn)
        end(ticket);
    else
        ticket->backing->wake(ticket->backing->user_data);
}

static void
on_made(const DroverChangeResult *result, gpointer user_data)
{
    g_autoptr(Ticket) ticket = user_data;

    ticket->busy = FALSE;
    if (ticket->backing->parts == NULL) {
        if (result->outcome == DROVER_CHANGE_DONE)
            delete_request(ticket->backing, result->created[0]);
    } else if (result->outcome == DROVER_CHANGE_DONE) {
        go_on(ticket, strrchr(result->created[0], '/') + 1);
    } else if (result->outcome == DROVER_CHANGE_UNKNOWN) {
        ticket->unsure = TRUE;
        ticket->backing->wake(ticket->backing->user_data);
    } else {
        fail(ticket, drover_change_outcome_name(result->outcome));
    }
}

/* The caches show whether it was made. One that appears later is nobody's, and is withdrawn. */
static void
find_request(Ticket *ticket)
{
    const GPtrArray *requests = drover_cluster_requests(ticket->backing->parts->cluster);

    ticket->unsure = FALSE;
    for (guint i = 0; i < requests->len; i++) {
        const DroverRequest *request = requests->pdata[i];

        if (g_strcmp0(request->event_id, ticket->event_id) == 0) {
            go_on(ticket, request->id);
            return;
        }
    }
    fail(ticket, "the connection was lost");
}

void
drover_backing_begin_ticket(DroverBacking *backing, guint64 number, const char *label,
                            const char *user_data)
{
    const char *labels[] = {label, NULL};
    g_autoptr(json_t) record = drover_request_new_record(labels, backing->owner, TRUE);
    g_autoptr(GBytes) data = drover_record_bytes(record);
    DroverChange *change = drover_change_new(backing->session);
    Ticket *ticket = g_new0(Ticket, 1);

    g_ref_count_init(&ticket->references);
    ticket->backing = drover_backing_ref(backing);
    ticket->number = number;
    ticket->user_data = g_strdup(user_data);
    ticket->event_id = g_strdup(drover_json_string(record, "event_id"));
    g_hash_table_replace(backing->tickets, &ticket->number, ticket);
    drover_change_create(change, REQUEST_PREFIX, data, ZOO_EPHEMERAL | ZOO_SEQUENCE);
    drover_change_commit(change, on_made, expect_answer(ticket));
}

/* ---- The claim ---- */

/* Of nobody's session: it outlives this process. */
static void
add_contender(DroverChange *change, const DroverBacking *backing, const char *node_id)
{
    g_autoptr(GBytes) owner = g_bytes_new(backing->owner, strlen(backing->owner));
    g_autofree char *lock = drover_node_lock_path(node_id), *name = drover_lock_new_name();
    g_autofree char *path = g_strconcat(lock, "/", name, NULL);

    drover_change_create(change, path, owner, ZOO_SEQUENCE);
}

static void
report_ready(Ticket *ticket, const char *node_id)
{
    DroverBacking *backing = ticket->backing;
    const DroverNode *node = drover_cluster_node(backing->parts->cluster, node_id);

    if (node == NULL) {
        fail(ticket, "the backing node is gone");
        return;
    }
    drover_backing_tell(backing, DROVER_BACKING_READY,
                        json_pack("{s:I, s:s, s:o}", "ticket", (json_int_t)ticket->number,
                                  "backing_node", node_id, "fields", drover_backing_fields(node)));
    forget(ticket);
}

/* A node that somebody has locked for a moment is free soon. */
static void
be_patient(Ticket *ticket, const char *node_id)
{
    DroverCluster *cluster = ticket->backing->parts->cluster;

    if (ticket->patience == 0)
        ticket->patience = g_get_monotonic_time() + PATIENCE;
    if (g_get_monotonic_time() < ticket->patience) {
        drover_cache_lock(drover_cluster_nodes(cluster), node_id);
        return;
    }
    give_up(ticket, "the backing node is locked by somebody else");
}

static void
on_claimed(const DroverChangeResult *result, gpointer user_data)
{
    g_autoptr(Ticket) ticket = user_data;
    DroverBacking *backing = ticket->backing;
    DroverLogSubject subject = subject_of(ticket);
    g_autofree char *node_id = NULL;

    ticket->busy = FALSE;
    if (backing->parts == NULL)
        return;
    if (result->outcome == DROVER_CHANGE_DONE) {
        g_auto(GStrv) parts =
            g_strsplit(result->created[0] + strlen(DROVER_NODES_PATH "/"), "/", 2);

        node_id = g_strdup(parts[0]);
        drover_backing_take(backing, node_id, result->created[0]);
        subject.node_id = node_id;
        drover_log(DROVER_LOG_INFO, &subject, "Claimed the backing node");
        report_ready(ticket, node_id);
    } else if (result->outcome == DROVER_CHANGE_BUSY) {
        const DroverRequest *request =
            drover_cluster_request(backing->parts->cluster, ticket->request_id);

        if (request != NULL && request->nodes[0] != NULL)
            be_patient(ticket, request->nodes[0]);
    } else {
        /* What has changed may be in the caches already. */
        backing->wake(backing->user_data);
    }
}

static void
claim(Ticket *ticket, const DroverRequest *request)
{
    DroverCluster *cluster = ticket->backing->parts->cluster;
    const DroverNode *node =
        request->nodes[0] != NULL ? drover_cluster_node(cluster, request->nodes[0]) : NULL;
    g_autofree char *path = drover_request_path(request->id);
    g_autoptr(json_t) record = NULL;
    DroverChange *change;

    if (node == NULL || node->state != DROVER_NODE_READY) {
        /* The request's news may have come first. */
        if (drover_cluster_has_settled_nodes(cluster))
            give_up(ticket, "the backing node is gone");
        return;
    }
    record = drover_node_record(node);
    drover_node_record_set_state(record, DROVER_NODE_IN_USE);
    drover_record_set_string(record, "user_data", ticket->user_data);
    change = drover_change_new(ticket->backing->session);
    drover_node_claim(cluster, change, node, record);
    add_contender(change, ticket->backing, node->id);
    drover_change_delete(change, path, request->version);
    drover_change_commit(change, on_claimed, expect_answer(ticket));
}

/* ---- The pass ---- */

static void
step(Ticket *ticket)
{
    DroverCluster *cluster = ticket->backing->parts->cluster;
    const DroverRequest *request = drover_cluster_request(cluster, ticket->request_id);

    if (request == NULL) {
        if (drover_cluster_is_settled(cluster))
            fail(ticket, "somebody deleted the request");
    } else if (request->state == DROVER_REQUEST_FAILED) {
        give_up(ticket, "the request failed");
    } else if (request->state == DROVER_REQUEST_FULFILLED) {
        claim(ticket, request);
    }
}

void
drover_backing_step_tickets(DroverBacking *backing)
{
    g_autoptr(GList) tickets = g_hash_table_get_values(backing->tickets);

    for (GList *item = tickets; item != NULL; item = item->next) {
        Ticket *ticket = item->data;

        if (ticket->busy)
            continue;
        if (ticket->request_id != NULL)
            step(ticket);
        else if (ticket->unsure && drover_cluster_is_settled(backing->parts->cluster))
            find_request(ticket);
    }
}

/* ---- Requests that nobody waits for ---- */

/* The ticket of any provider whose request it is; NULL: nobody's. */
static const Ticket *
find_ticket(const GPtrArray *backings, const DroverRequest *request)
{
    for (guint i = 0; i < backings->len; i++) {
        const DroverBacking *backing = backings->pdata[i];
        GHashTableIter iter;
        gpointer ticket;

        g_hash_table_iter_init(&iter, backing->tickets);
        while (g_hash_table_iter_next(&iter, NULL, &ticket))
            if (g_strcmp0(((const Ticket *)ticket)->event_id, request->event_id) == 0)
                return ticket;
    }
    return NULL;
}

typedef struct {
    DroverBacking *backing;
    char *path;
} Left;

/* Those of other sessions are asked for by other launchers. */
static void
on_left(const DroverReadReply *reply, gpointer user_data)
{
    Left *left = user_data;
    DroverBacking *backing = left->backing;

    if (backing->parts != NULL && drover_rc_is_unknown(reply->rc))
        backing->sweeping = TRUE;
    else if (backing->parts != NULL && reply->rc == ZOK &&
             reply->stat.ephemeralOwner == drover_session_id(backing->session))
        delete_request(backing, left->path);
    drover_backing_unref(backing);
    g_free(left->path);
    g_free(left);
}

static void
withdraw_if_left(DroverBacking *backing, const DroverRequest *request)
{
    Left *left;

    if (g_strcmp0(request->requestor, backing->owner) != 0 ||
        find_ticket(backing->parts->backings, request) != NULL)
        return;
    left = g_new0(Left, 1);
    left->backing = drover_backing_ref(backing);
    left->path = drover_request_path(request->id);
    drover_session_exists(backing->session, left->path, FALSE, on_left, left);
}

void
drover_backing_withdraw_left(DroverBacking *backing)
{
    const GPtrArray *requests = drover_cluster_requests(backing->parts->cluster);

    backing->sweeping = FALSE;
    for (guint i = 0; i < requests->len; i++)
        withdraw_if_left(backing, requests->pdata[i]);
}

static gboolean
waits_for(const DroverBacking *backing, const char *id)
{
    GHashTableIter iter;
    gpointer ticket;

    g_hash_table_iter_init(&iter, backing->tickets);
    while (g_hash_table_iter_next(&iter, NULL, &ticket))
        if (((const Ticket *)ticket)->unsure ||
            g_strcmp0(((const Ticket *)ticket)->request_id, id) == 0)
            return TRUE;
    return FALSE;
}

void
drover_backing_note_request(const GPtrArray *backings, const char *id, const DroverRequest *request)
{
    for (guint i = 0; i < backings->len; i++) {
        DroverBacking *backing = backings->pdata[i];

        if (backing->began && request != NULL)
            withdraw_if_left(backing, request);
        if (waits_for(backing, id))
            backing->wake(backing->user_data);
    }
}
